//! `DELETE /domains/{id}` (docs/api.md, Domains, additive).

use axum::http::StatusCode;
use jiff::SignedDuration;
use serde_json::json;

use crate::harness::{Endpoint, Service, send, text};

#[tokio::test]
async fn deleted_domain_sends_its_last_events() {
    let mut endpoint = Endpoint::start().await;
    endpoint.answers(StatusCode::INTERNAL_SERVER_ERROR);
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = integrator.registers_at("shop.test", &endpoint.url("/hook")).await;
    let (done, pending) = (integrator.opens("shop.test").await, integrator.opens("shop.test").await);
    integrator.hands_in(&done, &service.phone().answers(&done)).await.with(200);
    service.tried(1).await;
    let first = endpoint.receives().await;

    let path = format!("/domains/{}", text(&domain, "id"));
    let rival = service.integrator_of("rival", signpost_platform::accounts::Environment::Sandbox).await;
    send(rival.request(reqwest::Method::DELETE, &path)).await.refused(404, "domain_not_found");
    let reply = send(integrator.request(reqwest::Method::DELETE, &path)).await;
    assert_eq!((reply.status, reply.text.as_str()), (204, ""));
    integrator.get(&path).await.refused(404, "domain_not_found");
    send(integrator.request(reqwest::Method::DELETE, &path)).await.refused(404, "domain_not_found");
    assert_eq!(integrator.get("/domains").await.with(200)["domains"], json!([]));
    integrator.sees(&pending).await.refused(410, "session_cancelled");
    integrator.hands_in(&pending, &service.phone().answers(&pending)).await.refused(410, "session_cancelled");
    integrator.refreshes(&pending).await.refused(410, "session_cancelled");
    integrator.post("/sessions", &json!({ "domain": "shop.test" })).await.refused(422, "domain_not_registered");
    assert_eq!(text(&integrator.sees(&done).await.with(200), "status"), "authenticated");

    service.passes(SignedDuration::from_secs(3));
    let again = endpoint.receives().await;
    assert_eq!((&again.body, again.header("x-svc-signature")), (&first.body, first.header("x-svc-signature")));
    let new = integrator.registers_at("shop.test", &endpoint.url("/hook")).await;
    assert!(new["id"] != domain["id"] && new["webhook_secret"] != domain["webhook_secret"]);
    integrator.opens("shop.test").await;
}

#[tokio::test]
async fn session_of_a_deleted_domain_is_not_refreshed() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = integrator.registers("shop.test").await;
    let session = integrator.opens("shop.test").await;
    service.passes(SignedDuration::from_secs(600));
    send(integrator.request(reqwest::Method::DELETE, &format!("/domains/{}", text(&domain, "id")))).await;
    integrator.refreshes(&session).await.refused(410, "session_cancelled");
}
