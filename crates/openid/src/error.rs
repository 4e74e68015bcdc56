//! The error type of the API of this crate. The protocol endpoints return OAuth errors instead.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use signpost_login::error::Error as LoginError;
use signpost_platform::web::problem::{Problem, error_body};

/// An error of the API. Its text is the error message for the client.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the text of each variant is its documentation")]
pub enum OpenidError {
    /// An error of the login service.
    #[error(transparent)]
    Login(#[from] LoginError),
    #[error(
        "the domain {0} is not hosted, and clients are of hosted domains: set its handler to 'hosted' with PATCH /domains/{{id}}"
    )]
    DomainNotHosted(String),
    #[error("no client of the domain has this id")]
    ClientNotFound,
    #[error("the client is public: it has no secret")]
    ClientIsPublic,
    #[error("the domain has {0} clients, and no more are possible; delete one first")]
    TooManyClients(u32),
}

impl OpenidError {
    /// Returns the HTTP status and the stable code of errors that the login service does not have.
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Login(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
            Self::DomainNotHosted(_) => (StatusCode::UNPROCESSABLE_ENTITY, "domain_not_hosted"),
            Self::ClientNotFound => (StatusCode::NOT_FOUND, "client_not_found"),
            Self::ClientIsPublic => (StatusCode::UNPROCESSABLE_ENTITY, "client_is_public"),
            Self::TooManyClients(_) => (StatusCode::CONFLICT, "too_many_clients"),
        }
    }
}

impl From<Problem> for OpenidError {
    fn from(problem: Problem) -> Self {
        Self::Login(problem.into())
    }
}

impl From<anyhow::Error> for OpenidError {
    fn from(error: anyhow::Error) -> Self {
        Self::Login(error.into())
    }
}

impl IntoResponse for OpenidError {
    fn into_response(self) -> Response {
        match self {
            Self::Login(error) => error.into_response(),
            refused => {
                let details = match &refused {
                    Self::DomainNotHosted(domain) => json!({ "domain": domain }),
                    _ => json!({}),
                };
                error_body(refused.status_and_code(), &refused.to_string(), &details)
            }
        }
    }
}
