//! The deliveries API, test events, and endpoints that always fail.

use axum::http::StatusCode;
use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};
use signpost_login::events;
use signpost_platform::accounts::{Environment, audit};

use crate::harness::{Endpoint, Integrator, Service, members, text, until};

async fn log_in(service: &Service, integrator: &Integrator) {
    let session = integrator.create_session("shop.test").await;
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
}

/// Waits until the account has `count` events in a state and returns them.
async fn in_state(integrator: &Integrator, state: &str, count: usize) -> Vec<Value> {
    until(&format!("{count} are {state}"), async || {
        let page = integrator.get(&format!("/deliveries?state={state}")).await.with(200);
        page["deliveries"].as_array().filter(|list| list.len() == count).cloned()
    })
    .await
}

#[tokio::test]
async fn integrator_accesses_only_its_own_events() {
    let service = Service::start().await;
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    endpoint.respond_with((StatusCode::GONE, "their-secret"));
    log_in(&service, &integrator).await;
    let failed = in_state(&integrator, "failed", 1).await.remove(0);
    let first = endpoint.next_request().await;
    let path = format!("/deliveries/{}", text(&failed, "id"));
    let shown = integrator.get(&path).await;
    assert_eq!(shown.with(200)["body"], first.json());
    assert!(!shown.text.contains("their-secret") && !shown.text.contains("acme"), "{}", shown.text);
    let known = ["id", "domain_id", "url", "state", "attempts", "created_at", "next_attempt_at", "ended_at"];
    let expected: Vec<_> = known.into_iter().chain(["last_status", "last_error", "body"]).collect();
    assert_eq!(members(&shown.json()), expected.into_iter().collect());
    let stranger = service.integrator_of("stranger", Environment::Sandbox).await;
    stranger.get(&path).await.assert_error(404, "not_found");
    stranger.post_nothing(&format!("{path}/retry")).await.assert_error(404, "not_found");
    assert_eq!(stranger.post_nothing("/deliveries/retry").await.with(202), json!({ "retried": 0 }));
    assert_eq!(stranger.get("/deliveries").await.with(200), json!({ "deliveries": [] }));
    assert_eq!(integrator.post_nothing(&format!("{path}/retry")).await.with(202)["id"], failed["id"]);
    assert_eq!(endpoint.next_request().await.body, first.body);
    in_state(&integrator, "delivered", 1).await;
    assert_eq!(integrator.post_nothing("/deliveries/retry").await.with(202), json!({ "retried": 0 }));
    integrator.get("/deliveries?state=lost").await.assert_invalid_field("state");
    integrator.get("/deliveries/evt_x").await.assert_error(404, "not_found");
}

#[tokio::test]
async fn test_event_is_delivered() {
    let service = Service::start().await;
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    let domain = integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let path = format!("/domains/{}/test-event", text(&domain, "id"));
    let queued = integrator.post_nothing(&path).await.with(202);
    let arrived = endpoint.next_request().await;
    let event = arrived.json();
    assert_eq!((&event["id"], &event["event"], &event["data"]), (&queued["id"], &json!("test"), &json!({})));
    let secret = signpost_auth::WebhookSecret::parse(text(&domain, "webhook_secret")).expect("a secret");
    assert!(secret.verify_x_svc_signature(arrived.header("x-svc-signature"), &arrived.body));
    integrator.post_nothing("/domains/dom_x/test-event").await.assert_error(404, "domain_not_found");
}

