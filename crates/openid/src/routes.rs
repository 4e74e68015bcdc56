//! Builds the routes of OpenID Connect and of forward authentication.

use axum::Router;
use axum::routing::{get, post};
use signpost_platform::accounts::{Environment, Scope};
use signpost_platform::limits::Limit;
use signpost_platform::web::api_key::require_api_key;

use crate::api::clients;
use crate::service::{IssuerState, OpenidService};
use crate::{documents, forward, provider};

/// Returns the routes below the issuers of an environment.
pub fn issuers(service: &OpenidService, environment: Environment) -> Router<OpenidService> {
    let state = IssuerState { service: service.clone(), environment };
    documents::router(service, environment).merge(provider::router(environment)).with_state(state)
}

pub use forward::CHECK as FORWARD_CHECK;

/// Returns the routes for reverse proxies, and the routes on the hosts of the applications behind them.
pub fn forward_auth() -> Router<OpenidService> {
    forward::router()
}

/// Returns the routes of the API, below `/v1` and `/sandbox/v1`.
pub fn router(service: &OpenidService, environment: Environment) -> Router<OpenidService> {
    let domains = require_api_key(service, environment, Limit::Domains, Scope::Auth);
    let all = format!("{}/domains/{{id}}/clients", environment.path());
    Router::new()
        .route(&all, domains(get(clients::list).post(clients::create)))
        .route(&format!("{all}/{{client}}"), domains(get(clients::show).patch(clients::patch).delete(clients::delete)))
        .route(&format!("{all}/{{client}}/rotate"), domains(post(clients::rotate)))
}
