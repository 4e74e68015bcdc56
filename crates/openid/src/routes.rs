//! Every address of standard login.

use axum::Router;
use axum::routing::{get, post};
use signpost_platform::accounts::{Environment, Scope};
use signpost_platform::limits::Limit;
use signpost_platform::web::api_key::door;

use crate::api::clients;
use crate::service::OpenidService;
use crate::{documents, forward, provider};

/// The addresses below the issuers of an environment.
pub fn issuers(service: &OpenidService, environment: Environment) -> Router<OpenidService> {
    documents::router(service, environment).merge(provider::router(environment))
}

pub use forward::CHECK as FORWARD_CHECK;

/// The addresses that reverse proxies ask, and those on the hosts of the applications behind them.
pub fn forward_auth() -> Router<OpenidService> {
    forward::router()
}

/// The addresses for integrators' servers, below `/v1` and `/sandbox/v1`.
pub fn router(service: &OpenidService, environment: Environment) -> Router<OpenidService> {
    let domains = door(service, environment, Limit::Domains, Scope::Auth);
    let at = |path: &str| format!("{}/domains/{{id}}/clients{path}", environment.path());
    Router::new()
        .route(&at(""), domains(get(clients::list).post(clients::create)))
        .route(&at("/{client}"), domains(get(clients::show).patch(clients::patch).delete(clients::delete)))
        .route(&at("/{client}/rotate"), domains(post(clients::rotate)))
}
