//! Sessions: the specification's table (§3, §4) and the contract's decisions (§3.2).

use reqwest::Method;
use serde_json::{Value, json};
use signpost_auth::{Challenge, QrData};

use crate::harness::{Phone, START, server, server_with};

/// The members of an object, in order.
fn members(value: &Value) -> Vec<&str> {
    let mut members: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    members.sort_unstable();
    members
}

#[tokio::test]
async fn a_session_is_created_with_the_domain_alone() {
    let server = server().await;
    let session = server.integrator().await.session().await;
    assert_eq!(members(&session), ["challenge", "created_at", "expires_at", "id", "qr_data", "status"]);
    assert_eq!(session["status"], "pending");
    assert_eq!(session["created_at"], "2027-01-15T08:00:00Z");
    assert_eq!(session["expires_at"], "2027-01-15T08:05:00Z");
    let challenge = session["challenge"].as_str().unwrap();
    assert!(challenge.starts_with(&format!("svc:login:example.com:{START}:")), "{challenge}");
    let qr = QrData::parse(session["qr_data"].as_str().unwrap()).unwrap();
    assert_eq!(qr.challenge(), &Challenge::parse(challenge).unwrap());
    assert_eq!((qr.webhook().as_str(), qr.expires_at()), ("https://example.com/login", START + 300));
    let id = session["id"].as_str().unwrap();
    assert!(id.starts_with("sess_") && !session["qr_data"].as_str().unwrap().contains(&id[5..]));
}

#[tokio::test]
async fn every_field_of_a_creation_has_its_rule() {
    let server = server().await;
    let integrator = server.integrator().await;
    integrator.register("example.com", "https://hooks.example.net/login").await;
    let long = "x".repeat(4097);
    let table = [
        (json!({}), "domain"),
        (json!({ "domain": 7 }), "domain"),
        (json!({ "domain": "exa mple.com" }), "domain"),
        (json!({ "domain": "example.com", "mode": "signin" }), "mode"),
        (json!({ "domain": "example.com", "mode": null }), "mode"),
        (json!({ "domain": "example.com", "webhook_url": "https://other.example/x" }), "webhook_url"),
        (json!({ "domain": "example.com", "webhook_url": "http://example.com/x" }), "webhook_url"),
        (json!({ "domain": "example.com", "webhook_url": "https://example.com.evil.example/" }), "webhook_url"),
        (json!({ "domain": "example.com", "webhook_url": "https://u@example.com/" }), "webhook_url"),
        (json!({ "domain": "example.com", "webhook_url": "x" }), "webhook_url"),
        (json!({ "domain": "example.com", "metadata": [] }), "metadata"),
        (json!({ "domain": "example.com", "metadata": { "return_url": "//evil.example" } }), "metadata.return_url"),
        (json!({ "domain": "example.com", "metadata": { "custom_data": long } }), "metadata.custom_data"),
        (json!({ "domain": "example.com", "webhok_url": "https://example.com" }), "webhok_url"),
    ];
    for (body, field) in table {
        let details = integrator.post("/sessions", body.clone()).await.expect_error(400, "invalid_request");
        assert_eq!(details["field"], field, "{body}");
        assert!(details["reason"].as_str().unwrap().len() > 5);
    }
    let details = integrator.post("/sessions", json!({ "domain": "other.example" })).await;
    assert_eq!(details.expect_error(422, "domain_not_registered")["domain"], "other.example");
}

#[tokio::test]
async fn what_is_allowed_is_taken_as_it_is() {
    let server = server().await;
    let integrator = server.integrator().await;
    integrator.register("example.com", "https://hooks.example.net/login").await;
    for (mode, expected) in [("login", "login"), ("register", "register"), ("registration", "register")] {
        let session = integrator.post("/sessions", json!({ "domain": "example.com", "mode": mode })).await.expect(201);
        assert!(session["challenge"].as_str().unwrap().starts_with(&format!("svc:{expected}:")));
    }
    for url in ["https://example.com/x", "https://a.b.example.com:8443/x", "https://hooks.example.net:1/other"] {
        let body = json!({ "domain": "EXAMPLE.com.", "webhook_url": url });
        let session = integrator.post("/sessions", body).await.expect(201);
        assert_eq!(QrData::parse(session["qr_data"].as_str().unwrap()).unwrap().webhook().as_str(), url);
    }
    let metadata = json!({ "return_url": "/a?b=c", "custom_data": "\u{1f511} kept", "more": [1, { "x": null }] });
    let body = json!({ "domain": "example.com", "metadata": metadata });
    let session = integrator.post("/sessions", body).await.expect(201);
    let shown = integrator.get(&format!("/sessions/{}", session["id"].as_str().unwrap())).await.expect(200);
    assert_eq!((&session["metadata"], &shown["metadata"]), (&metadata, &metadata));
    let long = format!("https://example.com/{}", "x".repeat(480));
    let reply = integrator.post("/sessions", json!({ "domain": "example.com", "webhook_url": long })).await;
    assert_eq!(reply.expect_error(400, "invalid_request")["field"], "webhook_url");
}

