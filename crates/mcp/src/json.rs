//! JSON parsers: members of objects without copying their values, and objects with detection of duplicate members.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The requested members of an object as raw JSON, in the requested order. A missing member is `None`; a `null` member
/// is `Some`.
pub(crate) struct RawMembers<'a, const N: usize> {
    pub(crate) values: [Option<&'a RawValue>; N],
    /// The name of a requested member that occurs several times, so that its value is ambiguous.
    pub(crate) repeated: Option<&'static str>,
}

impl<'a, const N: usize> RawMembers<'a, N> {
    /// Parses `text`, which must be a JSON object.
    pub(crate) fn read(text: &'a str, names: [&'static str; N]) -> serde_json::Result<Self> {
        let mut json = serde_json::Deserializer::from_str(text);
        let members = MemberNames(names).deserialize(&mut json)?;
        json.end()?;
        Ok(members)
    }
}

impl<const N: usize> Default for RawMembers<'_, N> {
    fn default() -> Self {
        Self { values: [None; N], repeated: None }
    }
}

/// The names of the requested members. Other members are only checked for syntax.
struct MemberNames<const N: usize>([&'static str; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for MemberNames<N> {
    type Value = RawMembers<'de, N>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de, const N: usize> Visitor<'de> for MemberNames<N> {
    type Value = RawMembers<'de, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = RawMembers::default();
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

/// Finds the index of a key in the names, without copying the key.
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

/// A parsed object with the name of its first duplicate member at any depth.
pub(crate) struct StrictObject {
    pub(crate) members: Map<String, Value>,
    pub(crate) repeated: Option<String>,
}

impl<'de> serde::Deserialize<'de> for StrictObject {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Whole;
        impl<'de> Visitor<'de> for Whole {
            type Value = StrictObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StrictObject, A::Error> {
                let mut repeated = None;
                Ok(StrictObject { members: StrictValue(&mut repeated).members(map)?, repeated })
            }
        }
        json.deserialize_map(Whole)
    }
}

/// Parses a value, and stores the first duplicate member name that occurs in it.
struct StrictValue<'r>(&'r mut Option<String>);

impl StrictValue<'_> {
    fn members<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<Map<String, Value>, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value_seed(StrictValue(self.0))?;
            if members.contains_key(&name) {
                self.0.get_or_insert_with(|| name.clone());
            }
            members.insert(name, value);
        }
        Ok(members)
    }
}

impl<'de> DeserializeSeed<'de> for StrictValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictValue<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        self.members(map).map(Value::Object)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(StrictValue(self.0))? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }
}

/// Returns the JSON type of a value, for error messages.
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

/// Returns the text of a JSON string, or `None` for other values and for strings with lone surrogates.
pub(crate) fn string(value: &RawValue) -> Option<std::borrow::Cow<'_, str>> {
    use std::borrow::Cow;
    let inner = value.get().strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(value.get()).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_member_is_detected_at_any_depth() {
        for (json, repeated) in [
            (r#"{"a": 1, "b": {"a": 2}, "c": [{"a": 3}, {"a": 4}]}"#, None),
            (r#"{"a": 1, "a": 2}"#, Some("a")),
            (r#"{"a": {"b": [null, {"c": true, "d": -1.5, "\u0063": false}]}}"#, Some("c")),
        ] {
            let object: StrictObject = serde_json::from_str(json).unwrap();
            assert_eq!(object.repeated.as_deref(), repeated);
            assert_eq!(Value::Object(object.members), serde_json::from_str::<Value>(json).unwrap());
        }
    }
}
