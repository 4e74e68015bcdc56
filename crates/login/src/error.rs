//! The error type of the login service's API, and its mapping to HTTP responses.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde_json::{Value, json};
use signpost_auth::VerificationError;
use signpost_platform::web::problem::{Problem, error_body};

use crate::ids::{DomainId, UserId};

/// An error of the login service's API. Its text is the error message for the client.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the text of each variant is its documentation")]
pub enum Error {
    #[error(transparent)]
    Problem(#[from] Problem),
    #[error("no session has this id")]
    SessionNotFound,
    #[error("no domain has this id or name")]
    DomainNotFound,
    #[error("no user of the domain has this key")]
    UserUnknown,
    #[error("no user of the domain has this id")]
    UserNotFound,
    #[error("a user of the domain has this key")]
    UserExists,
    #[error("the challenge is not this session's: it belongs to another session, or a refresh replaced it")]
    ChallengeNotFound,
    #[error("the signature is not a DER-encoded ECDSA signature in hex")]
    MalformedSignature { public_key: String },
    #[error("the signature does not verify: {reason}")]
    SignatureRefused { reason: VerificationError },
    #[error("the signature names another host than the QR code: the wallet scanned an altered code")]
    HostRefused,
    #[error("the number shown on the page is missing or wrong; the third wrong attempt ends the session")]
    ConfirmCodeRefused,
    #[error("the completion code is wrong, or no wallet has answered yet")]
    CompletionCodeRefused,
    #[error("the key belongs to another user than the session's 'user', or to no user; use a key of that user")]
    UserRefused,
    #[error("browser_secret is missing or does not match the hash of the session; the session is cancelled")]
    BrowserRefused,
    #[error("the public key is not a secp256k1 key in hex: 33 bytes (02, 03) or 65 bytes (04)")]
    InvalidPublicKey { public_key: String },
    #[error("the timestamp is more than 30 seconds from the server's time")]
    TimestampOutOfRange { server_time: Timestamp },
    #[error("the domain {domain} is already registered")]
    DomainExists { domain: String, id: DomainId },
    #[error("the session is already authenticated")]
    SessionAlreadyAuthenticated,
    #[error("the session has expired; create another, or refresh it within 15 minutes")]
    SessionExpired { id: String, expired_at: Timestamp },
    #[error("the session was cancelled")]
    SessionCancelled { id: String },
    #[error("the domain {0} is not registered; register it with POST /domains")]
    DomainNotRegistered(String),
    #[error("the domain {domain} is not verified: {reason}")]
    DomainNotVerified { domain: String, reason: &'static str },
    #[error(
        "the domain {0} is not hosted: set its handler to 'hosted' with PATCH /domains/{{id}}, or use another flow"
    )]
    DomainNotHosted(String),
    #[error("'user' requires flow 'page': set flow to 'page', or leave user out")]
    PageFlowRequired,
    #[error(
        "nobody could log in at {0} on a page: add 'scan' to its methods with PATCH /domains/{{id}}, or 'lightning' and leave confirm out"
    )]
    NoLoginMethod(String),
    #[error("live sessions of hosted domains require a server with an https public URL, and this one is at {0}")]
    InsecurePublicUrl(String),
    #[error(
        "a Lightning wallet's key is the same for every domain of this login host, so live hosted domains of several accounts cannot offer lightning"
    )]
    SharedLoginHost,
    #[error("the user has no credential and cannot log in; add the first one with mode 'link'")]
    NoCredential,
    #[error("another user of the domain has this external_id; details.id is that user")]
    ExternalIdExists { id: UserId },
    #[error("another user of the domain has, or once had, this username; choose another one")]
    UsernameTaken,
    #[error("another user of the domain has this e-mail address")]
    EmailTaken,
    #[error("the user has no other credential; delete the user instead")]
    LastCredential,
    #[error("a user of the domain has this key already, or this passkey belongs to another user of this server")]
    CredentialExists,
    #[error("the user has 10 credentials, and no more are possible; remove one first")]
    TooManyCredentials,
    #[error("the user last logged in more than 5 minutes ago; log the user in, then link")]
    RecentLoginRequired,
    #[error("this Idempotency-Key was used with a different request in the last 24 hours; use a new one")]
    IdempotencyKeyReused,
    #[error("no proof found for the domain {domain}; see details.checks")]
    DomainVerificationFailed { domain: String, checks: Value },
}

