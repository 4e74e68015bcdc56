//! Tests the axum router of a receiver.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use serde_json::{Value, json};
use signpost_auth::receiver::{CodeBinding, EventRules, MAX_BODY_LEN, Paths, PollRules, Receiver, SiteOrigin, router};
use signpost_auth::{Challenge, Wallet, WebhookSecret};
use tower::ServiceExt;

use crate::receiver::AppState;

const NOW: i64 = 1_700_000_000;
const CHALLENGE: &str = "svc:login:example.com:1699999990:AAAAAAAAAAAAAAAAAAAAAA";

fn secret() -> WebhookSecret {
    WebhookSecret::from_bytes(&[1; 32])
}

fn wallet() -> Wallet {
    Wallet::from_bytes([1; 32]).unwrap()
}

fn origin() -> SiteOrigin {
    SiteOrigin::parse("https://example.com").unwrap()
}

fn app(paths: Paths) -> Router {
    let site: AppState = serde_json::from_value(json!({
        "sessions": [{ "challenge": CHALLENGE, "state": "pending" }],
        "users": [wallet().public_key().canonical()],
        "codes": [{ "sid": "sess_1", "state": "authenticated" }],
    }))
    .unwrap();
    let poll = PollRules { origin: origin(), bind_poll: true };
    let events = EventRules { secrets: vec![secret()], allowed_sources: Vec::new() };
    router(Arc::new(Receiver { site, paths, poll, events, clock: || NOW }))
}

fn answer() -> Vec<u8> {
    serde_json::to_vec(&wallet().answer(&Challenge::parse(CHALLENGE).unwrap(), NOW, None)).unwrap()
}

async fn send(request: Request<Body>) -> (StatusCode, HeaderMap, Value) {
    let (parts, body) = app(Paths::default()).oneshot(request).await.unwrap().into_parts();
    let body = to_bytes(body, MAX_BODY_LEN).await.unwrap();
    (parts.status, parts.headers, serde_json::from_slice(&body).unwrap())
}

fn post(path: &str, body: Vec<u8>) -> Request<Body> {
    Request::post(path).body(body.into()).unwrap()
}

#[tokio::test]
async fn login_and_registration_have_own_paths() {
    let (status, headers, body) = send(post("/webhooks/login", answer())).await;
    assert_eq!((status.as_u16(), &body["status"]), (200, &json!("authenticated")));
    assert!(headers["cache-control"] == "no-store" && headers["content-type"] == "application/json", "{headers:?}");
    // This answer is for a login, so the registration endpoint rejects it.
    let (status, _, body) = send(post("/webhooks/register", answer())).await;
    assert!(status == 404 && body["error"].is_string(), "{body}");
}

#[tokio::test]
async fn paths_are_configurable() {
    let paths = Paths { login: "/api/auth".to_owned(), ..Paths::default() };
    let response = app(paths.clone()).oneshot(post("/api/auth", answer())).await.unwrap();
    assert_eq!(response.status(), 200);
    let response = app(paths).oneshot(post("/webhooks/login", answer())).await.unwrap();
    assert_eq!(response.status(), 404);
}

#[tokio::test]
async fn oversized_body_has_the_receiver_error() {
    for path in ["/webhooks/login", "/webhooks/register", "/webhooks/events"] {
        let (status, _, body) = send(post(path, vec![b' '; MAX_BODY_LEN + 1])).await;
        assert!(status == 413 && body["error"].is_string(), "{path}: {body}");
        let (status, _, _) = send(post(path, vec![b' '; MAX_BODY_LEN])).await;
        assert_ne!(status, 413, "{path}");
    }
}

#[tokio::test]
async fn every_path_accepts_only_signed_events() {
    let data = json!({ "public_key": "02", "signature": "30", "challenge": CHALLENGE, "signed_at": NOW });
    let event = json!({ "event": "login", "timestamp": "t", "session_id": "sess_1", "data": data });
    let event = event.to_string().into_bytes();
    for path in ["/webhooks/events", "/webhooks/login", "/webhooks/register"] {
        for (signature, expected) in [(secret().x_svc_signature(&event), 200), ("00".repeat(32), 401)] {
            let request = Request::post(path).header("X-Svc-Signature", signature).body(event.clone().into()).unwrap();
            assert_eq!(send(request).await.0, expected, "{path}");
        }
    }
    assert_eq!(send(post("/webhooks/events", event.clone())).await.0, 401);
    assert_eq!(send(post("/webhooks/login", event)).await.0, 401);
}

#[tokio::test]
async fn busy_host_sends_retry_after() {
    let site: AppState = serde_json::from_value(json!({ "busy": 7 })).unwrap();
    let poll = PollRules { origin: origin(), bind_poll: true };
    let events = EventRules { secrets: Vec::new(), allowed_sources: Vec::new() };
    let app = router(Arc::new(Receiver { site, paths: Paths::default(), poll, events, clock: || NOW }));
    let response = app.oneshot(post("/webhooks/login", answer())).await.unwrap();
    assert_eq!((response.status().as_u16(), &response.headers()["retry-after"]), (429, &"7".parse().unwrap()));
}

#[tokio::test]
async fn non_text_header_is_not_absent() {
    let signature = secret().x_svc_signature(b"{}");
    let request = Request::post("/webhooks/events")
        .header("X-Svc-Signature", signature)
        .header("webhook-timestamp", &b"\xff"[..])
        .body("{}".into())
        .unwrap();
    assert_eq!(send(request).await.0, 401);
}

#[tokio::test]
async fn browser_with_the_code_is_logged_in() {
    let cookie = CodeBinding::from_bytes([1; 32]).set_cookie("sess_1", &origin(), 900);
    let cookie = cookie.split(';').next().unwrap();
    let poll = |target: &str| Request::get(format!("/poll{target}"));
    let request = poll("?sid=sess_1").header("cookie", "theme=dark").header("cookie", cookie);
    let (status, headers, body) = send(request.body(Body::empty()).unwrap()).await;
    assert_eq!((status.as_u16(), body), (200, json!({ "status": "authenticated", "redirect": "/" })));
    assert!(headers["set-cookie"] == "session=new" && headers["cache-control"] == "no-store", "{headers:?}");

    let (status, headers, body) = send(poll("?sid=sess_1").body(Body::empty()).unwrap()).await;
    assert_eq!((status.as_u16(), body), (200, json!({ "status": "pending" })));
    assert!(!headers.contains_key("set-cookie"));
    for target in ["", "?sid", "?sid=", "?id=sess_1", "?sid=sess_1&sid=sess_1"] {
        assert_eq!(send(poll(target).body(Body::empty()).unwrap()).await.0, 400, "{target}");
    }
}
