use std::error::Error;

use axum::http::request::Parts;

use crate::challenge::Mode;
use crate::client::Session;
use crate::event::Event;

/// An error of the site.
pub type SiteError = Box<dyn Error + Send + Sync>;

/// A site that logs users in.
pub trait LoginSite: Send + Sync + 'static {
    /// Signs a user in, in the browser that sent this request. Returns the `Set-Cookie` values of the site's own
    /// session, which must always have a new value.
    ///
    /// # Errors
    /// Errors are [reported](LoginSite::report), and the browser gets 500.
    fn sign_in(&self, login: SignedIn, request: &Parts) -> impl Future<Output = Result<Vec<String>, SiteError>> + Send;

    /// Handles an event of the service. Called once for each event while the program runs. Events can repeat after a
    /// restart or at other replicas of the program; [`Event::identity`] identifies repeated events.
    ///
    /// # Errors
    /// Errors are reported, and the service sends the event again.
    fn on_event(&self, _: Event) -> impl Future<Output = Result<(), SiteError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Returns the user who is signed in, `usr_…`: their account gets another key at `/link`. By default `None`, and
    /// there is no such page. Called again when the browser returns: a link completes only for the user who began it
    /// and is still signed in.
    fn current_user(&self, _: &Parts) -> impl Future<Output = Option<String>> + Send {
        std::future::ready(None)
    }

    /// Reports an error, which the response to the browser does not contain. Writes to standard error by default.
    fn report(&self, error: &(dyn Error + Send + Sync + 'static)) {
        eprintln!("signpost: {error}");
    }
}

/// A user who returned from the page.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedIn {
    /// The user ID, `usr_…`.
    pub user: String,
    /// The completed session.
    pub session: Session,
    /// The completed mode: login, registration or link. The user may have changed it on the page.
    pub mode: Mode,
    /// The path of this site to continue at.
    pub next: String,
}
