//! The account pages of the login host: at which domains a browser is signed in, and at each of them the user's own keys.
//! What a page of one realm shows and does is decided by the browser session of that realm alone.

mod document;
mod guard;
mod keys_page;
mod logins;
mod outcomes;
mod realm_forms;
mod realm_list;
mod removal;
mod visit;
mod words;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::routing::{get, post};
use signpost_platform::pages::{Asset, Language};
use signpost_platform::web::PathId;
use signpost_platform::web::problem::method_not_allowed;

use crate::service::LoginService;
use logins::LoginReturn;
use visit::AccountVisit;

pub use visit::login_form_token;

/// Tells the browser of a passkey that was removed, so that it offers it no more.
pub const ACCOUNT_SCRIPT: Asset =
    Asset::new("account", "js", "text/javascript; charset=utf-8", include_bytes!("../../assets/account.js"));

/// The addresses of the pages. A domain's id says its environment.
pub(crate) fn router() -> Router<LoginService> {
    let visit = AccountVisit::new;
    Router::new()
        .route(
            "/account",
            get(async move |State(service), language: Language, request: Request| {
                realm_list::show(visit(service, language, &request)).await
            }),
        )
        .route(
            "/account/{id}",
            get(async move |State(service), language: Language, PathId(id), request: Request| {
                let deed = keys_page::read_deed(request.uri());
                keys_page::show(visit(service, language, &request), &id, deed).await
            }),
        )
        .route(
            "/account/{id}/return",
            get(
                async move |State(service),
                            language: Language,
                            PathId(id),
                            Query(back): Query<LoginReturn>,
                            request: Request| {
                    logins::come_back(visit(service, language, &request), &id, back).await
                },
            )
            // It would complete the login, as the GET does.
            .head(async || method_not_allowed("GET"))
            .fallback(async || method_not_allowed("GET")),
        )
        .merge(forms())
}

/// What the pages' buttons post to.
fn forms() -> Router<LoginService> {
    let visit = AccountVisit::new;
    Router::new()
        .route(
            "/account/{id}/login",
            post(async move |State(service), language: Language, PathId(id), request: Request| {
                logins::log_in(visit(service, language, &request), &id, request).await
            }),
        )
        .route(
            "/account/{id}/add",
            post(async move |State(service), language: Language, PathId(id), request: Request| {
                logins::add_key(visit(service, language, &request), &id, request).await
            }),
        )
        .route(
            "/account/{id}/rename",
            post(async move |State(service), language: Language, PathId(id), request: Request| {
                realm_forms::rename(visit(service, language, &request), &id, request).await
            }),
        )
        .route(
            "/account/{id}/remove",
            post(async move |State(service), language: Language, PathId(id), request: Request| {
                removal::remove(visit(service, language, &request), &id, request).await
            }),
        )
        .route(
            "/account/{id}/sign-out",
            post(async move |State(service), language: Language, PathId(id), request: Request| {
                realm_forms::sign_out(visit(service, language, &request), &id, request).await
            }),
        )
        .route(
            "/account/{id}/sign-out-everywhere",
            post(async move |State(service), language: Language, PathId(id), request: Request| {
                realm_forms::sign_out_everywhere(visit(service, language, &request), &id, request).await
            }),
        )
}
