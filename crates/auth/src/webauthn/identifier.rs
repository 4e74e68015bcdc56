//! Credential IDs and user handles of passkeys.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};

/// The credential ID of a passkey: 1 to 1023 bytes, written in base64url without padding.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PasskeyId(Vec<u8>);

/// The user handle of a passkey (`user.id`): 32 random bytes, written as 43 characters of base64url
/// without padding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PasskeyHandle([u8; PasskeyHandle::LENGTH]);

/// Error that a text is not a [`PasskeyId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the id of a passkey is 1 to 1023 bytes in base64url without padding")]
pub struct InvalidPasskeyId;

/// Error that a text is not a [`PasskeyHandle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the user handle of a passkey is 32 bytes as 43 characters of base64url without padding")]
pub struct InvalidPasskeyHandle;

impl PasskeyId {
    /// Maximum length in bytes (Web Authentication, section 4).
    pub const MAX_LENGTH: usize = 1023;

    /// Creates a credential ID from its bytes.
    ///
    /// # Errors
    /// Returns [`InvalidPasskeyId`] if there are no bytes or more than [`PasskeyId::MAX_LENGTH`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidPasskeyId> {
        let fits = (1..=Self::MAX_LENGTH).contains(&bytes.len());
        fits.then(|| Self(bytes.to_owned())).ok_or(InvalidPasskeyId)
    }

    /// Parses a credential ID in its canonical form.
    ///
    /// # Errors
    /// Returns [`InvalidPasskeyId`] for any other text.
    pub fn parse(text: &str) -> Result<Self, InvalidPasskeyId> {
        // 1023 bytes are encoded as 1364 characters.
        if text.len() > 1364 {
            return Err(InvalidPasskeyId);
        }
        Self::from_bytes(&BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| InvalidPasskeyId)?)
    }

    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl PasskeyHandle {
    /// Length of a user handle in bytes.
    pub const LENGTH: usize = 32;

    /// Creates a user handle from random bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Self::LENGTH]) -> Self {
        Self(bytes)
    }

    /// Parses a user handle in its canonical form.
    ///
    /// # Errors
    /// Returns [`InvalidPasskeyHandle`] for any other text.
    pub fn parse(text: &str) -> Result<Self, InvalidPasskeyHandle> {
        if text.len() != 43 {
            return Err(InvalidPasskeyHandle);
        }
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| InvalidPasskeyHandle)?;
        bytes.try_into().map(Self).map_err(|_| InvalidPasskeyHandle)
    }

    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }
}

impl fmt::Display for PasskeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64URL_NOPAD.encode(&self.0))
    }
}

impl fmt::Display for PasskeyHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64URL_NOPAD.encode(&self.0))
    }
}

impl fmt::Debug for PasskeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PasskeyId({self})")
    }
}

impl fmt::Debug for PasskeyHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PasskeyHandle({self})")
    }
}

impl FromStr for PasskeyId {
    type Err = InvalidPasskeyId;

    fn from_str(text: &str) -> Result<Self, InvalidPasskeyId> {
        Self::parse(text)
    }
}

impl FromStr for PasskeyHandle {
    type Err = InvalidPasskeyHandle;

    fn from_str(text: &str) -> Result<Self, InvalidPasskeyHandle> {
        Self::parse(text)
    }
}

impl TryFrom<String> for PasskeyId {
    type Error = InvalidPasskeyId;

    fn try_from(text: String) -> Result<Self, InvalidPasskeyId> {
        Self::parse(&text)
    }
}

impl TryFrom<String> for PasskeyHandle {
    type Error = InvalidPasskeyHandle;

    fn try_from(text: String) -> Result<Self, InvalidPasskeyHandle> {
        Self::parse(&text)
    }
}

impl From<PasskeyId> for String {
    fn from(id: PasskeyId) -> Self {
        id.to_string()
    }
}

impl From<PasskeyHandle> for String {
    fn from(handle: PasskeyHandle) -> Self {
        handle.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lengths_match_the_specification() {
        for length in [1, 16, 1023] {
            let id = PasskeyId::from_bytes(&vec![0xfe; length]).unwrap();
            assert_eq!(PasskeyId::parse(&id.to_string()), Ok(id));
        }
        assert_eq!(PasskeyId::from_bytes(&[]), Err(InvalidPasskeyId));
        assert_eq!(PasskeyId::from_bytes(&[0; 1024]), Err(InvalidPasskeyId));
        assert_eq!(PasskeyId::parse(&BASE64URL_NOPAD.encode(&[0; 1024])), Err(InvalidPasskeyId));
        for (bytes, is_handle) in [(0, false), (31, false), (32, true), (33, false), (64, false)] {
            let text = BASE64URL_NOPAD.encode(&vec![7; bytes]);
            assert_eq!(PasskeyHandle::parse(&text).is_ok(), is_handle, "{bytes}");
        }
    }

    #[test]
    fn only_the_canonical_spelling_parses() {
        for text in ["", "AA==", "A+", "A/", "AB", "A", "AA ", "AA\n", "é"] {
            assert_eq!(PasskeyId::parse(text), Err(InvalidPasskeyId), "{text:?}");
        }
        let text = PasskeyHandle::from_bytes([7; 32]).to_string();
        for bad in [format!("{text}="), text.replace('c', "d"), format!("{} ", &text[1..])] {
            assert_eq!(PasskeyHandle::parse(&bad), Err(InvalidPasskeyHandle), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn identifiers_round_trip(id in prop::collection::vec(any::<u8>(), 1..80), handle: [u8; 32]) {
            let id = PasskeyId::from_bytes(&id).unwrap();
            prop_assert_eq!(PasskeyId::parse(&id.to_string()), Ok(id.clone()));
            prop_assert_eq!(serde_json::from_value(serde_json::json!(id)).ok(), Some(id));
            let handle = PasskeyHandle::from_bytes(handle);
            prop_assert_eq!(PasskeyHandle::parse(&handle.to_string()), Ok(handle));
        }
    }
}
