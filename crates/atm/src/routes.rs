//! The ATM service's addresses.

use axum::Router;
use axum::routing::post;
use signpost_platform::accounts::{Environment, Scope};
use signpost_platform::limits::Limit;
use signpost_platform::web::api_key::door;

use super::mcp::{discovery, transport};
use super::submissions;
use crate::service::AtmService;

/// The Model Context Protocol, and the documents that describe it.
pub fn protocol(service: &AtmService) -> Router<AtmService> {
    discovery::router(service).merge(transport::router(service))
}

/// Where operators report their own machines; in the sandbox nothing is kept.
pub fn reporting(service: &AtmService, environment: Environment) -> Router<AtmService> {
    let submissions = door(service, environment, Limit::Submissions, Scope::Atms);
    Router::new().route(&format!("{}/atms/submissions", environment.path()), submissions(post(submissions::submit)))
}
