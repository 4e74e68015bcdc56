//! Where a login ends: the browser comes back, and the binding is checked.

use std::fmt;

use url::form_urlencoded;

use super::options::LoginOptions;
use super::site::SignedIn;
use super::start::next_or_root;
use super::state::{LoginState, cookie_name};
use crate::challenge::Mode;
use crate::client::{Completion, Session, SessionStatus, SignpostError};

/// Why somebody who came back was not logged in: `login_error` in the query of the page that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginFailure {
    /// They cancelled: `access_denied`.
    AccessDenied,
    /// They did nothing in time, or came back too late: `expired`.
    Expired,
    /// The login began in another browser: `other_browser`.
    OtherBrowser,
    /// Anything else: `refused`.
    Refused,
}

/// A browser that came back.
pub(super) struct LoginReturning {
    session_id: Option<String>,
    code: String,
    error: Option<LoginFailure>,
}

/// What the browser is to be told, and the cookie that ends.
pub(super) struct BoundReturn {
    /// The state's cookie, if the browser has one for this session.
    pub(super) ended_cookie: Option<String>,
    /// The login to be completed.
    pub(super) login: Result<LoginToComplete, LoginFailure>,
}

/// A login that this browser began, and that came back with a code.
pub(super) struct LoginToComplete {
    pub(super) session_id: String,
    pub(super) completion: Completion,
    state: LoginState,
}

impl LoginReturning {
    pub(super) fn parse(query: &str) -> Self {
        let only = |wanted: &str| {
            let mut found = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == wanted);
            let first = found.next().map(|(_, value)| value.into_owned());
            first.filter(|value| !value.is_empty() && found.next().is_none())
        };
        let fails = form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "error");
        let error = fails.then(|| match only("error").as_deref() {
            Some("access_denied") => LoginFailure::AccessDenied,
            Some("expired") => LoginFailure::Expired,
            _ => LoginFailure::Refused,
        });
        Self { session_id: only("session_id"), code: only("code").unwrap_or_default(), error }
    }

    /// Finds out whether this browser began the login; `now` is in Unix seconds.
    pub(super) fn bind(self, cookies: &str, options: &LoginOptions, now: i64) -> BoundReturn {
        let Some(session_id) = self.session_id else {
            return BoundReturn { ended_cookie: None, login: Err(LoginFailure::Refused) };
        };
        let name = cookie_name(&session_id);
        // Somebody else's cookie of this name may stand before the good one.
        let values: Vec<&str> = options.site.cookies(&name, cookies).collect();
        let ended_cookie = (!values.is_empty()).then(|| options.site.set_cookie(&name, "", 0));
        let read = |value: &&str| LoginState::read(value, &session_id, options.cookie_key(), now);
        let login = match (self.error, values.iter().find_map(read)) {
            (Some(failure), _) => Err(failure),
            (None, None) => Err(LoginFailure::OtherBrowser),
            (None, Some(_)) if self.code.is_empty() => Err(LoginFailure::Refused),
            (None, Some(state)) => {
                let browser_secret = Some(state.browser_secret.clone());
                let completion = Completion { code: self.code, browser_secret };
                Ok(LoginToComplete { session_id, completion, state })
            }
        };
        BoundReturn { ended_cookie, login }
    }
}

impl LoginToComplete {
    /// Returns the user who began a link, and `None` for a login or a registration.
    pub(super) fn linked_user(&self) -> Option<&str> {
        self.state.user.as_deref()
    }

    /// Returns the user who is logged in, from the response to the completion of the session.
    ///
    /// # Errors
    /// [`CompletionError`].
    pub(super) fn outcome(self, response: Result<Session, SignpostError>) -> Result<SignedIn, CompletionError> {
        let session = response.map_err(|error| match LoginFailure::of(&error) {
            Some(failure) => CompletionError::Failed(failure),
            None => CompletionError::Service(error),
        })?;
        let is_this = session.id == self.session_id && session.status == SessionStatus::Authenticated;
        let user = session.user.as_ref().and_then(|user| user.id.clone()).filter(|id| is_this && !id.is_empty());
        let user = user.ok_or(CompletionError::Failed(LoginFailure::Refused))?;
        let mode = session.mode.unwrap_or(self.state.mode);
        let is_begun_link = self.state.user.as_ref() == Some(&user);
        let is_link = mode == Mode::Link;
        if is_link != (self.state.mode == Mode::Link) || (is_link && !is_begun_link) {
            return Err(CompletionError::Failed(LoginFailure::Refused));
        }
        Ok(SignedIn { user, session, mode, next: next_or_root(self.state.next) })
    }
}

/// An error of the completion of a login.
#[derive(Debug)]
pub(super) enum CompletionError {
    /// The login failed; the site shows the reason.
    Failed(LoginFailure),
    /// The service failed, or refused the site itself.
    Service(SignpostError),
}

impl LoginFailure {
    /// What an error of the service means for the person; none if it is not about them.
    fn of(error: &SignpostError) -> Option<Self> {
        match error.status? {
            406 if error.details.get("reason").is_some_and(|reason| reason == "browser") => Some(Self::OtherBrowser),
            410 if error.code == "session_expired" => Some(Self::Expired),
            404 | 406 | 409 | 410 => Some(Self::Refused),
            _ => None,
        }
    }

    /// Where the browser goes to be told.
    pub(super) fn place(self, options: &LoginOptions) -> String {
        let path = &options.failed_path;
        let sign = if path.contains('?') { '&' } else { '?' };
        format!("{path}{sign}login_error={self}")
    }
}

impl fmt::Display for LoginFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AccessDenied => "access_denied",
            Self::Expired => "expired",
            Self::OtherBrowser => "other_browser",
            Self::Refused => "refused",
        })
    }
}
