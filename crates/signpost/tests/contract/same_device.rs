//! Same-device flow: only the browser that the wallet opens completes the login.

use jiff::SignedDuration;
use serde_json::{Value, json};
use url::Url;

use crate::harness::{Integrator, Reply, Service, members, text};

async fn create_session(integrator: &Integrator, return_url: &str) -> Value {
    let body = json!({ "domain": "shop.test", "flow": "same_device", "metadata": { "return_url": return_url } });
    integrator.post("/sessions", &body).await.with(201)
}

async fn complete(integrator: &Integrator, session: &Value, code: &str) -> Reply {
    integrator.post(&format!("/sessions/{}/complete", text(session, "id")), &json!({ "code": code })).await
}

/// Returns the completion code of a redirect.
fn code(answered: &Value) -> String {
    let url: Url = text(answered, "redirect").parse().expect("a URL");
    url.query_pairs().find(|(name, _)| name == "code").expect("a code").1.into_owned()
}

#[tokio::test]
async fn only_the_wallet_gets_the_completion_code() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = create_session(&integrator, "/account?tab=1").await;
    let answer = service.phone().answer(&session);
    let answered = integrator.authenticate(&session, &answer).await.with(200);
    assert_eq!(members(&answered), ["id", "domain_id", "status", "expires_at", "metadata", "redirect"].into());
    assert_eq!(answered["status"], "pending");
    assert!(text(&answered, "redirect").starts_with("https://shop.test/account?tab=1&code="));
    // Polling and events reveal nothing before the completion.
    assert_eq!(integrator.get_session(&session).await.with(200)["status"], "pending");
    assert!(service.outbox().await.is_empty());
    integrator.authenticate(&session, &answer).await.assert_error(409, "session_already_authenticated");
    integrator.refresh(&session).await.assert_error(409, "session_already_authenticated");
    let details = complete(&integrator, &session, "guess").await.assert_error(406, "invalid_signature");
    assert_eq!(details["reason"], "completion_code");
    let seen = complete(&integrator, &session, &code(&answered)).await.with(200);
    assert_eq!(seen["status"], "authenticated");
    assert_eq!(seen["user"]["public_key"], answer["public_key"]);
    let outbox = service.outbox().await;
    assert_eq!(outbox.len(), 1);
    assert_eq!(outbox[0].body["data"]["signature"], answer["signature"]);
    complete(&integrator, &session, &code(&answered)).await.assert_error(409, "session_already_authenticated");
}

#[tokio::test]
async fn completion_code_is_bound_to_its_session() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let (first, second) = (create_session(&integrator, "/").await, create_session(&integrator, "/").await);
    let response = integrator.authenticate(&first, &service.phone().answer(&first)).await.with(200);
    complete(&integrator, &second, &code(&response)).await.assert_error(406, "invalid_signature");
    let stranger = service.integrator_of("stranger", signpost_platform::accounts::Environment::Sandbox).await;
    complete(&stranger, &first, &code(&response)).await.assert_error(404, "session_not_found");
    service.advance_clock(SignedDuration::from_secs(300));
    complete(&integrator, &first, &code(&response)).await.assert_error(410, "session_expired");
    assert!(service.outbox().await.is_empty());
}

#[tokio::test]
async fn late_answer_can_be_completed() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = create_session(&integrator, "https://shop.test/back").await;
    service.advance_clock(SignedDuration::from_secs(299));
    let response = integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    service.advance_clock(SignedDuration::from_secs(59));
    complete(&integrator, &session, &code(&response)).await.with(200);
}

#[tokio::test]
async fn flow_requires_a_return_url() {
    let integrator = Service::start().await.shop().await;
    let asked = |flow: &str| json!({ "domain": "shop.test", "flow": flow });
    integrator.post("/sessions", &asked("same_device")).await.assert_invalid_field("metadata.return_url");
    integrator.post("/sessions", &asked("sideways")).await.assert_invalid_field("flow");
    integrator.post("/sessions", &asked("cross_device")).await.with(201);
}

#[tokio::test]
async fn answered_session_can_be_cancelled() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = create_session(&integrator, "/").await;
    let response = integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    assert_eq!(integrator.cancel(&session).await.status, 204);
    complete(&integrator, &session, &code(&response)).await.assert_error(410, "session_cancelled");
}
