//! API keys (docs/api.md, Conventions). Authentication precedes checks of the body, and objects of other accounts do
//! not exist.

use jiff::SignedDuration;
use reqwest::Method;
use reqwest::header::AUTHORIZATION;
use serde_json::json;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::{Environment, keys};
use signpost_store::Statement;

use crate::harness::{Integrator, Service, is_written, send, text};

/// Every path, with a supported method.
const ADDRESSES: &[(Method, &str)] = &[
    (Method::POST, "/sessions"),
    (Method::GET, "/sessions/sess_x"),
    (Method::POST, "/sessions/sess_x/refresh"),
    (Method::POST, "/sessions/sess_x/authenticate"),
    (Method::POST, "/verify"),
    (Method::GET, "/domains"),
    (Method::POST, "/domains"),
    (Method::GET, "/domains/dom_x"),
    (Method::PATCH, "/domains/dom_x"),
    (Method::POST, "/domains/dom_x/verify"),
];

#[tokio::test]
async fn authentication_precedes_body_checks() {
    let service = Service::start().await;
    let unknown = service.integrator().await.with_key(None);
    for (method, path) in ADDRESSES {
        for body in ["{", "{}", "[]", "not JSON at all", &"x".repeat(70_000)] {
            let request = unknown.request(method.clone(), path).body(body.to_owned());
            send(request).await.assert_error(401, "invalid_api_key");
            let request = unknown.request(method.clone(), path).header("content-type", "application/json");
            send(request.body(body.to_owned())).await.assert_error(401, "invalid_api_key");
        }
    }
}

#[tokio::test]
async fn key_is_valid_in_its_environment_only() {
    let service = Service::start().await;
    for (environment, other) in [(Environment::Live, Environment::Sandbox), (Environment::Sandbox, Environment::Live)] {
        let integrator = service.integrator_of("acme", environment).await;
        let key = integrator.key.clone().expect("a key");
        integrator.get("/domains").await.with(200);
        let elsewhere = Integrator { api: format!("{}{}", service.app.base_url, other.path()), ..integrator.clone() };
        elsewhere.get("/domains").await.assert_error(401, "invalid_api_key");
        let last = if key.ends_with('a') { "b" } else { "a" };
        let altered = format!("{}{last}", &key[..key.len() - 1]);
        for wrong in ["", "x", &key[1..], &key[..key.len() - 1], &altered, &key.to_uppercase(), &format!("{key} {key}")]
        {
            integrator.with_key(Some(wrong)).get("/domains").await.assert_error(401, "invalid_api_key");
        }
    }
}

#[tokio::test]
async fn key_is_accepted_only_as_a_bearer_token() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let key = integrator.key.clone().expect("a key");
    let unknown = integrator.with_key(None);
    for (header, status) in [
        (format!("Bearer {key}"), 200),
        (format!("bearer {key}"), 200),
        (format!("BEARER  {key}"), 200),
        (key.clone(), 401),
        (format!("Basic {key}"), 401),
        (format!("Bearer{key}"), 401),
        ("Bearer".to_owned(), 401),
        ("Bearer ".to_owned(), 401),
    ] {
        let request = unknown.request(Method::GET, "/domains").header(AUTHORIZATION, &header);
        assert_eq!(send(request).await.status, status, "{header}");
    }
    let query = format!("/domains?api_key={key}&access_token={key}");
    unknown.get(&query).await.assert_error(401, "invalid_api_key");
}

#[tokio::test]
async fn api_does_not_allow_cross_origin_pages() {
    let integrator = Service::start().await.integrator().await;
    let request = integrator.request(Method::GET, "/domains").header("origin", "https://shop.test");
    assert_eq!(send(request).await.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn revoked_key_expires_within_five_seconds() {
    let service = Service::start().await;
    let (integrator, key) = service.integrator_with_id("acme", Environment::Live).await;
    let colleague = service.integrator_of("acme", Environment::Live).await;
    integrator.get("/domains").await.with(200);
    let revoke = || keys::sql::revoke(&service.app.store, &Actor::Operator, &key, service.clock.now());
    assert!(is_written(revoke().await));
    service.advance_clock(SignedDuration::from_secs(5));
    integrator.get("/domains").await.assert_error(401, "invalid_api_key");
    integrator.post_raw("/sessions", "{").await.assert_error(401, "invalid_api_key");
    colleague.get("/domains").await.with(200);
    assert!(!is_written(revoke().await));
}

#[tokio::test]
async fn invalid_stored_key_is_an_internal_error() {
    let service = Service::start().await;
    let (integrator, key) = service.integrator_with_id("acme", Environment::Live).await;
    let sql = "UPDATE api_keys SET created_at = $1 WHERE id = $2";
    let change = [Statement::expect_row(sql, vec![i64::MAX.into(), (&key).into()])];
    assert!(service.app.store.write(change).await.expect("a database").is_committed());
    integrator.get("/domains").await.assert_error(500, "internal_error");
    let error = keys::sql::list(&service.app.store).await.expect_err("an invalid time");
    assert!(format!("{error:#}").starts_with("api_keys.created_at: "), "{error:#}");
}

#[tokio::test]
async fn objects_of_other_accounts_are_not_found() {
    let service = Service::start().await;
    let owner = service.integrator().await;
    let domain = owner.register_domain("shop.test").await;
    let session = owner.create_session("shop.test").await;
    let answer = service.phone().answer(&session);
    let stranger = service.integrator_of("stranger", Environment::Sandbox).await;
    let live = service.integrator_of("acme", Environment::Live).await;
    for other in [&stranger, &live] {
        other.get_session(&session).await.assert_error(404, "session_not_found");
        other.refresh(&session).await.assert_error(404, "session_not_found");
        other.authenticate(&session, &answer).await.assert_error(404, "session_not_found");
        let path = format!("/domains/{}", text(&domain, "id"));
        other.get(&path).await.assert_error(404, "domain_not_found");
        other
            .patch(&path, &json!({ "webhook_url": "https://stranger.test/" }))
            .await
            .assert_error(404, "domain_not_found");
        other.post_nothing(&format!("{path}/verify")).await.assert_error(404, "domain_not_found");
        assert_eq!(other.get("/domains").await.with(200), json!({ "domains": [] }));
        other.post("/sessions", &json!({ "domain": "shop.test" })).await.assert_error(422, "domain_not_registered");
    }
    assert_eq!(owner.get_session(&session).await.with(200)["status"], "pending");
    let colleague = service.integrator().await;
    colleague.authenticate(&session, &answer).await.with(200);
    assert_eq!(owner.get_session(&session).await.with(200)["status"], "authenticated");
}
