//! The login service's addresses, each with the limit that it counts against (specification, §8).

use axum::Router;
use axum::routing::{MethodRouter, delete, get, post};
use signpost_platform::accounts::{Environment, Scope};
use signpost_platform::limits::Limit;
use signpost_platform::web::api_key::{Door, door};
use signpost_platform::web::around::Surround;
use signpost_platform::web::problem::Problem;

use super::api::sessions::page_access::PageDoor;
use super::api::{deliveries, domains, sessions, users, verify};
use super::{account, browser_wallet, pages, wallet};
use crate::service::LoginService;

/// The addresses of the pages for people, which begin at the public address itself.
pub fn pages(service: &LoginService) -> Router<LoginService> {
    let pages = Environment::ALL.into_iter().map(pages::router).fold(account::router(), Router::merge);
    pages.merge(browser_wallet::router(service))
}

/// The authentication service's addresses, each with the limit that it counts against (specification, §8).
pub fn router(service: &LoginService, environment: Environment) -> Router<LoginService> {
    let door = |limit| door(service, environment, limit, Scope::Auth);
    let (create, read) = (door(Limit::CreateSession), door(Limit::GetSession));
    let (verify, answer, domains) = (door(Limit::Verify), door(Limit::Answer), door(Limit::Domains));
    let page = |routes: MethodRouter<LoginService>| {
        let door = Door::new(service, environment, Limit::GetSession, Scope::Auth);
        let door = PageDoor { service: service.clone(), environment, door };
        routes.fallback(async || Problem::MethodNotAllowed).layer(Surround(door))
    };
    let at = |path: &str| format!("{}{path}", environment.path());
    let router = Router::new()
        .route(&at("/sessions"), create(get(sessions::list::list).post(sessions::create::create)))
        .route(&at("/sessions/{id}"), page(get(sessions::watch::show).delete(sessions::one::cancel)))
        .route(&at("/sessions/{id}/events"), page(get(sessions::watch::events)))
        .route(&at("/sessions/{id}/qr.svg"), read(get(sessions::one::svg)))
        .route(&at("/sessions/{id}/qr.png"), read(get(sessions::one::png)))
        .route(&at("/sessions/{id}/refresh"), create(post(sessions::one::refresh)))
        .route(&at("/sessions/{id}/authenticate"), answer(post(sessions::answer::authenticate)))
        .route(&at("/sessions/{id}/complete"), answer(post(sessions::answer::complete)))
        .route(&at("/verify"), verify(post(verify::verify)))
        .route(&at("/domains"), domains(get(domains::list).post(domains::create)))
        .route(&at("/domains/{id}"), domains(get(domains::show).patch(domains::patch).delete(domains::delete)))
        .route(&at("/domains/{id}/verify"), domains(post(domains::verify)))
        .route(&at("/domains/{id}/users"), domains(get(users::users).delete(users::delete_all)))
        .route(&at("/domains/{id}/users/{user}"), domains(get(users::show).patch(users::patch).delete(users::delete)))
        .route(&at("/domains/{id}/users/{user}/credentials/{credential}"), domains(delete(users::delete_credential)))
        .route(&at("/domains/{id}/test-event"), domains(post(deliveries::test_event)))
        .route(&at("/deliveries"), domains(get(deliveries::list)))
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
