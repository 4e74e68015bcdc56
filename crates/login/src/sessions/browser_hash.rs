//! Binds a login on a page to the browser that started it. In any other browser, a link to the page
//! and a completion code are worthless.

use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use serde::Serialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The SHA-256 hash of a secret in a cookie of the site, in base64url.
#[derive(Clone, Serialize)]
#[serde(transparent)]
pub struct BrowserHash(String);

impl BrowserHash {
    /// Parses 43 characters of base64url without padding.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        (bytes.len() == 32).then(|| Self(text.to_owned()))
    }

    /// Returns true if this is the hash of the secret, in constant time.
    #[must_use]
    pub fn matches(&self, secret: &str) -> bool {
        let other = BASE64URL_NOPAD.encode(&Sha256::digest(secret));
        self.0.as_bytes().ct_eq(other.as_bytes()).into()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for BrowserHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BrowserHash")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browser_hash_has_one_encoding() {
        let text = "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0";
        let hash = BrowserHash::parse(text).unwrap();
        assert_eq!(
            (hash.matches("abc"), hash.matches("abd"), hash.matches(""), hash.as_str()),
            (true, false, false, text)
        );
        for other in ["", &text[1..], &format!("{text}="), &format!("{text}A"), &text.replace('-', "+"), "é"] {
            assert!(BrowserHash::parse(other).is_none(), "{other}");
        }
    }
}
