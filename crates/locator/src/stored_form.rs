//! Serde helpers that need less time or memory than serde's default implementations.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

/// Serializes the value behind an `Arc`.
pub(crate) fn serialize<S: Serializer>(shared: &Arc<impl Serialize>, serializer: S) -> Result<S::Ok, S::Error> {
    shared.as_ref().serialize(serializer)
}

/// Deserializes a value into a new `Arc`. It can be replaced by a shared `Arc` later.
pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Arc<T>, D::Error> {
    T::deserialize(from).map(Arc::new)
}

/// Deserializes a string with `parse`, without allocating a copy of it.
pub(crate) fn from_text<'de, D: Deserializer<'de>, T, E: fmt::Display>(
    deserializer: D,
    parse: fn(&str) -> Result<T, E>,
) -> Result<T, D::Error> {
    deserializer.deserialize_str(TextVisitor(parse))
}

struct TextVisitor<T, E>(fn(&str) -> Result<T, E>);

impl<T, E: fmt::Display> Visitor<'_> for TextVisitor<T, E> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<F: Error>(self, text: &str) -> Result<T, F> {
        (self.0)(text).map_err(F::custom)
    }
}
