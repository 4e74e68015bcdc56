//! `POST /sessions/{id}/authenticate`: the order of checks and the codes (contract, §3.2).

use k256::ecdsa::signature::Signer;
use k256::ecdsa::{Signature, SigningKey};
use serde_json::{Value, json};
use signpost_auth::Challenge;

use crate::harness::{Integrator, Phone, Reply, TestServer, server};

async fn answer(integrator: &Integrator, session: &Value, body: Value) -> Reply {
    integrator.post(&format!("/sessions/{}/authenticate", session["id"].as_str().unwrap()), body).await
}

fn with(mut answer: Value, field: &str, value: Value) -> Value {
    answer[field] = value;
    answer
}

async fn opened() -> (TestServer, Integrator, Value) {
    let server = server().await;
    let integrator = server.integrator().await;
    let session = integrator.session().await;
    (server, integrator, session)
}

#[tokio::test]
async fn both_renderings_of_the_challenge_are_accepted() {
    let (server, integrator, session) = opened().await;
    answer(&integrator, &session, Phone::new(1).answer(&session, server.now())).await.expect(200);
    let other = integrator.post("/sessions", json!({ "domain": "example.com", "mode": "register" })).await.expect(201);
    let text = other["challenge"].as_str().unwrap().to_owned();
    let signed = serde_json::to_value(Phone::new(1).0.answer_text(text, server.now(), None)).unwrap();
    answer(&integrator, &other, signed).await.expect(200);
}

#[tokio::test]
async fn every_wrong_answer_has_its_code_and_changes_nothing() {
    let (server, integrator, session) = opened().await;
    let elsewhere = integrator.post("/sessions", json!({ "domain": "example.com" })).await.expect(201);
    let phone = Phone::new(1);
    let (now, right) = (server.now(), phone.answer(&session, server.now()));
    let malformed_key = with(right.clone(), "public_key", json!("02abcd"));
    let malformed_signature = with(right.clone(), "signature", json!("3045"));
    let changed = right["challenge"].as_str().unwrap().replace("login to", "login  to");
    let table = [
        (with(right.clone(), "timestamp", json!(now - 31)), 408, "timestamp_out_of_range"),
        (with(right.clone(), "timestamp", json!(now + 31)), 408, "timestamp_out_of_range"),
        (phone.answer(&elsewhere, now), 404, "challenge_not_found"),
        (with(right.clone(), "challenge", json!(changed)), 404, "challenge_not_found"),
        (with(right.clone(), "challenge", json!("")), 404, "challenge_not_found"),
        (
            with(right.clone(), "public_key", Phone::new(2).answer(&session, now)["public_key"].clone()),
            406,
            "invalid_signature",
        ),
        (malformed_key.clone(), 406, "invalid_signature"),
        (malformed_signature.clone(), 406, "invalid_signature"),
        // What is checked first is said first.
        (with(malformed_key, "timestamp", json!(now - 60)), 408, "timestamp_out_of_range"),
        (with(malformed_signature, "challenge", json!("x")), 404, "challenge_not_found"),
    ];
    for (body, status, code) in table {
        answer(&integrator, &session, body).await.expect_error(status, code);
    }
    for timestamp in [now - 30, now + 30] {
        let fresh = integrator.post("/sessions", json!({ "domain": "example.com" })).await.expect(201);
        answer(&integrator, &fresh, phone.answer(&fresh, timestamp)).await.expect(200);
    }
    answer(&integrator, &session, right).await.expect(200);
}

#[tokio::test]
async fn a_body_without_what_it_needs_is_refused_by_the_fields_name() {
    let (server, integrator, session) = opened().await;
    let right = Phone::new(1).answer(&session, server.now());
    for field in ["public_key", "signature", "challenge", "timestamp"] {
        let mut without = right.clone();
        without.as_object_mut().unwrap().remove(field);
        for body in [without, with(right.clone(), field, json!([])), with(right.clone(), field, Value::Null)] {
            let details = answer(&integrator, &session, body).await.expect_error(400, "invalid_request");
            assert_eq!(details["field"], field);
        }
    }
    let body = with(right.clone(), "device_info", json!("phone"));
    answer(&integrator, &session, body).await.expect_error(400, "invalid_request");
    let body = with(with(right, "device_info", json!({ "platform": "ios", "extra": 1 })), "unknown", json!({}));
    let shown = answer(&integrator, &session, body).await.expect(200);
    assert_eq!(shown["user"]["device_info"], json!({ "platform": "ios" }));
}

#[tokio::test]
async fn the_same_answer_again_and_answers_too_late_are_refused() {
    let (server, integrator, session) = opened().await;
    let late = integrator.post("/sessions", json!({ "domain": "example.com" })).await.expect(201);
    let right = Phone::new(1).answer(&session, server.now());
    answer(&integrator, &session, right.clone()).await.expect(200);
    answer(&integrator, &session, right).await.expect_error(409, "session_already_authenticated");
    server.pass(300);
    // That somebody was first is said before that it is too late.
    let again = Phone::new(1).answer(&session, server.now());
    answer(&integrator, &session, again).await.expect_error(409, "session_already_authenticated");
    let details = answer(&integrator, &late, Phone::new(1).answer(&late, server.now())).await;
    assert_eq!(details.expect_error(410, "session_expired")["status"], "expired");
}

#[tokio::test]
async fn a_key_keeps_the_spelling_of_its_wallet() {
    let (server, integrator, session) = opened().await;
    let right = Phone::new(1).answer(&session, server.now());
    let upper = right["public_key"].as_str().unwrap().to_uppercase();
    let shown = answer(&integrator, &session, with(right, "public_key", json!(upper))).await.expect(200);
    assert_eq!(shown["user"]["public_key"], upper);
}

#[tokio::test]
async fn a_signature_with_a_high_s_is_accepted() {
    let (server, integrator, session) = opened().await;
    let key = SigningKey::from_slice(&[9; 32]).unwrap();
    let text = Challenge::parse(session["challenge"].as_str().unwrap()).unwrap().sentence();
    let low: Signature = key.sign(text.as_bytes());
    let high = Signature::from_scalars(low.r().to_bytes(), (-*low.s()).to_bytes()).unwrap();
    let hex = |bytes: &[u8]| data_encoding::HEXLOWER.encode(bytes);
    let body = json!({
        "public_key": hex(&key.verifying_key().to_sec1_bytes()),
        "signature": hex(high.to_der().as_bytes()),
        "challenge": text,
        "timestamp": server.now(),
    });
    answer(&integrator, &session, body).await.expect(200);
}
