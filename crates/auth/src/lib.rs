//! The wallet login protocol, for the service, for wallets and for the receivers of integrators.
//!
//! The service displays a [`Challenge`] in a QR code ([`QrData`]). A [`Wallet`] signs it and posts
//! its [`Answer`] to the integrator, who verifies it. The service notifies the integrator with a
//! signed [`Event`].
//!
//! This crate has no clock, no randomness and no I/O: functions take times in Unix seconds and
//! random bytes as arguments. The only exceptions are the modules `client`, `login` and `testing`
//! and the routers, behind features.

mod answer;
mod challenge;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "qr")]
mod code;
pub mod diagnosis;
mod domain;
mod event;
mod host_bound;
mod keys;
mod lnurl;
#[cfg(all(feature = "axum", feature = "client"))]
pub mod login;
mod qr;
pub mod receiver;
#[cfg(feature = "testing")]
pub mod testing;
mod user_event;
mod wallet;
mod webauthn;
mod webhook;

pub use answer::{Answer, DeviceInfo, InvalidAnswer, VerificationError, VerifiedAnswer, is_fresh};
#[cfg(feature = "qr")]
pub use code::QrCode;

pub use challenge::{Challenge, InvalidChallenge, InvalidNonce, Mode, Nonce, UnknownMode};
pub use domain::{DomainName, InvalidDomain};
pub use event::{Event, EventData, EventKind, WebauthnProof};
pub use host_bound::{HostBoundChallenge, authority};
pub use keys::{MalformedPublicKey, MalformedSignature, PublicKey, Signature, message_hash, verify};
pub use lnurl::{
    AuthCallback, AuthUrl, InvalidAuthCallback, InvalidAuthUrl, InvalidK1, InvalidLnurl, InvalidLnurlReply, K1, Lnurl,
    LnurlAction, LnurlReply, is_loopback_url,
};
pub use qr::{InvalidQrData, QrData, Signing};
pub use user_event::{UserEventData, ValueChange};
pub use wallet::{InvalidSecretKey, Wallet};
pub use webauthn::{
    AssertedPasskey, InvalidPasskeyHandle, InvalidPasskeyId, MalformedPasskeyKey, NewPasskey, PasskeyAlgorithm,
    PasskeyAssertion, PasskeyHandle, PasskeyId, PasskeyKey, PasskeyRefusal, PasskeyRegistration, RelyingParty,
};
pub use webhook::{
    InvalidWebhookSecret, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP, WebhookSecret, X_SVC_SIGNATURE,
    X_SVC_SIGNATURE_NEXT, sign_event,
};

/// The Rust guide, included so that its code is compiled as documentation tests.
#[cfg(all(doctest, feature = "axum", feature = "client"))]
#[doc = include_str!("../../../sdk/rust/README.md")]
struct RustGuide;

/// The guide to tests, included so that its Rust code is compiled as documentation tests.
#[cfg(all(doctest, feature = "testing"))]
#[doc = include_str!("../../../docs/testing.md")]
struct TestingGuide;
