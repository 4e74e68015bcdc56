//! The errors that any request may cause, and the error body of HTTP responses.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde_json::{Value, json};
use signpost_store::Unavailable;

use crate::accounts::{KeyScopes, Scope};
use crate::limits::Exceeded;

/// Reason a request was rejected. The message is sent to the client; causes are only logged.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the text of each variant is its documentation")]
pub enum Problem {
    #[error("the body is not valid JSON: {0}")]
    InvalidJson(String),
    #[error("{field}: {reason}")]
    InvalidRequest { field: String, reason: String },
    #[error("the API key is missing, unknown, revoked or of the other environment; send 'Authorization: Bearer <key>'")]
    InvalidApiKey,
    #[error("this API key has the scope '{}', and this request requires '{}'", .opened, .needed.as_str())]
    InsufficientScope { needed: Scope, opened: KeyScopes },
    #[error("there is nothing at this URL")]
    NotFound,
    #[error("this URL does not allow that method")]
    MethodNotAllowed,
    #[error("the body, or the query, is larger than {limit} bytes")]
    PayloadTooLarge { limit: usize },
    #[error("the body must be JSON: send 'Content-Type: application/json'")]
    UnsupportedMediaType,
    #[error("too many requests; try again in {} s", .0.retry_after())]
    RateLimited(Exceeded),
    #[error("{max} of your requests are open, the maximum; let some of them end first")]
    TooManyAtOnce { limit: &'static str, max: usize },
    #[error("the service is temporarily unavailable; try again soon")]
    Unavailable(String),
    #[error("something went wrong on our side")]
    Internal(anyhow::Error),
}

impl Problem {
    /// Creates the error for a missing or invalid field of the request.
    pub fn field(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::InvalidRequest { field: field.into(), reason: reason.into() }
    }

    /// Returns the HTTP status and the stable error code.
    #[must_use]
    pub fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::InvalidJson(_) => (StatusCode::BAD_REQUEST, "invalid_json"),
            Self::InvalidRequest { .. } => (StatusCode::BAD_REQUEST, "invalid_request"),
            Self::InvalidApiKey => (StatusCode::UNAUTHORIZED, "invalid_api_key"),
            Self::InsufficientScope { .. } => (StatusCode::FORBIDDEN, "insufficient_scope"),
            Self::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::PayloadTooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large"),
            Self::UnsupportedMediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
            Self::RateLimited(_) | Self::TooManyAtOnce { .. } => (StatusCode::TOO_MANY_REQUESTS, "rate_limited"),
            Self::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
        }
    }

    /// Returns the machine-readable details of the error body.
    #[must_use]
    pub fn details(&self) -> Value {
        match self {
            Self::InvalidRequest { field, reason } => json!({ "field": field, "reason": reason }),
            Self::InsufficientScope { needed, opened } => json!({ "needed": needed, "opened": opened }),
            Self::PayloadTooLarge { limit } => json!({ "limit": limit }),
            Self::RateLimited(exceeded) => json!({ "limit": exceeded.name, "retry_after": exceeded.retry_after() }),
            Self::TooManyAtOnce { limit, max } => json!({ "limit": limit, "at_once": max, "retry_after": 1 }),
            _ => json!({}),
        }
    }

    /// Returns the additional header fields of the response.
    #[must_use]
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        match self {
            Self::InvalidApiKey => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"signpost\""));
            }
            Self::RateLimited(exceeded) => {
                headers.insert(header::RETRY_AFTER, exceeded.retry_after().into());
                for (field, text) in exceeded.rate_limit_headers() {
                    let value = HeaderValue::try_from(text).ok();
                    headers.extend(value.map(|value| (HeaderName::from_static(field), value)));
                }
            }
            Self::Unavailable(_) | Self::TooManyAtOnce { .. } => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        headers
    }

    /// Logs internal errors and unavailability. No other code logs them.
    pub fn log(&self) {
        match self {
            Self::Internal(cause) => tracing::error!(error = format!("{cause:#}"), "request failed"),
            Self::Unavailable(cause) => tracing::warn!(error = cause, "request not served"),
            _ => {}
        }
    }
}

impl From<anyhow::Error> for Problem {
    fn from(error: anyhow::Error) -> Self {
        if error.is::<Unavailable>() {
            return Self::Unavailable(error.to_string());
        }
        Self::Internal(error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.log();
        (self.headers(), error_body(self.status_and_code(), &self.to_string(), &self.details())).into_response()
    }
}

/// Returns the response for a method that the route does not allow, with the header `Allow` (RFC
/// 9110, section 15.5.6). Routers add `HEAD` to `Allow` themselves if a route has `GET`.
#[must_use]
pub fn method_not_allowed(allowed: &'static str) -> Response {
    let mut reply = Problem::MethodNotAllowed.into_response();
    reply.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    reply
}

/// Marks responses with an error body, which an error page may replace.
#[derive(Clone, Copy, Debug)]
pub struct ErrorReply;

/// Returns a response with an error body.
#[must_use]
pub fn error_body((status, code): (StatusCode, &'static str), message: &str, details: &Value) -> Response {
    let body = json!({ "error": { "code": code, "message": message, "details": details } });
    (status, Extension(ErrorReply), Json(body)).into_response()
}
