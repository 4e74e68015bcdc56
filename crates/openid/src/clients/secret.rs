//! Secrets of confidential clients, and their hashes.

use std::fmt;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Prefix of secrets, so that scanners can recognize leaks.
const CLIENT_SECRET_PREFIX: &str = "sgp_cs_";

/// The secret of a confidential client: 256 random bits, shown once.
#[derive(Debug)]
pub struct OAuthSecret(SecretString);

/// The SHA-256 of a secret in hex, for the database. No slower hash is needed, because 256 random bits cannot be
/// guessed.
#[derive(Clone)]
pub struct OAuthSecretHash(String);

impl OAuthSecret {
    /// Creates a secret of random bytes.
    #[must_use]
    pub fn from_bytes(random: &[u8; 32]) -> Self {
        Self(format!("{CLIENT_SECRET_PREFIX}{}", BASE64URL_NOPAD.encode(random)).into())
    }

    /// Returns the text, which is shown once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the hash that is stored.
    #[must_use]
    pub fn hash(&self) -> OAuthSecretHash {
        OAuthSecretHash::new(self.reveal())
    }
}

impl OAuthSecretHash {
    /// Returns the hash of a presented text.
    #[must_use]
    pub fn new(presented: &str) -> Self {
        Self(HEXLOWER.encode(&Sha256::digest(presented)))
    }

    /// Compares two hashes in constant time.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }

    fn from_stored(text: &str) -> anyhow::Result<Self> {
        let is_hash = text.len() == 64 && HEXLOWER.decode(text.as_bytes()).is_ok();
        anyhow::ensure!(is_hash, "is no hash of a client's secret");
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for OAuthSecretHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OAuthSecretHash")
    }
}

signpost_store::text_columns! {
    OAuthSecretHash: |hash| &hash.0, OAuthSecretHash::from_stored;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_has_a_prefix_and_is_not_printed() {
        let secret = OAuthSecret::from_bytes(&[255; 32]);
        assert_eq!(secret.reveal(), format!("sgp_cs_{}8", "_".repeat(42)));
        assert!(!format!("{secret:?} {:?}", secret.hash()).contains("__"));
        assert!(secret.hash().matches(&OAuthSecretHash::new(secret.reveal())));
        assert!(!secret.hash().matches(&OAuthSecretHash::new("")));
    }

    #[test]
    fn malformed_secret_hash_is_rejected() {
        let hash = OAuthSecret::from_bytes(&[1; 32]).hash();
        assert!(OAuthSecretHash::from_stored(&hash.0).is_ok());
        for text in ["", "sgp_cs_x", &hash.0.to_uppercase(), &hash.0[1..]] {
            assert!(OAuthSecretHash::from_stored(text).is_err(), "{text}");
        }
    }
}
