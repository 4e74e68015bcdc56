//! Completion codes of the same-device flow. Only the wallet receives the completion code, and
//! opens the site with it in the browser of its user. An attacker who tricks a user into answering
//! the attacker's session does not get the code (RFC 10027).

use std::fmt;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use url::Url;

use super::Session;

/// The flow of a login: how the wallet gets the challenge, and how the login is completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flow {
    /// The site shows a QR code that is scanned with another device.
    #[default]
    CrossDevice,
    /// The site shows a link that opens the wallet on the same device.
    SameDevice,
    /// The site redirects the browser to a page of the service. After the login the browser returns
    /// to the site.
    Page,
}

/// The code that completes a login of the same-device or the page flow.
#[derive(Clone)]
pub struct CompletionCode(String);

/// The SHA-256 hash of a completion code, for the database.
#[derive(Clone, PartialEq, Eq)]
pub struct CompletionHash(String);

impl Flow {
    /// Returns the name in requests and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CrossDevice => "cross_device",
            Self::SameDevice => "same_device",
            Self::Page => "page",
        }
    }

    /// Parses the name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::CrossDevice, Self::SameDevice, Self::Page].into_iter().find(|flow| flow.as_str() == text)
    }
}

impl CompletionCode {
    /// Creates a code from 128 random bits.
    #[must_use]
    pub fn new(random: [u8; 16]) -> Self {
        Self(BASE64URL_NOPAD.encode(&random))
    }

    /// Returns the code itself, for the return URL.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the hash for the database.
    #[must_use]
    pub fn hash(&self) -> CompletionHash {
        CompletionHash::from_code(&self.0)
    }

    /// Returns the URL that the wallet opens: the session's `return_url` with the code in its query.
    #[must_use]
    pub fn redirect(&self, session: &Session) -> Option<Url> {
        let mut url = session.return_url()?;
        url.query_pairs_mut().append_pair("code", &self.0);
        Some(url)
    }
}

impl CompletionHash {
    /// Hashes the code of a request.
    #[must_use]
    pub fn from_code(code: &str) -> Self {
        Self(HEXLOWER.encode(&Sha256::digest(code)))
    }

    /// Returns true if the hashes are equal, in constant time.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }

    /// Parses a stored hash.
    pub(crate) fn from_stored(text: &str) -> Option<Self> {
        let is_hash = text.len() == 64 && HEXLOWER.decode(text.as_bytes()).is_ok();
        is_hash.then(|| Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for CompletionCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CompletionCode")
    }
}

impl fmt::Debug for CompletionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CompletionHash")
    }
}
