//! The login page: where a person logs in to a site that has no login of its own. One browser owns the page of a session
//! and sees it; what it shows is a [`LoginView`](view::LoginView), which is another one whenever anything changes.

mod asking;
mod by_passkey;
mod claim;
pub mod claim_page;
mod document;
mod follow;
mod forms;
mod notice;
mod open_sheet;
mod outcomes;
mod passkey;
pub mod render;
mod show;
mod state;
mod view;
mod visit;
mod words;

use axum::Router;
use axum::extract::{Request, State};
use axum::routing::{get, post};
use signpost_platform::accounts::Environment;
use signpost_platform::pages::Language;
use signpost_platform::web::PathId;

use crate::service::LoginService;
use visit::PageVisit;

/// The addresses of the pages of an environment. They begin at the public address itself.
pub(crate) fn router(environment: Environment) -> Router<LoginService> {
    let page = format!("{}/login/{{id}}", environment.page_path());
    let visit =
        move |State(service): State<LoginService>, language: Language, PathId(id): PathId, request: &Request| {
            PageVisit::new(service, environment, language, id, request)
        };
    Router::new()
        .route(
            &page,
            get(async move |service, language, id, request: Request| {
                show::show(visit(service, language, id, &request)).await
            }),
        )
        .route(
            &format!("{page}/state"),
            get(async move |service, language, id, request: Request| {
                follow::state(visit(service, language, id, &request)).await
            }),
        )
        .route(
            &format!("{page}/events"),
            get(async move |service, language, id, request: Request| {
                follow::events(visit(service, language, id, &request)).await
            }),
        )
        .merge(buttons(environment))
}

/// What the page's buttons and its scripts post.
fn buttons(environment: Environment) -> Router<LoginService> {
    let page = format!("{}/login/{{id}}", environment.page_path());
    let visit =
        move |State(service): State<LoginService>, language: Language, PathId(id): PathId, request: &Request| {
            PageVisit::new(service, environment, language, id, request)
        };
    Router::new()
        .route(
            &format!("{page}/claim"),
            post(async move |service, language, id, request: Request| {
                claim::claim(visit(service, language, id, &request), request).await
            }),
        )
        .route(
            &format!("{page}/cancel"),
            post(async move |service, language, id, request: Request| {
                forms::cancel(visit(service, language, id, &request), request).await
            }),
        )
        .route(
            &format!("{page}/renew"),
            post(async move |service, language, id, request: Request| {
                forms::renew(visit(service, language, id, &request), request).await
            }),
        )
        .route(
            &format!("{page}/mode"),
            post(async move |service, language, id, request: Request| {
                forms::switch(visit(service, language, id, &request), request).await
            }),
        )
        .route(
            &format!("{page}/passkey"),
            get(async move |service, language, id, request: Request| {
                passkey::show(visit(service, language, id, &request)).await
            })
            .post(async move |service, language, id, request: Request| {
                passkey::answer(visit(service, language, id, &request), request).await
            }),
        )
        .route(
            &format!("{page}/offer"),
            post(async move |service, language, id, request: Request| {
                forms::decline_offer(visit(service, language, id, &request), request).await
            }),
        )
        .route(
            &format!("{page}/link"),
            post(async move |service, language, id, request: Request| {
                forms::answer_link(visit(service, language, id, &request), request).await
            }),
        )
}
