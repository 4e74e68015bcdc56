//! Pagination of lists, and the simulated wallet of the sandbox.

use jiff::SignedDuration;
use serde_json::{Value, json};
use signpost_platform::accounts::Environment;

use crate::harness::{Endpoint, Integrator, Service, members, text};

fn ids(page: &Value, list: &str) -> Vec<String> {
    page[list].as_array().expect("a list").iter().map(|item| text(item, "id").to_owned()).collect()
}

async fn all(integrator: &Integrator, path: &str, list: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut next = String::new();
    for _ in 0..20 {
        let page = integrator.get(&format!("{path}limit=2{next}")).await.with(200);
        found.extend(ids(&page, list));
        match page["next_cursor"].as_str() {
            Some(cursor) => next = format!("&cursor={cursor}"),
            None => return found,
        }
    }
    panic!("the list has no end: {found:?}")
}

#[tokio::test]
async fn sessions_are_paginated_newest_first() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let mut opened = Vec::new();
    for _ in 0..5 {
        opened.push(text(&integrator.create_session("shop.test").await, "id").to_owned());
        service.advance_clock(SignedDuration::from_secs(1));
    }
    opened.reverse();
    assert_eq!(all(&integrator, "/sessions?", "sessions").await, opened);
    let page = integrator.get("/sessions").await.with(200);
    assert_eq!(members(&page), ["sessions"].into());
    assert_eq!(
        members(&page["sessions"][0]),
        ["id", "domain_id", "status", "expires_at", "domain", "mode", "created_at"].into()
    );
    let stranger = service.integrator_of("stranger", Environment::Sandbox).await;
    assert_eq!(stranger.get("/sessions").await.with(200), json!({ "sessions": [] }));
}

#[tokio::test]
async fn sessions_are_filtered_by_status_and_domain() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    integrator.register_domain("other.test").await;
    let expired = integrator.create_session("shop.test").await;
    service.advance_clock(SignedDuration::from_secs(300));
    let (pending, done, gone) = (
        integrator.create_session("other.test").await,
        integrator.create_session("shop.test").await,
        integrator.create_session("shop.test").await,
    );
    integrator.authenticate(&done, &service.phone().answer(&done)).await.with(200);
    integrator.cancel(&gone).await;
    for (query, expected) in [
        ("status=pending", &pending),
        ("status=authenticated", &done),
        ("status=expired", &expired),
        ("status=cancelled", &gone),
        ("domain=other.test", &pending),
    ] {
        let page = integrator.get(&format!("/sessions?{query}")).await.with(200);
        assert_eq!(ids(&page, "sessions"), [text(expected, "id")], "{query}");
    }
    assert_eq!(integrator.get("/sessions?domain=unknown.test").await.with(200), json!({ "sessions": [] }));
    for (query, field) in
        [("status=x", "status"), ("limit=0", "limit"), ("cursor=x", "cursor"), ("domain=a b", "domain")]
    {
        integrator.get(&format!("/sessions?{query}")).await.assert_invalid_field(field);
    }
}

#[tokio::test]
async fn domains_are_listed_with_or_without_pages() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let mut registered = Vec::new();
    for number in 0..5 {
        registered.push(text(&integrator.register_domain(&format!("shop{number}.test")).await, "id").to_owned());
        service.advance_clock(SignedDuration::from_secs(1));
    }
    assert_eq!(ids(&integrator.get("/domains").await.with(200), "domains"), registered);
    assert_eq!(all(&integrator, "/domains?", "domains").await, registered);
}

#[tokio::test]
async fn the_sandbox_has_a_simulated_wallet() {
    let service = Service::start().await;
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    integrator.register_domain_at("localhost", &endpoint.url("/webhooks/login")).await;
    let session = integrator.create_session("localhost").await;
    let path = format!("/sessions/{}/simulate", text(&session, "id"));
    let response = integrator.post_nothing(&path).await.with(200);
    assert_eq!((&response["status"], &response["body"]), (&json!(200), &json!("taken")));
    let posted = endpoint.next_request().await;
    assert_eq!((posted.json(), posted.path.as_str()), (response["payload"].clone(), "/webhooks/login"));
    integrator.authenticate(&session, &posted.json()).await.with(200);
    assert_eq!(endpoint.next_request().await.json()["event"], "login");
    integrator.post_nothing(&path).await.assert_error(409, "session_already_authenticated");
    let session = integrator.create_session("localhost").await;
    let path = format!("/sessions/{}/simulate", text(&session, "id"));
    for (fault, status, code) in [
        ("signature", 406, "invalid_signature"),
        ("timestamp", 408, "timestamp_out_of_range"),
        ("challenge", 404, "challenge_not_found"),
    ] {
        integrator.post(&path, &json!({ "fault": fault, "wallet": 2 })).await.with(200);
        integrator.authenticate(&session, &endpoint.next_request().await.json()).await.assert_error(status, code);
    }
    integrator.post(&path, &json!({ "fault": "x" })).await.assert_invalid_field("fault");
    integrator.post(&path, &json!({ "wallet": 0 })).await.assert_invalid_field("wallet");
}

#[tokio::test]
async fn simulations_read_no_private_network() {
    let endpoint = Endpoint::start().await;
    let message = format!("{{\"error\":\"\u{1b}[31mno\"}}\n{}", "x".repeat(10_000));
    let shown = message[..2048].replace('\u{1b}', " ");
    for (setting, body) in [("auto", Some(shown.as_str())), ("true", None)] {
        let service = Service::with(&[("allow_private_webhooks", setting)]).await;
        let integrator = service.integrator().await;
        integrator.register_domain_at("localhost", &endpoint.url("/webhooks/login")).await;
        let session = integrator.create_session("localhost").await;
        endpoint.respond_with((axum::http::StatusCode::NOT_FOUND, message.clone()));
        let response = integrator.post_nothing(&format!("/sessions/{}/simulate", text(&session, "id"))).await.with(200);
        assert_eq!((&response["status"], response["body"].as_str()), (&json!(404), body), "{setting}");
    }
}

#[tokio::test]
async fn simulations_support_hosted_handlers_in_sandbox() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let domain = integrator.get("/domains").await.with(200)["domains"][0].clone();
    let path = format!("/domains/{}", text(&domain, "id"));
    integrator.patch(&path, &json!({ "handler": "hosted" })).await.with(200);
    integrator.patch(&path, &json!({ "handler": "x" })).await.assert_invalid_field("handler");
    for (mode, status) in [("login", 404), ("register", 200), ("login", 200)] {
        let body = json!({ "domain": "shop.test", "mode": mode, "confirm": "code" });
        let session = integrator.post("/sessions", &body).await.with(201);
        let response = integrator.post_nothing(&format!("/sessions/{}/simulate", text(&session, "id"))).await.with(200);
        assert_eq!(response["status"], status, "{mode}");
        let message: serde_json::Value = serde_json::from_str(text(&response, "body")).expect("JSON");
        assert!(message["error"].is_string() != message["message"].is_string(), "{message}");
    }
    let live = service.integrator_of("acme", Environment::Live).await;
    live.post_nothing("/sessions/sess_x/simulate").await.assert_error(404, "not_found");
}
