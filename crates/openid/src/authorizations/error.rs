//! Errors of authorization requests that are reported to the client.

/// An error that is reported to the redirect URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthorizationError {
    /// The value of `error`.
    pub code: AuthorizationErrorCode,
    /// The value of `error_description`, for developers of the client.
    pub description: &'static str,
}

/// The error codes of RFC 6749 (4.1.2.1) and `OpenID` Connect Core (3.1.2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the specifications")]
pub enum AuthorizationErrorCode {
    AccessDenied,
    ConsentRequired,
    InvalidRequest,
    InvalidScope,
    LoginRequired,
    RegistrationNotSupported,
    RequestNotSupported,
    RequestUriNotSupported,
    ServerError,
    TemporarilyUnavailable,
    UnsupportedResponseType,
}

impl AuthorizationErrorCode {
    /// Returns the value of `error`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AccessDenied => "access_denied",
            Self::ConsentRequired => "consent_required",
            Self::InvalidRequest => "invalid_request",
            Self::InvalidScope => "invalid_scope",
            Self::LoginRequired => "login_required",
            Self::RegistrationNotSupported => "registration_not_supported",
            Self::RequestNotSupported => "request_not_supported",
            Self::RequestUriNotSupported => "request_uri_not_supported",
            Self::ServerError => "server_error",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
            Self::UnsupportedResponseType => "unsupported_response_type",
        }
    }

    /// Returns the error with this description.
    #[must_use]
    pub fn with_description(self, description: &'static str) -> AuthorizationError {
        AuthorizationError { code: self, description }
    }
}
