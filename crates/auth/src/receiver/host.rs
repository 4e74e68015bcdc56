use super::browser::CodeBinding;
use super::response::HandlerRefusal;
use crate::answer::VerifiedAnswer;
use crate::challenge::Challenge;
use crate::event::Event;
#[cfg(doc)]
use crate::event::EventKind;
use crate::keys::PublicKey;

/// Who answers wallets: the application's sessions and users.
///
/// What fails inside is logged by the host and becomes [`HandlerRefusal::Failed`]; the wallet is told nothing about it.
pub trait Host: Send + Sync {
    /// What the host knows a session by.
    type Session: Send + Sync;
    /// What the host knows a user by.
    type User: Send;

    /// The challenge that a signed text names: in one of the specification's two renderings, and in no other. Only a host
    /// whose codes have `v=2` reads [`crate::Through`] here.
    fn read_challenge(&self, text: &str) -> Option<Challenge> {
        Challenge::parse(text).ok()
    }

    /// The session that waits for an answer to this challenge; none once it is answered, replaced or, at `now` in
    /// Unix seconds, expired.
    fn find_session(
        &self,
        challenge: &Challenge,
        now: i64,
    ) -> impl Future<Output = Result<Option<Self::Session>, HandlerRefusal>> + Send;

    /// The user with this key, in whichever spelling, among those who may answer this session.
    fn find_user(
        &self,
        session: &Self::Session,
        key: &PublicKey,
    ) -> impl Future<Output = Result<Option<Self::User>, HandlerRefusal>> + Send;

    /// Marks the session authenticated for the user, if nobody has done so before: of two answers to one challenge
    /// that race, the second gets [`HandlerRefusal::NotHeld`].
    fn log_in(
        &self,
        session: Self::Session,
        user: Self::User,
        answer: &VerifiedAnswer,
    ) -> impl Future<Output = Result<LoggedIn, HandlerRefusal>> + Send;

    /// Creates the user and marks the session authenticated, both or neither: [`HandlerRefusal::UserExists`] and
    /// [`HandlerRefusal::NotHeld`] where another answer came first.
    fn register(
        &self,
        session: Self::Session,
        answer: &VerifiedAnswer,
    ) -> impl Future<Output = Result<LoggedIn, HandlerRefusal>> + Send;

    /// Adds the key to the account that the session is for. The service's own handlers do; the specification knows no such
    /// answer, so that a host which says nothing here takes none.
    fn link(&self, _: Self::Session, _: &VerifiedAnswer) -> impl Future<Output = Result<(), HandlerRefusal>> + Send {
        std::future::ready(Err(HandlerRefusal::NotHeld))
    }
}

/// What the wallet is told beside its success.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedIn {
    /// Where the wallet sends the person: on one device the service's answer to `authenticate` has it, and it holds the
    /// code that alone completes the login.
    pub redirect: Option<String>,
}

/// A [`Host`] with pages that show codes, and with a webhook for the service's events.
pub trait Site: Host {
    /// The code that was shown under this `sid`, for as long as the host remembers it.
    fn find_code(&self, sid: &str) -> impl Future<Output = Result<Option<ShownCode>, HandlerRefusal>> + Send;

    /// Logs the polling browser in as the user who answered: a fresh session id of the application's own, as the
    /// value of a `Set-Cookie` header. `None` on every call but the first for this `sid`, whoever races.
    fn complete_login(&self, sid: &str) -> impl Future<Output = Result<Option<String>, HandlerRefusal>> + Send;

    /// Acts on an event whose signature was checked; `false`, and no second effect, if one with its [`Event::identity`]
    /// came before.
    ///
    /// Remembering it and acting on it belong together: once it is remembered, the service's next attempt does nothing.
    /// The service goes on trying for two days, and for up to 30 where the endpoint failed for long; identities older
    /// than that may be forgotten. A test never comes here; [`EventKind::Other`] does, and is best ignored.
    fn accept_event(&self, event: Event) -> impl Future<Output = Result<bool, HandlerRefusal>> + Send;
}

/// A code that some browser was shown.
#[derive(Debug)]
pub struct ShownCode {
    /// Which browser.
    pub binding: CodeBinding,
    /// Whether a wallet has answered it.
    pub authenticated: bool,
    /// Where the user wanted to go.
    pub return_url: Option<String>,
}
