//! Specification, §6, and docs/handlers.md, Events: contents, signatures and destination of events.

use data_encoding::{BASE64, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use signpost_auth::WebhookSecret;
use signpost_login::domains;
use signpost_login::ids::DomainId;
use signpost_platform::accounts::audit::Actor;

use crate::harness::{Endpoint, Integrator, Received, Service, is_written, members, text, time};

/// Computes HMAC-SHA-256 independently of the service's signing library.
fn hmac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

/// Returns the expected `X-Svc-Signature`.
fn svc_signature(secret: &str, body: &[u8]) -> String {
    HEXLOWER.encode(&hmac(secret.as_bytes(), &[body]))
}

/// Returns the expected entry of `webhook-signature`.
fn standard_signature(secret: &str, received: &Received) -> String {
    let key = BASE64.decode(secret.strip_prefix("whsec_").expect("its prefix").as_bytes()).expect("base64");
    let (id, sent_at) = (received.header("webhook-id"), received.header("webhook-timestamp"));
    let signed = format!("{id}.{sent_at}.");
    format!("v1,{}", BASE64.encode(&hmac(&key, &[signed.as_bytes(), &received.body])))
}

async fn log_in(service: &Service, integrator: &Integrator) -> (Value, Value) {
    let session = integrator.create_session("shop.test").await;
    let answer = service.phone().answer(&session);
    integrator.authenticate(&session, &answer).await.with(200);
    (session, answer)
}

#[tokio::test]
async fn an_event_matches_the_specification() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let mut endpoint = Endpoint::start().await;
    integrator.register_domain_at("shop.test", &endpoint.url("/hook?from=signpost")).await;
    let (session, answer) = log_in(&service, &integrator).await;
    let received = endpoint.next_request().await;
    assert_eq!(received.path, "/hook?from=signpost");
    assert_eq!(received.header("content-type"), "application/json");
    let event = received.json();
    assert_eq!(members(&event), ["id", "event", "timestamp", "session_id", "data"].into());
    assert!(text(&event, "id").starts_with("evt_"));
    assert_eq!((&event["event"], &event["session_id"]), (&json!("login"), &session["id"]));
    let seen = integrator.get_session(&session).await.with(200);
    assert_eq!(time(&event, "timestamp"), time(&seen, "authenticated_at"));
    let data = json!({
        "public_key": answer["public_key"],
        "signature": answer["signature"],
        "challenge": session["challenge"],
        "signed_message": answer["challenge"],
        "signed_at": answer["timestamp"],
        "device_info": { "platform": "ios", "version": "17.5" },
    });
    assert_eq!(event["data"], data);
    service.wait_for_attempts(1).await;
    assert!(endpoint.try_next_request().is_none());
}

#[tokio::test]
async fn an_event_repeats_the_answer_of_the_wallet() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let mut endpoint = Endpoint::start().await;
    integrator.register_domain_at("shop.test", &endpoint.url("/")).await;
    let phone = service.phone();
    for (device, shown) in [
        (json!(null), json!({})),
        (json!({}), json!({})),
        (json!({ "device_id": "D-1", "other": 1 }), json!({ "device_id": "D-1" })),
        (
            json!({ "platform": "p", "version": "v", "device_id": "d" }),
            json!({ "platform": "p", "version": "v", "device_id": "d" }),
        ),
    ] {
        let session = integrator.create_session("shop.test").await;
        let mut answer = phone.sign_text(text(&session, "challenge"));
        answer["device_info"] = device;
        answer["public_key"] = json!(phone.public_key().to_uppercase());
        answer["signature"] = json!(text(&answer, "signature").to_uppercase());
        answer["timestamp"] = json!(service.clock.now().as_second() - 17);
        integrator.authenticate(&session, &answer).await.with(200);
        let data = &endpoint.next_request().await.json()["data"];
        for (member, expected) in [
            ("public_key", &answer["public_key"]),
            ("signature", &answer["signature"]),
            ("challenge", &session["challenge"]),
            ("signed_message", &session["challenge"]),
            ("signed_at", &answer["timestamp"]),
            ("device_info", &shown),
        ] {
            assert_eq!(data[member], *expected, "{member}");
        }
    }
}

