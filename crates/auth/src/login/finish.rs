//! Completes a login when the browser returns from the login page, after checking that this browser
//! started it.

use std::fmt;

use url::form_urlencoded;

use super::options::LoginOptions;
use super::site::SignedIn;
use super::start::{next_or_root, single_parameter};
use super::state::{LoginState, cookie_name};
use crate::challenge::Mode;
use crate::client::{Completion, Session, SessionStatus, SignpostError};

/// Reason a user was not logged in. It is the value of `login_error` in the query of the site's
/// failure page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginFailure {
    /// The user cancelled the login: `access_denied`.
    AccessDenied,
    /// The login expired: `expired`.
    Expired,
    /// The login was started in another browser: `other_browser`.
    OtherBrowser,
    /// Any other reason: `refused`.
    Refused,
}

/// The query parameters of the return URL.
pub(super) struct ReturnParameters {
    session_id: Option<String>,
    code: String,
    error: Option<LoginFailure>,
}

/// The result of checking that the browser that returned is the browser that started the login.
pub(super) struct BoundReturn {
    /// The `Set-Cookie` value that deletes the session's state cookie, if the browser sent that
    /// cookie.
    pub(super) ended_cookie: Option<String>,
    /// The login to complete, or the reason it failed.
    pub(super) login: Result<LoginToComplete, LoginFailure>,
}

/// A login that this browser started, with the completion code that it returned.
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

    /// Checks that this browser started the login. `now` is the current time in Unix seconds.
    pub(super) fn bind(self, cookies: &str, options: &LoginOptions, now: i64) -> BoundReturn {
        let Some(session_id) = self.session_id else {
            return BoundReturn { ended_cookie: None, login: Err(LoginFailure::Refused) };
        };
        let name = cookie_name(&session_id);
        // Another site may have set a cookie with this name, which may precede the valid cookie.
        let values: Vec<&str> = options.site.cookies(&name, cookies).collect();
        let ended_cookie = (!values.is_empty()).then(|| options.site.set_cookie(&name, "", 0));
        let key = options.cookie_key();
        let state = values.iter().find_map(|value| LoginState::parse(value, &session_id, key, now));
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
    /// Returns the user who started a link, or `None` for a login or a registration.
    pub(super) fn linked_user(&self) -> Option<&str> {
        self.state.user.as_deref()
    }

    /// Returns the user who is logged in, given the response to the completion of the session.
    ///
    /// # Errors
    /// Returns a [`CompletionError`] if the login or the call failed.
    pub(super) fn outcome(self, response: Result<Session, SignpostError>) -> Result<SignedIn, CompletionError> {
        let session = response.map_err(|error| match LoginFailure::of(&error) {
            Some(failure) => CompletionError::Failed(failure),
            None => CompletionError::Service(error),
        })?;
        let is_completed = session.id == self.session_id && session.status == SessionStatus::Authenticated;
        let user = session.user.as_ref().and_then(|user| user.id.clone()).filter(|id| is_completed && !id.is_empty());
        let user = user.ok_or(CompletionError::Failed(LoginFailure::Refused))?;
        let mode = session.mode.unwrap_or(self.state.mode);
        let is_linked_user = self.state.user.as_ref() == Some(&user);
        let is_link = mode == Mode::Link;
        if is_link != (self.state.mode == Mode::Link) || (is_link && !is_linked_user) {
            return Err(CompletionError::Failed(LoginFailure::Refused));
        }
        Ok(SignedIn { user, session, mode, next: next_or_root(self.state.next) })
    }
}

/// Reason a login could not be completed.
#[derive(Debug)]
pub(super) enum CompletionError {
    /// The login failed, and the site shows the reason to the user.
    Failed(LoginFailure),
    /// The service failed, or rejected the site's call.
    Service(SignpostError),
}

impl LoginFailure {
    /// Returns the failure to show to the user for an error of the service, or `None` if the error
    /// does not concern the user.
    fn of(error: &SignpostError) -> Option<Self> {
        match error.status? {
            406 if error.details.get("reason").is_some_and(|reason| reason == "browser") => Some(Self::OtherBrowser),
            410 if error.code == "session_expired" => Some(Self::Expired),
            404 | 406 | 409 | 410 => Some(Self::Refused),
            _ => None,
        }
    }

    /// Returns the URL of the page that shows the failure.
    pub(super) fn page(self, options: &LoginOptions) -> String {
        let path = &options.failed_path;
        let separator = if path.contains('?') { '&' } else { '?' };
        format!("{path}{separator}login_error={self}")
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
