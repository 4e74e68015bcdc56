//! Checks that a browser that returns from the login page started the login, and that the service
//! completed it.

use url::form_urlencoded;

use super::failure::LoginFailure;
use super::options::LoginOptions;
use super::query::single_parameter;
use super::site::{LoginUser, SignedIn};
use super::state::{LoginState, Purpose, cookie_name};
use crate::challenge::Mode;
use crate::client::{Completion, Session, SessionStatus, SessionUser};

/// The query parameters of the return URL.
pub(super) struct ReturnParameters {
    pub(super) session_id: String,
    pub(super) code: Option<String>,
    pub(super) error: Option<LoginFailure>,
}

/// The state of a login, from the cookies of the browser that returned.
pub(super) struct ReturnedState {
    /// The state, or `None` if this browser did not start the login.
    pub(super) state: Option<LoginState>,
    /// The `Set-Cookie` value that deletes the session's state cookie, if the browser sent that
    /// cookie.
    pub(super) ended_cookie: Option<String>,
}

/// A login that this browser started, with the completion code that it returned.
pub(super) struct LoginToComplete {
    pub(super) session_id: String,
    pub(super) completion: Completion,
    pub(super) state: LoginState,
}

/// A login that the service completed.
pub(super) enum Completed {
    /// A user logs in at the site.
    SignedIn(Box<SignedIn>),
    /// A user added a key, and continues at this path.
    Linked { next: String },
    /// A user logged in again, and may add a key now.
    Confirmed { user: String },
}

impl ReturnParameters {
    /// Parses the query. Returns `None` without a session ID.
    pub(super) fn parse(query: &str) -> Option<Self> {
        let session_id = single_parameter(query, "session_id").filter(|id| !id.is_empty())?;
        let is_error = form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "error");
        let error = is_error.then(|| match single_parameter(query, "error").as_deref() {
            Some("access_denied") => LoginFailure::AccessDenied,
            Some("expired") => LoginFailure::Expired,
            _ => LoginFailure::Refused,
        });
        let code = single_parameter(query, "code").filter(|code| !code.is_empty());
        Some(Self { session_id, code, error })
    }
}

impl ReturnedState {
    /// Reads the state of a session from a `Cookie` header. `now` is the current time in Unix
    /// seconds.
    pub(super) fn read(session_id: &str, cookies: &str, options: &LoginOptions, now: i64) -> Self {
        let name = cookie_name(session_id);
        // Another site may have set a cookie with this name, which may precede the valid cookie.
        let values: Vec<&str> = options.site.cookies(&name, cookies).collect();
        let key = options.cookie_key();
        let state = values.iter().find_map(|value| LoginState::parse(value, session_id, key, now));
        let ended_cookie = (!values.is_empty()).then(|| options.site.set_cookie(&name, "", 0));
        Self { state, ended_cookie }
    }
}

impl LoginToComplete {
    pub(super) fn new(session_id: String, code: String, state: LoginState) -> Self {
        let browser_secret = Some(state.browser_secret.clone());
        Self { session_id, completion: Completion { code, browser_secret }, state }
    }

    /// Returns the completed login, given the response to the completion of the session. Returns
    /// `None` if the session was not completed, or not for this purpose or user.
    pub(super) fn outcome(self, session: Session) -> Option<Completed> {
        if session.id != self.session_id || session.status != SessionStatus::Authenticated {
            return None;
        }
        let user = LoginUser::of(session.user.as_ref()?)?;
        if self.state.purpose.user().is_some_and(|expected| expected != user.id) {
            return None;
        }
        let next = self.state.next;
        let mode = session.mode.unwrap_or(self.state.purpose.mode());
        match (self.state.purpose, mode) {
            (Purpose::Confirm { user }, Mode::Login) => Some(Completed::Confirmed { user }),
            (Purpose::Link { .. }, Mode::Link) => Some(Completed::Linked { next }),
            (Purpose::Login | Purpose::Register, Mode::Login | Mode::Register) => {
                let method = session.method.clone();
                Some(Completed::SignedIn(Box::new(SignedIn { user, method, mode, next, session })))
            }
            _ => None,
        }
    }
}

impl LoginUser {
    /// Returns the user of a completed session, or `None` if the session has no user ID.
    fn of(user: &SessionUser) -> Option<Self> {
        let user = user.clone();
        Some(Self {
            id: user.id.filter(|id| !id.is_empty())?,
            username: user.username,
            name: user.name,
            groups: user.groups,
            external_id: user.external_id,
            metadata: user.metadata,
            is_new: user.is_new,
        })
    }
}
