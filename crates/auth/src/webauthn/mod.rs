//! Registration and login with passkeys (Web Authentication, Level 3).
//!
//! The caller passes the expected challenge of 32 bytes. The module has no state; login sessions
//! prevent replays.

mod answer;
mod authenticator_data;
mod cbor;
mod client_data;
mod cose;
mod curve;
mod identifier;
mod key;
mod refusal;
mod relying_party;
mod spki;

pub use answer::{AssertedPasskey, NewPasskey, PasskeyAssertion, PasskeyRegistration};
pub use identifier::{InvalidPasskeyHandle, InvalidPasskeyId, PasskeyHandle, PasskeyId};
pub use key::{MalformedPasskeyKey, PasskeyAlgorithm, PasskeyKey};
pub use refusal::PasskeyRefusal;
pub use relying_party::RelyingParty;