#[tokio::test]
async fn a_session_is_pending_then_expired() {
    let server = server_with(&[("session_ttl", "10s")]).await;
    let integrator = server.integrator().await;
    let session = integrator.session().await;
    let path = format!("/sessions/{}", session["id"].as_str().unwrap());
    let shown = integrator.get(&path).await.expect(200);
    assert_eq!(members(&shown), ["expires_at", "id", "status"]);
    server.pass(9);
    assert_eq!(integrator.get(&path).await.expect(200)["status"], "pending");
    server.pass(1);
    let details = integrator.get(&path).await.expect_error(410, "session_expired");
    assert_eq!(details["status"], "expired");
    for id in ["sess_x", "x", "sess_000000000000000000000000000000000000", "%00", "..%2F"] {
        integrator.get(&format!("/sessions/{id}")).await.expect_error(404, "session_not_found");
    }
}

#[tokio::test]
async fn an_authenticated_session_shows_its_user_for_a_day() {
    let server = server().await;
    let integrator = server.integrator().await;
    let session = integrator.session().await;
    let path = format!("/sessions/{}", session["id"].as_str().unwrap());
    let answer = Phone::new(1).answer(&session, server.now());
    let answered = integrator.post(&format!("{path}/authenticate"), answer.clone()).await.expect(200);
    assert_eq!(members(&answered), ["authenticated_at", "id", "status", "user"]);
    assert_eq!(members(&answered["user"]), ["device_info", "public_key"]);
    assert_eq!(answered["user"]["public_key"], answer["public_key"]);
    assert_eq!(answered["user"]["device_info"], json!({}));
    server.pass(300);
    assert_eq!(integrator.get(&path).await.expect(200), answered);
    server.pass(24 * 3600 - 301);
    assert_eq!(integrator.get(&path).await.expect(200), answered);
    server.pass(1);
    integrator.get(&path).await.expect_error(404, "session_not_found");
}

#[tokio::test]
async fn a_refresh_replaces_the_challenge() {
    let server = server().await;
    let integrator = server.integrator().await;
    let session = integrator.session().await;
    let path = format!("/sessions/{}", session["id"].as_str().unwrap());
    let stale = Phone::new(1).answer(&session, server.now());
    server.pass(20);
    let refreshed = integrator.send_bare(Method::POST, &format!("{path}/refresh"), "").await.expect(200);
    assert_eq!(members(&refreshed), ["challenge", "expires_at", "id", "qr_data"]);
    assert_eq!(refreshed["id"], session["id"]);
    assert_ne!(refreshed["challenge"], session["challenge"]);
    assert_eq!(refreshed["expires_at"], "2027-01-15T08:05:20Z");
    let answer = format!("{path}/authenticate");
    integrator.post(&answer, stale).await.expect_error(404, "challenge_not_found");
    server.pass(300 + 15 * 60 - 1);
    let late = integrator.send_bare(Method::POST, &format!("{path}/refresh"), "{}").await.expect(200);
    integrator.post(&answer, Phone::new(1).answer(&late, server.now())).await.expect(200);
    let refused = integrator.send_bare(Method::POST, &format!("{path}/refresh"), "").await;
    refused.expect_error(409, "session_already_authenticated");
}

#[tokio::test]
async fn a_session_that_expired_long_ago_is_not_refreshed() {
    let server = server().await;
    let integrator = server.integrator().await;
    let session = integrator.session().await;
    let path = format!("/sessions/{}/refresh", session["id"].as_str().unwrap());
    server.pass(300 + 15 * 60);
    integrator.send_bare(Method::POST, &path, "").await.expect_error(410, "session_expired");
    integrator.post(&path, json!({ "x": 1 })).await.expect_error(400, "invalid_request");
    let unknown = "/sessions/sess_000000000000000000000000000000000000/refresh";
    integrator.send_bare(Method::POST, unknown, "").await.expect_error(404, "session_not_found");
}

#[tokio::test]
async fn anothers_session_does_not_exist() {
    let server = server().await;
    let integrator = server.integrator().await;
    let session = integrator.session().await;
    let path = format!("/sessions/{}", session["id"].as_str().unwrap());
    let stranger = server.integrator_of("stranger", integrator.account.environment).await;
    stranger.get(&path).await.expect_error(404, "session_not_found");
    stranger.send_bare(Method::POST, &format!("{path}/refresh"), "").await.expect_error(404, "session_not_found");
    let answer = Phone::new(1).answer(&session, server.now());
    stranger.post(&format!("{path}/authenticate"), answer).await.expect_error(404, "session_not_found");
}
