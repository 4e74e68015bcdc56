//! What whoever has it may use: codes and tokens. The database has their hashes alone.

use std::fmt;

use anyhow::Context;
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use signpost_platform::pages::cookie::CookieHash;

/// What a bearer secret is for. Its text begins with a word for it, so that one that leaked is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BearerKind {
    /// Redeemed once for tokens.
    Code,
    /// Reads what the client learns.
    Access,
    /// Gets new tokens.
    Refresh,
}

/// A token as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Reads what the client learns.
    Access,
    /// Gets new tokens.
    Refresh,
    /// The session of an application behind a proxy.
    Session,
}

/// A code or token: 256 random bits.
#[derive(Clone, Debug)]
pub struct Bearer(SecretString);

/// What the database knows one by: its SHA-256 in hex.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct BearerHash(String);

impl BearerKind {
    fn prefix(self) -> &'static str {
        match self {
            Self::Code => "sgp_code_",
            Self::Access => "sgp_at_",
            Self::Refresh => "sgp_rt_",
        }
    }
}

impl TokenKind {
    const ALL: [Self; 3] = [Self::Access, Self::Refresh, Self::Session];

    /// The word in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Refresh => "refresh",
            Self::Session => "session",
        }
    }

    fn from_stored(text: &str) -> anyhow::Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).context("is no kind of token")
    }
}

impl Bearer {
    /// Takes 32 random bytes.
    #[must_use]
    pub fn new(kind: BearerKind, random: [u8; 32]) -> Self {
        Self(format!("{}{}", kind.prefix(), BASE64URL_NOPAD.encode(&random)).into())
    }

    /// Reads what a request has; `None` where it cannot be one of ours.
    #[must_use]
    pub fn parse(kind: BearerKind, text: &str) -> Option<Self> {
        let random = text.strip_prefix(kind.prefix())?;
        let is_one = BASE64URL_NOPAD.decode(random.as_bytes()).is_ok_and(|bytes| bytes.len() == 32);
        is_one.then(|| Self(text.into()))
    }

    /// For whoever it is issued to.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }

    /// What is kept of it.
    #[must_use]
    pub fn hash(&self) -> BearerHash {
        BearerHash(HEXLOWER.encode(&Sha256::digest(self.reveal())))
    }
}

impl BearerHash {
    fn as_str(&self) -> &str {
        &self.0
    }

    /// The hash of a cookie, which is the bearer of an application's session.
    #[must_use]
    pub fn of_cookie(cookie: &CookieHash) -> Self {
        Self(cookie.as_str().to_owned())
    }

    fn from_stored(text: &str) -> anyhow::Result<Self> {
        let is_one = text.len() == 64 && HEXLOWER.decode(text.as_bytes()).is_ok();
        is_one.then(|| Self(text.to_owned())).context("is no hash of a token")
    }
}

impl fmt::Debug for BearerHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerHash")
    }
}

signpost_store::texts! {
    BearerHash: BearerHash::as_str, BearerHash::from_stored;
    TokenKind: |kind| kind.as_str(), TokenKind::from_stored;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back_as_what_it_is_and_as_nothing_else() {
        let token = Bearer::new(BearerKind::Access, [7; 32]);
        let text = token.reveal();
        assert!(text.starts_with("sgp_at_"), "{text}");
        assert_eq!(Bearer::parse(BearerKind::Access, text).unwrap().hash(), token.hash());
        assert!(Bearer::parse(BearerKind::Refresh, text).is_none() && Bearer::parse(BearerKind::Code, text).is_none());
        for other in ["", "sgp_at_", &text[1..], &text[..text.len() - 1], &format!("{text}=")] {
            assert!(Bearer::parse(BearerKind::Access, other).is_none(), "{other}");
        }
    }

    #[test]
    fn nothing_prints_a_token() {
        let token = Bearer::new(BearerKind::Refresh, [7; 32]);
        let printed = format!("{token:?} {:?}", token.hash());
        assert!(!printed.contains(token.reveal()) && !printed.contains(token.hash().as_str()), "{printed}");
    }
}
