//! Specification, §8, and docs/api.md, Conventions: rate limits with exact sliding windows.

use crate::harness::{Integrator, Reply, Service, send, text};
use jiff::SignedDuration;
use reqwest::Method;
use serde_json::json;
use signpost::config::{Config, RawSettings};
use signpost_platform::accounts::Environment;

/// Every limit: its setting, its default (requests per minute), and a request that counts against it.
const LIMITS: [(&str, u32, Method, &str); 7] = [
    ("create_session", 100, Method::POST, "/sessions"),
    ("create_session", 100, Method::POST, "/sessions/sess_x/refresh"),
    ("get_session", 300, Method::GET, "/sessions/sess_x"),
    ("verify", 200, Method::POST, "/verify"),
    ("domains", 60, Method::GET, "/domains"),
    ("domains", 60, Method::PATCH, "/domains/dom_x"),
    ("domains", 60, Method::POST, "/domains/dom_x/verify"),
];

async fn ask(integrator: &Integrator, method: &Method, path: &str) -> Reply {
    send(integrator.request(method.clone(), path).header("content-type", "application/json").body("{}")).await
}

/// Sends requests until the first rejection. Returns the number of accepted requests, and the rejection.
async fn count_accepted(integrator: &Integrator, method: &Method, path: &str) -> (u32, Reply) {
    for count in 0..1000 {
        let reply = ask(integrator, method, path).await;
        if reply.status == 429 {
            return (count, reply);
        }
    }
    panic!("{method} {path} is not limited");
}

#[tokio::test]
async fn defaults_match_the_specification() {
    let rates = Config::new(&RawSettings::default()).expect("the defaults").rates;
    let shown = [rates.create_session, rates.get_session, rates.verify, rates.domains, rates.answer];
    let shown = shown.map(|rate| rate.expect("a limit").to_string());
    assert_eq!(shown, ["100/m", "300/m", "200/m", "60/m", "600/m"]);
}

#[tokio::test]
async fn limits_are_exact_sliding_windows() {
    for (name, count, method, path) in &LIMITS {
        let service = Service::with(&[(&format!("rate_limit_{name}"), &format!("{count}/m"))]).await;
        let integrator = service.integrator().await;
        for _ in 0..count / 2 {
            assert_ne!(ask(&integrator, method, path).await.status, 429);
        }
        service.advance_clock(SignedDuration::from_secs(30));
        let (passed, refusal) = count_accepted(&integrator, method, path).await;
        assert_eq!(passed, count - count / 2, "{method} {path}");
        check_refusal(&refusal, name, *count, 30);
        // Rejected requests do not count: when the first half is a minute old, this many requests are accepted again.
        service.advance_clock(SignedDuration::from_millis(29_999));
        check_refusal(&ask(&integrator, method, path).await, name, *count, 1);
        service.advance_clock(SignedDuration::from_millis(1));
        assert_eq!(count_accepted(&integrator, method, path).await.0, count / 2, "{method} {path}");
        service.advance_clock(SignedDuration::from_secs(30));
        assert_eq!(count_accepted(&integrator, method, path).await.0, count - count / 2, "{method} {path}");
    }
}

#[tokio::test]
async fn windows_ignore_clock_changes() {
    let service = Service::with(&[("rate_limit_domains", "2/m")]).await;
    let integrator = service.integrator().await;
    let began = service.clock.now();
    assert_eq!(count_accepted(&integrator, &Method::GET, "/domains").await.0, 2);
    for hours in [-48, -1, 1, 48] {
        service.clock.set(began + SignedDuration::from_hours(hours));
        let refused = integrator.get("/domains").await;
        refused.assert_error(429, "rate_limited");
        assert_eq!(refused.header("retry-after"), Some("60"), "{hours} h off");
    }
    service.clock.set(began - SignedDuration::from_hours(1));
    service.advance_clock(SignedDuration::from_secs(60));
    assert_eq!(count_accepted(&integrator, &Method::GET, "/domains").await.0, 2);
}

#[track_caller]
fn check_refusal(reply: &Reply, name: &str, count: u32, retry_after: u32) {
    let details = reply.assert_error(429, "rate_limited");
    assert_eq!(reply.header("retry-after"), Some(retry_after.to_string().as_str()));
    assert_eq!(reply.header("ratelimit-policy"), Some(format!("\"{name}\";q={count};w=60").as_str()));
    assert_eq!(reply.header("ratelimit"), Some(format!("\"{name}\";r=0;t={retry_after}").as_str()));
    assert_eq!((&details["limit"], &details["retry_after"]), (&json!(name), &json!(retry_after)));
}