impl Error {
    /// Returns the HTTP status and the stable error code.
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Problem(problem) => problem.status_and_code(),
            Self::SessionNotFound => (StatusCode::NOT_FOUND, "session_not_found"),
            Self::DomainNotFound => (StatusCode::NOT_FOUND, "domain_not_found"),
            Self::UserUnknown | Self::UserNotFound => (StatusCode::NOT_FOUND, "user_not_found"),
            Self::UserExists => (StatusCode::CONFLICT, "user_exists"),
            Self::ChallengeNotFound => (StatusCode::NOT_FOUND, "challenge_not_found"),
            Self::MalformedSignature { .. } => (StatusCode::BAD_REQUEST, "invalid_signature"),
            Self::SignatureRefused { .. }
            | Self::HostRefused
            | Self::ConfirmCodeRefused
            | Self::CompletionCodeRefused
            | Self::UserRefused
            | Self::BrowserRefused => (StatusCode::NOT_ACCEPTABLE, "invalid_signature"),
            Self::InvalidPublicKey { .. } => (StatusCode::BAD_REQUEST, "invalid_public_key"),
            Self::TimestampOutOfRange { .. } => (StatusCode::REQUEST_TIMEOUT, "timestamp_out_of_range"),
            Self::DomainExists { .. } => (StatusCode::CONFLICT, "domain_exists"),
            Self::SessionAlreadyAuthenticated => (StatusCode::CONFLICT, "session_already_authenticated"),
            Self::SessionExpired { .. } => (StatusCode::GONE, "session_expired"),
            Self::SessionCancelled { .. } => (StatusCode::GONE, "session_cancelled"),
            Self::DomainNotRegistered(_) => (StatusCode::UNPROCESSABLE_ENTITY, "domain_not_registered"),
            Self::DomainNotHosted(_) => (StatusCode::UNPROCESSABLE_ENTITY, "domain_not_hosted"),
            Self::PageFlowRequired => (StatusCode::UNPROCESSABLE_ENTITY, "page_flow_required"),
            Self::NoLoginMethod(_) => (StatusCode::UNPROCESSABLE_ENTITY, "no_login_method"),
            Self::DomainNotVerified { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "domain_not_verified"),
            Self::DomainVerificationFailed { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "domain_verification_failed"),
            Self::InsecurePublicUrl(_) => (StatusCode::UNPROCESSABLE_ENTITY, "insecure_public_url"),
            Self::SharedLoginHost => (StatusCode::UNPROCESSABLE_ENTITY, "shared_login_host"),
            Self::NoCredential => (StatusCode::CONFLICT, "no_credential"),
            Self::ExternalIdExists { .. } => (StatusCode::CONFLICT, "external_id_exists"),
            Self::UsernameTaken => (StatusCode::CONFLICT, "username_taken"),
            Self::EmailTaken => (StatusCode::CONFLICT, "email_taken"),
            Self::LastCredential => (StatusCode::CONFLICT, "last_credential"),
            Self::CredentialExists => (StatusCode::CONFLICT, "credential_exists"),
            Self::TooManyCredentials => (StatusCode::CONFLICT, "too_many_credentials"),
            Self::RecentLoginRequired => (StatusCode::UNPROCESSABLE_ENTITY, "recent_login_required"),
            Self::IdempotencyKeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused"),
        }
    }

    /// Returns the details for programs.
    fn details(&self) -> Value {
        match self {
            Self::Problem(problem) => problem.details(),
            Self::MalformedSignature { public_key } => json!({
                "public_key": public_key,
                "expected_format": "DER-encoded ECDSA signature on secp256k1, in hex, without trailing bytes",
            }),
            Self::HostRefused => json!({ "reason": "host" }),
            Self::ConfirmCodeRefused => json!({ "reason": "confirm_code" }),
            Self::CompletionCodeRefused => json!({ "reason": "completion_code" }),
            Self::UserRefused => json!({ "reason": "user" }),
            Self::BrowserRefused => json!({ "reason": "browser" }),
            Self::PageFlowRequired => json!({ "field": "flow" }),
            Self::SignatureRefused { reason } => json!({ "reason": reason.to_string() }),
            Self::InvalidPublicKey { public_key } => json!({
                "public_key": public_key,
                "expected_format": "33-byte (02, 03) or 65-byte (04) secp256k1 public key, in hex",
            }),
            Self::TimestampOutOfRange { server_time } => json!({ "server_time": server_time.as_second() }),
            Self::SessionExpired { id, expired_at } => {
                json!({ "id": id, "status": "expired", "expired_at": expired_at })
            }
            Self::SessionCancelled { id } => json!({ "id": id, "status": "cancelled" }),
            Self::DomainNotRegistered(domain) | Self::DomainNotHosted(domain) | Self::NoLoginMethod(domain) => {
                json!({ "domain": domain })
            }
            Self::DomainExists { domain, id } => json!({ "domain": domain, "id": id }),
            Self::ExternalIdExists { id } => json!({ "id": id }),
            Self::InsecurePublicUrl(address) => json!({ "public_url": address }),
            Self::DomainNotVerified { domain, reason } => json!({ "domain": domain, "reason": reason }),
            Self::DomainVerificationFailed { domain, checks } => json!({ "domain": domain, "checks": checks }),
            _ => json!({}),
        }
    }
}

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        Problem::from(error).into()
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        match self {
            Self::Problem(problem) => problem.into_response(),
            refused => error_body(refused.status_and_code(), &refused.to_string(), &refused.details()),
        }
    }
}
