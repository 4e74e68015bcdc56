//! The storage functions that an application implements for the receiver.

use super::browser::CodeBinding;
use super::response::HandlerRefusal;
use crate::answer::VerifiedAnswer;
use crate::challenge::Challenge;
use crate::event::Event;
#[cfg(doc)]
use crate::event::EventKind;
use crate::keys::PublicKey;

/// The application's sessions and users, for the endpoints that handle wallets' answers.
///
/// The host logs internal errors itself and returns [`HandlerRefusal::Internal`], which contains no
/// details.
pub trait Host: Send + Sync {
    /// A pending login session of the host.
    type Session: Send + Sync;
    /// A user of the host.
    type User: Send;

    /// Parses the signed text in either rendering of the specification. Override this method to
    /// also parse a [`crate::HostBoundChallenge`] if the host's QR codes have version 2.
    fn read_challenge(&self, text: &str) -> Option<Challenge> {
        Challenge::parse(text).ok()
    }

    /// Returns the session that is pending with this challenge. Returns `None` if the challenge was
    /// answered or replaced, or has expired at `now` (Unix seconds).
    fn find_session(
        &self,
        challenge: &Challenge,
        now: i64,
    ) -> impl Future<Output = Result<Option<Self::Session>, HandlerRefusal>> + Send;

    /// Returns the user with this key, in any encoding, among the users who may answer this
    /// session.
    fn find_user(
        &self,
        session: &Self::Session,
        key: &PublicKey,
    ) -> impl Future<Output = Result<Option<Self::User>, HandlerRefusal>> + Send;

    /// Marks the session as authenticated for the user if it is still pending. Of two concurrent
    /// answers to a challenge, the second gets [`HandlerRefusal::NoPendingSession`].
    fn log_in(
        &self,
        session: Self::Session,
        user: Self::User,
        answer: &VerifiedAnswer,
    ) -> impl Future<Output = Result<LoggedIn, HandlerRefusal>> + Send;

    /// Atomically creates the user and marks the session as authenticated. Returns
    /// [`HandlerRefusal::UserExists`] or [`HandlerRefusal::NoPendingSession`] if another answer
    /// came first.
    fn register(
        &self,
        session: Self::Session,
        answer: &VerifiedAnswer,
    ) -> impl Future<Output = Result<LoggedIn, HandlerRefusal>> + Send;

    /// Links the key to the account of the session. Only the service implements this method. The
    /// specification has no such answer, so by default it is rejected.
    fn link(&self, _: Self::Session, _: &VerifiedAnswer) -> impl Future<Output = Result<(), HandlerRefusal>> + Send {
        std::future::ready(Err(HandlerRefusal::NoPendingSession))
    }
}

/// Additional members of the response to a wallet that logged in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedIn {
    /// The URL that the wallet opens. In the same-device flow, the call `authenticate` of the
    /// service returns it, with the code that completes the login.
    pub redirect: Option<String>,
}

/// A [`Host`] with pages that display login codes, and with a webhook for the service's events.
pub trait Site: Host {
    /// Returns the code that was displayed under this `sid`, if the host still stores it.
    fn find_code(&self, sid: &str) -> impl Future<Output = Result<Option<ShownCode>, HandlerRefusal>> + Send;

    /// Logs the polling browser in as the user who answered the code. Returns the new session
    /// cookie of the application as a `Set-Cookie` value, or `None` for all later and concurrent
    /// calls with this `sid`.
    fn complete_login(&self, sid: &str) -> impl Future<Output = Result<Option<String>, HandlerRefusal>> + Send;

    /// Handles an event with a valid signature. Returns `false`, without another effect, if an
    /// event with this [`Event::identity`] was handled before.
    ///
    /// Recording and handling an event must be atomic, because the service's next attempt has no
    /// effect once the event is recorded. The service retries for two days, or for up to 30 days if
    /// the endpoint has failed for a long time; older identities may be deleted. This method is not
    /// called for test events, but for events of kind [`EventKind::Other`], which it should ignore.
    fn accept_event(&self, event: Event) -> impl Future<Output = Result<bool, HandlerRefusal>> + Send;
}

/// A login code that a browser displays.
#[derive(Debug)]
pub struct ShownCode {
    /// The binding that identifies the browser.
    pub binding: CodeBinding,
    /// Whether a wallet has answered the code.
    pub authenticated: bool,
    /// The path where the browser continues after the login.
    pub return_url: Option<String>,
}
