//! Interprets the subset of JSON Schema in these documents, and finds the members of types by
//! deserialization.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value, json};

/// A document that contains JSON schemas.
pub(super) struct Document(pub(super) Value);

/// The members of an object schema, including those of referenced schemas.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub(super) members: BTreeMap<String, Value>,
    pub(super) required: BTreeSet<String>,
}

impl Document {
    /// Returns the names of all object schemas at a JSON pointer.
    pub(super) fn objects(&self, pointer: &str) -> Vec<&str> {
        let schemas = self.0.pointer(pointer).and_then(Value::as_object).expect("schemas");
        schemas.iter().filter(|(_, schema)| schema["type"] == "object").map(|(name, _)| name.as_str()).collect()
    }

    pub(super) fn resolve(&self, schema: &Value) -> Members {
        let mut found = Members::default();
        self.collect(schema, &mut found);
        found
    }

    fn collect(&self, schema: &Value, found: &mut Members) {
        if let Some(target) = self.target(schema) {
            self.collect(target, found);
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.collect(part, found);
        }
        // The first of several alternatives has all members.
        if let Some(form) = schema["oneOf"].get(0) {
            self.collect(form, found);
        }
        let members = schema["properties"].as_object().into_iter().flatten();
        found.members.extend(members.map(|(name, inner)| (name.clone(), inner.clone())));
        let required = schema["required"].as_array().into_iter().flatten();
        found.required.extend(required.map(|name| name.as_str().expect("a name").to_owned()));
    }

    fn target(&self, schema: &Value) -> Option<&Value> {
        self.0.pointer(schema["$ref"].as_str()?.trim_start_matches('#'))
    }

    /// Returns a sample value with all members.
    pub(super) fn sample(&self, schema: &Members) -> Value {
        let members = schema.members.iter().map(|(name, inner)| {
            // The schemas of the locator do not list the members of an advisory.
            (name.clone(), if name == "advisories" { json!([]) } else { self.value(inner) })
        });
        Value::Object(members.collect::<Map<_, _>>())
    }

    fn value(&self, schema: &Value) -> Value {
        if let Some(value) = schema.get("const").or_else(|| schema["enum"].get(0)) {
            return value.clone();
        }
        match &*self.kind(schema) {
            "object" if schema.get("additionalProperties").is_some_and(Value::is_object) => {
                json!({ "a": self.value(&schema["additionalProperties"]) })
            }
            "object" => self.sample(&self.resolve(schema)),
            "array" => json!([self.value(&self.deref(schema)["items"])]),
            "integer" => json!(7),
            "number" => json!(1.5),
            "boolean" => json!(true),
            "string" => self.enum_values(schema).first().cloned().unwrap_or_else(|| json!("a")),
            other => panic!("a schema of type {other}: {schema}"),
        }
    }

    /// Returns the enumerated values of a text schema.
    pub(super) fn enum_values(&self, schema: &Value) -> Vec<Value> {
        let schema = self.deref(schema);
        schema["enum"].as_array().cloned().unwrap_or_default()
    }

    /// Returns a value of a type that the schema does not allow.
    pub(super) fn invalid_value(&self, schema: &Value) -> Value {
        match &*self.kind(schema) {
            "string" | "boolean" => json!(7),
            "object" => json!("a"),
            _ => json!({ "a": "a" }),
        }
    }

    fn kind(&self, schema: &Value) -> String {
        let schema = self.deref(schema);
        let kind = schema["type"].get(0).or_else(|| schema.get("type"));
        kind.and_then(Value::as_str).unwrap_or("object").to_owned()
    }

    /// Resolves a reference, a schema with a description, or a nullable schema.
    fn deref<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let inner = self.target(schema).or_else(|| {
            let bare = schema.get("type").is_none();
            ["allOf", "anyOf", "oneOf"].iter().find_map(|form| schema[form].get(0)).filter(|_| bare)
        });
        inner.map_or(schema, |inner| self.deref(inner))
    }
}

/// Returns the members that a type deserializes, or `None` if it is not a struct.
pub(super) fn fields<T: DeserializeOwned>() -> Option<&'static [&'static str]> {
    let mut found = None;
    let _ = T::deserialize(Fields(&mut found));
    found
}

struct Fields<'a>(&'a mut Option<&'static [&'static str]>);

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(serde::de::Error::custom("no struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = Some(fields);
        Err(serde::de::Error::custom("seen"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