#[tokio::test]
async fn a_refresh_counts_as_a_creation() {
    let service = Service::with(&[("rate_limit_create_session", "4/m")]).await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    integrator.refresh(&session).await.with(200);
    integrator.create_session("shop.test").await;
    integrator.refresh(&session).await.with(200);
    integrator.refresh(&session).await.assert_error(429, "rate_limited");
    integrator.post("/sessions", &json!({ "domain": "shop.test" })).await.assert_error(429, "rate_limited");
    integrator.get_session(&session).await.with(200);
    integrator.authenticate(&session, &json!({})).await.assert_invalid_field("public_key");
}

#[tokio::test]
async fn limits_are_per_account_and_environment() {
    let service = Service::with(&[("rate_limit_domains", "3/m")]).await;
    let integrator = service.integrator().await;
    let colleague = service.integrator().await;
    let other = service.integrator_of("other", Environment::Sandbox).await;
    let live = service.integrator_of("acme", Environment::Live).await;
    assert_eq!(count_accepted(&integrator, &Method::GET, "/domains").await.0, 3);
    assert_eq!(count_accepted(&colleague, &Method::GET, "/domains").await.0, 0);
    assert_eq!(count_accepted(&other, &Method::GET, "/domains").await.0, 3);
    assert_eq!(count_accepted(&live, &Method::GET, "/domains").await.0, 3);
}

#[tokio::test]
async fn invalid_keys_count_for_the_client_ip() {
    let service = Service::with(&[("rate_limit_domains", "4/m"), ("rate_limit_verify", "2/m")]).await;
    let integrator = service.integrator().await;
    let unknown = integrator.with_key(None);
    let wrong = integrator.with_key(Some("svc_test_x"));
    for caller in [&unknown, &wrong, &unknown, &wrong] {
        caller.get("/domains").await.assert_error(401, "invalid_api_key");
    }
    unknown.get("/domains").await.assert_error(429, "rate_limited");
    wrong.get("/domains").await.assert_error(429, "rate_limited");
    // Requests with a valid key are not limited by attempts to guess a key.
    integrator.get("/domains").await.with(200);
    unknown.post("/verify", &json!({})).await.assert_error(401, "invalid_api_key");
    service.advance_clock(SignedDuration::from_secs(60));
    unknown.get("/domains").await.assert_error(401, "invalid_api_key");
}

#[tokio::test]
async fn trusted_proxies_forward_the_client_ip() {
    let settings = [("rate_limit_domains", "2/m"), ("trusted_proxies", "127.0.0.0/8,10.0.0.0/8")];
    let trusting = Service::with(&settings).await;
    let doubting = Service::with(&settings[..1]).await;
    for (service, expected) in [(&trusting, [401, 401, 429, 401, 429]), (&doubting, [401, 401, 429, 429, 429])] {
        let unknown = service.visitor();
        let mut found = Vec::new();
        for client in
            ["203.0.113.1", "198.51.100.9, 203.0.113.1", "203.0.113.1, 10.1.1.1", "203.0.113.2", "203.0.113.1"]
        {
            let request = unknown.request(Method::GET, "/v1/domains").header("x-forwarded-for", client);
            found.push(send(request).await.status);
        }
        assert_eq!(found, expected);
    }
}

#[tokio::test]
async fn answers_are_limited_per_account() {
    let settings =
        [("rate_limit_answer", "600/m"), ("trusted_proxies", "127.0.0.1"), ("allow_private_webhooks", "true")];
    let service = Service::with(&settings).await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let path = format!("/sessions/{}/authenticate", text(&session, "id"));
    for number in 0..601 {
        let client = format!("203.0.113.{}", number / 10);
        let request = integrator.request(Method::POST, &path).header("content-type", "application/json").body("{}");
        let reply = send(request.header("x-forwarded-for", client)).await;
        assert_eq!(reply.status, if number < 600 { 400 } else { 429 }, "{number}: {}", reply.text);
    }
}

#[tokio::test]
async fn public_documents_are_not_limited() {
    let service = Service::with(&[("rate_limit_domains", "1/m"), ("rate_limit_mcp", "1/s")]).await;
    let visitor = service.visitor();
    for _ in 0..50 {
        assert_eq!(visitor.get("/health").await.status, 200);
        assert_eq!(visitor.get("/v1/nothing").await.status, 404);
    }
}
