//! What both sides of a wallet login agree on.
//!
//! A service shows a [`Challenge`] in a QR code ([`QrData`]); a [`Wallet`] signs it and posts its [`Answer`] to the
//! integrator, who checks it; the service tells the integrator in a signed [`Event`]. The service, the wallet and the
//! integrator's receiver build on the same types here.
//!
//! There is no clock, no randomness and no I/O in this crate: times are arguments in Unix seconds, random bytes are
//! arguments too. The feature `client` adds what has all three: calls of the service's API, in `client`.

mod answer;
mod challenge;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "qr")]
mod code;
pub mod diagnosis;
mod domain;
mod event;
mod keys;
mod lnurl;
#[cfg(all(feature = "axum", feature = "client"))]
pub mod login;
mod qr;
pub mod receiver;
mod through;
mod wallet;
mod webauthn;
mod webhook;

pub use answer::{Answer, DeviceInfo, InvalidAnswer, NotVerified, VerifiedAnswer, is_fresh};
#[cfg(feature = "qr")]
pub use code::QrCode;

pub use challenge::{Challenge, Mode, Nonce, NotAChallenge, NotANonce, UnknownMode};
pub use domain::{DomainName, InvalidDomain};
pub use event::{Event, EventData, EventKind, WebauthnProof};
pub use keys::{MalformedPublicKey, MalformedSignature, PublicKey, Signature, message_hash, verify};
pub use lnurl::{
    AuthCallback, AuthUrl, InvalidAuthCallback, InvalidAuthUrl, InvalidLnurl, K1, Lnurl, LnurlAction, LnurlReply,
    NotAK1, NotAReply, is_this_machine,
};
pub use qr::{InvalidQrData, QrData, Signing};
pub use through::{Through, authority};
pub use wallet::{InvalidSecretKey, Wallet};
pub use webauthn::{
    AssertedPasskey, MalformedPasskeyKey, NewPasskey, NotAPasskeyHandle, NotAPasskeyId, PasskeyAlgorithm,
    PasskeyAssertion, PasskeyHandle, PasskeyId, PasskeyKey, PasskeyRefusal, PasskeyRegistration, RelyingParty,
};
pub use webhook::{
    InvalidWebhookSecret, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP, WebhookSecret, X_SVC_SIGNATURE,
    X_SVC_SIGNATURE_NEXT,
};

/// What newcomers read, so that its code compiles.
#[cfg(all(doctest, feature = "axum", feature = "client"))]
#[doc = include_str!("../../../sdk/rust/README.md")]
struct RustGuide;