#[tokio::test]
async fn failing_endpoint_is_disabled_and_probed() {
    let service = Service::with(&[("webhook_retry_schedule", "24h,24h,24h,24h,24h,24h,24h,24h,24h")]).await;
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    for _ in 0..8 {
        endpoint.respond_with(StatusCode::INTERNAL_SERVER_ERROR);
    }
    log_in(&service, &integrator).await;
    service.wait_for_attempts(1).await;
    // Delays have 20 % jitter: the sixth attempt follows after four to six days, the seventh after more than five.
    for attempt in 2..=7 {
        service.advance_clock(SignedDuration::from_hours(29));
        service.wait_for_attempts(attempt).await;
    }
    let disabled = || async {
        events::endpoints::list_failing(&service.app.store, 100).await.expect("a database").remove(0).disabled_at
    };
    until("it is disabled", async || disabled().await).await;
    let shown = integrator.get("/deliveries").await.with(200);
    assert!(shown["deliveries"][0]["endpoint_disabled_at"].is_string(), "{shown}");
    while endpoint.try_next_request().is_some() {}
    // New events wait; one waiting event is attempted per hour.
    for _ in 0..3 {
        log_in(&service, &integrator).await;
    }
    service.advance_clock(SignedDuration::from_mins(59));
    service.wait_for_outbox_scans().await;
    let attempts: i64 = service.outbox().await.iter().map(|queued| queued.attempts).sum();
    assert!(attempts == 7 && endpoint.try_next_request().is_none(), "nothing is sent before the probe is due");
    service.advance_clock(SignedDuration::from_mins(1));
    endpoint.next_request().await;
    until("the probe failed", async || {
        let outbox = service.outbox().await;
        let attempts: i64 = outbox.iter().map(|queued| queued.attempts).sum();
        (attempts == 8 && outbox.iter().all(|queued| !queued.is_running)).then_some(())
    })
    .await;
    assert!(endpoint.try_next_request().is_none());
    // The next probe succeeds, and all waiting events follow.
    service.advance_clock(SignedDuration::from_hours(1));
    endpoint.next_request().await;
    until("it is enabled", async || {
        events::endpoints::list_failing(&service.app.store, 100).await.expect("a database").is_empty().then_some(())
    })
    .await;
    service.advance_clock(SignedDuration::from_hours(30));
    in_state(&integrator, "delivered", 4).await;
    let actions = audit::sql::list_newest(&service.app.store, jiff::Timestamp::UNIX_EPOCH, "acme", "", 10)
        .await
        .expect("a database");
    let actions: Vec<_> = actions.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(actions[..2], ["endpoint.enabled", "endpoint.disabled"]);
}

#[tokio::test]
async fn concurrent_failures_disable_an_endpoint_once() {
    let (folder, clock) = (tempfile::tempdir().expect("a folder"), Service::clock());
    let settings = [("webhook_retry_schedule", "24h,24h")];
    let service = Service::on(folder.path(), &clock, &settings).await;
    let (integrator, mut endpoint) = (service.integrator().await, Endpoint::start().await);
    integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    (0..4).for_each(|_| endpoint.respond_with(StatusCode::INTERNAL_SERVER_ERROR));
    log_in(&service, &integrator).await;
    service.wait_for_attempts(1).await;
    let age = signpost_store::Statement::new("UPDATE endpoints SET failing_since = 0", Vec::new());
    service.app.store.write([age]).await.expect("a database");
    // The test clock is stopped, so the concurrent attempts end in the same millisecond.
    endpoint.next_request().await;
    endpoint.set_hanging(true);
    join_all((0..3).map(|_| log_in(&service, &integrator))).await;
    for _ in 0..3 {
        endpoint.next_request().await;
    }
    endpoint.set_hanging(false);
    until("all were tried", async || {
        let outbox = service.outbox().await;
        outbox.iter().all(|queued| queued.attempts == 1 && !queued.is_running).then_some(())
    })
    .await;
    // The server stops after all results were recorded.
    service.stop().await;
    let service = Service::on(folder.path(), &clock, &settings).await;
    let response = audit::sql::list_newest(&service.app.store, jiff::Timestamp::UNIX_EPOCH, "acme", "", 100).await;
    let response = response.expect("a database");
    assert_eq!(response.iter().filter(|entry| entry.action == "endpoint.disabled").count(), 1, "{response:?}");
}
