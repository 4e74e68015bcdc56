//! The JSON-RPC error replies of this crate, with their codes and HTTP statuses.

use std::time::Duration;

use ::http::StatusCode;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::revision::Revision;

/// The error codes of this crate: the codes of JSON-RPC 2.0 and of the protocol (-32020 to -32099), and two additional
/// codes outside the reserved ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Parse,
    Request,
    Method,
    Params,
    Internal,
    /// An unknown resource, before revision 2026-07-28.
    Resource,
    HeaderMismatch,
    MissingCapability,
    UnsupportedVersion,
    TooMany,
    Busy,
}

impl Code {
    /// Returns the number of the code and the common start of its messages.
    const fn number_and_title(self) -> (i32, &'static str) {
        match self {
            Self::Parse => (-32700, "Parse error"),
            Self::Request => (-32600, "Invalid request"),
            Self::Method => (-32601, "Method not found"),
            Self::Params => (-32602, "Invalid params"),
            Self::Internal => (-32603, "Internal error"),
            Self::Resource => (-32002, "Resource not found"),
            Self::HeaderMismatch => (-32020, "Header mismatch"),
            Self::MissingCapability => (-32021, "Missing client capability"),
            Self::UnsupportedVersion => (-32022, "Unsupported protocol version"),
            Self::TooMany => (-31429, "Too many requests"),
            Self::Busy => (-31503, "Server busy"),
        }
    }
}

/// The error reply to a message.
#[derive(Debug)]
pub(crate) struct RpcFault {
    code: Code,
    status: StatusCode,
    detail: String,
    data: Option<Value>,
    wait: Option<Duration>,
}

impl RpcFault {
    fn new(code: Code, status: StatusCode, detail: impl Into<String>) -> Self {
        Self { code, status, detail: detail.into(), data: None, wait: None }
    }

    pub(crate) fn parse(detail: impl Into<String>) -> Self {
        Self::new(Code::Parse, StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn request(detail: impl Into<String>) -> Self {
        Self::new(Code::Request, StatusCode::BAD_REQUEST, detail)
    }

    /// Creates an error for an HTTP status (405, 413, 415 …) that has no JSON-RPC code of its own.
    pub(crate) fn http(status: StatusCode, detail: impl Into<String>) -> Self {
        Self::new(Code::Request, status, detail)
    }

    /// Creates the error for an unknown method. Before revision 2026-07-28 it has the HTTP status 200, because older
    /// clients treat other statuses as a transport failure and ignore the message.
    pub(crate) fn method(revision: Revision, detail: impl Into<String>) -> Self {
        let status = if revision.is_stateless() { StatusCode::NOT_FOUND } else { StatusCode::OK };
        Self::new(Code::Method, status, detail)
    }

    /// Creates the error for invalid values of well-formed parameters.
    pub(crate) fn params(detail: impl Into<String>) -> Self {
        Self::new(Code::Params, StatusCode::OK, detail)
    }

    /// Creates the error for malformed parameters.
    pub(crate) fn malformed(revision: Revision, detail: impl Into<String>) -> Self {
        let status = if revision.is_stateless() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        Self::new(Code::Params, status, detail)
    }

    /// Creates an internal error. It contains only the request ID; the cause is logged with this ID.
    pub(crate) fn internal(request_id: Option<&str>) -> Self {
        let data = request_id.map(|id| json!({ "requestId": id }));
        Self { data, ..Self::new(Code::Internal, StatusCode::INTERNAL_SERVER_ERROR, "") }
    }

    pub(crate) fn header_mismatch(detail: impl Into<String>) -> Self {
        Self::new(Code::HeaderMismatch, StatusCode::BAD_REQUEST, detail)
    }

    /// Creates the error for an unknown resource.
    pub(crate) fn resource(revision: Revision, uri: &str, detail: impl Into<String>) -> Self {
        let code = if revision.is_stateless() { Code::Params } else { Code::Resource };
        Self { data: Some(json!({ "uri": clipped(uri) })), ..Self::new(code, StatusCode::OK, detail) }
    }

    pub(crate) fn missing_capability(capability: &str) -> Self {
        let detail = format!("this needs a client with the capability {capability}; declare it in params._meta");
        let data = Some(json!({ "requiredCapabilities": { capability: {} } }));
        Self { data, ..Self::new(Code::MissingCapability, StatusCode::BAD_REQUEST, detail) }
    }

    pub(crate) fn unsupported_version(requested: &str) -> Self {
        let supported = Revision::ALL.map(Revision::as_str);
        let detail = format!("{} is not supported; use one of {}", quoted(requested), supported.join(", "));
        let data = Some(json!({ "supported": supported, "requested": clipped(requested) }));
        Self { data, ..Self::new(Code::UnsupportedVersion, StatusCode::BAD_REQUEST, detail) }
    }

    pub(crate) fn too_many(wait: Duration, detail: impl Into<String>) -> Self {
        Self::new(Code::TooMany, StatusCode::TOO_MANY_REQUESTS, detail).after(wait)
    }

    pub(crate) fn busy(wait: Duration, detail: impl Into<String>) -> Self {
        Self::new(Code::Busy, StatusCode::SERVICE_UNAVAILABLE, detail).after(wait)
    }

    fn after(self, wait: Duration) -> Self {
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Self { data: Some(json!({ "retryAfterMs": millis })), wait: Some(wait), ..self }
    }

    /// Appends a sentence to the error message.
    pub(crate) fn with_advice(self, more: &str) -> Self {
        Self { detail: format!("{}; {more}", self.detail), ..self }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the delay before the next attempt in whole seconds, at least 1.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        self.wait.map(|wait| (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1))
    }

    pub(crate) fn message(&self) -> String {
        let (_, title) = self.code.number_and_title();
        if self.detail.is_empty() { title.to_owned() } else { format!("{title}: {}", self.detail) }
    }

    /// Renders the JSON-RPC error reply.
    pub(crate) fn render(&self, id: &RawValue) -> Vec<u8> {
        #[derive(Serialize)]
        struct Failure<'a> {
            jsonrpc: &'static str,
            id: &'a RawValue,
            error: Body<'a>,
        }
        #[derive(Serialize)]
        struct Body<'a> {
            code: i32,
            message: String,
            #[serde(skip_serializing_if = "Option::is_none")]
            data: Option<&'a Value>,
        }
        let error = Body { code: self.code.number_and_title().0, message: self.message(), data: self.data.as_ref() };
        serde_json::to_vec(&Failure { jsonrpc: "2.0", id, error }).expect("strings and numbers always serialize")
    }
}

/// Quotes and shortens a received text for an error message.
pub(crate) fn quoted(received: &str) -> String {
    let clipped = clipped(received);
    let more = if clipped.len() < received.len() { "…" } else { "" };
    format!("{clipped:?}{more}")
}

fn clipped(received: &str) -> &str {
    const MAX_CHARACTERS: usize = 60;
    received.char_indices().nth(MAX_CHARACTERS).map_or(received, |(end, _)| &received[..end])
}
