//! What several calls have in common.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Which part of a list. The default is its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paging {
    /// The maximum number of entries, 1 to 100.
    pub limit: Option<u8>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// What becomes of a member that can be removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// It stays as it is.
    #[default]
    Keep,
    /// It becomes this.
    Set(T),
    /// It is removed.
    Remove,
}

/// What the service returns unchanged with a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// Where the person goes after the login: a path, or an https URL on the domain or below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_url: Option<String>,
    /// Anything of at most 4096 characters.
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
    /// The wallet must send back the number that the page shows.
    Code,
}

/// How a user of a hosted domain proves to have the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoginMethod {
    /// A wallet scanned the code.
    Scan,
    /// The wallet in the browser answered it.
    Browser,
    /// A Lightning wallet did.
    Lightning,
    /// A passkey.
    Passkey,
    /// A word of a later version.
    #[serde(untagged)]
    Other(String),
}

/// What `POST /verify` checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// secp256k1, 33 or 65 bytes in hex.
    pub public_key: String,
    /// DER, in hex.
    pub signature: String,
    /// The text that was signed.
    pub message: String,
}

/// What `POST /verify` found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Whether the signature is one of this key over this message.
    pub valid: bool,
    /// As it was given.
    pub public_key: String,
    /// `sha256:` and 64 lower-case hex digits.
    pub message_hash: String,
}

impl<T> Change<T> {
    /// Whether nothing changes.
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

/// For members that are there; `#[serde(default)]` makes a missing one [`Change::Keep`].
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Remove, Self::Set))
    }
}

impl Metadata {
    /// With this `return_url` and nothing else.
    pub fn returning_to(url: impl Into<String>) -> Self {
        Self { return_url: Some(url.into()), ..Self::default() }
    }
}

impl LoginMethod {
    /// The word as the API writes it.
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
