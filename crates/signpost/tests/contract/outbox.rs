//! The outbox commands, and the retention of expired rows (docs/cli.md; docs/operate.md, Bounds).

use axum::http::StatusCode;
use jiff::SignedDuration;
use signpost_login::events;
use signpost_login::jobs::retention::sweep;
use signpost_platform::accounts::audit::{self, Actor};

use crate::harness::{Endpoint, Program, Service, text, until};

async fn retry_all(service: &Service, now: jiff::Timestamp) -> anyhow::Result<usize> {
    events::retries::retry(&service.app.store, events::RetryScope::Failed, &Actor::Operator, now).await
}

#[tokio::test]
async fn failed_event_is_listed_and_retried() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut endpoint = Endpoint::start().await;
    endpoint.respond_with((StatusCode::GONE, "their-secret"));
    let clock = Service::clock();
    let service = Service::on(folder.path(), &clock, &[]).await;
    let integrator = service.integrator().await;
    integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let session = integrator.create_session("shop.test").await;
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    let failed = until("it failed", async || {
        events::deliveries::list_all(&service.app.store, Some("failed"), 10).await.expect("a database").pop()
    });
    let failed = failed.await.delivery;
    let first = endpoint.next_request().await;
    assert_eq!(
        (failed.attempts, failed.last_status, failed.last_error.as_deref()),
        (1, Some(410), Some("the endpoint responded with 410"))
    );

    let run = |arguments: &[&str]| {
        let data_dir = folder.path().to_str().expect("a path");
        Program::within(folder.path(), &[&["--data-dir", data_dir, "--json", "deliveries"], arguments].concat()).run()
    };
    let listed = run(&["list", "--state", "failed"]).json();
    assert_eq!(text(&listed["deliveries"][0], "id"), failed.id.as_str());
    assert_eq!(run(&["list", "--state", "pending"]).json()["deliveries"].as_array().map(Vec::len), Some(0));
    let shown = run(&["show", failed.id.as_str()]);
    assert_eq!(shown.json()["body"]["session_id"], session["id"]);
    assert!(!format!("{}", shown.json()).contains("their-secret"));
    let attempts = &shown.json()["past_attempts"];
    assert_eq!((attempts[0]["status"].as_u64(), attempts.as_array().map(Vec::len)), (Some(410), Some(1)), "{attempts}");
    assert!(attempts[0]["duration_ms"].is_u64() && attempts[0]["started_at"].is_string(), "{attempts}");
    run(&["show", "evt_x"]).failed(1);
    run(&["retry"]).failed(2);
    run(&["retry", "evt_x"]).failed(1);

    assert_eq!(retry_all(&service, clock.now()).await.expect("a database"), 1);
    service.app.login.outbox.notify_one();
    let again = endpoint.next_request().await;
    assert_eq!((&again.body, again.header("webhook-id")), (&first.body, first.header("webhook-id")));
    until("it arrived", async || {
        events::deliveries::list_all(&service.app.store, Some("delivered"), 10).await.expect("a database").pop()
    })
    .await;
    assert_eq!(retry_all(&service, clock.now()).await.expect("a database"), 0);
}

#[tokio::test]
async fn retry_preserves_past_attempts() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut endpoint = Endpoint::start().await;
    endpoint.respond_with((StatusCode::GONE, "their-secret"));
    endpoint.respond_with((StatusCode::UNAUTHORIZED, "their-secret"));
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let integrator = service.integrator().await;
    integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let session = integrator.create_session("shop.test").await;
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    endpoint.next_request().await;
    let failed = until("it failed", async || {
        events::deliveries::list_all(&service.app.store, Some("failed"), 10).await.expect("a database").pop()
    });
    let id = failed.await.delivery.id.to_string();
    let show = || {
        let data_dir = folder.path().to_str().expect("a path");
        Program::within(folder.path(), &["--data-dir", data_dir, "--json", "deliveries", "show", &id]).run().json()
    };
    assert!(show()["refused"].is_null(), "{}", show());
    integrator.post_nothing(&format!("/deliveries/{id}/retry")).await.with(202);
    endpoint.next_request().await;
    service.wait_for_attempts(1).await;
    let shown = show();
    let attempts = shown["past_attempts"].as_array().expect("attempts");
    let statuses: Vec<_> = attempts.iter().map(|attempt| attempt["status"].as_u64()).collect();
    assert_eq!(statuses, [Some(410), Some(401)]);
    // The endpoint uses the system time, from which the server's test clock is far away.
    assert_eq!(shown["refused"]["reason"], "clock", "{shown}");
    assert!(shown["refused"]["mending"][0].is_string(), "{shown}");
    let secret = "their-secret";
    assert!(!shown.to_string().contains(secret) && !shown.to_string().contains("signed_by"), "{shown}");
}

