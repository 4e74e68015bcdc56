//! Responses to JSON-RPC messages, and the rendering of results.

use ::http::StatusCode;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::call::InputRequired;
use crate::content::{Content, Output};
use crate::fault::RpcFault;
use crate::notifications::LogLevel;
use crate::revision::Revision;
use crate::structured::Structured;

/// Cache lifetime of results that do not change while the process runs, in milliseconds. Clients may cache them for
/// this time.
const TTL_MILLIS: u32 = 300_000;

/// The response to a message.
#[derive(Debug)]
pub struct RpcResponse {
    /// The HTTP status. Other transports ignore it.
    pub status: StatusCode,
    /// A JSON-RPC reply without line breaks, or `None` for a notification.
    pub body: Option<Vec<u8>>,
    /// The revision that this message (`initialize`) has negotiated for its connection.
    pub negotiated: Option<Revision>,
    /// The capabilities that the client has declared in this message (`initialize`).
    pub capabilities: Option<Box<RawValue>>,
    /// The log level that this message (`logging/setLevel`) has requested for its connection.
    pub log_level: Option<LogLevel>,
}

impl RpcResponse {
    pub(crate) fn sent(status: StatusCode, body: Option<Vec<u8>>) -> Self {
        Self { status, body, negotiated: None, capabilities: None, log_level: None }
    }

    pub(crate) fn fault(fault: &RpcFault, id: &RawValue) -> Self {
        Self::sent(fault.status(), Some(fault.render(id)))
    }

    pub(crate) fn result(id: &RawValue, result: &(impl Serialize + ?Sized)) -> Self {
        #[derive(Serialize)]
        struct Success<'a, T: ?Sized> {
            jsonrpc: &'static str,
            id: &'a RawValue,
            result: &'a T,
        }
        let body = serde_json::to_vec(&Success { jsonrpc: "2.0", id, result }).expect("a result always serializes");
        Self::sent(StatusCode::OK, Some(body))
    }
}

/// The serialized result of a `tools/call` without a structured value.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    content: ContentView<'a>,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ContentView<'a> {
    Text([TextContent<'a>; 1]),
    Any(&'a [Content]),
}

#[derive(Serialize)]
struct TextContent<'a> {
    r#type: &'static str,
    text: &'a str,
}

/// The result of a tool call that the model sees.
pub(crate) enum ToolResult {
    Output(Output),
    /// The error message of a failed call, with advice.
    Failure(String),
}

/// Renders the response to a tool call. `meta` is the `_meta` member of results in stateless revisions.
pub(crate) fn tool_response(id: &RawValue, result: &ToolResult, meta: Option<&RawValue>) -> RpcResponse {
    let (content, is_error) = match result {
        ToolResult::Output(Output::Structured(value)) => return structured(id, value, meta),
        ToolResult::Output(Output::Content(content)) => (ContentView::Any(content), false),
        ToolResult::Failure(reason) => (ContentView::Text([TextContent { r#type: "text", text: reason }]), true),
    };
    RpcResponse::result(id, &CallResult { content, is_error, result_type: meta.map(|_| "complete"), meta })
}

/// Renders a response with a structured value as JSON and as text. It is assembled from bytes for performance, because
/// the value is already rendered.
fn structured(id: &RawValue, value: &Structured, meta: Option<&RawValue>) -> RpcResponse {
    let [json, escaped] = value.forms();
    let around = 256 + id.get().len() + meta.map_or(0, |meta| meta.get().len());
    let mut body = Vec::with_capacity(around + json.len() + escaped.len());
    body.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    body.extend_from_slice(id.get().as_bytes());
    body.extend_from_slice(br#","result":{"content":[{"type":"text","text":""#);
    body.extend_from_slice(escaped);
    body.extend_from_slice(br#""}],"structuredContent":"#);
    body.extend_from_slice(json);
    body.extend_from_slice(br#","isError":false"#);
    if let Some(meta) = meta {
        body.extend_from_slice(br#","resultType":"complete","_meta":"#);
        body.extend_from_slice(meta.get().as_bytes());
    }
    body.extend_from_slice(b"}}");
    RpcResponse::sent(StatusCode::OK, Some(body))
}

/// Adds the members that every result has in stateless revisions.
pub(crate) fn completed(mut result: Value, meta: Option<&RawValue>) -> Value {
    if let Some(meta) = meta {
        result["resultType"] = json!("complete");
        result["_meta"] = json!(meta);
    }
    result
}

/// Renders a result that requests input from the client.
pub(crate) fn input_required(asked: &InputRequired, meta: &RawValue) -> Value {
    let mut result = json!({ "resultType": "input_required", "_meta": meta });
    if !asked.requests.is_empty() {
        result["inputRequests"] = json!(asked.requests);
    }
    if let Some(state) = &asked.state {
        result["requestState"] = json!(state);
    }
    result
}

/// A result that is identical for all clients, rendered once for stateful revisions and once for stateless revisions.
#[derive(Debug)]
pub(crate) struct Cacheable {
    legacy: Box<RawValue>,
    stateless: Box<RawValue>,
}

impl Cacheable {
    /// Renders the members of the result. `meta` is the `_meta` member of results in stateless revisions.
    pub(crate) fn new(mut members: Value, meta: &RawValue) -> Self {
        let legacy = rendered(&members);
        Self::mark(&mut members);
        Self { legacy, stateless: rendered(&completed(members, Some(meta))) }
    }

    /// Marks a result as publicly cacheable.
    pub(crate) fn mark(result: &mut Value) {
        result["ttlMs"] = json!(TTL_MILLIS);
        result["cacheScope"] = json!("public");
    }

    pub(crate) fn at(&self, revision: Revision) -> &RawValue {
        if revision.is_stateless() { &self.stateless } else { &self.legacy }
    }
}

pub(crate) fn rendered(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("a value always serializes")
}
