use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::content::{Icon, Output};
use crate::handler::Handler;

/// The arguments of a call, by name. Absent arguments are an empty map.
pub type Arguments = Map<String, Value>;

/// Converts the arguments of a call with [lenient reading](crate::ArgumentReading) to the types of the tool's
/// `input_schema`. Values that cannot be converted are returned unchanged; the handler rejects them. The error is the
/// text of [`CallError::InvalidArgument`](crate::CallError::InvalidArgument).
pub type NormalizeArguments = fn(&Value, Arguments) -> Result<NormalizedArguments, String>;

/// The arguments of a call after lenient reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NormalizedArguments {
    /// The converted arguments.
    pub arguments: Arguments,
    /// Sentences about conversions that the reply mentions, see [`Call::notices`](crate::Call::notices).
    pub notices: Vec<String>,
}

/// A tool for models: a function and two schemas.
#[derive(Debug)]
pub struct Tool<S> {
    /// Its name: 1 to 128 of `A-Z a-z 0-9 _ - .`, unique in the server.
    pub name: &'static str,
    /// Its title for people.
    pub title: &'static str,
    /// Its description for models: purpose, and when to use it.
    pub description: &'static str,
    /// JSON Schema (2020-12) of the arguments. The first of its `examples` is used in error texts; they are not listed,
    /// because some model providers (Gemini) reject schemas with this keyword. An argument with `x-mcp-header` is also
    /// expected as a header since 2026-07-28.
    pub input_schema: Value,
    /// JSON Schema of the returned value, of `"type": "object"`.
    pub output_schema: Option<Value>,
    /// Its behaviour.
    pub annotations: Annotations,
    /// Its icons.
    pub icons: Vec<Icon>,
    /// Its `_meta` for extensions of the protocol; left out if empty.
    pub meta: Map<String, Value>,
    /// Its handler.
    pub call: Handler<S, Arguments, Output>,
}

/// The behaviour of a tool, used by hosts to decide about confirmation by the user.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol has these four flags")]
pub struct Annotations {
    /// It has no side effects.
    #[serde(rename = "readOnlyHint")]
    pub read_only: bool,
    /// It may delete or overwrite data.
    #[serde(rename = "destructiveHint")]
    pub destructive: bool,
    /// Repeated calls have no further effect.
    #[serde(rename = "idempotentHint")]
    pub idempotent: bool,
    /// It accesses data outside a closed set.
    #[serde(rename = "openWorldHint")]
    pub open_world: bool,
}

impl Annotations {
    /// A query of the server's own data.
    pub const LOOKUP: Self = Self { read_only: true, destructive: false, idempotent: true, open_world: false };
}

impl<S> Tool<S> {
    /// Returns the entry of `tools/list`.
    pub(crate) fn listed(&self) -> Value {
        let mut input_schema = self.input_schema.clone();
        if let Some(keywords) = input_schema.as_object_mut() {
            keywords.remove("examples");
        }
        let mut entry = json!({
            "name": self.name, "title": self.title, "description": self.description,
            "inputSchema": input_schema, "annotations": self.annotations,
        });
        if let Some(schema) = &self.output_schema {
            entry["outputSchema"] = schema.clone();
        }
        if !self.icons.is_empty() {
            entry["icons"] = json!(self.icons);
        }
        if !self.meta.is_empty() {
            entry["_meta"] = json!(self.meta);
        }
        entry
    }

    /// Returns the `params` of a valid call, for error texts.
    pub(crate) fn example(&self) -> String {
        let arguments = self.input_schema.pointer("/examples/0").cloned().unwrap_or_else(|| json!({}));
        format!(r#"for example {{"name":"{}","arguments":{arguments}}}"#, self.name)
    }
}
