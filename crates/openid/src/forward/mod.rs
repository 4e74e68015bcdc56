//! Forward authentication for applications without logins. A reverse proxy sends a subrequest for
//! each request before it forwards the request to the application. The response contains the user
//! or the URL of the login page. Each application has separate sessions with a cookie of its own
//! host. Requests below `/.signpost/` are forwarded to this server's pages that start and end
//! sessions.

mod app_context;
mod app_origin;
mod app_page;
mod callback;
mod check;
mod faults;
mod identity;
mod local_path;
mod log_out;
mod login_state;
mod original;
mod start;
mod words;

use axum::Router;
use axum::response::Redirect;
use axum::routing::{any, get};
use signpost_platform::pages::assets;
use signpost_platform::web::problem::method_not_allowed;

use crate::service::OpenidService;
use app_origin::OWN_PATHS;

/// The route to which proxies send a subrequest for each request.
pub const CHECK: &str = "/forward/{kind}";

/// Returns the route for proxies, and the routes on the hosts of the applications behind them.
pub(crate) fn router() -> Router<OpenidService> {
    // By default `get` also handles `HEAD`, which must not exchange the code.
    let callback = get(callback::handle_callback)
        .head(async || method_not_allowed("GET"))
        .fallback(async || method_not_allowed("GET"));
    Router::new()
        .route(CHECK, any(check::answer))
        .route("/.signpost/", get(async || Redirect::to("/")))
        .route("/.signpost/start", get(start::start))
        .route("/.signpost/callback", callback)
        .route("/.signpost/denied", get(check::show_denied))
        .route("/.signpost/logout", get(log_out::ask).post(log_out::log_out))
        // The assets of these pages are below this path too.
        .nest(OWN_PATHS, assets::router(assets::COMMON_ASSETS))
}
