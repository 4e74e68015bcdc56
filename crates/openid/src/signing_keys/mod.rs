//! The keys that sign ID tokens: one signs at a time, for each environment and algorithm; relying parties see the next one
//! before it signs, and the one before until its last token is over.

pub mod key_ring;
pub mod listed;
pub mod making;
pub mod read_rings;
pub mod reseal;
pub mod rules;
pub mod sql;
pub mod trouble;

use std::fmt;

use jiff::Timestamp;
use signpost_platform::accounts::Environment;
use signpost_store::{Json, rows};

use crate::jose::{PublicJwk, SigningAlgorithm};

pub use key_ring::KeyRing;
pub use rules::{KeyState, KeyTimes};

rows! {
    /// A key as it is kept.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct StoredSigningKey in "signing_keys" by [kid] {
        /// Its thumbprint (RFC 7638).
        pub kid: String,
        /// Whose tokens it signs.
        pub environment: Environment,
        /// How.
        pub algorithm: SigningAlgorithm,
        /// Its place in the order of the keys of this environment and algorithm, from 1 on: of two servers that make one at
        /// the same time, one does.
        pub number: i64,
        /// What signs.
        pub private_key: KeptKey,
        /// What verifies.
        pub public_key: PublicJwk as Json<PublicJwk>,
        /// When it was made, and published.
        pub created_at: Timestamp,
        /// From when on it signs.
        pub active_from: Timestamp,
    }
}

/// A private key as it is kept: PKCS #8 in base64, encrypted with the operator's key where there is one. Empty once
/// nothing is signed with it any more.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptKey(pub(crate) String);

impl KeptKey {
    /// Whether it was erased.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        self.0.is_empty()
    }
}

impl StoredSigningKey {
    /// When it was made and signs.
    #[must_use]
    pub fn times(&self) -> KeyTimes {
        KeyTimes { number: self.number, active_from: self.active_from }
    }
}

impl fmt::Debug for KeptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeptKey")
    }
}

signpost_store::texts! {
    KeptKey: |key| &key.0, |text| Ok(KeptKey(text.to_owned()));
}
