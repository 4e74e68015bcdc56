//! Login on one device: the wallet alone is told a code, opens the page with it, and only that page's browser completes
//! the login. Whoever lured a wallet into answering waits in vain (RFC 10027: the session the attacker began is not the
//! browser that the wallet opens).

use std::fmt;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use serde::Serialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use url::Url;

use super::Session;

/// How a person gets from the page to the wallet and back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Flow {
    /// A code on one screen, scanned with another device.
    #[default]
    CrossDevice,
    /// A link on the device that has the wallet.
    SameDevice,
    /// A page of the service, from which the browser returns to the site.
    Page,
}

/// The code that completes a login on one device.
#[derive(Clone)]
pub struct CompletionCode(String);

/// What the database knows one by.
#[derive(Clone, PartialEq, Eq)]
pub struct CompletionHash(String);

impl Flow {
    /// The word in requests and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CrossDevice => "cross_device",
            Self::SameDevice => "same_device",
            Self::Page => "page",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::CrossDevice, Self::SameDevice, Self::Page].into_iter().find(|flow| flow.as_str() == text)
    }
}

impl CompletionCode {
    /// A code of 128 random bits.
    #[must_use]
    pub fn new(random: [u8; 16]) -> Self {
        Self(BASE64URL_NOPAD.encode(&random))
    }

    /// For the address that the browser returns to.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What the database keeps.
    #[must_use]
    pub fn hash(&self) -> CompletionHash {
        CompletionHash::from_code(&self.0)
    }

    /// Where the wallet sends the person: the session's `return_url` with the code in its query.
    #[must_use]
    pub fn redirect(&self, session: &Session) -> Option<Url> {
        let mut url = session.return_url()?;
        url.query_pairs_mut().append_pair("code", &self.0);
        Some(url)
    }
}

impl CompletionHash {
    /// The hash of what a request carries.
    #[must_use]
    pub fn from_code(code: &str) -> Self {
        Self(HEXLOWER.encode(&Sha256::digest(code)))
    }

    /// Whether both are of one code; takes the same time wherever they differ.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }

    /// One that was kept; `None` where that is no hash.
    pub(crate) fn from_stored(text: &str) -> Option<Self> {
        let is_one = text.len() == 64 && HEXLOWER.decode(text.as_bytes()).is_ok();
        is_one.then(|| Self(text.to_owned()))
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
