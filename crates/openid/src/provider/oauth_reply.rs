//! What applications are answered: JSON that nobody stores, and errors in the words of OAuth 2.0.

use std::borrow::Cow;

use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, PRAGMA, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;
use signpost_platform::web::JsonReply;
use signpost_platform::web::problem::Problem;

use crate::flows::{FlowError, TokenRefusal};

/// Why an application gets nothing (RFC 6749, 5.2; RFC 6750, 3.1).
#[derive(Debug)]
pub(super) enum OauthRefusal {
    /// There is no such issuer.
    NotFound,
    /// In a word for programs, and in a sentence for whoever builds the application.
    Refused { status: StatusCode, error: &'static str, description: Cow<'static, str> },
    /// The same, and how to ask instead.
    Unauthorized { error: Option<&'static str>, description: &'static str, challenge: String },
    /// The token lets nobody do this (RFC 6750, 3.1).
    InsufficientScope { description: &'static str, challenge: String },
    /// A fault of ours, or too many requests.
    Problem(Problem),
}

impl OauthRefusal {
    /// `invalid_request`
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
            Self::Refused { status, error, description } => no_store(status, &told(Some(error), &description)),
            Self::Unauthorized { error, description, challenge } => {
                with_challenge(no_store(StatusCode::UNAUTHORIZED, &told(error, description)), challenge)
            }
            Self::InsufficientScope { description, challenge } => {
                let reply = no_store(StatusCode::FORBIDDEN, &told(Some("insufficient_scope"), description));
                with_challenge(reply, challenge)
            }
            Self::Problem(problem) => say(&problem),
        }
    }
}

fn with_challenge(mut reply: Response, challenge: String) -> Response {
    if let Ok(challenge) = HeaderValue::try_from(challenge) {
        reply.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    reply
}

fn told(error: Option<&str>, description: &str) -> serde_json::Value {
    json!({ "error": error.unwrap_or("invalid_token"), "error_description": description })
}

fn say(problem: &Problem) -> Response {
    problem.log();
    let (status, _) = problem.status_and_code();
    let error = match problem {
        Problem::RateLimited(_) | Problem::TooManyAtOnce { .. } | Problem::Unavailable(_) => "temporarily_unavailable",
        Problem::Internal(_) => "server_error",
        _ => "invalid_request",
    };
    let mut reply = no_store(status, &told(Some(error), &problem.to_string()));
    reply.headers_mut().extend(problem.headers());
    reply
}

/// A reply that nobody stores.
pub(super) fn no_store(status: StatusCode, body: &impl Serialize) -> Response {
    let headers: HeaderMap =
        [(CACHE_CONTROL, HeaderValue::from_static("no-store")), (PRAGMA, HeaderValue::from_static("no-cache"))]
            .into_iter()
            .collect();
    (status, headers, JsonReply(body)).into_response()
}

/// A reply that scripts of every site may read: they have the token that it takes, and no cookie helps them.
pub(super) fn open(reply: Result<Response, OauthRefusal>) -> Response {
    let mut reply = reply.into_response();
    reply.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    reply
}
