//! The limits of the authentication service (specification, §8; contract, §1 and §3).

use reqwest::Method;
use serde_json::json;
use signpost::account::Environment;

use crate::harness::{Reply, server_with};

const DEFAULTS: [(&str, &str); 4] = [
    ("rate_limit_create_session", "100/m"),
    ("rate_limit_get_session", "300/m"),
    ("rate_limit_verify", "200/m"),
    ("rate_limit_domains", "60/m"),
];

fn refused(reply: Reply, name: &str, wait: u64) {
    assert_eq!(reply.header("retry-after"), Some(wait.to_string().as_str()));
    assert!(reply.header("ratelimit-policy").unwrap().starts_with(&format!("\"{name}\";q=")), "{:?}", reply.headers);
    assert_eq!(reply.header("ratelimit"), Some(format!("\"{name}\";r=0;t={wait}").as_str()));
    assert_eq!(reply.expect_error(429, "rate_limited")["limit"], name);
}

#[tokio::test]
async fn the_hundred_and_first_creation_of_any_minute_is_refused() {
    let server = server_with(&DEFAULTS).await;
    let integrator = server.integrator().await;
    let session = integrator.session().await;
    let refresh = format!("/sessions/{}/refresh", session["id"].as_str().unwrap());
    let create = || integrator.post("/sessions", json!({ "domain": "example.com" }));
    for _ in 0..49 {
        create().await.expect(201);
    }
    server.pass(30);
    // A refresh counts as a creation, and so does one that is refused for its body.
    for _ in 0..49 {
        integrator.send_bare(Method::POST, &refresh, "").await.expect(200);
    }
    integrator.post("/sessions", json!({})).await.expect_error(400, "invalid_request");
    for _ in 0..3 {
        refused(create().await, "create_session", 30);
    }
    server.pass(30);
    for _ in 0..50 {
        create().await.expect(201);
    }
    refused(create().await, "create_session", 30);
}

#[tokio::test]
async fn the_other_limits_are_exact_too() {
    let server = server_with(&DEFAULTS).await;
    let integrator = server.integrator().await;
    for (path, body, count, name) in [
        ("/sessions/sess_x", None, 300, "get_session"),
        ("/verify", Some(json!({})), 200, "verify"),
        ("/domains", None, 60, "domains"),
    ] {
        for number in 0..=count {
            let reply = match &body {
                None => integrator.get(path).await,
                Some(body) => integrator.post(path, body.clone()).await,
            };
            assert_eq!(reply.status == 429, number == count, "{name}: request {number} got {}", reply.status);
            if number == count {
                refused(reply, name, 60);
            }
        }
    }
}

#[tokio::test]
async fn accounts_and_environments_are_counted_apart_and_strangers_by_address() {
    let server = server_with(&[("rate_limit_domains", "2/m")]).await;
    let first = server.integrator().await;
    for _ in 0..2 {
        first.get("/domains").await.expect(200);
    }
    refused(first.get("/domains").await, "domains", 60);
    let live = server.integrator_of("default", Environment::Live).await;
    let other = server.integrator_of("other", Environment::Sandbox).await;
    for integrator in [live, other] {
        integrator.get("/domains").await.expect(200);
    }
    for _ in 0..2 {
        server.send(Method::GET, "/v1/domains", &[], "").await.expect_error(401, "invalid_api_key");
    }
    refused(server.send(Method::GET, "/v1/domains", &[], "").await, "domains", 60);
}
