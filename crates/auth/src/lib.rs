//! What both sides of a wallet login agree on.
//!
//! There is no clock, no randomness and no I/O in this crate: times are arguments in Unix seconds, random bytes are
//! arguments too.

mod challenge;
mod domain;
mod keys;

pub use challenge::{Challenge, Mode, Nonce, NotAChallenge, NotANonce, UnknownMode};
pub use domain::{DomainName, InvalidDomain};
pub use keys::{MalformedPublicKey, MalformedSignature, PublicKey, Signature, message_hash, verify};
