//! Why an application gets no code, in the words of the protocol.

/// Why an application gets no code. It learns it where it wanted the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthorizationRefusal {
    /// The word for programs.
    pub code: RefusalCode,
    /// What was wrong and what to do, for whoever builds the application.
    pub description: &'static str,
}

/// The words of RFC 6749 (4.1.2.1) and `OpenID` Connect Core (3.1.2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the specifications")]
pub enum RefusalCode {
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

impl RefusalCode {
    /// The word in `error`.
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

    /// With what was wrong.
    #[must_use]
    pub fn because(self, description: &'static str) -> AuthorizationRefusal {
        AuthorizationRefusal { code: self, description }
    }
}
