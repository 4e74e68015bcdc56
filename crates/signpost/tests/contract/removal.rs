//! `DELETE /domains/{id}` (docs/api.md, Domains, additive).

use axum::http::StatusCode;
use jiff::SignedDuration;
use serde_json::json;

use crate::harness::{Endpoint, Service, send, text};

#[tokio::test]
async fn deleted_domain_sends_its_last_events() {
    let mut endpoint = Endpoint::start().await;
    endpoint.respond_with(StatusCode::INTERNAL_SERVER_ERROR);
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let (done, pending) = (integrator.create_session("shop.test").await, integrator.create_session("shop.test").await);
    integrator.authenticate(&done, &service.phone().answer(&done)).await.with(200);
    service.wait_for_attempts(1).await;
    let first = endpoint.next_request().await;

    let path = format!("/domains/{}", text(&domain, "id"));
    let rival = service.integrator_of("rival", signpost_platform::accounts::Environment::Sandbox).await;
    send(rival.request(reqwest::Method::DELETE, &path)).await.assert_error(404, "domain_not_found");
    let reply = send(integrator.request(reqwest::Method::DELETE, &path)).await;
    assert_eq!((reply.status, reply.text.as_str()), (204, ""));
    integrator.get(&path).await.assert_error(404, "domain_not_found");
    send(integrator.request(reqwest::Method::DELETE, &path)).await.assert_error(404, "domain_not_found");
    assert_eq!(integrator.get("/domains").await.with(200)["domains"], json!([]));
    integrator.get_session(&pending).await.assert_error(410, "session_cancelled");
    integrator.authenticate(&pending, &service.phone().answer(&pending)).await.assert_error(410, "session_cancelled");
    integrator.refresh(&pending).await.assert_error(410, "session_cancelled");
    integrator.post("/sessions", &json!({ "domain": "shop.test" })).await.assert_error(422, "domain_not_registered");
    assert_eq!(text(&integrator.get_session(&done).await.with(200), "status"), "authenticated");

    service.advance_clock(SignedDuration::from_secs(3));
    let again = endpoint.next_request().await;
    assert_eq!((&again.body, again.header("x-svc-signature")), (&first.body, first.header("x-svc-signature")));
    let new = integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    assert!(new["id"] != domain["id"] && new["webhook_secret"] != domain["webhook_secret"]);
    integrator.create_session("shop.test").await;
}

#[tokio::test]
async fn session_of_a_deleted_domain_is_not_refreshed() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    let session = integrator.create_session("shop.test").await;
    service.advance_clock(SignedDuration::from_secs(600));
    send(integrator.request(reqwest::Method::DELETE, &format!("/domains/{}", text(&domain, "id")))).await;
    integrator.refresh(&session).await.assert_error(410, "session_cancelled");
}
