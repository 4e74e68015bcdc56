//! HTTP: the whole route table, and what every request passes.

mod api_key;
mod discovery;
mod health;
mod host;
mod hosted;
mod json;
mod page;
mod path_id;
mod query;
mod reference;
mod relay;
mod request_id;
mod rpc;

use std::net::SocketAddr;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::middleware::{from_fn_with_state, map_response_with_state};
use axum::response::Response;
use axum::routing::{MethodRouter, delete, get, post};
use tokio_util::sync::CancellationToken;

use crate::account::{Environment, Scope};
use crate::app::App;
use crate::config::Service;
use crate::error::Error;
use crate::hosted::routes;
use crate::limits::{Caller, Limit, caller};
use crate::{atms, domains, outbox, sessions, verify};

pub use api_key::ApiKey;
pub use json::{Fields, Nothing, OptionalFields, Payload, Report};
pub use path_id::{PathId, PathPair};
pub use query::Page;

/// Every address that the server answers.
pub fn router(app: &App) -> Router {
    let mut router = Router::new().route("/health", get(health::show)).route("/health/ready", get(health::ready));
    if app.config.services.contains(&Service::Atm) {
        router = router.merge(discovery::router(app)).merge(rpc::router(app));
    }
    for environment in Environment::ALL {
        let mut api = Router::new().fallback(async || Error::NotFound).merge(reference::router());
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
    // Clients that keep connections come back on others once the server is to stop.
    let router = if app.config.shutdown_delay.is_zero() {
        router
    } else {
        router.layer(map_response_with_state(app.stopping.clone(), part))
    };
    router.layer(from_fn_with_state(app.metrics.clone(), request_id::name_and_log))
}

async fn part(State(stopping): State<CancellationToken>, mut response: Response) -> Response {
    if stopping.is_cancelled() {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The authentication service's addresses, each with the limit that it counts against (specification, §8).
fn authentication(app: &App, environment: Environment) -> Router<App> {
    let door = |limit| door(app, environment, limit, Scope::Auth);
    let (create, read) = (door(Limit::CreateSession), door(Limit::GetSession));
    let (verify, answer, domains) = (door(Limit::Verify), door(Limit::Answer), door(Limit::Domains));
    let page = |routes: MethodRouter<App>| {
        let door = api_key::Door::new(app, environment, Limit::GetSession, Scope::Auth);
        routes.fallback(async || Error::MethodNotAllowed).layer(from_fn_with_state(door, page::admit_page))
    };
    let router = Router::new()
        .route("/sessions", create(get(sessions::list::list).post(sessions::create::create)))
        .route("/sessions/{id}", page(get(sessions::live::show).delete(sessions::routes::cancel)))
        .route("/sessions/{id}/events", page(get(sessions::live::events)))
        .route("/sessions/{id}/qr.svg", read(get(sessions::routes::svg)))
        .route("/sessions/{id}/qr.png", read(get(sessions::routes::png)))
        .route("/sessions/{id}/refresh", create(post(sessions::routes::refresh)))
        .route("/sessions/{id}/authenticate", answer(post(sessions::answer::authenticate)))
        .route("/sessions/{id}/complete", answer(post(sessions::answer::complete)))
        .route("/verify", verify(post(verify::verify)))
        .route("/domains", domains(get(domains::routes::list).post(domains::routes::create)))
        .route(
            "/domains/{id}",
            domains(get(domains::routes::show).patch(domains::routes::patch).delete(domains::routes::delete)),
        )
        .route("/domains/{id}/verify", domains(post(domains::routes::verify)))
        .route("/domains/{id}/users", domains(get(routes::users).delete(routes::delete_all)))
        .route("/domains/{id}/users/{public_key}", domains(delete(routes::delete)))
        .route("/domains/{id}/test-event", domains(post(outbox::routes::test_event)))
        .route("/deliveries", domains(get(outbox::routes::list)))
        .route("/deliveries/retry", domains(post(outbox::routes::retry_failed)))
        .route("/deliveries/{id}", domains(get(outbox::routes::show)))
        .route("/deliveries/{id}/retry", domains(post(outbox::routes::retry)))
        .merge(hosted::router(environment));
    match environment {
        Environment::Live => router,
        Environment::Sandbox => router.route("/sessions/{id}/simulate", answer(post(sessions::simulate::simulate))),
    }
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
    let door = api_key::Door::new(app, environment, limit, scope);
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