#[tokio::test]
async fn audit_log_records_tests_and_retries() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut endpoint = Endpoint::start().await;
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let other = integrator.register_domain_at("other.test", &endpoint.url("/hook")).await;
    let run = |arguments: &[&str]| {
        let data_dir = folder.path().to_str().expect("a path");
        Program::within(folder.path(), &[&["--data-dir", data_dir, "--json", "deliveries"], arguments].concat()).run()
    };
    endpoint.respond_with(StatusCode::GONE);
    integrator.post_nothing(&format!("/domains/{}/test-event", text(&domain, "id"))).await.with(202);
    endpoint.next_request().await;
    until("it failed", async || {
        events::deliveries::list_all(&service.app.store, Some("failed"), 10).await.expect("a database").pop()
    })
    .await;
    let retry = |id: &str| run(&["retry", "--failed", "--domain", id]);
    assert_eq!(retry(text(&other, "id")).json()["retried"], 0);
    assert_eq!(retry(text(&domain, "id")).json()["retried"], 1);
    let sent = run(&["test", "other.test"]).json();
    assert!(text(&sent, "id").starts_with("evt_"), "{sent}");
    run(&["test", "unknown.test"]).failed(1);
    let entries = audit::sql::list_newest(&service.app.store, jiff::Timestamp::UNIX_EPOCH, "", "", 100).await;
    let entries = entries.expect("a database");
    let of = |action: &str| {
        let entries = entries.iter().filter(|entry| entry.action == action);
        entries.map(|entry| (entry.actor == "operator", entry.object.clone())).collect::<Vec<_>>()
    };
    // Actions without effect have no entry.
    assert_eq!(of("delivery.retried"), [(true, text(&domain, "id").to_owned())]);
    let mut tests = of("test_event.sent");
    tests.sort();
    assert_eq!(tests, [(false, text(&domain, "id").to_owned()), (true, text(&other, "id").to_owned())]);
}

#[tokio::test]
async fn only_expired_rows_are_deleted() {
    let mut endpoint = Endpoint::start().await;
    let service = Service::start().await;
    let integrator = service.integrator().await;
    integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let (old, pending) = (integrator.create_session("shop.test").await, integrator.create_session("shop.test").await);
    integrator.authenticate(&old, &service.phone().answer(&old)).await.with(200);
    endpoint.next_request().await;
    let store = &service.app.store;
    until("it arrived", async || {
        events::deliveries::list_all(store, Some("delivered"), 1).await.expect("a database").pop()
    })
    .await;
    service.advance_clock(SignedDuration::from_hours(7 * 24 - 1));
    assert_eq!(sweep(store, service.clock.now()).await.expect("a database"), 0);
    integrator.get_session(&pending).await.assert_error(410, "session_expired");
    let young = integrator.create_session("shop.test").await;
    service.advance_clock(SignedDuration::from_hours(2));
    assert_eq!(sweep(store, service.clock.now()).await.expect("a database"), 3);
    integrator.get_session(&pending).await.assert_error(404, "session_not_found");
    integrator.get_session(&young).await.assert_error(410, "session_expired");
    assert_eq!(service.outbox().await.len(), 0);
}
