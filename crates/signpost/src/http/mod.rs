//! HTTP: the whole route table, and what every request passes.

mod api_key;
mod discovery;
mod health;
mod json;
mod path_id;
mod request_id;
mod rpc;

use std::net::SocketAddr;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, get, post};

use crate::account::{Environment, Scope};
use crate::app::App;
use crate::config::Service;
use crate::error::Error;
use crate::limits::{Caller, Limit, caller};
use crate::{atms, domains, sessions, verify};

pub use json::{Fields, Nothing, Payload, Report};
pub use path_id::PathId;

/// Every address that the server answers.
pub fn router(app: &App) -> Router {
    let mut router = Router::new().route("/health", get(health::show)).route("/health/ready", get(health::ready));
    if app.config.services.contains(&Service::Atm) {
        router = router.merge(discovery::router(app)).merge(rpc::router(app));
    }
    for environment in Environment::ALL {
        let mut api = Router::new().fallback(async || Error::NotFound);
        if app.config.services.contains(&Service::Auth) {
            api = api.merge(authentication(app, environment));
        }
        if app.config.services.contains(&Service::Atm) {
            api = api.merge(reporting(app, environment));
        }
        router = router.nest(environment.path(), api);
    }
    let router = router.fallback(async || Error::NotFound);
    let router = router.method_not_allowed_fallback(async || Error::MethodNotAllowed).with_state(app.clone());
    router.layer(from_fn(request_id::name_and_log))
}

/// The authentication service's addresses, each with the limit that it counts against (specification, §8).
fn authentication(app: &App, environment: Environment) -> Router<App> {
    let door = |limit| door(app, environment, limit, Scope::Auth);
    let (create, read) = (door(Limit::CreateSession), door(Limit::GetSession));
    let (verify, answer, domains) = (door(Limit::Verify), door(Limit::Answer), door(Limit::Domains));
    Router::new()
        .route("/sessions", create(post(sessions::routes::create)))
        .route("/sessions/{id}", read(get(sessions::live::show).delete(sessions::routes::cancel)))
        .route("/sessions/{id}/events", read(get(sessions::live::events)))
        .route("/sessions/{id}/qr.svg", read(get(sessions::routes::svg)))
        .route("/sessions/{id}/qr.png", read(get(sessions::routes::png)))
        .route("/sessions/{id}/refresh", create(post(sessions::routes::refresh)))
        .route("/sessions/{id}/authenticate", answer(post(sessions::routes::authenticate)))
        .route("/verify", verify(post(verify::verify)))
        .route("/domains", domains(get(domains::routes::list).post(domains::routes::create)))
        .route(
            "/domains/{id}",
            domains(get(domains::routes::show).patch(domains::routes::patch).delete(domains::routes::delete)),
        )
        .route("/domains/{id}/verify", domains(post(domains::routes::verify)))
}

/// Where operators report their own machines; in the sandbox nothing is kept.
fn reporting(app: &App, environment: Environment) -> Router<App> {
    let submissions = door(app, environment, Limit::Submissions, Scope::Atms);
    Router::new().route("/atms/submissions", submissions(post(atms::routes::submit)))
}

/// Lets those in who have a key for `scope`, each as often as `limit` says.
fn door(
    app: &App,
    environment: Environment,
    limit: Limit,
    scope: Scope,
) -> impl Fn(MethodRouter<App>) -> MethodRouter<App> {
    let door = api_key::Door { app: app.clone(), environment, limit, scope };
    move |routes| {
        routes.fallback(async || Error::MethodNotAllowed).layer(from_fn_with_state(door.clone(), api_key::admit))
    }
}

/// The client's address, as far as the proxies before us are believed.
fn client_address(app: &App, request: &Request) -> Caller {
    peer(app, request.extensions(), request.headers())
}

fn peer(app: &App, extensions: &axum::http::Extensions, headers: &axum::http::HeaderMap) -> Caller {
    // A request that came over no connection is a test's: it is its own neighbour.
    let peer = extensions.get::<ConnectInfo<SocketAddr>>().map_or(SocketAddr::from(([127, 0, 0, 1], 0)), |info| info.0);
    caller(peer, headers, &app.config.trusted_proxies)
}
