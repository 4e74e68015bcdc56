//! Authorization codes and tokens. Both are opaque secrets, of which the database stores only
//! hashes.

use std::fmt;

use anyhow::Context;
use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use signpost_platform::pages::cookie::CookieHash;

/// The kind of an opaque token. Each kind has its own prefix, so that scanners can recognize leaked tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpaqueTokenKind {
    /// An authorization code.
    Code,
    /// An access token.
    Access,
    /// A refresh token.
    Refresh,
}

/// The kind of a stored token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// An access token.
    Access,
    /// A refresh token.
    Refresh,
    /// The session of an application behind a proxy.
    Session,
}

/// An authorization code or a token: 256 random bits.
#[derive(Clone, Debug)]
pub struct OpaqueToken(SecretString);

/// The SHA-256 of a token in hex, which the database stores.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TokenHash(String);

impl OpaqueTokenKind {
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

    /// Returns the word in the database.
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

impl OpaqueToken {
    /// Creates a token of 32 random bytes.
    #[must_use]
    pub fn new(kind: OpaqueTokenKind, random: [u8; 32]) -> Self {
        Self(format!("{}{}", kind.prefix(), BASE64URL_NOPAD.encode(&random)).into())
    }

    /// Parses a token of this kind.
    #[must_use]
    pub fn parse(kind: OpaqueTokenKind, text: &str) -> Option<Self> {
        let random = text.strip_prefix(kind.prefix())?;
        let bytes = BASE64URL_NOPAD.decode(random.as_bytes()).ok()?;
        (bytes.len() == 32).then(|| Self(text.into()))
    }

    /// Parses an access token or a refresh token.
    #[must_use]
    pub fn parse_access_or_refresh(text: &str) -> Option<Self> {
        Self::parse(OpaqueTokenKind::Access, text).or_else(|| Self::parse(OpaqueTokenKind::Refresh, text))
    }

    /// Returns the text of the token.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the hash that is stored.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash(HEXLOWER.encode(&Sha256::digest(self.reveal())))
    }
}

impl TokenHash {
    fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the hash of a cookie, which is the token of an application's session.
    #[must_use]
    pub fn from_cookie(cookie: &CookieHash) -> Self {
        Self(cookie.as_str().to_owned())
    }

    fn from_stored(text: &str) -> anyhow::Result<Self> {
        let is_hash = text.len() == 64 && HEXLOWER.decode(text.as_bytes()).is_ok();
        is_hash.then(|| Self(text.to_owned())).context("is no hash of a token")
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash")
    }
}

signpost_store::text_columns! {
    TokenHash: TokenHash::as_str, TokenHash::from_stored;
    TokenKind: |kind| kind.as_str(), TokenKind::from_stored;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_round_trips_as_its_own_kind() {
        let token = OpaqueToken::new(OpaqueTokenKind::Access, [7; 32]);
        let text = token.reveal();
        assert!(text.starts_with("sgp_at_"), "{text}");
        assert_eq!(OpaqueToken::parse(OpaqueTokenKind::Access, text).unwrap().hash(), token.hash());
        assert!(
            OpaqueToken::parse(OpaqueTokenKind::Refresh, text).is_none()
                && OpaqueToken::parse(OpaqueTokenKind::Code, text).is_none()
        );
        for other in ["", "sgp_at_", &text[1..], &text[..text.len() - 1], &format!("{text}=")] {
            assert!(OpaqueToken::parse(OpaqueTokenKind::Access, other).is_none(), "{other}");
        }
    }

    #[test]
    fn tokens_are_not_printed() {
        let token = OpaqueToken::new(OpaqueTokenKind::Refresh, [7; 32]);
        let printed = format!("{token:?} {:?}", token.hash());
        assert!(!printed.contains(token.reveal()) && !printed.contains(token.hash().as_str()), "{printed}");
    }
}
