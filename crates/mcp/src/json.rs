//! Reading JSON objects without copying: the members that are asked for, as they were written.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Some members of an object, in the order asked for. A member that is absent is `None`; `null` is `Some`.
pub(crate) struct Members<'a, const N: usize> {
    pub(crate) values: [Option<&'a RawValue>; N],
    /// A member asked for that stands there twice: which of the two counts would be anyone's guess.
    pub(crate) repeated: Option<&'static str>,
}

impl<'a, const N: usize> Members<'a, N> {
    /// Reads the whole of `text`; the error says where it is not a JSON object.
    pub(crate) fn read(text: &'a str, names: [&'static str; N]) -> serde_json::Result<Self> {
        let mut json = serde_json::Deserializer::from_str(text);
        let members = Names(names).deserialize(&mut json)?;
        json.end()?;
        Ok(members)
    }
}

impl<const N: usize> Default for Members<'_, N> {
    fn default() -> Self {
        Self { values: [None; N], repeated: None }
    }
}

/// The members of an object to keep; the rest is checked and skipped.
struct Names<const N: usize>([&'static str; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for Names<N> {
    type Value = Members<'de, N>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de, const N: usize> Visitor<'de> for Names<N> {
    type Value = Members<'de, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members::default();
        while let Some(position) = map.next_key_seed(Position(&self.0))? {
            match position {
                Some(at) => {
                    if members.values[at].replace(map.next_value()?).is_some() {
                        members.repeated = Some(self.0[at]);
                    }
                }
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(members)
    }
}

/// Which of the names a key is; it never copies the key.
struct Position<'n>(&'n [&'static str]);

impl<'de> DeserializeSeed<'de> for Position<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Position<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| *name == key))
    }
}

/// A whole object, and the first of its members that stands there twice.
pub(crate) struct Object {
    pub(crate) members: Map<String, Value>,
    pub(crate) repeated: Option<String>,
}

impl<'de> serde::Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Whole;
        impl<'de> Visitor<'de> for Whole {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let (mut members, mut repeated) = (Map::new(), None);
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if members.contains_key(&name) {
                        repeated.get_or_insert_with(|| name.clone());
                    }
                    members.insert(name, value);
                }
                Ok(Object { members, repeated })
            }
        }
        json.deserialize_map(Whole)
    }
}

/// The word for a value's type, for error texts.
pub(crate) fn kind(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// The text of a JSON string; `None` for any other value and for one that is not Unicode (a lone surrogate).
pub(crate) fn string(value: &RawValue) -> Option<std::borrow::Cow<'_, str>> {
    use std::borrow::Cow;
    let inner = value.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(value.get()).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}
