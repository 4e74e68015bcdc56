//! The integrator's side of a login: what the specification, section 4, asks of the receiving application.
//!
//! Four endpoints, each one function that takes what a request carried and gives a [`Reply`]: [`login`] and
//! [`register`] answer wallets, [`poll`] answers the page that shows the code, [`event`] takes what the service tells.
//! The order of their checks is the contract. What the application remembers is behind [`Host`] and [`Site`]. With the
//! feature `axum`, `router` serves all four.

mod answers;
mod browser;
mod classify;
mod events;
mod polls;
#[cfg(feature = "axum")]
mod router;

pub use answers::{login, register};
pub use browser::{Browser, CodeBinding, InvalidOrigin, Origin};
pub use classify::{Post, classify};
pub use events::{EventHeaders, EventRules, event};
pub use polls::{PollRules, ShownCode, is_local_path, poll};
#[cfg(feature = "axum")]
pub use router::{LARGEST_BODY, Paths, Receiver, router};

use serde_json::{Value, json};

use crate::{Answer, Challenge, Event, InvalidAnswer, NotVerified, PublicKey};

/// Who answers wallets: the application's sessions and users.
///
/// What fails inside is logged by the host and becomes [`Refusal::Failed`]; the wallet is told nothing about it.
pub trait Host: Send + Sync {
    /// What the host knows a session by.
    type Session: Send;
    /// What the host knows a user by.
    type User: Send;

    /// The challenge that a signed text names: in one of the specification's two renderings, and in no other. Only a host
    /// whose codes have `v=2` reads [`crate::Through`] here.
    fn named(&self, text: &str) -> Option<Challenge> {
        Challenge::parse(text).ok()
    }

    /// The session that waits for an answer to this challenge; none once it is answered, replaced or, at `now` in
    /// Unix seconds, expired.
    fn held(
        &self,
        challenge: &Challenge,
        now: i64,
    ) -> impl Future<Output = Result<Option<Self::Session>, Refusal>> + Send;

    /// The user with this key, in whichever spelling.
    fn user(&self, key: &PublicKey) -> impl Future<Output = Result<Option<Self::User>, Refusal>> + Send;

    /// Marks the session authenticated for the user, if nobody has done so before: of two answers to one challenge
    /// that race, the second gets [`Refusal::NotHeld`].
    fn log_in(
        &self,
        session: Self::Session,
        user: Self::User,
        answer: &Answer,
    ) -> impl Future<Output = Result<Logged, Refusal>> + Send;

    /// Creates the user and marks the session authenticated, both or neither: [`Refusal::UserExists`] and
    /// [`Refusal::NotHeld`] where another answer came first.
    fn register(
        &self,
        session: Self::Session,
        key: PublicKey,
        answer: &Answer,
    ) -> impl Future<Output = Result<Logged, Refusal>> + Send;
}

/// What the wallet is told beside its success.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logged {
    /// Where the wallet sends the person: on one device the service's answer to `authenticate` has it, and it holds the
    /// code that alone completes the login.
    pub redirect: Option<String>,
}

/// A [`Host`] with pages that show codes, and with a webhook for the service's events.
pub trait Site: Host {
    /// The code that was shown under this `sid`, for as long as the host remembers it.
    fn shown(&self, sid: &str) -> impl Future<Output = Result<Option<ShownCode>, Refusal>> + Send;

    /// Logs the polling browser in as the user who answered: a fresh session id of the application's own, as the
    /// value of a `Set-Cookie` header. `None` on every call but the first for this `sid`, whoever races.
    fn complete(&self, sid: &str) -> impl Future<Output = Result<Option<String>, Refusal>> + Send;

    /// Takes an event whose signature was checked; `false`, and no second effect, if one with its [`Event::identity`]
    /// came before.
    ///
    /// Remembering it and acting on it belong together: once it is remembered, the service's next attempt does nothing.
    /// The service goes on trying for two days, and for up to 30 where the endpoint failed for long; identities older
    /// than that may be forgotten.
    fn event(&self, event: Event) -> impl Future<Output = Result<bool, Refusal>> + Send;
}

/// Every way a request can fail, and the code it gets (specification, section 4, receiver status codes).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// 400: the wallet's body lacks something.
    #[error(transparent)]
    InvalidAnswer(InvalidAnswer),
    /// 400: the poll names no session.
    #[error("the query parameter sid is missing: poll with ?sid=<session id>")]
    NoSid,
    /// 400: signed by the service, and yet no event.
    #[error("the body is not an event: event, timestamp, session_id and data are required")]
    InvalidEvent,
    /// 401: not, or not provably, from the service.
    #[error("the event is refused: {0}")]
    NotAuthentic(&'static str),
    /// 403: from an address that is not the service's.
    #[error("events from this address are not taken")]
    SourceNotAllowed,
    /// 404: never issued, for the other purpose, answered, replaced or expired.
    #[error("no session waits for an answer to this challenge: scan the code again")]
    NotHeld,
    /// 404: a login by a key that never registered.
    #[error("no user has this public key: register first")]
    UserUnknown,
    /// 406: not signed by this key, malformed key and signature included.
    #[error(transparent)]
    NotVerified(#[from] NotVerified),
    /// 406: without the number that the page shows, or with another.
    #[error("the number that the page shows is missing or wrong: type it as it stands there")]
    ConfirmCode,
    /// 406: signed for another host than the code names.
    #[error("the signature is for another host: scan the code on the page itself, and not a picture of it elsewhere")]
    Host,
    /// 408: signed too long ago, or by a clock that is off.
    #[error("the timestamp is more than 30 seconds from this server's time: sign again, or set the device's clock")]
    NotFresh,
    /// 409: a registration by a key that has a user.
    #[error("a user with this public key exists: log in instead")]
    UserExists,
    /// 413: more than any wallet or event needs.
    #[error("the body is too long: at most 64 KiB are taken")]
    TooLarge,
    /// 500: anything else. The host has logged it.
    #[error("something went wrong on this server: try again")]
    Failed,
}

impl Refusal {
    /// The HTTP status code.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::InvalidAnswer(_) | Self::NoSid | Self::InvalidEvent => 400,
            Self::NotAuthentic(_) => 401,
            Self::SourceNotAllowed => 403,
            Self::NotHeld | Self::UserUnknown => 404,
            Self::NotVerified(_) | Self::ConfirmCode | Self::Host => 406,
            Self::NotFresh => 408,
            Self::UserExists => 409,
            Self::TooLarge => 413,
            Self::Failed => 500,
        }
    }

    /// What a wallet can act on, where the status leaves it open: ask for the number again, or warn its person.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::ConfirmCode => Some("confirm_code"),
            Self::Host => Some("host"),
            _ => None,
        }
    }
}

/// What to send back.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The HTTP status code.
    pub status: u16,
    /// The JSON body.
    pub body: Value,
    /// The value of a `Set-Cookie` header: the browser that polled is now logged in.
    pub set_cookie: Option<String>,
}

impl Reply {
    fn ok(body: Value) -> Self {
        Self { status: 200, body, set_cookie: None }
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Self {
        let mut body = json!({ "error": refusal.to_string() });
        if let Some(reason) = refusal.reason() {
            body["details"] = json!({ "reason": reason });
        }
        Self { status: refusal.status(), body, set_cookie: None }
    }
}

impl From<Result<Reply, Refusal>> for Reply {
    fn from(result: Result<Reply, Refusal>) -> Self {
        result.unwrap_or_else(Self::from)
    }
}
