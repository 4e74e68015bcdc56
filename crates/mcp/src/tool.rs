use std::error::Error;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::Revision;

/// The arguments of a call, by name. Absent arguments are an empty map.
pub type Arguments = Map<String, Value>;

/// Something a model can have done.
///
/// `call` is a plain function because it should only compute: it runs where the request was read, so it must not block
/// or wait. What it needs is in `S`.
#[derive(Debug)]
pub struct Tool<S> {
    /// What it is called by: 1 to 128 of `A-Z a-z 0-9 _ - .`, unique in its server.
    pub name: &'static str,
    /// What people see.
    pub title: &'static str,
    /// What a model reads before it decides: what the tool does, when to use it and when not.
    pub description: &'static str,
    /// JSON Schema (2020-12) of the arguments. The first of its `examples` is quoted in error texts.
    pub input_schema: Value,
    /// JSON Schema of the value returned, of `"type": "object"`.
    pub output_schema: Option<Value>,
    /// How it behaves.
    pub annotations: Annotations,
    /// What it does.
    pub call: fn(&S, &Arguments, &Call<'_>) -> Result<Structured, ToolError>,
}

/// How a tool behaves, so that a host knows what to ask its user about.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol has these four flags")]
pub struct Annotations {
    /// It changes nothing.
    #[serde(rename = "readOnlyHint")]
    pub read_only: bool,
    /// It may undo or overwrite something.
    #[serde(rename = "destructiveHint")]
    pub destructive: bool,
    /// Calling it twice is calling it once.
    #[serde(rename = "idempotentHint")]
    pub idempotent: bool,
    /// It reaches beyond a closed set of data.
    #[serde(rename = "openWorldHint")]
    pub open_world: bool,
}

impl Annotations {
    /// A look-up in the server's own data.
    pub const LOOKUP: Self = Self { read_only: true, destructive: false, idempotent: true, open_world: false };
}

/// What a tool may want to know of the call besides the arguments.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The revision by which it will be answered.
    pub revision: Revision,
    /// The id under which a failure is logged, where the transport has one.
    pub request_id: Option<&'a str>,
}

/// What a tool returns: a JSON object, already rendered, because it is sent twice (as `structuredContent` and as text).
#[derive(Clone, Debug)]
pub struct Structured(Box<RawValue>);

impl Structured {
    /// Renders `value`, which must serialise as a JSON object.
    ///
    /// # Errors
    /// [`ToolError::Internal`] if it does not serialise, or as something else than an object.
    pub fn render(value: &(impl Serialize + ?Sized)) -> Result<Self, ToolError> {
        let mut json = to_raw_value(value).map_err(ToolError::internal)?;
        // A value may hold JSON that someone else wrote, and stdio and SSE end a message where its line ends.
        if json.get().contains('\n') || json.get().contains('\r') {
            let read: Value = serde_json::from_str(json.get()).map_err(ToolError::internal)?;
            json = to_raw_value(&read).map_err(ToolError::internal)?;
        }
        if json.get().starts_with('{') {
            Ok(Self(json))
        } else {
            Err(ToolError::internal("a tool's value is an object"))
        }
    }

    /// The value as it will be sent.
    #[must_use]
    pub fn json(&self) -> &str {
        self.0.get()
    }

    pub(crate) fn raw(&self) -> &RawValue {
        &self.0
    }
}

/// Why a tool did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// An argument makes no sense. The text says which, what was received, what is allowed, and gives an example that
    /// works. Up to 2025-06-18 it travels as the error -32602, since then as a result the model sees and learns from.
    #[error("invalid params: {0}")]
    BadArgument(String),
    /// The arguments are fine, the answer is no. The text says what to try instead.
    #[error("{0}")]
    Failed(String),
    /// A fault of ours. It is logged; the client is told nothing of it.
    #[error("internal error")]
    Internal(#[source] Box<dyn Error + Send + Sync>),
}

impl ToolError {
    /// A fault of ours, from whatever caused it.
    pub fn internal(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }
}

impl<S> Tool<S> {
    /// The entry in `tools/list`.
    pub(crate) fn listed(&self) -> Value {
        let mut entry = json!({
            "name": self.name, "title": self.title, "description": self.description,
            "inputSchema": self.input_schema, "annotations": self.annotations,
        });
        if let Some(schema) = &self.output_schema {
            entry["outputSchema"] = schema.clone();
        }
        entry
    }

    /// The `params` of a call that works, for error texts.
    pub(crate) fn example(&self) -> String {
        let arguments = self.input_schema.pointer("/examples/0").cloned().unwrap_or_else(|| json!({}));
        format!(r#"for example {{"name":"{}","arguments":{arguments}}}"#, self.name)
    }
}
