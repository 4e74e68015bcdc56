//! Parses and checks client data (Web Authentication, section 5.8.1).

use data_encoding::BASE64URL_NOPAD;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};

use super::refusal::PasskeyRefusal;
use super::relying_party::RelyingParty;

/// The client data: JSON that the browser writes, and whose hash the authenticator signs.
#[derive(Clone, Debug)]
pub(super) struct ClientData {
    bytes: Vec<u8>,
    read: CollectedClientData,
}

/// The parsed members. Unknown members are ignored, and duplicate members are rejected.
#[derive(Clone, Debug, Deserialize)]
struct CollectedClientData {
    #[serde(rename = "type")]
    kind: String,
    challenge: String,
    origin: String,
    #[serde(rename = "crossOrigin", default)]
    cross_origin: bool,
    #[serde(rename = "topOrigin", default, deserialize_with = "is_present")]
    has_top_origin: bool,
}

/// The operation that a page requested from the authenticator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ceremony {
    Create,
    Get,
}

impl ClientData {
    pub(super) fn parse(bytes: Vec<u8>) -> Result<Self, PasskeyRefusal> {
        let text = std::str::from_utf8(&bytes).map_err(|_| PasskeyRefusal::Malformed("client data is UTF-8"))?;
        // Web Authentication decodes client data like browsers decode text, which skips a byte
        // order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let read = serde_json::from_str(text).map_err(|_| {
            PasskeyRefusal::Malformed("client data is JSON with one type, challenge and origin, crossOrigin a boolean")
        })?;
        Ok(Self { bytes, read })
    }

    /// Checks that a page of this relying party requested this ceremony with this challenge.
    pub(super) fn check(
        &self,
        ceremony: Ceremony,
        rp: &RelyingParty,
        challenge: &[u8; 32],
    ) -> Result<(), PasskeyRefusal> {
        let CollectedClientData { kind, challenge: answered, origin, cross_origin, has_top_origin } = &self.read;
        if kind != ceremony.as_str() {
            return Err(PasskeyRefusal::Type);
        }
        if *answered != BASE64URL_NOPAD.encode(challenge) {
            return Err(PasskeyRefusal::Challenge);
        }
        if origin != rp.origin() {
            return Err(PasskeyRefusal::Origin);
        }
        if *cross_origin || *has_top_origin {
            return Err(PasskeyRefusal::CrossOrigin);
        }
        Ok(())
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes that the authenticator signs: the authenticator data and the hash of the
    /// client data.
    pub(super) fn signed_with(&self, authenticator_data: &[u8]) -> Vec<u8> {
        [authenticator_data, &Sha256::digest(&self.bytes)].concat()
    }
}

impl Ceremony {
    fn as_str(self) -> &'static str {
        match self {
            Self::Create => "webauthn.create",
            Self::Get => "webauthn.get",
        }
    }
}

/// Deserializes any value, including `null`, to `true`.
fn is_present<'de, D: Deserializer<'de>>(value: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(value).map(|_| true)
}
