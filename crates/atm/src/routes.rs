//! The ATM service's addresses.

use axum::Router;
use axum::routing::post;
use signpost_platform::accounts::{Environment, Scope};
use signpost_platform::limits::Limit;
use signpost_platform::web::api_key::door;

use super::mcp::{discovery, transport};
use super::pages::install;
use super::{report_api, report_form, submissions};
use crate::service::AtmService;

/// The Model Context Protocol, the documents that describe it, and the page for whoever opens it in a browser.
pub fn protocol(service: &AtmService) -> Router<AtmService> {
    discovery::router(service).merge(transport::router(service, install::page(service))).merge(install::router(service))
}

/// The pages for people, which begin at the public address itself.
pub fn pages() -> Router<AtmService> {
    super::pages::router()
}

/// Where operators submit their own machines; in the sandbox nothing is kept.
pub fn submissions(service: &AtmService, environment: Environment) -> Router<AtmService> {
    let submissions = door(service, environment, Limit::Submissions, Scope::Atms);
    Router::new().route(&format!("{}/atms/submissions", environment.path()), submissions(post(submissions::submit)))
}

/// Where anybody reports what they found at a machine; in the sandbox nothing is kept.
pub fn reports(environment: Environment) -> Router<AtmService> {
    let report = post(move |state, atm, request| report_api::report(environment, state, atm, request));
    Router::new().route(&format!("{}/atms/{{id}}/reports", environment.path()), report)
}

/// The form in which people report what they found at a machine.
pub fn report_pages() -> Router<AtmService> {
    report_form::router()
}
