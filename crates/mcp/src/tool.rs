use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::content::{Icon, Output};
use crate::handler::Handler;

/// The arguments of a call, by name. Absent arguments are an empty map.
pub type Arguments = Map<String, Value>;

/// Something a model can have done: a function and two schemas.
#[derive(Debug)]
pub struct Tool<S> {
    /// What it is called by: 1 to 128 of `A-Z a-z 0-9 _ - .`, unique in its server.
    pub name: &'static str,
    /// What people see.
    pub title: &'static str,
    /// What a model reads before it decides: what the tool does, when to use it and when not.
    pub description: &'static str,
    /// JSON Schema (2020-12) of the arguments. The first of its `examples` is quoted in error texts. An argument with
    /// `x-mcp-header` is also expected as a header since 2026-07-28.
    pub input_schema: Value,
    /// JSON Schema of the value returned, of `"type": "object"`.
    pub output_schema: Option<Value>,
    /// How it behaves.
    pub annotations: Annotations,
    /// By which people recognise it.
    pub icons: Vec<Icon>,
    /// What extensions of the protocol say of it: its `_meta`, left out where it is empty.
    pub meta: Map<String, Value>,
    /// What it does.
    pub call: Handler<S, Arguments, Output>,
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
        if !self.icons.is_empty() {
            entry["icons"] = json!(self.icons);
        }
        if !self.meta.is_empty() {
            entry["_meta"] = json!(self.meta);
        }
        entry
    }

    /// The `params` of a call that works, for error texts.
    pub(crate) fn example(&self) -> String {
        let arguments = self.input_schema.pointer("/examples/0").cloned().unwrap_or_else(|| json!({}));
        format!(r#"for example {{"name":"{}","arguments":{arguments}}}"#, self.name)
    }
}
