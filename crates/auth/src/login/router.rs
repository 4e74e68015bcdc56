//! The router of the endpoints that a site needs for logins on the service's login page.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::routing::{any, post};

use super::endpoint::LoginEndpoint;
use super::events::handle_event_request;
use super::flow::PageLogin;
use super::options::LoginOptions;
use super::site::LoginSite;
use super::startup::find_fault;
use crate::client::Signpost;

/// Returns the router of the endpoints `/login`, `/register`, `/link`, `/return`, `/logout` and
/// `/events`, below the configured path.
///
/// Within a Tokio runtime, it also starts a task that checks the API key, the base URL and the
/// domain once, and passes a fault to [`LoginSite::on_warning`]. The check never stops the site;
/// [`LoginOptions::without_startup_check`] omits it.
pub fn router<S: LoginSite>(signpost: Signpost, options: LoginOptions, site: S) -> Router {
    let login = Arc::new(PageLogin::new(signpost, options, site));
    let options = &login.options;
    let mut router = Router::new();
    for endpoint in LoginEndpoint::ALL {
        let handler = async move |State(login): State<Arc<PageLogin<S>>>, request: Request| {
            login.respond(endpoint, &request.into_parts().0).await
        };
        router = router.route(&format!("{}{}", options.path, endpoint.path()), any(handler));
    }
    if !options.events.secrets.is_empty() {
        router = router.route(&format!("{}/events", options.path), post(handle_event_request));
    }
    if options.has_startup_check {
        start_check(&login);
    }
    router.with_state(login)
}

fn start_check<S: LoginSite>(login: &Arc<PageLogin<S>>) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    let login = Arc::clone(login);
    runtime.spawn(async move {
        if let Some(fault) = find_fault(&login.signpost, &login.options.domain).await {
            login.site.on_warning(&format!("logins will fail: {fault}"));
        }
    });
}
