//! Passkeys: what an authenticator registers and asserts for a person (Web Authentication, Level 3).
//!
//! As everywhere in this crate, time and randomness are arguments; the challenge that is checked is 32 bytes which the
//! caller knows. Nothing here remembers what was answered before: that an answer counts once is the session's rule.

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
pub use identifier::{NotAPasskeyHandle, NotAPasskeyId, PasskeyHandle, PasskeyId};
pub use key::{MalformedPasskeyKey, PasskeyAlgorithm, PasskeyKey};
pub use refusal::PasskeyRefusal;
pub use relying_party::RelyingParty;
