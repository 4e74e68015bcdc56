//! The functions that a site implements for logins on the login page.

use std::error::Error;

use axum::http::request::Parts;

use crate::challenge::Mode;
use crate::client::Session;
use crate::event::Event;

/// An error of the site, of any type.
pub type SiteError = Box<dyn Error + Send + Sync>;

/// A site whose users log in on the service's login page.
pub trait LoginSite: Send + Sync + 'static {
    /// Signs a user in at the site, in the browser that sent this request. Returns the `Set-Cookie`
    /// values of the site's own session. The session must always get a new identifier.
    ///
    /// # Errors
    /// Errors are passed to [`LoginSite::report`], and the browser gets a response with status 500.
    fn sign_in(&self, login: SignedIn, request: &Parts) -> impl Future<Output = Result<Vec<String>, SiteError>> + Send;

    /// Handles an event of the service. It is called once for each event while the program runs.
    /// Events may be repeated after a restart or at other replicas; [`Event::identity`] identifies
    /// repeated events.
    ///
    /// # Errors
    /// Errors are passed to [`LoginSite::report`], and the service sends the event again.
    fn on_event(&self, _: Event) -> impl Future<Output = Result<(), SiteError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Returns the ID (`usr_…`) of the user who is signed in at the site, to whose account `/link`
    /// adds another key. By default, it returns `None`, and `/link` does not exist. It is called
    /// again when the browser returns, because a link completes only if the user who started it is
    /// still signed in.
    fn current_user(&self, _: &Parts) -> impl Future<Output = Option<String>> + Send {
        std::future::ready(None)
    }

    /// Reports an error. It is not sent to the browser. By default, writes it to standard error.
    fn report(&self, error: &(dyn Error + Send + Sync + 'static)) {
        eprintln!("signpost: {error}");
    }
}

/// A user who returned from the login page.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedIn {
    /// The user ID, `usr_…`.
    pub user: String,
    /// The completed login session.
    pub session: Session,
    /// The purpose of the login, which the user may have changed on the page.
    pub mode: Mode,
    /// The path of the site where the user continues.
    pub next: String,
}
