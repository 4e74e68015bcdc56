//! Tests how the events endpoint of the login router verifies and handles events.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderValue, Request};
use serde::Deserialize;
use serde_json::{Value, json};
use signpost_auth::WebhookSecret;
use signpost_auth::login::{LoginOptions, router};
use signpost_auth::receiver::{EventHeaders, EventRules, HandlerRefusal, read_event};
use tokio::sync::Notify;
use tower::ServiceExt;

use super::service::Service;
use super::{FixedRuntime, Shop, client};

#[derive(Deserialize)]
struct Vectors {
    verify: Vec<Verify>,
    endpoint: Vec<Endpoint>,
}

#[derive(Deserialize)]
struct Verify {
    name: String,
    secrets: Vec<String>,
    now: i64,
    headers: BTreeMap<String, String>,
    body: Option<String>,
    event: Option<Value>,
    error: Option<Refused>,
}

#[derive(Deserialize)]
struct Refused {
    code: String,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Endpoint {
    name: String,
    secrets: Vec<String>,
    now: u64,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    headers: BTreeMap<String, String>,
    body: String,
    status: u16,
    acts: usize,
    says: Option<String>,
    #[serde(default)]
    fails: bool,
}

/// Returns the headers with names in lower case, as web servers provide them.
fn with_lower_case_names(headers: &BTreeMap<String, String>) -> BTreeMap<String, &str> {
    headers.iter().map(|(name, value)| (name.to_lowercase(), value.as_str())).collect()
}

#[test]
fn only_recent_signed_events_are_accepted() {
    let mut seen = 0;
    for case in crate::read::<Vectors>("events").verify {
        // Skipped: a body that a framework has parsed is not bytes, so it cannot be passed to this
        // function.
        let Some(body) = &case.body else { continue };
        seen += 1;
        let secrets: Result<Vec<_>, _> = case.secrets.iter().map(|secret| WebhookSecret::parse(secret)).collect();
        let is_refused = case.error.as_ref().is_some_and(|error| error.code == "invalid_secret");
        let headers = with_lower_case_names(&case.headers);
        let header = |name: &str| headers.get(name).copied();
        let headers = EventHeaders {
            x_svc_signature: header("x-svc-signature"),
            x_svc_signature_next: header("x-svc-signature-next"),
            webhook_id: header("webhook-id"),
            webhook_timestamp: header("webhook-timestamp"),
            webhook_signature: header("webhook-signature"),
        };
        let Ok(secrets) = secrets else {
            assert!(is_refused, "{}", case.name);
            continue;
        };
        let outcome =
            read_event(&headers, body.as_bytes(), &EventRules { secrets, allowed_sources: Vec::new() }, case.now);
        match (outcome, case.event, case.error) {
            (Ok(event), Some(expected), None) => check(&case.name, &json!(event), &expected),
            (Err(refusal), None, Some(_)) if is_refused => assert_eq!(refusal.status(), 401, "{}", case.name),
            (Err(refusal), None, Some(error)) => {
                let (code, reason) = error_code(&refusal);
                assert_eq!((code, reason), (&*error.code, error.reason.as_deref()), "{}: {refusal}", case.name);
            }
            (outcome, ..) => panic!("{}: {outcome:?}", case.name),
        }
    }
    assert!(seen > 50, "the cases are missing");
}

/// Checks that the event has the expected values. Members of later versions are omitted.
fn check(name: &str, event: &Value, expected: &Value) {
    for (member, value) in event.as_object().unwrap() {
        match (value, &expected[member]) {
            (Value::Object(value), expected) => {
                let known = |(member, value): (&String, &Value)| {
                    expected.get(member) == Some(value)
                        || *value == json!({})
                        || value.is_object()
                            && value.as_object().unwrap().iter().all(|(inner, value)| expected[member][inner] == *value)
                };
                assert!(value.iter().all(known), "{name}: {event}, expected {expected}");
            }
            (value, expected) => assert_eq!(value, expected, "{name}: {member}"),
        }
    }
}

/// Returns the error code that the other SDKs use for a refusal.
fn error_code(refusal: &HandlerRefusal) -> (&'static str, Option<&'static str>) {
    match refusal {
        HandlerRefusal::NotAuthentic(why) if why.contains("has no") => ("invalid_signature", Some("missing")),
        HandlerRefusal::NotAuthentic(why) if why.contains("webhook-timestamp is") => {
            ("invalid_signature", Some("timestamp"))
        }
        HandlerRefusal::NotAuthentic(_) => ("invalid_signature", Some("mismatch")),
        HandlerRefusal::InvalidEvent => ("invalid_event", None),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn event_runs_once_and_again_after_a_failure() {
    let service = Service::start().await;
    for case in crate::read::<Vectors>("events").endpoint {
        let secrets = case.secrets.iter().map(|secret| WebhookSecret::parse(secret).unwrap());
        let options =
            LoginOptions::new("shop.example", "https://shop.example", "a".repeat(32)).unwrap().without_startup_check();
        let (shop, runtime) = (Shop::default(), FixedRuntime { now: case.now, random: [0; 32] });
        let app = router(client(&service, runtime), options.with_webhook_secrets(secrets), shop.clone());
        for (at, step) in case.steps.iter().enumerate() {
            let before = {
                let mut recorded = shop.recorded.lock().unwrap();
                recorded.fails = step.fails;
                recorded.events
            };
            let mut request = Request::post("/signpost/events");
            for (name, value) in &step.headers {
                request = request.header(name, value);
            }
            let response = app.clone().oneshot(request.body(Body::from(step.body.clone())).unwrap()).await.unwrap();
            let status = response.status().as_u16();
            let body = to_bytes(response.into_body(), 1 << 16).await.unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let acts = shop.recorded.lock().unwrap().events - before;
            assert_eq!(
                (status, acts, body["status"].as_str()),
                (step.status, step.acts, step.says.as_deref()),
                "{}, {at}: {body}",
                case.name
            );
            assert!(step.says.is_some() || body["error"].is_string(), "{}, {at}: {body}", case.name);
        }
    }
}

#[tokio::test]
async fn concurrent_event_is_retried_later() {
    let case = crate::read::<Vectors>("events").endpoint.into_iter().find(|case| case.name == "an event acts once");
    let (case, service) = (case.unwrap(), Service::start().await);
    let secrets = case.secrets.iter().map(|secret| WebhookSecret::parse(secret).unwrap());
    let options =
        LoginOptions::new("shop.example", "https://shop.example", "a".repeat(32)).unwrap().without_startup_check();
    let (shop, runtime) = (Shop::default(), FixedRuntime { now: case.now, random: [0; 32] });
    let app = router(client(&service, runtime), options.with_webhook_secrets(secrets), shop.clone());
    let post = || {
        let request = Request::post("/signpost/events");
        let request = case.steps[0].headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let sent = app.clone().oneshot(request.body(Body::from(case.steps[0].body.clone())).unwrap());
        async { sent.await.unwrap() }
    };
    let gate = Arc::new(Notify::new());
    shop.recorded.lock().unwrap().gate = Some(Arc::clone(&gate));
    shop.recorded.lock().unwrap().fails = true;
    let first = tokio::spawn(post());
    while shop.recorded.lock().unwrap().events == 0 {
        tokio::task::yield_now().await;
    }
    let concurrent = post().await;
    assert_eq!(
        (concurrent.status().as_u16(), &concurrent.headers()["retry-after"]),
        (503, &HeaderValue::from_static("5"))
    );
    // The service closes the connection. The handler continues and then fails.
    first.abort();
    gate.notify_one();
    while post().await.status() == 503 {
        gate.notify_one();
        tokio::task::yield_now().await;
    }
    shop.recorded.lock().unwrap().fails = false;
    shop.recorded.lock().unwrap().gate = None;
    let before = shop.recorded.lock().unwrap().events;
    assert_eq!(post().await.status(), 200);
    assert_eq!(shop.recorded.lock().unwrap().events, before + 1);
    assert_eq!(post().await.status(), 200);
    assert_eq!(shop.recorded.lock().unwrap().events, before + 1);
}
