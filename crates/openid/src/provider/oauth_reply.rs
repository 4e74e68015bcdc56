//! Responses to clients: JSON that is not cached, and OAuth 2.0 errors.

use std::borrow::Cow;

use axum::http::header::{CACHE_CONTROL, PRAGMA, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::{ANY_ORIGIN, JsonReply};

use crate::flows::{FlowError, TokenRefusal};

/// An error response to a client (RFC 6749, 5.2; RFC 6750, 3.1).
#[derive(Debug)]
pub(super) enum OauthRefusal {
    /// The issuer does not exist.
    NotFound,
    /// An error code with a description for developers.
    Refused { status: StatusCode, error: &'static str, description: Cow<'static, str> },
    /// A response 401 with a `WWW-Authenticate` challenge.
    Unauthorized { error: Option<&'static str>, description: &'static str, challenge: String },
    /// The token lacks a scope (RFC 6750, 3.1).
    InsufficientScope { description: &'static str, challenge: String },
    /// An internal error, or too many requests.
    Problem(Problem),
}

impl OauthRefusal {
    /// Returns the error `invalid_request` (RFC 6749, 5.2).
    pub(super) fn request(description: impl Into<Cow<'static, str>>) -> Self {
        Self::Refused { status: StatusCode::BAD_REQUEST, error: "invalid_request", description: description.into() }
    }
}

impl From<Problem> for OauthRefusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<anyhow::Error> for OauthRefusal {
    fn from(error: anyhow::Error) -> Self {
        Self::Problem(error.into())
    }
}

impl From<FlowError<TokenRefusal>> for OauthRefusal {
    fn from(error: FlowError<TokenRefusal>) -> Self {
        let (error, description) = match error {
            FlowError::Refused(TokenRefusal::InvalidGrant(description)) => ("invalid_grant", description),
            FlowError::Refused(TokenRefusal::InvalidScope(description)) => ("invalid_scope", description),
            FlowError::Internal(error) => return error.into(),
        };
        Self::Refused { status: StatusCode::BAD_REQUEST, error, description: description.into() }
    }
}

impl IntoResponse for OauthRefusal {
    fn into_response(self) -> Response {
        match self {
            Self::NotFound => Problem::NotFound.into_response(),
            Self::Refused { status, error, description } => no_store(status, &error_body(Some(error), &description)),
            Self::Unauthorized { error, description, challenge } => {
                with_challenge(no_store(StatusCode::UNAUTHORIZED, &error_body(error, description)), challenge)
            }
            Self::InsufficientScope { description, challenge } => {
                let reply = no_store(StatusCode::FORBIDDEN, &error_body(Some("insufficient_scope"), description));
                with_challenge(reply, challenge)
            }
            Self::Problem(problem) => problem_reply(&problem),
        }
    }
}

fn with_challenge(mut reply: Response, challenge: String) -> Response {
    if let Ok(challenge) = HeaderValue::try_from(challenge) {
        reply.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    reply
}

fn error_body(error: Option<&str>, description: &str) -> serde_json::Value {
    json!({ "error": error.unwrap_or("invalid_token"), "error_description": description })
}

fn problem_reply(problem: &Problem) -> Response {
    problem.log();
    let (status, _) = problem.status_and_code();
    let error = match problem {
        Problem::RateLimited(_) | Problem::TooManyAtOnce { .. } | Problem::Unavailable(_) => "temporarily_unavailable",
        Problem::Internal(_) => "server_error",
        _ => "invalid_request",
    };
    let mut reply = no_store(status, &error_body(Some(error), &problem.to_string()));
    reply.headers_mut().extend(problem.headers());
    reply
}

/// Returns a JSON response that must not be cached.
pub(super) fn no_store(status: StatusCode, body: &impl Serialize) -> Response {
    let headers =
        [(CACHE_CONTROL, HeaderValue::from_static("no-store")), (PRAGMA, HeaderValue::from_static("no-cache"))];
    (status, headers, JsonReply(body)).into_response()
}

/// Returns a response that scripts of all origins may read: it depends on no cookie.
pub(super) fn open(reply: Result<Response, OauthRefusal>) -> Response {
    (ANY_ORIGIN, reply).into_response()
}
