//! Deserializes structs from raw settings. A field of a struct reads the setting with its name. A
//! field whose name is not a setting is a part: a nested struct that reads its fields from these
//! settings too. Settings that no field reads are unknown.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::de::value::StrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, Expected, IntoDeserializer, MapAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::{InvalidSetting, Origin, RawSettings, ShownSetting, raw};

/// Deserializes the whole configuration from raw settings.
pub(super) fn read<'de, T: Deserialize<'de>>(raw: &RawSettings) -> Result<T, InvalidSetting> {
    let mut unread = raw.iter().collect();
    T::deserialize(Part { unread: &mut unread, name: None })
}

/// Returns every setting without secrets.
pub(super) fn show(raw: &RawSettings) -> Vec<ShownSetting> {
    let mut settings = Vec::new();
    for (key, (text, origin)) in raw.iter() {
        let value = if text.is_empty() { String::new() } else { printable(key, text) };
        settings.push(ShownSetting { key: key.to_owned(), value, origin: origin.clone() });
    }
    settings
}

/// The settings that no field has read yet.
type Unread<'a> = BTreeMap<&'a str, (&'a str, &'a Origin)>;

/// The deserializer of a struct.
struct Part<'s, 'a> {
    unread: &'s mut Unread<'a>,
    /// The name of the field that contains the struct. `None` for the whole configuration.
    name: Option<&'static str>,
}

impl<'de> Deserializer<'de> for Part<'_, '_> {
    type Error = InvalidSetting;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, InvalidSetting> {
        visitor.visit_map(SettingFields { part: self, left: fields.iter(), field: "" })
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, InvalidSetting> {
        Err(InvalidSetting::custom(format_args!("config.default.toml has no '{}'", self.name.unwrap_or_default())))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Deserializes the fields of a struct in sequence.
struct SettingFields<'s, 'a> {
    part: Part<'s, 'a>,
    left: std::slice::Iter<'static, &'static str>,
    field: &'static str,
}

impl<'de> MapAccess<'de> for SettingFields<'_, '_> {
    type Error = InvalidSetting;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, InvalidSetting> {
        if let Some(field) = self.left.next() {
            self.field = field;
            return seed.deserialize(StrDeserializer::new(field)).map(Some);
        }
        // A part ignores unknown keys, which may belong to other parts. After the whole configuration, the remaining
        // keys are unknown.
        if self.part.name.is_some() {
            return Ok(None);
        }
        let Some((key, (_, origin))) = self.part.unread.first_key_value() else { return Ok(None) };
        let seeded = seed.deserialize(StrDeserializer::new(key)).map(Some);
        seeded.map_err(|_: InvalidSetting| InvalidSetting(raw::unknown(key, origin)))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, InvalidSetting> {
        let Some((text, origin)) = self.part.unread.remove(self.field) else {
            return seed.deserialize(Part { unread: self.part.unread, name: Some(self.field) });
        };
        let key = self.field;
        seed.deserialize(SettingText(text)).map_err(|error| match error {
            ValueError::NotAllowed(allowed) => {
                let value = printable(key, text);
                InvalidSetting(format!("{key} ({origin}): '{value}' is not allowed; allowed is {allowed}"))
            }
            ValueError::Unknown => InvalidSetting(raw::unknown(key, origin)),
            ValueError::Message(message) => InvalidSetting(format!("{key} ({origin}): {message}")),
        })
    }
}

/// Returns a value for an error: without keys, and without user and query of a URL, because they may contain passwords.
fn printable(key: &str, value: &str) -> String {
    let is_database = matches!(key, "database_url" | "redis_url");
    if key.contains("_key") || is_database && !value.contains("://") {
        return "…".to_owned();
    }
    if !key.ends_with("_url") && !key.ends_with("_endpoint") {
        return value.to_owned();
    }
    let (address, rest) = value.split_at(value.find(['?', '#']).unwrap_or(value.len()));
    let address = address.rsplit_once('@').map_or_else(|| address.to_owned(), |(_, host)| format!("…@{host}"));
    if rest.is_empty() { address } else { address + &rest[..1] + "…" }
}

/// The text of a setting. An empty text is an absent value.
struct SettingText<'a>(&'a str);

impl<'de> Deserializer<'de> for SettingText<'_> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        if self.0.is_empty() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_bool(self.0.parse().map_err(|_| ValueError::NotAllowed("true or false".to_owned()))?)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_enum(self.0.to_ascii_lowercase().into_deserializer())
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, ValueError> {
        Err(ValueError::Unknown)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}

/// The error for the text of a setting.
#[derive(Debug, thiserror::Error)]
enum ValueError {
    /// The value is not allowed; contains the allowed values.
    #[error("allowed is {0}")]
    NotAllowed(String),
    /// The key is the name of a part, and not a setting.
    #[error("no setting has this name")]
    Unknown,
    #[error("{0}")]
    Message(String),
}

impl Error for ValueError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Message(message.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, allowed: &dyn Expected) -> Self {
        Self::NotAllowed(allowed.to_string())
    }

    fn invalid_value(_: Unexpected<'_>, allowed: &dyn Expected) -> Self {
        Self::NotAllowed(allowed.to_string())
    }

    fn unknown_variant(_: &str, allowed: &'static [&'static str]) -> Self {
        match allowed {
            [first @ .., last] if !first.is_empty() => Self::NotAllowed(format!("{} or {last}", first.join(", "))),
            _ => Self::NotAllowed(allowed.concat()),
        }
    }
}

impl Error for InvalidSetting {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}
