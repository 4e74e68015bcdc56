//! How values are stored, where serde's own way would cost a catalogue time or memory.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

/// What may be shared is stored as what it is.
pub(crate) fn serialize<S: Serializer>(shared: &Arc<impl Serialize>, serializer: S) -> Result<S::Ok, S::Error> {
    shared.as_ref().serialize(serializer)
}

/// It is read as a value of its own, which others may share later.
pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Arc<T>, D::Error> {
    T::deserialize(from).map(Arc::new)
}

/// What `parse` makes of a text, which is read where it stands: a catalogue has a million texts that nobody keeps.
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
