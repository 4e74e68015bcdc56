//! Types used by several calls.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// A part of a list. The default is the first page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paging {
    /// The maximum number of entries, 1 to 100.
    pub limit: Option<u8>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A change of an optional member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// No change.
    #[default]
    Keep,
    /// A new value.
    Set(T),
    /// Removal.
    Remove,
}

/// Metadata of a session, returned unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// The destination after the login: a path, or an https URL on the domain or a subdomain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_url: Option<String>,
    /// Any text of at most 4096 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_data: Option<String>,
    /// Further members.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Number matching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    /// The wallet must send the number on the page.
    Code,
}

/// The login method of a user of a hosted domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoginMethod {
    /// A wallet that scanned the code.
    Scan,
    /// The wallet in the browser.
    Browser,
    /// A Lightning wallet.
    Lightning,
    /// A passkey.
    Passkey,
    /// A value of a later version.
    #[serde(untagged)]
    Other(String),
}

/// The request of `POST /verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// The public key on secp256k1, 33 or 65 bytes in hex.
    pub public_key: String,
    /// The signature, DER in hex.
    pub signature: String,
    /// The signed text.
    pub message: String,
}

/// The result of `POST /verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Whether the signature is valid.
    pub valid: bool,
    /// The public key of the request.
    pub public_key: String,
    /// The signed hash: `sha256:` and 64 lower-case hex digits.
    pub message_hash: String,
}

impl<T> Change<T> {
    /// Returns true if nothing changes.
    #[must_use]
    pub fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

impl<T: Serialize> Serialize for Change<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Set(value) => value.serialize(serializer),
            Self::Keep | Self::Remove => serializer.serialize_none(),
        }
    }
}

/// Deserializes a present member; `#[serde(default)]` makes a missing member [`Change::Keep`].
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Remove, Self::Set))
    }
}

impl Metadata {
    /// Creates metadata with this `return_url` only.
    pub fn returning_to(url: impl Into<String>) -> Self {
        Self { return_url: Some(url.into()), ..Self::default() }
    }
}

impl LoginMethod {
    /// Returns the name used by the API.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Scan => "scan",
            Self::Browser => "browser",
            Self::Lightning => "lightning",
            Self::Passkey => "passkey",
            Self::Other(word) => word,
        }
    }
}

impl fmt::Display for LoginMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
