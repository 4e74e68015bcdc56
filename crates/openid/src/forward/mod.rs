//! Forward auth: a reverse proxy asks about each request before it lets it pass to an application that knows nothing of
//! logins. The answer is yes with who it is, or no with where to log in. Each application has a session of its own, by a
//! cookie of its own host; below `/.signpost/` there its proxy leads to the pages that begin and end it.

mod app_origin;
mod app_page;
mod app_visit;
mod check;
mod come_back;
mod faults;
mod identity;
mod local_path;
mod log_out;
mod login_state;
mod original;
mod start;
mod words;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Redirect;
use axum::routing::{any, get};
use signpost_platform::pages::{Language, assets};
use signpost_platform::web::PathId;
use signpost_platform::web::problem::method_not_allowed;

use crate::service::OpenidService;
use app_origin::OWN_PATHS;
use app_visit::AppVisit;

/// The route that proxies ask about each request of their clients.
pub const CHECK: &str = "/forward/{kind}";

/// The addresses that proxies ask, and those that they send people to on an application's host.
pub(crate) fn router() -> Router<OpenidService> {
    Router::new()
        .route(
            CHECK,
            any(
                async move |State(service): State<OpenidService>,
                            language: Language,
                            PathId(kind),
                            request: Request| {
                    check::answer(service, language, &kind, request.into_parts().0).await
                },
            ),
        )
        .merge(own_pages())
        // What these pages load comes the same way as they do.
        .nest(OWN_PATHS, assets::router(assets::OF_EVERY_PAGE))
}

fn own_pages() -> Router<OpenidService> {
    Router::new()
        .route("/.signpost/", get(async || Redirect::to("/")))
        .route(
            "/.signpost/start",
            get(async move |State(service), language: Language, request: Request| {
                let (parts, _) = request.into_parts();
                start::start(AppVisit::begin(service, language, &parts).await?, &parts.uri).await
            }),
        )
        .route(
            "/.signpost/callback",
            get(async move |State(service), language: Language, request: Request| {
                let (parts, _) = request.into_parts();
                come_back::come_back(AppVisit::begin(service, language, &parts).await?, &parts.uri).await
            })
            // It would redeem the code, as the GET does.
            .head(async || method_not_allowed("GET"))
            .fallback(async || method_not_allowed("GET")),
        )
        .route(
            "/.signpost/denied",
            get(async move |State(service), language: Language, request: Request| {
                let (parts, _) = request.into_parts();
                check::show_denied(AppVisit::begin(service, language, &parts).await?, &parts.uri).await
            }),
        )
        .route(
            "/.signpost/logout",
            get(async move |State(service), language: Language, request: Request| {
                let (parts, _) = request.into_parts();
                log_out::ask(AppVisit::begin(service, language, &parts).await?).await
            })
            .post(async move |State(service), language: Language, request: Request| {
                let (parts, body) = request.into_parts();
                let visit = AppVisit::begin(service, language, &parts).await?;
                log_out::log_out(visit, Request::from_parts(parts, body)).await
            }),
        )
}
