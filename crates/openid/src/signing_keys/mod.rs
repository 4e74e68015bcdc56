//! The keys that sign ID tokens. For each environment and algorithm, a single key signs at a time.
//! The next key is published before it signs, and the previous key stays published until its last
//! token has expired.

pub mod creation;
pub mod key_ring;
pub mod key_ring_cache;
pub mod listed;
pub mod problem;
pub mod reseal;
pub mod rules;
pub mod sql;

use std::fmt;

use jiff::Timestamp;
use signpost_platform::accounts::Environment;
use signpost_store::{Json, rows};

use crate::jose::{PublicJwk, SigningAlgorithm};

pub use key_ring::KeyRing;
pub use rules::{KeyState, KeyTimes};

rows! {
    /// A signing key in the database.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct StoredSigningKey in "signing_keys" by [kid] {
        /// The key ID: the thumbprint of the public key (RFC 7638).
        pub kid: String,
        /// The environment of its tokens.
        pub environment: Environment,
        /// The algorithm.
        pub algorithm: SigningAlgorithm,
        /// The position among the keys of this environment and algorithm, from 1. It is unique, so that only the first
        /// of several concurrent servers inserts a key.
        pub number: i64,
        /// The private key.
        pub private_key: StoredPrivateKey,
        /// The public key.
        pub public_key: PublicJwk as Json<PublicJwk>,
        /// The time when it was generated and published.
        pub created_at: Timestamp,
        /// The time when it starts to sign.
        pub active_from: Timestamp,
    }
}

/// A private key in the database: PKCS #8 in base64, encrypted if the operator has an encryption key. Empty after it
/// was erased.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredPrivateKey(pub(crate) String);

impl StoredPrivateKey {
    /// Returns true if the private key was erased.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        self.0.is_empty()
    }
}

impl StoredSigningKey {
    /// Returns the position and the start of the key.
    #[must_use]
    pub fn times(&self) -> KeyTimes {
        KeyTimes { number: self.number, active_from: self.active_from }
    }
}

/// Splits ordered keys by environment and algorithm.
fn series(keys: &[StoredSigningKey]) -> impl Iterator<Item = &[StoredSigningKey]> {
    keys.chunk_by(|one, next| (one.environment, one.algorithm) == (next.environment, next.algorithm))
}

/// Returns the times of the keys of an environment and algorithm.
fn times(series: &[StoredSigningKey]) -> Vec<KeyTimes> {
    series.iter().map(StoredSigningKey::times).collect()
}

impl fmt::Debug for StoredPrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoredPrivateKey")
    }
}

signpost_store::text_columns! {
    StoredPrivateKey: |key| &key.0, |text| Ok(StoredPrivateKey(text.to_owned()));
}
