//! Builds the routes of the login service, each with the rate limit that its requests count against
//! (specification, §8).

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, delete, get, post};
use signpost_platform::accounts::{Environment, Scope};
use signpost_platform::limits::Limit;
use signpost_platform::web::api_key::{ApiKeyGuard, require_api_key};
use signpost_platform::web::problem::Problem;

use super::api::sessions::page_access::{SessionGuard, authenticate};
use super::api::{self, deliveries, domains, sessions, sign_ins, users, verify};
use super::{account, browser_wallet, pages, wallet};
use crate::service::LoginService;

/// Returns the routes of the pages, directly below the public URL.
pub fn pages(service: &LoginService) -> Router<LoginService> {
    let pages = Environment::ALL.into_iter().map(pages::router).fold(account::router(), Router::merge);
    pages.merge(browser_wallet::router(service))
}

/// Returns the routes of the API, each with the rate limit that its requests count against
/// (specification, §8).
pub fn router(service: &LoginService, environment: Environment) -> Router<LoginService> {
    let create = require_api_key(service, environment, Limit::CreateSession, Scope::Auth);
    let read = require_api_key(service, environment, Limit::GetSession, Scope::Auth);
    let verify = require_api_key(service, environment, Limit::Verify, Scope::Auth);
    let answer = require_api_key(service, environment, Limit::Answer, Scope::Auth);
    let domains = require_api_key(service, environment, Limit::Domains, Scope::Auth);
    let guard = SessionGuard {
        service: service.clone(),
        environment,
        api_keys: ApiKeyGuard::new(service, environment, Limit::GetSession, Scope::Auth),
    };
    let at = |path: &str| format!("{}{path}", environment.path());
    let router = Router::new()
        .route(&at("/sessions"), create(get(sessions::list::list).post(sessions::create::create)))
        .route(
            &at("/sessions/{id}"),
            readable_by_pages(&guard, get(sessions::watch::show).delete(sessions::by_id::cancel)),
        )
        .route(&at("/sessions/{id}/events"), readable_by_pages(&guard, get(sessions::watch::events)))
        .route(&at("/sessions/{id}/qr.svg"), read(get(sessions::by_id::svg)))
        .route(&at("/sessions/{id}/qr.png"), read(get(sessions::by_id::png)))
        .route(&at("/sessions/{id}/refresh"), create(post(sessions::by_id::refresh)))
        .route(&at("/sessions/{id}/authenticate"), answer(post(sessions::answer::authenticate)))
        .route(&at("/sessions/{id}/complete"), answer(post(sessions::answer::complete)))
        .route(&at("/verify"), verify(post(verify::verify)))
        .route(&at("/account"), read(get(api::account::show)))
        .route(&at("/domains"), domains(get(domains::list).post(domains::create)))
        .route(&at("/domains/{id}"), domains(get(domains::show).patch(domains::patch).delete(domains::delete)))
        .route(&at("/domains/{id}/verify"), domains(post(domains::verify)))
        .route(&at("/domains/{id}/users"), domains(get(users::users).post(users::create).delete(users::delete_all)))
        .route(&at("/domains/{id}/users/{user}"), domains(get(users::show).patch(users::patch).delete(users::delete)))
        .route(&at("/domains/{id}/users/{user}/credentials/{credential}"), domains(delete(users::delete_credential)))
        .route(&at("/domains/{id}/users/{user}/sign-ins"), domains(get(sign_ins::list).delete(sign_ins::end_all)))
        .route(&at("/domains/{id}/users/{user}/sign-ins/{sign_in}"), domains(delete(sign_ins::end)))
        .route(&at("/domains/{id}/test-event"), domains(post(deliveries::test_event)))
        .route(&at("/deliveries"), domains(get(deliveries::list)))
        .route(&at("/deliveries/signed"), read(get(deliveries::list_signed)))
        .route(&at("/deliveries/retry"), domains(post(deliveries::retry_failed)))
        .route(&at("/deliveries/{id}"), domains(get(deliveries::show)))
        .route(&at("/deliveries/{id}/retry"), domains(post(deliveries::retry)))
        .merge(wallet::router(service, environment));
    match environment {
        Environment::Live => router,
        Environment::Sandbox => {
            router.route(&at("/sessions/{id}/simulate"), answer(post(sessions::simulate::simulate)))
        }
    }
}

/// Guards routes of a session, so that they require an API key or the session's client secret.
fn readable_by_pages(guard: &SessionGuard, routes: MethodRouter<LoginService>) -> MethodRouter<LoginService> {
    routes.fallback(async || Problem::MethodNotAllowed).layer(from_fn_with_state(guard.clone(), authenticate))
}
