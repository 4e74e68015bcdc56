//! Public identifiers of API keys.

use std::fmt;

use serde::Serialize;

/// Number of characters of an ID after the prefix `key_`.
pub(crate) const KEY_ID_LEN: usize = 16;

/// The public ID of an API key: `key_` and the first 16 characters of the key after its prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct KeyId(String);

impl KeyId {
    /// Creates an ID from the characters that a key contains.
    pub(crate) fn from_characters(characters: &str) -> Self {
        Self(format!("key_{characters}"))
    }

    /// Returns the ID as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses an ID. Returns `None` if the text is not an ID.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("key_")?;
        let is_id = rest.len() == KEY_ID_LEN && rest.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'));
        is_id.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&KeyId> for signpost_store::Value {
    fn from(id: &KeyId) -> Self {
        Self::Text(id.0.clone())
    }
}