#[tokio::test]
async fn an_event_has_both_signatures() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let mut endpoint = Endpoint::start().await;
    let domain = integrator.register_domain_at("shop.test", &endpoint.url("/")).await;
    log_in(&service, &integrator).await;
    let received = endpoint.next_request().await;
    let secret = text(&domain, "webhook_secret");
    assert_eq!(received.header("x-svc-signature"), svc_signature(secret, &received.body));
    assert_eq!(received.headers.get("x-svc-signature-next"), None);
    assert_eq!(received.header("webhook-id"), text(&received.json(), "id"));
    assert_eq!(received.header("webhook-timestamp"), service.clock.now().as_second().to_string());
    assert_eq!(received.header("webhook-signature"), standard_signature(secret, &received));
    let other = WebhookSecret::parse(secret).expect("a secret");
    assert!(other.verify_x_svc_signature(received.header("x-svc-signature"), &received.body));
}

#[tokio::test]
async fn both_secrets_sign_during_a_rotation() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let mut endpoint = Endpoint::start().await;
    let domain = integrator.register_domain_at("shop.test", &endpoint.url("/")).await;
    let id = DomainId::parse(text(&domain, "id")).expect("an id");
    let (old, next) = (text(&domain, "webhook_secret"), WebhookSecret::from_bytes(&[7; 32]));
    let (store, now) = (&service.app.store, service.clock.now());
    let activate = || domains::sql::activate_secret(store, &id, &Actor::Operator, now);
    assert!(!is_written(activate().await), "there is nothing to activate");
    domains::sql::rotate_secret(store, &service.app.login.seal, &id, &next, &Actor::Operator, now)
        .await
        .expect("a domain");
    log_in(&service, &integrator).await;
    let received = endpoint.next_request().await;
    assert_eq!(received.header("x-svc-signature"), svc_signature(old, &received.body));
    assert_eq!(received.header("x-svc-signature-next"), svc_signature(next.reveal(), &received.body));
    let both = [old, next.reveal()].map(|secret| standard_signature(secret, &received)).join(" ");
    assert_eq!(received.header("webhook-signature"), both);
    assert!(is_written(activate().await));
    assert!(!is_written(activate().await), "it is activated already");
    log_in(&service, &integrator).await;
    let received = endpoint.next_request().await;
    assert_eq!(received.header("x-svc-signature"), svc_signature(next.reveal(), &received.body));
    assert_eq!(received.headers.get("x-svc-signature-next"), None);
    assert_eq!(received.header("webhook-signature"), standard_signature(next.reveal(), &received));
}

#[tokio::test]
async fn the_event_url_precedes_webhook_urls() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let mut endpoint = Endpoint::start().await;
    let domain = integrator.register_domain_at("shop.test", &endpoint.url("/domain")).await;
    let path = format!("/domains/{}", text(&domain, "id"));
    let own = endpoint.url("/session");
    for (event_url, webhook_url, expected) in [
        (None, None, "/domain"),
        (None, Some(&own), "/session"),
        (Some("/event"), None, "/event"),
        (Some("/event"), Some(&own), "/event"),
    ] {
        let event_url = event_url.map(|path| endpoint.url(path));
        integrator.patch(&path, &json!({ "event_url": event_url })).await.with(200);
        let mut body = json!({ "domain": "shop.test" });
        if let Some(url) = webhook_url {
            body["webhook_url"] = json!(url);
        }
        let session = integrator.post("/sessions", &body).await.with(201);
        integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
        let received = endpoint.next_request().await;
        assert_eq!((received.path.as_str(), &received.json()["session_id"]), (expected, &session["id"]));
    }
}

#[tokio::test]
async fn only_accepted_answers_create_events() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let mut answer = service.phone().answer(&session);
    answer["public_key"] = json!("02");
    integrator.authenticate(&session, &answer).await.assert_error(406, "invalid_signature");
    integrator.refresh(&session).await.with(200);
    integrator.get_session(&session).await.with(200);
    assert!(service.outbox().await.is_empty());
}
