//! Everything that can go wrong in a request of the authentication service, and what the caller is told.

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde_json::{Value, json};
use signpost_auth::NotVerified;

use crate::atm::catalogue::Conflict;
use crate::platform::accounts::Scope;
use crate::platform::limits::Exceeded;
use crate::store::Unavailable;
use crate::store::id::DomainId;

/// Why a request was refused. The text is what the caller reads; causes are logged, never told.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the text of each variant is its documentation")]
pub enum Error {
    #[error("the body is not valid JSON: {0}")]
    InvalidJson(String),
    #[error("{field}: {reason}")]
    InvalidRequest { field: String, reason: String },
    #[error("the API key is missing, unknown, revoked or of the other environment; send 'Authorization: Bearer <key>'")]
    InvalidApiKey,
    #[error("this API key opens '{}', and this address needs one for '{}'", .opened.as_str(), .needed.as_str())]
    InsufficientScope { needed: Scope, opened: Scope },
    #[error("nothing is at this address")]
    NotFound,
    #[error("no session has this id")]
    SessionNotFound,
    #[error("no domain has this id")]
    DomainNotFound,
    #[error("this session does not hold that challenge: it is another's, or a refresh replaced it")]
    ChallengeNotFound,
    #[error("this address does not take that method")]
    MethodNotAllowed,
    #[error("the signature is not a DER-encoded ECDSA signature in hex")]
    MalformedSignature { public_key: String },
    #[error("the signature does not verify: {reason}")]
    SignatureRefused { reason: NotVerified },
    #[error("the signature is for another host than the code names: the wallet was shown a changed code")]
    HostRefused,
    #[error("the number that the page shows is missing or wrong; the third wrong one ends the session")]
    ConfirmCodeRefused,
    #[error("the code is not the one that the wallet was told, or no wallet answered yet")]
    CompletionCodeRefused,
    #[error("the public key is not a secp256k1 key in hex: 33 bytes (02, 03) or 65 bytes (04)")]
    InvalidPublicKey { public_key: String },
    #[error("the timestamp is more than 30 seconds from the server's time")]
    TimestampOutOfRange { server_time: Timestamp },
    #[error("the domain {domain} is registered already")]
    DomainExists { domain: String, id: DomainId },
    #[error("the session is authenticated already")]
    SessionAlreadyAuthenticated,
    #[error("the session expired; create another, or refresh it within 15 minutes")]
    SessionExpired { id: String, expired_at: Timestamp },
    #[error("the session was cancelled")]
    SessionCancelled { id: String },
    #[error("the body is over {limit} bytes")]
    PayloadTooLarge { limit: usize },
    #[error("the body must be JSON: send 'Content-Type: application/json'")]
    UnsupportedMediaType,
    #[error("the domain {0} is not registered; register it with POST /domains")]
    DomainNotRegistered(String),
    #[error("the domain {domain} is not verified: {reason}")]
    DomainNotVerified { domain: String, reason: &'static str },
    #[error("a live session of a hosted domain needs a server with an https public URL, and this one is at {0}")]
    InsecurePublicUrl(String),
    #[error("this Idempotency-Key came with another request in the last 24 hours; use a new one")]
    IdempotencyKeyReused,
    #[error("no proof was found for the domain {domain}; see details.checks")]
    DomainVerificationFailed { domain: String, checks: Value },
    #[error("too many requests; try again in {} s", .0.retry_after())]
    RateLimited(Exceeded),
    #[error("{most} of your requests are open at once, which is the most; let some of them end first")]
    TooManyAtOnce { limit: &'static str, most: usize },
    #[error("the service cannot do this now; try again soon")]
    Unavailable(String),
    #[error("something went wrong on our side")]
    Internal(anyhow::Error),
}

impl Error {
    /// A field of the request that does not hold what it must.
    pub fn field(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::InvalidRequest { field: field.into(), reason: reason.into() }
    }

    /// The same error, of a field inside of `object`.
    #[must_use]
    pub fn within(self, object: &str) -> Self {
        match self {
            Self::InvalidRequest { field, reason } => Self::field(format!("{object}.{field}"), reason),
            other => other,
        }
    }

    /// The whole catalogue: variant, HTTP status, stable code.
    fn face(&self) -> (StatusCode, &'static str) {
        match self {
            Self::InvalidJson(_) => (StatusCode::BAD_REQUEST, "invalid_json"),
            Self::InvalidRequest { .. } => (StatusCode::BAD_REQUEST, "invalid_request"),
            Self::InvalidApiKey => (StatusCode::UNAUTHORIZED, "invalid_api_key"),
            Self::InsufficientScope { .. } => (StatusCode::FORBIDDEN, "insufficient_scope"),
            Self::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            Self::SessionNotFound => (StatusCode::NOT_FOUND, "session_not_found"),
            Self::DomainNotFound => (StatusCode::NOT_FOUND, "domain_not_found"),
            Self::ChallengeNotFound => (StatusCode::NOT_FOUND, "challenge_not_found"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::MalformedSignature { .. } => (StatusCode::BAD_REQUEST, "invalid_signature"),
            Self::SignatureRefused { .. }
            | Self::HostRefused
            | Self::ConfirmCodeRefused
            | Self::CompletionCodeRefused => (StatusCode::NOT_ACCEPTABLE, "invalid_signature"),
            Self::InvalidPublicKey { .. } => (StatusCode::BAD_REQUEST, "invalid_public_key"),
            Self::TimestampOutOfRange { .. } => (StatusCode::REQUEST_TIMEOUT, "timestamp_out_of_range"),
            Self::DomainExists { .. } => (StatusCode::CONFLICT, "domain_exists"),
            Self::SessionAlreadyAuthenticated => (StatusCode::CONFLICT, "session_already_authenticated"),
            Self::SessionExpired { .. } => (StatusCode::GONE, "session_expired"),
            Self::SessionCancelled { .. } => (StatusCode::GONE, "session_cancelled"),
            Self::PayloadTooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large"),
            Self::UnsupportedMediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
            Self::DomainNotRegistered(_) => (StatusCode::UNPROCESSABLE_ENTITY, "domain_not_registered"),
            Self::DomainNotVerified { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "domain_not_verified"),
            Self::DomainVerificationFailed { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "domain_verification_failed"),
            Self::InsecurePublicUrl(_) => (StatusCode::UNPROCESSABLE_ENTITY, "insecure_public_url"),
            Self::IdempotencyKeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "idempotency_key_reused"),
            Self::RateLimited(_) | Self::TooManyAtOnce { .. } => (StatusCode::TOO_MANY_REQUESTS, "rate_limited"),
            Self::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
            Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
        }
    }

    /// What a program needs to act on the error.
    fn details(&self) -> Value {
        match self {
            Self::InvalidRequest { field, reason } => json!({ "field": field, "reason": reason }),
            Self::MalformedSignature { public_key } => json!({
                "public_key": public_key,
                "expected_format": "DER-encoded ECDSA signature on secp256k1, in hex, without trailing bytes",
            }),
            Self::InsufficientScope { needed, opened } => json!({ "needed": needed, "opened": opened }),
            Self::HostRefused => json!({ "reason": "host" }),
            Self::ConfirmCodeRefused => json!({ "reason": "confirm_code" }),
            Self::CompletionCodeRefused => json!({ "reason": "completion_code" }),
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
            Self::PayloadTooLarge { limit } => json!({ "limit": limit }),
            Self::DomainNotRegistered(domain) => json!({ "domain": domain }),
            Self::DomainExists { domain, id } => json!({ "domain": domain, "id": id }),
            Self::InsecurePublicUrl(address) => json!({ "public_url": address }),
            Self::DomainNotVerified { domain, reason } => json!({ "domain": domain, "reason": reason }),
            Self::DomainVerificationFailed { domain, checks } => json!({ "domain": domain, "checks": checks }),
            Self::RateLimited(exceeded) => json!({ "limit": exceeded.name, "retry_after": exceeded.retry_after() }),
            Self::TooManyAtOnce { limit, most } => json!({ "limit": limit, "at_once": most, "retry_after": 1 }),
            _ => json!({}),
        }
    }

    /// Failures of ours are logged here and nowhere else.
    pub(crate) fn log(&self) {
        match self {
            Self::Internal(cause) => tracing::error!(error = format!("{cause:#}"), "request failed"),
            Self::Unavailable(cause) => tracing::warn!(error = cause, "request could not be served"),
            _ => {}
        }
    }
}

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        if error.is::<Unavailable>() || error.is::<Conflict>() {
            return Self::Unavailable(error.to_string());
        }
        Self::Internal(error)
    }
}

impl Error {
    /// The status and the fields beside the body.
    pub(crate) fn status_and_headers(&self) -> (StatusCode, HeaderMap) {
        let mut headers = HeaderMap::new();
        match self {
            Self::InvalidApiKey => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"signpost\""));
            }
            Self::RateLimited(exceeded) => exceeded.write(&mut headers),
            Self::Unavailable(_) | Self::TooManyAtOnce { .. } => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        (self.face().0, headers)
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        self.log();
        let (_, code) = self.face();
        let body = json!({ "error": { "code": code, "message": self.to_string(), "details": self.details() } });
        let (status, headers) = self.status_and_headers();
        (status, headers, Json(body)).into_response()
    }
}
