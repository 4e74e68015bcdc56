use std::fmt;

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A call that failed: refused by the service, or lost on the way there or back.
///
/// The API key is in none of its texts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SignpostError {
    /// The error code of the service, such as `session_expired`, which `docs/api.md` lists. Ours are `connection_failed` (no
    /// reply, or half of one), `timeout`, `invalid_response` (not what was promised: no JSON, too long, a redirect),
    /// `tool_error` (the locator could not do it), `mcp_error` (it did not understand the call, `details.code`) and
    /// `invalid_argument` (noticed here, nothing was sent).
    pub code: String,
    /// The HTTP status; none if there was no reply.
    pub status: Option<u16>,
    /// What happened, for people.
    pub message: String,
    /// What a program needs to act on it; its members depend on the code.
    pub details: Map<String, Value>,
    /// What the service calls the request, `req_…`: the server's log has it too.
    pub request_id: Option<String>,
    /// How many seconds the service asks to wait.
    pub retry_after: Option<u64>,
}

#[derive(Deserialize)]
struct ErrorEnvelope {
    error: ErrorMembers,
}

#[derive(Deserialize)]
struct ErrorMembers {
    code: String,
    message: String,
    #[serde(default)]
    details: Map<String, Value>,
}

impl SignpostError {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            status: None,
            message: message.into(),
            details: Map::new(),
            request_id: None,
            retry_after: None,
        }
    }

    pub(crate) fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new("invalid_argument", message)
    }

    pub(super) fn invalid_response(status: StatusCode, message: impl fmt::Display) -> Self {
        let message = format!("the reply with status {} is not of the service: {message}", status.as_u16());
        Self { status: Some(status.as_u16()), ..Self::new("invalid_response", message) }
    }

    /// No reply, or half of one. The texts of the causes name the host and never a header.
    pub(super) fn lost(error: reqwest::Error) -> Self {
        let code = if error.is_timeout() { "timeout" } else { "connection_failed" };
        let host = error.url().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        let error = error.without_url();
        let mut message = format!("no reply from {host}: {error}");
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            message = format!("{message}: {error}");
            cause = error.source();
        }
        Self::new(code, message)
    }

    /// The error that a reply tells of.
    pub(super) fn of_reply(status: StatusCode, body: &[u8]) -> Self {
        match serde_json::from_slice(body) {
            Ok(ErrorEnvelope { error: ErrorMembers { code, message, details } }) => {
                Self { status: Some(status.as_u16()), details, ..Self::new(&code, message) }
            }
            Err(_) => Self::invalid_response(status, "it has no error of the documented form"),
        }
    }

    /// Whether no reply came, or half of one: the service may have done what it was asked.
    pub(super) fn is_lost(&self) -> bool {
        matches!(&*self.code, "connection_failed" | "timeout")
    }
}

impl fmt::Display for SignpostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        match &self.request_id {
            Some(id) => write!(f, " ({id})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SignpostError {}
