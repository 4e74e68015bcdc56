use ::http::StatusCode;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::Revision;
use crate::fault::Fault;
use crate::tools::Outcome;

/// For how long a client may keep what does not change while the process lives.
const TTL_MILLIS: u32 = 300_000;

/// The answer to a message.
#[derive(Debug)]
pub struct Reply {
    /// The HTTP status; other transports have no use for it.
    pub status: StatusCode,
    /// A JSON-RPC reply without line breaks, or nothing where the message was a notification.
    pub body: Option<Vec<u8>>,
    /// The revision that this message (an `initialize`) agreed on for the rest of its connection.
    pub negotiated: Option<Revision>,
}

impl Reply {
    pub(crate) fn fault(fault: &Fault, id: &RawValue) -> Self {
        Self { status: fault.status(), body: Some(fault.render(id)), negotiated: None }
    }

    pub(crate) fn result(id: &RawValue, result: &(impl Serialize + ?Sized)) -> Self {
        #[derive(Serialize)]
        struct Success<'a, T: ?Sized> {
            jsonrpc: &'static str,
            id: &'a RawValue,
            result: &'a T,
        }
        // Most replies fit, so that the buffer seldom has to grow.
        let mut body = Vec::with_capacity(4096);
        serde_json::to_writer(&mut body, &Success { jsonrpc: "2.0", id, result }).expect("a result always serialises");
        Self { status: StatusCode::OK, body: Some(body), negotiated: None }
    }
}

/// The result of `tools/call`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallResult<'a> {
    content: [Text<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Text<'a> {
    r#type: &'static str,
    text: &'a str,
}

impl<'a> CallResult<'a> {
    /// `meta` is what a result of a stateless revision says about the server.
    pub(crate) fn new(outcome: &'a Outcome, meta: Option<&'a RawValue>) -> Self {
        let (text, structured_content) = match outcome {
            Outcome::Done(structured) => (structured.json(), Some(structured.raw())),
            Outcome::Failed(text) => (text.as_str(), None),
        };
        Self {
            content: [Text { r#type: "text", text }],
            structured_content,
            is_error: structured_content.is_none(),
            result_type: meta.map(|_| "complete"),
            meta,
        }
    }
}

/// A result that is the same for everyone, rendered once: as it was before 2026-07-28 and as it is since.
#[derive(Debug)]
pub(crate) struct Cacheable {
    legacy: Box<RawValue>,
    stateless: Box<RawValue>,
}

impl Cacheable {
    /// From the members of the result; `meta` is what a result of a stateless revision says about the server.
    pub(crate) fn new(mut members: Value, meta: &RawValue) -> Self {
        let legacy = rendered(&members);
        members["resultType"] = json!("complete");
        members["ttlMs"] = json!(TTL_MILLIS);
        members["cacheScope"] = json!("public");
        members["_meta"] = json!(meta);
        Self { legacy, stateless: rendered(&members) }
    }

    pub(crate) fn at(&self, revision: Revision) -> &RawValue {
        if revision.is_stateless() { &self.stateless } else { &self.legacy }
    }
}

pub(crate) fn rendered(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("a value always serialises")
}
