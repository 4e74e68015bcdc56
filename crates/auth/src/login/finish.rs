//! Ends a login: the browser returns from the page, and its binding to the session is checked.

use std::fmt;

use url::form_urlencoded;

use super::options::LoginOptions;
use super::site::SignedIn;
use super::start::{next_or_root, single_parameter};
use super::state::{LoginState, cookie_name};
use crate::challenge::Mode;
use crate::client::{Completion, Session, SessionStatus, SignpostError};

/// Why a user was not logged in: `login_error` in the query of the page that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginFailure {
    /// The user cancelled: `access_denied`.
    AccessDenied,
    /// The login expired: `expired`.
    Expired,
    /// The login was started in another browser: `other_browser`.
    OtherBrowser,
    /// Anything else: `refused`.
    Refused,
}

/// The parameters of a browser that returned.
pub(super) struct ReturnParameters {
    session_id: Option<String>,
    code: String,
    error: Option<LoginFailure>,
}

/// The result of the check of the binding.
pub(super) struct BoundReturn {
    /// The `Set-Cookie` value that removes the session's state cookie, if the browser has that cookie.
    pub(super) ended_cookie: Option<String>,
    /// The login to complete.
    pub(super) login: Result<LoginToComplete, LoginFailure>,
}

/// A login that this browser started, with its completion code.
pub(super) struct LoginToComplete {
    pub(super) session_id: String,
    pub(super) completion: Completion,
    state: LoginState,
}

impl ReturnParameters {
    pub(super) fn parse(query: &str) -> Self {
        let [session_id, code] = ["session_id", "code"].map(|name| single_parameter(query, name));
        let is_error = form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "error");
        let error = is_error.then(|| match single_parameter(query, "error").as_deref() {
            Some("access_denied") => LoginFailure::AccessDenied,
            Some("expired") => LoginFailure::Expired,
            _ => LoginFailure::Refused,
        });
        let session_id = session_id.filter(|id| !id.is_empty());
        Self { session_id, code: code.unwrap_or_default(), error }
    }

    /// Checks that this browser started the login. `now` is in Unix seconds.
    pub(super) fn bind(self, cookies: &str, options: &LoginOptions, now: i64) -> BoundReturn {
        let Some(session_id) = self.session_id else {
            return BoundReturn { ended_cookie: None, login: Err(LoginFailure::Refused) };
        };
        let name = cookie_name(&session_id);
        // Another site may have set a cookie with this name, which may precede the valid cookie.
        let values: Vec<&str> = options.site.cookies(&name, cookies).collect();
        let ended_cookie = (!values.is_empty()).then(|| options.site.set_cookie(&name, "", 0));
        let key = options.cookie_key();
        let state = values.iter().find_map(|value| LoginState::read(value, &session_id, key, now));
        let login = match (self.error, state) {
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
    /// Returns the failure that an error of the service means for the user. `None` if the error is not about the user.
    fn of(error: &SignpostError) -> Option<Self> {
        match error.status? {
            406 if error.details.get("reason").is_some_and(|reason| reason == "browser") => Some(Self::OtherBrowser),
            410 if error.code == "session_expired" => Some(Self::Expired),
            404 | 406 | 409 | 410 => Some(Self::Refused),
            _ => None,
        }
    }

    /// Returns the page that shows the failure.
    pub(super) fn page(self, options: &LoginOptions) -> String {
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
