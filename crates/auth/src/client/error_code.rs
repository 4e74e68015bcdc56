//! The codes of errors.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares the known codes with their names on the wire.
macro_rules! error_codes {
    ($($name:ident => $code:literal, $doc:literal;)*) => {
        /// The code of a [`super::SignpostError`]: a code of the service (see `docs/api.md`), or a
        /// code of this client for errors that the service did not send.
        ///
        /// A newer service may send codes that are [`ErrorCode::Other`] here, so a `match` needs a
        /// wildcard arm.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(#[doc = concat!("`", $code, "`: ", $doc)] $name,)*
            /// A code that a later version of the service introduced.
            Other(String),
        }

        impl ErrorCode {
            /// Returns the name that the API uses.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $code,)*
                    Self::Other(code) => code,
                }
            }
        }

        impl From<&str> for ErrorCode {
            fn from(code: &str) -> Self {
                match code {
                    $($code => Self::$name,)*
                    other => Self::Other(other.to_owned()),
                }
            }
        }
    };
}

error_codes! {
    ApprovalConsumed => "approval_consumed", "the approval was used.";
    AtmNotFound => "atm_not_found", "there is no such ATM.";
    AtmNotYours => "atm_not_yours", "the ATM belongs to another operator.";
    ChallengeNotFound => "challenge_not_found", "no session has this challenge.";
    ClientIsPublic => "client_is_public", "the client has no secret.";
    ClientNotFound => "client_not_found", "there is no such client.";
    CredentialExists => "credential_exists", "the credential belongs to an account.";
    DomainExists => "domain_exists", "the domain is registered.";
    DomainNotFound => "domain_not_found", "there is no such domain.";
    DomainNotHosted => "domain_not_hosted", "the call requires the handler `hosted`.";
    DomainNotRegistered => "domain_not_registered", "the account has no such domain.";
    DomainNotVerified => "domain_not_verified", "the ownership of the domain is not proved.";
    DomainVerificationFailed => "domain_verification_failed", "no proof of ownership was found.";
    EmailTaken => "email_taken", "another user has the e-mail address.";
    ExternalIdExists => "external_id_exists", "another user has the external ID.";
    IdempotencyKeyReused => "idempotency_key_reused", "another request had the idempotency key.";
    InsecurePublicUrl => "insecure_public_url", "the service requires https for this call.";
    InsufficientScope => "insufficient_scope", "the API key lacks a scope.";
    InternalError => "internal_error", "the service failed.";
    InvalidApiKey => "invalid_api_key", "the API key is unknown, or of another environment.";
    InvalidJson => "invalid_json", "the body is not valid JSON.";
    InvalidProof => "invalid_proof", "the proof of work is wrong.";
    InvalidPublicKey => "invalid_public_key", "the public key is malformed.";
    InvalidRequest => "invalid_request", "a value is not allowed; see `details.field`.";
    InvalidSignature => "invalid_signature", "the signature or the completion code is wrong.";
    LastCredential => "last_credential", "the user has no other credential.";
    MethodNotAllowed => "method_not_allowed", "the path has no such method.";
    NoCredential => "no_credential", "the user has no credential to log in with.";
    NoLoginMethod => "no_login_method", "the domain allows no login method.";
    NotFound => "not_found", "there is no such object or path.";
    PageFlowRequired => "page_flow_required", "a login with `user` requires the flow `page`.";
    PayloadTooLarge => "payload_too_large", "the body is too long.";
    RateLimited => "rate_limited", "too many requests; see `retry_after`.";
    RecentLoginRequired => "recent_login_required", "the user must log in again first.";
    ReporterBanned => "reporter_banned", "reports from this address are not accepted.";
    ResourceExists => "resource_exists", "the resource is registered.";
    SessionAlreadyAuthenticated => "session_already_authenticated", "the session was answered.";
    SessionCancelled => "session_cancelled", "the session was cancelled.";
    SessionExpired => "session_expired", "the session expired.";
    SessionNotFound => "session_not_found", "there is no such session.";
    SharedLoginHost => "shared_login_host", "the change requires a separate login host.";
    TimestampOutOfRange => "timestamp_out_of_range", "the time of the answer is not the current time.";
    TooManyClients => "too_many_clients", "the domain has the maximum number of clients.";
    TooManyCredentials => "too_many_credentials", "the user has the maximum number of credentials.";
    Unavailable => "unavailable", "the service is not available at the moment.";
    UnsupportedMediaType => "unsupported_media_type", "the body has another content type than JSON.";
    UserExists => "user_exists", "the key belongs to a user.";
    UserNotFound => "user_not_found", "there is no such user.";
    UsernameTaken => "username_taken", "the username belongs, or belonged, to another user.";
    ConnectionFailed => "connection_failed", "there was no complete response.";
    Timeout => "timeout", "there was no response in time.";
    InvalidResponse => "invalid_response", "the response is not of the service: not JSON, too long, or a redirect.";
    ToolError => "tool_error", "a tool of the locator failed.";
    McpError => "mcp_error", "the locator rejected the call; see `details.code`.";
    InvalidArgument => "invalid_argument", "an argument is invalid, and nothing was sent.";
}

impl From<String> for ErrorCode {
    fn from(code: String) -> Self {
        Self::from(code.as_str())
    }
}

impl From<ErrorCode> for String {
    fn from(code: ErrorCode) -> Self {
        code.as_str().to_owned()
    }
}

impl PartialEq<str> for ErrorCode {
    fn eq(&self, code: &str) -> bool {
        self.as_str() == code
    }
}

impl PartialEq<&str> for ErrorCode {
    fn eq(&self, code: &&str) -> bool {
        self.as_str() == *code
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
