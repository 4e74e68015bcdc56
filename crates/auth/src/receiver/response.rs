//! The responses of a receiver, and its error statuses.

use serde_json::{Value, json};

use crate::answer::{InvalidAnswer, VerificationError};

/// Reason a request is rejected, with its HTTP status (specification, section 4, receiver status
/// codes).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandlerRefusal {
    /// 400: the wallet's body is not a valid answer.
    #[error(transparent)]
    InvalidAnswer(InvalidAnswer),
    /// 400: the poll has no `sid`.
    #[error("the query parameter sid is missing: poll with ?sid=<session id>")]
    MissingSid,
    /// 400: the service signed the body, but it is not an event.
    #[error("the body is not an event: event, timestamp, session_id and data are required")]
    InvalidEvent,
    /// 401: the event is not, or not verifiably, from the service.
    #[error("the event is refused: {0}")]
    NotAuthentic(&'static str),
    /// 403: the event comes from an address that is not allowed.
    #[error("events from this address are not accepted")]
    SourceNotAllowed,
    /// 404: the challenge was never issued, has another purpose, was answered or replaced, or has
    /// expired.
    #[error("no session waits for an answer to this challenge: scan the code again")]
    NoPendingSession,
    /// 404: a newer code has replaced the code.
    #[error("a new code replaced this one: scan the code that the page shows now")]
    Replaced,
    /// 404: the site does not allow this login method.
    #[error("this kind of wallet is not accepted here: use what the page offers")]
    MethodNotOffered,
    /// 404: the key has no account, and the page now offers to create one.
    #[error("no account has this key yet: scan the new code on the page to create one")]
    AccountNeeded,
    /// 404: the key has no account, and users may not create accounts.
    #[error("no account has this key, and no new accounts can be created here")]
    RegistrationClosed,
    /// 404: the key of a login was never registered.
    #[error("no user has this public key: register first")]
    UserUnknown,
    /// 406: the signature is not valid for this key, or the key or the signature is malformed.
    #[error(transparent)]
    NotVerified(#[from] VerificationError),
    /// 406: the number that the page displays is missing or wrong.
    #[error("the number shown on the page is missing or wrong: type it as shown")]
    ConfirmCode,
    /// 406: the login is for one account, and the key belongs to another account or to none.
    #[error("this key is not accepted for this login: use a key of the account that the site named")]
    OtherUser,
    /// 406: the answer was signed for a host that differs from the host in the code.
    #[error("the signature is for another host: scan the code on the site's own page, not a copy of it elsewhere")]
    Host,
    /// 408: the answer was signed too long ago, or with an incorrect clock.
    #[error("the timestamp is more than 30 seconds from this server's time: sign again, or set the device's clock")]
    StaleTimestamp,
    /// 409: the key of a registration already has a user.
    #[error("a user with this public key exists: log in instead")]
    UserExists,
    /// 409: the key to link already belongs to an account.
    #[error("an account here has this key already: link another wallet, or log in with this one")]
    KeyTaken,
    /// 409: the account already has the maximum number of keys.
    #[error("the account has 10 credentials, and no more are possible: remove one first")]
    TooManyKeys,
    /// 413: the body is larger than any answer or event.
    #[error("the body is too long: at most 64 KiB are accepted")]
    TooLarge,
    /// 429: the client sent too many answers.
    #[error("too many requests; try again in {retry_after} s")]
    RateLimited {
        /// The number of whole seconds, at least 1, for the header `Retry-After`.
        retry_after: u64,
        /// Further headers that describe the limit.
        headers: Vec<(&'static str, String)>,
    },
    /// 500: any other reason. The host has logged it.
    #[error("something went wrong on this server: try again")]
    Internal,
}

impl HandlerRefusal {
    /// Returns the HTTP status code.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::InvalidAnswer(_) | Self::MissingSid | Self::InvalidEvent => 400,
            Self::NotAuthentic(_) => 401,
            Self::SourceNotAllowed => 403,
            Self::NoPendingSession
            | Self::Replaced
            | Self::MethodNotOffered
            | Self::AccountNeeded
            | Self::RegistrationClosed
            | Self::UserUnknown => 404,
            Self::NotVerified(_) | Self::ConfirmCode | Self::OtherUser | Self::Host => 406,
            Self::StaleTimestamp => 408,
            Self::UserExists | Self::KeyTaken | Self::TooManyKeys => 409,
            Self::TooLarge => 413,
            Self::RateLimited { .. } => 429,
            Self::Internal => 500,
        }
    }

    /// Returns the machine-readable reason for wallets if several reasons share the status.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::ConfirmCode => Some("confirm_code"),
            Self::Host => Some("host"),
            Self::OtherUser => Some("user"),
            Self::KeyTaken => Some("credential_exists"),
            Self::TooManyKeys => Some("too_many_credentials"),
            Self::Replaced => Some("replaced"),
            Self::MethodNotOffered => Some("method"),
            Self::AccountNeeded => Some("account_needed"),
            Self::RegistrationClosed => Some("registration_closed"),
            _ => None,
        }
    }
}

/// An HTTP response of a receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct HandlerResponse {
    /// The HTTP status code.
    pub status: u16,
    /// The JSON body.
    pub body: Value,
    /// The value of a `Set-Cookie` header, if the polling browser is now logged in.
    pub set_cookie: Option<String>,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
}

impl HandlerResponse {
    pub(super) fn ok(body: Value) -> Self {
        Self { status: 200, body, set_cookie: None, headers: Vec::new() }
    }

    /// Returns the response to an event. `is_new` is set for its first delivery.
    pub(crate) fn received(is_new: bool) -> Self {
        Self::ok(json!({ "status": if is_new { "received" } else { "received before" } }))
    }
}

#[cfg(all(feature = "axum", feature = "client"))]
impl HandlerResponse {
    /// Returns a response with status 503 to an event that is still being handled, so that the
    /// service sends it again.
    pub(crate) fn later(why: &str) -> Self {
        let headers = vec![("retry-after", "5".to_owned())];
        Self { status: 503, headers, ..Self::ok(json!({ "error": why })) }
    }
}

impl From<HandlerRefusal> for HandlerResponse {
    fn from(refusal: HandlerRefusal) -> Self {
        let mut body = json!({ "error": refusal.to_string() });
        if let Some(reason) = refusal.reason() {
            body["details"] = json!({ "reason": reason });
        }
        let status = refusal.status();
        let headers = match refusal {
            HandlerRefusal::RateLimited { retry_after, headers } => {
                [("retry-after", retry_after.to_string())].into_iter().chain(headers).collect()
            }
            _ => Vec::new(),
        };
        Self { status, body, set_cookie: None, headers }
    }
}

impl From<Result<HandlerResponse, HandlerRefusal>> for HandlerResponse {
    fn from(result: Result<HandlerResponse, HandlerRefusal>) -> Self {
        result.unwrap_or_else(Self::from)
    }
}
