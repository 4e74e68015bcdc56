//! Deserializes the members of a JSON object. Error messages describe the allowed values in terms
//! of JSON.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;
use serde_path_to_error::Segment;

use crate::web::problem::Problem;

/// The members of a JSON object as raw JSON. No object within them has duplicate members.
#[derive(Debug)]
pub(super) struct JsonMembers<'a>(BTreeMap<String, &'a RawValue>);

/// The value of a member as raw JSON.
#[derive(Clone, Copy)]
struct JsonMember<'a>(&'a RawValue);

/// A member that may be null. `Option<Nullable<T>>` is `None` if the member is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nullable<T>(pub Option<T>);

/// The reason a member is invalid.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
struct MemberError {
    /// The name of the missing member, relative to the innermost object with the error.
    missing: Option<&'static str>,
    reason: String,
}

/// Deserializes an object as raw JSON, so that it can be returned unchanged. Use it with
/// `#[serde(default, deserialize_with = "raw_object")]`.
///
/// # Errors
/// Returns an error if the value is not an object.
pub fn raw_object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    if raw.get().starts_with('{') {
        Ok(Some(raw))
    } else {
        Err(de::Error::custom(JsonMember(&raw).must_be("an object")))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        if raw.get() == "null" {
            return Ok(Self(None));
        }
        T::deserialize(JsonMember(raw)).map(|value| Self(Some(value))).map_err(de::Error::custom)
    }
}

impl<'a> JsonMembers<'a> {
    /// Parses a JSON object.
    ///
    /// # Errors
    /// Returns [`Problem::InvalidJson`] if the text is not JSON, or [`Problem::InvalidRequest`] if
    /// it is not an object or contains an object with duplicate members.
    pub(super) fn parse(body: &'a [u8]) -> Result<Self, Problem> {
        let members: Self = serde_json::from_slice(body).map_err(|error| to_problem(&error))?;
        members.0.values().try_for_each(|value| check(value)).map_err(|error| to_problem(&error))?;
        Ok(members)
    }

    /// Deserializes the members into a struct.
    ///
    /// # Errors
    /// Returns [`Problem::InvalidRequest`] with the member that is unknown, missing or invalid.
    pub(super) fn deserialize<T: DeserializeOwned>(self) -> Result<T, Problem> {
        serde_path_to_error::deserialize(self.into_map()).map_err(|error| {
            let names = error.path().iter().map_while(|segment| match segment {
                Segment::Map { key } => Some(key.as_str()),
                _ => None,
            });
            let path: Vec<&str> = names.chain(error.inner().missing).collect();
            let field = if path.is_empty() { "body".to_owned() } else { path.join(".") };
            Problem::field(field, &error.inner().reason)
        })
    }

    fn into_map(self) -> MapDeserializer<'a, impl Iterator<Item = (String, JsonMember<'a>)>, MemberError> {
        MapDeserializer::new(self.0.into_iter().map(|(name, value)| (name, JsonMember(value))))
    }
}

/// Checks raw JSON: nested objects must not have duplicate members, and strings must be valid
/// Unicode.
fn check(value: &RawValue) -> serde_json::Result<()> {
    let text = value.get();
    match text.as_bytes().first() {
        Some(b'{') => serde_json::from_str::<JsonMembers<'_>>(text)?.0.values().try_for_each(|value| check(value)),
        Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(text)?.into_iter().try_for_each(check),
        Some(b'"') if text.contains("\\u") => serde_json::from_str::<String>(text).map(drop),
        _ => Ok(()),
    }
}

fn to_problem(error: &serde_json::Error) -> Problem {
    match error.classify() {
        serde_json::error::Category::Data => Problem::field("body", without_position(error)),
        _ => Problem::InvalidJson(error.to_string()),
    }
}

/// Returns the message of the JSON parser without the position, because bodies are usually a single
/// line.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line").next().unwrap_or_default().to_owned()
}

impl<'de> Deserialize<'de> for JsonMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = JsonMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            // Some parsers use the first of several duplicate members, and others use the last, so
            // duplicates are rejected.
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonMembers<'de>, A::Error> {
                let mut members = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    if members.contains_key(&name) {
                        return Err(de::Error::custom(format!("the field '{name}' is duplicated")));
                    }
                    members.insert(name, value);
                }
                Ok(JsonMembers(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

impl<'de> JsonMember<'de> {
    fn parse<T: Deserialize<'de>>(self, expected: &str) -> Result<T, MemberError> {
        serde_json::from_str(self.0.get()).map_err(|_| self.must_be(expected))
    }

    fn must_be(self, expected: &str) -> MemberError {
        let kind = match self.0.get().as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'"') => "a string",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ => "a number",
        };
        MemberError { missing: None, reason: format!("must be {expected}, not {kind}") }
    }
}

impl<'de> IntoDeserializer<'de, MemberError> for JsonMember<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Deserializes a member. Unlike this deserializer, that of `serde_json` has error messages about
/// Rust types and treats null like an absent member. Members are strings, booleans, enums
/// (strings), arrays of strings and objects; values of other types get the error messages of
/// `serde_json`.
impl<'de> Deserializer<'de> for JsonMember<'de> {
    type Error = MemberError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MemberError> {
        self.0.deserialize_any(visitor).map_err(|error| de::Error::custom(without_position(&error)))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MemberError> {
        visitor.visit_bool(self.parse("true or false")?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MemberError> {
        visitor.visit_string(self.parse("a string")?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MemberError> {
        self.deserialize_str(visitor)
    }

    /// Not called for absent members. The type inside the `Option` handles `null`.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MemberError> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, MemberError> {
        let strings: Vec<String> = self.parse("an array of strings")?;
        visitor.visit_seq(SeqDeserializer::new(strings.into_iter()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, MemberError> {
        visitor.visit_map(self.parse::<JsonMembers<'_>>("an object")?.into_map())
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, MemberError> {
        visitor.visit_enum(self.parse::<String>("a string")?.into_deserializer())
    }

    /// Deserializes [`RawValue`], the only newtype in request bodies.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, MemberError> {
        self.0.deserialize_newtype_struct(name, visitor).map_err(|error| de::Error::custom(without_position(&error)))
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct map
        identifier ignored_any
    }
}

impl de::Error for MemberError {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self { missing: None, reason: reason.to_string() }
    }

    fn missing_field(field: &'static str) -> Self {
        Self { missing: Some(field), reason: "is required".to_owned() }
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self::custom("is not a known field of this request")
    }

    fn unknown_variant(_: &str, allowed: &'static [&'static str]) -> Self {
        let words = format!("'{}'", allowed.join("', '"));
        match words.rsplit_once(", ") {
            Some((others, last)) => Self::custom(format!("must be {others} or {last}")),
            None => Self::custom(format!("must be {words}")),
        }
    }
}
