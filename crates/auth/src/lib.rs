//! The protocol of a wallet login, for the service, the wallet and the integrator's receiver.
//!
//! A service shows a [`Challenge`] in a QR code ([`QrData`]); a [`Wallet`] signs it and posts its [`Answer`] to the
//! integrator, who verifies it; the service notifies the integrator with a signed [`Event`].
//!
//! This crate has no clock, no randomness and no I/O: times are arguments in Unix seconds, and random bytes are
//! arguments too. Only the module `client` (feature `client`) has all three, for calls of the service's API.

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
    X_SVC_SIGNATURE_NEXT, sign_event,
};

/// The guide for newcomers, whose code is compiled by the documentation tests.
#[cfg(all(doctest, feature = "axum", feature = "client"))]
#[doc = include_str!("../../../sdk/rust/README.md")]
struct RustGuide;
