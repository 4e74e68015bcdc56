//! The HTTP routes of the ATM service.

use axum::Router;
use axum::routing::post;
use signpost_platform::accounts::{Environment, Scope};
use signpost_platform::limits::Limit;
use signpost_platform::web::api_key::require_api_key;

use super::mcp::{discovery, transport};
use super::pages::install;
use super::{report_api, submissions};
use crate::service::AtmService;

/// Returns the routes of the Model Context Protocol: the endpoint, its discovery documents, and its page for browsers.
pub fn protocol(service: &AtmService) -> Router<AtmService> {
    discovery::router(service).merge(transport::router(service, install::page(service))).merge(install::router(service))
}

/// Returns the routes of the web pages.
pub fn pages() -> Router<AtmService> {
    super::pages::router()
}

/// Returns the API route for the submissions of operators. In the sandbox, nothing is stored.
pub fn submissions(service: &AtmService, environment: Environment) -> Router<AtmService> {
    let submissions = require_api_key(service, environment, Limit::Submissions, Scope::Atms);
    Router::new().route(&format!("{}/atms/submissions", environment.path()), submissions(post(submissions::submit)))
}

/// Returns the API route for reports about ATMs. In the sandbox, nothing is stored.
pub fn reports(environment: Environment) -> Router<AtmService> {
    let report = post(move |state, atm, request| report_api::report(environment, state, atm, request));
    Router::new().route(&format!("{}/atms/{{id}}/reports", environment.path()), report)
}
