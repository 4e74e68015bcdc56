//! Values that integrators store with a user: the ID of the user in their own database, and further data.

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Maximum length of an external ID in characters.
const MAX_ID_LEN: usize = 128;
/// Maximum size of the metadata of a user in bytes of JSON.
const MAX_METADATA_LEN: usize = 4096;
/// Maximum depth of the metadata of a user; the object itself has depth 1.
const MAX_METADATA_DEPTH: usize = 4;
/// A member name that changes the prototype of objects in JavaScript.
const PROTOTYPE: &str = "__proto__";

/// The ID of a user in the integrator's own database, unique in the domain: a single line without invisible characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ExternalId(String);

/// The integrator's data about a user, a JSON object of bounded size and depth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct UserMetadata(Map<String, Value>);

impl ExternalId {
    /// Parses the ID in a request. It is compared character by character, so nothing is removed from it.
    ///
    /// # Errors
    /// Returns the violated rule.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_clean = signpost_text::clean_line(text) == text && text.trim() == text;
        if !is_clean || !(1..=MAX_ID_LEN).contains(&text.chars().count()) {
            return Err(format!("must have 1 to {MAX_ID_LEN} visible characters, without spaces around them"));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn from_stored(text: &str) -> Result<Self> {
        ensure!(Self::parse(text).is_ok(), "is no external ID");
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for ExternalId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl TryFrom<Map<String, Value>> for UserMetadata {
    type Error = String;

    fn try_from(object: Map<String, Value>) -> Result<Self, String> {
        let value = Value::Object(object);
        if !is_within_depth(&value, MAX_METADATA_DEPTH) {
            return Err(format!("must be nested at most {MAX_METADATA_DEPTH} deep"));
        }
        if names_prototype(&value) {
            return Err(format!("must not have a member '{PROTOTYPE}'"));
        }
        if value.to_string().len() > MAX_METADATA_LEN {
            return Err(format!("must have at most {MAX_METADATA_LEN} bytes of JSON"));
        }
        match value {
            Value::Object(object) => Ok(Self(object)),
            _ => Err("must be an object".to_owned()),
        }
    }
}

fn is_within_depth(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(members) => depth > 0 && members.values().all(|value| is_within_depth(value, depth - 1)),
        Value::Array(items) => depth > 0 && items.iter().all(|value| is_within_depth(value, depth - 1)),
        _ => true,
    }
}

fn names_prototype(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.contains_key(PROTOTYPE) || members.values().any(names_prototype),
        Value::Array(items) => items.iter().any(names_prototype),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(text: &str) -> Result<UserMetadata, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn external_id_is_not_changed() {
        for text in ["42", "a b", "Ann@example.com", "é", &"é".repeat(128)] {
            assert_eq!(ExternalId::parse(text).unwrap().as_str(), text);
        }
        for text in ["", " 42", "42 ", "4\n2", "4\u{200b}2", "4\u{0}2", &"é".repeat(129)] {
            assert!(ExternalId::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn metadata_has_bounds() {
        let sized = |length: usize| format!(r#"{{"a":"{}"}}"#, "x".repeat(length - 8));
        for text in ["{}", r#"{"a":{"b":{"c":{"d":1}}}}"#, r#"{"a":[[[1]]]}"#, &sized(4096)] {
            assert_eq!(serde_json::to_string(&metadata(text).unwrap()).unwrap(), text);
        }
        for text in [
            "[]",
            "1",
            r#"{"a":{"b":{"c":{"d":{}}}}}"#,
            r#"{"a":[[[[]]]]}"#,
            r#"{"__proto__":{}}"#,
            r#"{"a":[{"\u005f_proto__":1}]}"#,
            &sized(4097),
        ] {
            assert!(metadata(text).is_err(), "{text:.60}");
        }
    }
}
