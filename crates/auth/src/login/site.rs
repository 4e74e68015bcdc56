use std::error::Error;

use axum::http::request::Parts;

use crate::challenge::Mode;
use crate::client::Session;
use crate::event::Event;

/// What went wrong at the site, in whichever way.
pub type SiteError = Box<dyn Error + Send + Sync>;

/// What a site does about people who log in.
pub trait LoginSite: Send + Sync + 'static {
    /// Signs somebody in, in the browser that sent this request: the `Set-Cookie` values of the site's own login, always
    /// with a new value, never the one from before.
    ///
    /// # Errors
    /// Whatever fails is [reported](LoginSite::report), and the browser gets 500.
    fn sign_in(&self, login: SignedIn, request: &Parts) -> impl Future<Output = Result<Vec<String>, SiteError>> + Send;

    /// Acts on an event, which is the service's. Each comes here once while this program runs; where several programs share the
    /// work, or one is started anew, its [`Event::identity`] tells whether it was there before.
    ///
    /// # Errors
    /// Whatever fails is reported, and the service sends the event again.
    fn on_event(&self, _: Event) -> impl Future<Output = Result<(), SiteError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Returns the user who is signed in, `usr_…`: their account gets another key at `/link`. By default `None`, and there is
    /// no such page. Called again when the browser comes back: a link completes only for the user who began it and is still
    /// signed in.
    fn current_user(&self, _: &Parts) -> impl Future<Output = Option<String>> + Send {
        std::future::ready(None)
    }

    /// Takes note of what went wrong, where the browser was told no more than that. By default on standard error.
    fn report(&self, error: &(dyn Error + Send + Sync + 'static)) {
        eprintln!("signpost: {error}");
    }
}

/// Somebody who came back from the page.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedIn {
    /// `usr_…`, whichever key they used.
    pub user: String,
    /// The session, as it is completed.
    pub session: Session,
    /// Whether they logged in, registered or linked another key. It may have changed on the page.
    pub mode: Mode,
    /// Where they go now, a path of this site.
    pub next: String,
}
