use super::browser::CodeBinding;
use super::response::HandlerRefusal;
use crate::answer::VerifiedAnswer;
use crate::challenge::Challenge;
use crate::event::Event;
#[cfg(doc)]
use crate::event::EventKind;
use crate::keys::PublicKey;

/// The application's sessions and users, which the handlers for wallets use.
///
/// Internal errors are logged by the host and returned as [`HandlerRefusal::Internal`], which has no details.
pub trait Host: Send + Sync {
    /// The host's session.
    type Session: Send + Sync;
    /// The host's user.
    type User: Send;

    /// Parses the signed text, in either rendering of the specification. Only a host whose codes have `v=2` parses
    /// [`crate::HostBoundChallenge`] here.
    fn read_challenge(&self, text: &str) -> Option<Challenge> {
        Challenge::parse(text).ok()
    }

    /// Returns the session that is pending with this challenge. `None` if it was answered, replaced, or has expired at
    /// `now` (Unix seconds).
    fn find_session(
        &self,
        challenge: &Challenge,
        now: i64,
    ) -> impl Future<Output = Result<Option<Self::Session>, HandlerRefusal>> + Send;

    /// Returns the user with this key, in any encoding, among the users who may answer this session.
    fn find_user(
        &self,
        session: &Self::Session,
        key: &PublicKey,
    ) -> impl Future<Output = Result<Option<Self::User>, HandlerRefusal>> + Send;

    /// Marks the session as authenticated for the user, if it is still pending: of two concurrent answers to a
    /// challenge, the second gets [`HandlerRefusal::NoPendingSession`].
    fn log_in(
        &self,
        session: Self::Session,
        user: Self::User,
        answer: &VerifiedAnswer,
    ) -> impl Future<Output = Result<LoggedIn, HandlerRefusal>> + Send;

    /// Creates the user and marks the session as authenticated, atomically: [`HandlerRefusal::UserExists`] or
    /// [`HandlerRefusal::NoPendingSession`] if another answer came first.
    fn register(
        &self,
        session: Self::Session,
        answer: &VerifiedAnswer,
    ) -> impl Future<Output = Result<LoggedIn, HandlerRefusal>> + Send;

    /// Adds the key to the account of the session. Only the service implements it; the specification has no such
    /// answer, so that other hosts refuse it by default.
    fn link(&self, _: Self::Session, _: &VerifiedAnswer) -> impl Future<Output = Result<(), HandlerRefusal>> + Send {
        std::future::ready(Err(HandlerRefusal::NoPendingSession))
    }
}

/// Additional members of the response to a wallet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedIn {
    /// The URL that the wallet opens. In the same-device flow the service returns it from `authenticate`; it has the
    /// code that completes the login.
    pub redirect: Option<String>,
}

/// A [`Host`] with pages that show codes, and with a webhook for the service's events.
pub trait Site: Host {
    /// Returns the code that was shown under this `sid`, while the host stores it.
    fn find_code(&self, sid: &str) -> impl Future<Output = Result<Option<ShownCode>, HandlerRefusal>> + Send;

    /// Logs the polling browser in as the user who answered. Returns a new session ID of the application, as the value
    /// of a `Set-Cookie` header. `None` for all later and concurrent calls for this `sid`.
    fn complete_login(&self, sid: &str) -> impl Future<Output = Result<Option<String>, HandlerRefusal>> + Send;

    /// Handles an event with a valid signature. Returns `false`, without a second effect, if its [`Event::identity`]
    /// was handled before.
    ///
    /// Recording and handling must be atomic: once an event is recorded, the service's next attempt has no effect. The
    /// service retries for two days, and for up to 30 if the endpoint failed for a long time; older identities may be
    /// deleted. Not called for tests, but for [`EventKind::Other`], which should be ignored.
    fn accept_event(&self, event: Event) -> impl Future<Output = Result<bool, HandlerRefusal>> + Send;
}

/// A code that was shown to a browser.
#[derive(Debug)]
pub struct ShownCode {
    /// Identifies the browser.
    pub binding: CodeBinding,
    /// Whether a wallet has answered it.
    pub authenticated: bool,
    /// The path to continue at.
    pub return_url: Option<String>,
}
