//! Types that calls of different groups share.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// A page of a list to request. The default is the first page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paging {
    /// The maximum number of entries per page, 1 to 100.
    pub limit: Option<u8>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A change of an optional value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// Keeps the current value.
    #[default]
    Keep,
    /// Sets a new value.
    Set(T),
    /// Removes the value.
    Remove,
}

/// Metadata of a session, returned unchanged by the service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// The destination of the browser after the login: a path, or an https URL on the domain or a
    /// subdomain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_url: Option<String>,
    /// Arbitrary text of at most 4096 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_data: Option<String>,
    /// Further members of the metadata.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The kind of number matching that a session requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    /// The wallet must send the number that the page displays.
    Code,
}

/// The login method of a user of a hosted domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoginMethod {
    /// A wallet scanned the QR code.
    Scan,
    /// The browser wallet of the service.
    Browser,
    /// A Lightning wallet.
    Lightning,
    /// A passkey.
    Passkey,
    /// A method that a later version of the service introduced.
    #[serde(untagged)]
    Other(String),
}

/// The parameters of `POST /verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// The public key on secp256k1: 33 or 65 bytes in hex.
    pub public_key: String,
    /// The signature: DER in hex.
    pub signature: String,
    /// The signed text.
    pub message: String,
}

/// The result of `POST /verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Whether the signature is valid.
    pub valid: bool,
    /// The public key that was verified.
    pub public_key: String,
    /// The hash that is signed: `sha256:` and 64 lower-case hex digits.
    pub message_hash: String,
}

impl<T> Change<T> {
    /// Returns `true` if the value is kept.
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

/// Deserializes a member that is present. With `#[serde(default)]`, a missing member is
/// [`Change::Keep`].
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Remove, Self::Set))
    }
}

impl Metadata {
    /// Creates metadata that contain only this `return_url`.
    pub fn returning_to(url: impl Into<String>) -> Self {
        Self { return_url: Some(url.into()), ..Self::default() }
    }
}

impl LoginMethod {
    /// Returns the name that the API uses.
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
