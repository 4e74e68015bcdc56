//! The error type of all calls of the client.

use std::fmt;

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::error_code::ErrorCode;

/// Error of a call that the service rejected or that could not be completed.
///
/// It never contains the API key.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SignpostError {
    /// The reason. Programs check the code, because messages may change.
    pub code: ErrorCode,
    /// The HTTP status, if a response was received.
    pub status: Option<u16>,
    /// A description of the error for developers.
    pub message: String,
    /// Machine-readable details. The members depend on the code.
    pub details: Map<String, Value>,
    /// The request ID, `req_…`. It identifies the request in the server log.
    pub request_id: Option<String>,
    /// The delay before a retry in seconds, if the service requested a delay.
    pub retry_after: Option<u64>,
}

#[derive(Deserialize)]
struct ErrorEnvelope {
    error: ErrorMembers,
}

#[derive(Deserialize)]
struct ErrorMembers {
    code: ErrorCode,
    message: String,
    #[serde(default)]
    details: Map<String, Value>,
}

impl SignpostError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, status: None, message: message.into(), details: Map::new(), request_id: None, retry_after: None }
    }

    pub(crate) fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidArgument, message)
    }

    pub(super) fn invalid_response(status: StatusCode, message: impl fmt::Display) -> Self {
        let message = format!("the reply with status {} is not of the service: {message}", status.as_u16());
        Self { status: Some(status.as_u16()), ..Self::new(ErrorCode::InvalidResponse, message) }
    }

    /// Creates the error for a missing or incomplete response. The message contains the host, but
    /// no header.
    pub(crate) fn no_reply(error: reqwest::Error) -> Self {
        let code = if error.is_timeout() { ErrorCode::Timeout } else { ErrorCode::ConnectionFailed };
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

    /// Creates the error that an error response describes.
    pub(super) fn of_reply(status: StatusCode, body: &[u8]) -> Self {
        match serde_json::from_slice(body) {
            Ok(ErrorEnvelope { error: ErrorMembers { code, message, details } }) => {
                Self { status: Some(status.as_u16()), details, ..Self::new(code, message) }
            }
            Err(_) => Self::invalid_response(status, "it has no error of the documented form"),
        }
    }

    /// Returns `true` if the response is missing or incomplete, so that the service may have
    /// executed the call.
    pub(super) fn is_reply_missing(&self) -> bool {
        matches!(self.code, ErrorCode::ConnectionFailed | ErrorCode::Timeout)
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
