//! The functions that a site implements for logins on the login page.

use std::error::Error;
use std::fmt;

use axum::http::request::Parts;
use serde_json::{Map, Value};
use tracing::level_filters::LevelFilter;

use crate::challenge::Mode;
use crate::client::{LoginMethod, Session};
use crate::event::Event;

/// An error of the site, of any type.
pub type SiteError = Box<dyn Error + Send + Sync>;

/// A site whose users log in on the service's login page.
pub trait LoginSite: Send + Sync + 'static {
    /// Signs a user in at the site, in the browser that sent this request. Returns the `Set-Cookie`
    /// values of the site's own session. The session must always get a new identifier.
    ///
    /// # Errors
    /// Errors are passed to [`LoginSite::on_error`], and the browser gets a response with status
    /// 500.
    fn sign_in(&self, login: SignedIn, request: &Parts) -> impl Future<Output = Result<Vec<String>, SiteError>> + Send;

    /// Signs the user out at the site, in the browser that sent this request. Returns the
    /// `Set-Cookie` values that delete the site's own session. By default, it returns `None`, and
    /// `/logout` does not exist.
    ///
    /// # Errors
    /// Errors are passed to [`LoginSite::on_error`], and the browser gets a response with status
    /// 500.
    fn sign_out(&self, _: &Parts) -> impl Future<Output = Result<Option<Vec<String>>, SiteError>> + Send {
        std::future::ready(Ok(None))
    }

    /// Handles an event of the service. It is called once for each event while the program runs.
    /// Events may be repeated after a restart or at other replicas; [`Event::identity`] identifies
    /// repeated events.
    ///
    /// # Errors
    /// Errors are passed to [`LoginSite::on_error`], and the service sends the event again.
    fn on_event(&self, _: Event) -> impl Future<Output = Result<(), SiteError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Returns the user who is signed in at the site, to whose account `/link` adds another key. By
    /// default, it returns [`CurrentUser::NotSupported`], and `/link` does not exist. It is called
    /// again when the browser returns, because a link completes only if the user who started it is
    /// still signed in.
    fn current_user(&self, _: &Parts) -> impl Future<Output = CurrentUser> + Send {
        std::future::ready(CurrentUser::NotSupported)
    }

    /// Returns `true` if the signed-in user proved a moment ago to be this user, such as by the
    /// password. It permits to add the first key to an account without keys. By default, it returns
    /// `false`, and such a link is refused.
    fn confirm_recent(&self, _: &Parts) -> impl Future<Output = bool> + Send {
        std::future::ready(false)
    }

    /// Records an error of the service, which is a [`crate::client::SignpostError`], or an error of
    /// the site. It is not sent to the browser. By default, logs it with `tracing`, or writes it to
    /// standard error if the program has no subscriber of `tracing`.
    fn on_error(&self, error: &(dyn Error + Send + Sync + 'static), step: LoginStep) {
        if is_logged() {
            tracing::error!("signpost: the step {step} failed: {error}");
        } else {
            eprintln!("signpost: the step {step} failed: {error}");
        }
    }

    /// Records a warning about the settings of the site. By default, logs it like an error.
    fn on_warning(&self, warning: &str) {
        if is_logged() {
            tracing::warn!("signpost: {warning}");
        } else {
            eprintln!("signpost: {warning}");
        }
    }
}

/// Returns `true` if the program has a subscriber of `tracing`.
fn is_logged() -> bool {
    LevelFilter::current() != LevelFilter::OFF
}

/// The user who is signed in at the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CurrentUser {
    /// The user with this ID, `usr_…`.
    SignedIn(String),
    /// No user is signed in.
    SignedOut,
    /// The site does not support adding keys.
    NotSupported,
}

impl CurrentUser {
    /// Returns `true` if this user is signed in.
    pub(super) fn is(&self, user: &str) -> bool {
        matches!(self, Self::SignedIn(id) if id == user)
    }
}

impl From<Option<String>> for CurrentUser {
    fn from(user: Option<String>) -> Self {
        user.filter(|id| !id.is_empty()).map_or(Self::SignedOut, Self::SignedIn)
    }
}

/// The step of a login in which an error occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// `/login` or `/register`: `start`.
    Start,
    /// `/link`: `link`.
    Link,
    /// `/return`: `return`.
    Return,
    /// `/logout`: `logout`.
    Logout,
    /// `/events`: `events`.
    Events,
}

impl fmt::Display for LoginStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::Link => "link",
            Self::Return => "return",
            Self::Logout => "logout",
            Self::Events => "events",
        })
    }
}

/// A user who returned from the login page.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedIn {
    /// The user.
    pub user: LoginUser,
    /// The login method.
    pub method: Option<LoginMethod>,
    /// The purpose of the login, which the user may have changed on the page: [`Mode::Login`], or
    /// [`Mode::Register`] for a new account.
    pub mode: Mode,
    /// The path of the site where the user continues.
    pub next: String,
    /// The completed login session.
    pub session: Session,
}

/// The user of a completed login. Members that the service does not know are `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginUser {
    /// The user ID, `usr_…`. It does not depend on the key, and is the only member that identifies
    /// an account for ever.
    pub id: String,
    /// The username, which is unique in the domain.
    pub username: Option<String>,
    /// The display name.
    pub name: Option<String>,
    /// The groups that the site set.
    pub groups: Option<Vec<String>>,
    /// The ID of the user in the site's own database, if the site set it.
    pub external_id: Option<String>,
    /// Further data that the site set.
    pub metadata: Option<Map<String, Value>>,
    /// Whether this login created the user.
    pub is_new: Option<bool>,
}
