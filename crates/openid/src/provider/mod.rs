//! The addresses of the protocol, below each issuer: pages for people, and what applications ask by themselves.

mod authorize;
mod consent;
mod document;
mod introspect;
mod logout;
mod oauth_form;
mod oauth_reply;
mod onward;
mod outcomes;
mod token;
mod userinfo;
mod visit;
mod words;

use axum::Router;
use axum::extract::{Request, State};
use axum::routing::{MethodRouter, get, post};
use signpost_platform::accounts::Environment;
use signpost_platform::web::cors::with_preflight;
use signpost_platform::web::problem::method_not_allowed;
use signpost_platform::web::{PathId, PathPair};

use crate::service::OpenidService;
use oauth_form::OauthVisit;
use oauth_reply::open;
use visit::RealmVisit;

/// The addresses below the issuers of an environment.
pub(crate) fn router(environment: Environment) -> Router<OpenidService> {
    for_people(environment).merge(for_programs(environment))
}

fn at(environment: Environment, path: &str) -> String {
    format!("{}/{{realm}}/{path}", environment.page_path())
}

/// Where browsers go.
fn for_people(environment: Environment) -> Router<OpenidService> {
    let visit = move |service, id, request: &Request| RealmVisit::find(service, environment, id, request);
    let ask = get(async move |State(service), PathId(id), request: Request| {
        authorize::ask(visit(service, id, &request).await?, request).await
    });
    let ask = ask.post(async move |State(service), PathId(id), request: Request| {
        authorize::ask_by_form(visit(service, id, &request).await?, request).await
    });
    let back = get(async move |State(service), PathId(id), request: Request| {
        authorize::come_back(visit(service, id, &request).await?, request).await
    });
    let consent = get(async move |State(service), PathPair(id, waiting), request: Request| {
        consent::show(visit(service, id, &request).await?, &waiting).await
    });
    let consent = consent.post(async move |State(service), PathPair(id, waiting), request: Request| {
        consent::answer(visit(service, id, &request).await?, &waiting, request).await
    });
    let logout = get(async move |State(service), PathId(id), request: Request| {
        logout::ask(visit(service, id, &request).await?, request).await
    });
    let logout = logout.post(async move |State(service), PathId(id), request: Request| {
        logout::ask_by_form(visit(service, id, &request).await?, request).await
    });
    let confirm = post(async move |State(service), PathId(id), request: Request| {
        logout::confirm(visit(service, id, &request).await?, request).await
    });
    Router::new()
        .route(&at(environment, "authorize"), refuse_others(ask, "GET, POST"))
        .route(&at(environment, "authorize/return"), refuse_others(back, "GET"))
        .route(&at(environment, "authorize/consent/{request}"), refuse_others(consent, "GET, POST"))
        .route(&at(environment, "logout"), refuse_others(logout, "GET, POST"))
        .route(&at(environment, "logout/confirm"), confirm)
}

/// Refuses all other methods. `HEAD` is one of them: a login that it began would be seen by nobody.
fn refuse_others(routes: MethodRouter<OpenidService>, allowed: &'static str) -> MethodRouter<OpenidService> {
    let refuse = async move || method_not_allowed(allowed);
    routes.head(refuse).fallback(refuse)
}

/// Where applications ask by themselves; those that run in a browser may, wherever they come from.
fn for_programs(environment: Environment) -> Router<OpenidService> {
    let visit = move |service, id, request| OauthVisit::receive(service, environment, id, request);
    let token = post(async move |State(service), PathId(id), request: Request| {
        open(async { token::issue(visit(service, id, request).await?).await }.await)
    });
    let revoke = post(async move |State(service), PathId(id), request: Request| {
        open(async { token::revoke(visit(service, id, request).await?).await }.await)
    });
    let introspect = post(async move |State(service), PathId(id), request: Request| {
        introspect::introspect(visit(service, id, request).await?).await
    });
    let userinfo = async move |State(service), PathId(id), request: Request| {
        open(async { userinfo::show(visit(service, id, request).await?).await }.await)
    };
    Router::new()
        .route(&at(environment, "token"), with_preflight(token))
        .route(&at(environment, "revoke"), with_preflight(revoke))
        .route(&at(environment, "introspect"), introspect)
        .route(&at(environment, "userinfo"), with_preflight(get(userinfo).post(userinfo)))
}
