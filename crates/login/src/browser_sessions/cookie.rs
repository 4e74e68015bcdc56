//! What a browser holds: a secret in a cookie, of which only the hash is kept.

use std::fmt;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The value of the login host's cookie: 256 random bits, drawn anew at each login.
#[derive(Clone, Debug)]
pub struct CookieSecret(SecretString);

/// What the database knows one by.
#[derive(Clone, PartialEq, Eq)]
pub struct CookieHash(String);

impl CookieSecret {
    /// Takes 32 random bytes.
    #[must_use]
    pub fn from_bytes(random: [u8; 32]) -> Self {
        Self(BASE64URL_NOPAD.encode(&random).into())
    }

    /// Reads a cookie's value; `None` where it cannot be one of ours.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let bytes = BASE64URL_NOPAD.decode(value.as_bytes()).ok();
        bytes.filter(|bytes| bytes.len() == 32).map(|_| Self(value.into()))
    }

    /// For the cookie.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }

    /// What is kept of it.
    #[must_use]
    pub fn hash(&self) -> CookieHash {
        CookieHash(HEXLOWER.encode(&Sha256::digest(self.reveal())))
    }
}

impl CookieHash {
    /// Whether both are of one cookie; takes the same time wherever they differ.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl fmt::Debug for CookieHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieHash")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookies_value_reads_back_and_nothing_else_is_one() {
        let secret = CookieSecret::from_bytes([7; 32]);
        assert_eq!(CookieSecret::parse(secret.reveal()).unwrap().hash(), secret.hash());
        for value in ["", "abc", &secret.reveal()[1..], &format!("{}=", secret.reveal()), "é"] {
            assert!(CookieSecret::parse(value).is_none(), "{value}");
        }
    }

    #[test]
    fn nothing_prints_a_cookie() {
        let secret = CookieSecret::from_bytes([7; 32]);
        let printed = format!("{secret:?} {:?}", secret.hash());
        assert!(!printed.contains(secret.reveal()) && !printed.contains("Bwc"), "{printed}");
        assert!(!secret.hash().matches(&CookieSecret::from_bytes([8; 32]).hash()));
    }
}
