//! What every address of the authentication service refuses in the same way (contract, §3 and §3.1).

use reqwest::Method;
use serde_json::json;
use signpost::account::Environment;

use crate::harness::server;

/// An address of each kind that takes a body.
const POSTS: [&str; 4] =
    ["/sessions", "/verify", "/domains", "/sessions/sess_000000000000000000000000000000000000/authenticate"];

#[tokio::test]
async fn the_key_comes_before_anything_about_the_body() {
    let server = server().await;
    let live = server.integrator_of("default", Environment::Live).await;
    let sandbox = server.integrator().await;
    let wrong = format!("Bearer {}", live.key());
    let cut = format!("Bearer {}", &sandbox.key()[..40]);
    for path in POSTS {
        let path = format!("/sandbox/v1{path}");
        for authorization in ["", "Bearer", "Bearer x", "Basic eDp5", wrong.as_str(), cut.as_str()] {
            let headers = [("authorization", authorization)];
            server.send(Method::POST, &path, &headers, "{ not json").await.expect_error(401, "invalid_api_key");
        }
        server.send(Method::POST, &path, &[], "x").await.expect_error(401, "invalid_api_key");
    }
    server.send(Method::GET, "/v1/domains", &[("authorization", &wrong)], "").await.expect(200);
}

#[tokio::test]
async fn a_revoked_key_stops_within_five_seconds() {
    let server = server().await;
    let integrator = server.integrator().await;
    integrator.get("/domains").await.expect(200);
    let key = server.app.store.keys().await.unwrap().remove(0);
    assert!(server.app.store.revoke_key(&key.id, server.app.clock.now()).await.unwrap());
    server.pass(5);
    integrator.get("/domains").await.expect_error(401, "invalid_api_key");
}

#[tokio::test]
async fn a_body_must_be_what_the_interface_takes() {
    let server = server().await;
    let integrator = server.integrator().await;
    integrator.session().await;
    let deep = format!("{{\"domain\":{}1{}}}", "[".repeat(16), "]".repeat(16));
    let table = [
        ("{", 400, "invalid_json"),
        ("", 400, "invalid_json"),
        ("{\"domain\": \"a\"} trailing", 400, "invalid_json"),
        (deep.as_str(), 400, "invalid_json"),
        ("[]", 400, "invalid_request"),
        ("\"text\"", 400, "invalid_request"),
        ("{\"domain\":\"example.com\",\"domain\":\"example.com\"}", 400, "invalid_request"),
        ("{\"domain\":\"example.com\",\"x\":1}", 400, "invalid_request"),
    ];
    for (body, status, code) in table {
        integrator.send(Method::POST, "/sessions", body).await.expect_error(status, code);
    }
    let large = format!("{{\"domain\":\"{}\"}}", "x".repeat(64 * 1024));
    let details = integrator.send(Method::POST, "/sessions", &large).await.expect_error(413, "payload_too_large");
    assert_eq!(details["limit"], 65536);
    for path in POSTS.iter().filter(|path| !path.ends_with("authenticate")) {
        let reply = integrator.send_bare(Method::POST, path, "{}").await;
        reply.expect_error(415, "unsupported_media_type");
    }
}

#[tokio::test]
async fn addresses_and_methods_that_do_not_exist_say_so() {
    let server = server().await;
    let integrator = server.integrator().await;
    for (method, path) in [
        (Method::PUT, "/sessions"),
        (Method::GET, "/verify"),
        (Method::DELETE, "/domains"),
        (Method::POST, "/sessions/x"),
        (Method::GET, "/sessions/x/refresh"),
    ] {
        let reply = integrator.send(method, path, "").await;
        assert!(reply.header("allow").is_some(), "{path}");
        reply.expect_error(405, "method_not_allowed");
    }
    for path in ["/", "/nothing", "/sessions/x/y"] {
        integrator.get(path).await.expect_error(404, "not_found");
    }
    server.send(Method::GET, "/v2/sessions", &[], "").await.expect_error(404, "not_found");
}

#[tokio::test]
async fn the_environments_keep_separate_data() {
    let server = server().await;
    let (live, sandbox) =
        (server.integrator_of("a", Environment::Live).await, server.integrator_of("a", Environment::Sandbox).await);
    let session = sandbox.session().await;
    assert_eq!(live.get("/domains").await.expect(200), json!({ "domains": [] }));
    let path = format!("/sessions/{}", session["id"].as_str().unwrap());
    live.get(&path).await.expect_error(404, "session_not_found");
    live.post("/sessions", json!({ "domain": "example.com" })).await.expect_error(422, "domain_not_registered");
}

#[tokio::test]
async fn nobody_elses_page_is_invited() {
    let server = server().await;
    let integrator = server.integrator().await;
    let headers = [("origin", "https://example.com"), ("authorization", &format!("Bearer {}", integrator.key()))];
    let reply = server.send(Method::GET, "/sandbox/v1/domains", &headers, "").await;
    assert!(reply.status == 200 && reply.header("access-control-allow-origin").is_none());
}
