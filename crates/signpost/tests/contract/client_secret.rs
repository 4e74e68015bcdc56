//! Client secrets (docs/api.md, Read): bearer tokens with which a page reads the status of its session and nothing
//! else.

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Integrator, Reply, Service, members, send, text};

const PAGE: &str = "https://shop.test";

/// Reads the session as a page of this origin.
async fn read_as_page(service: &Integrator, session: &Value, secret: &str, origin: &str) -> Reply {
    let page = service.with_key(Some(secret));
    send(page.request(Method::GET, &format!("/sessions/{}", text(session, "id"))).header("origin", origin)).await
}

#[tokio::test]
async fn page_reads_only_the_status() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let body = json!({ "domain": "shop.test", "metadata": { "custom_data": "mine" } });
    let session = integrator.post("/sessions", &body).await.with(201);
    let secret = text(&session, "client_secret");
    assert!(!text(&session, "qr_data").contains(secret));
    let reply = read_as_page(&integrator, &session, secret, PAGE).await;
    assert_eq!(reply.header("access-control-allow-origin"), Some(PAGE));
    assert_eq!(reply.header("vary"), Some("Origin"));
    assert_eq!(members(&reply.with(200)), ["id", "status", "expires_at"].into());
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    let response = read_as_page(&integrator, &session, secret, PAGE).await.with(200);
    assert_eq!(members(&response), ["id", "status", "authenticated_at"].into());
    assert_eq!(response["status"], "authenticated");
    service.advance_clock(SignedDuration::from_secs(299));
    read_as_page(&integrator, &session, secret, PAGE).await.with(200);
    service.advance_clock(SignedDuration::from_secs(1));
    read_as_page(&integrator, &session, secret, PAGE).await.assert_error(401, "invalid_api_key");
    integrator.get_session(&session).await.with(200);
}

#[tokio::test]
async fn cors_rejects_other_sites() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let secret = text(&session, "client_secret");
    for origin in ["https://evil.test", "http://shop.test", "null", "https://shop.test.evil.test"] {
        let reply = read_as_page(&integrator, &session, secret, origin).await;
        assert_eq!(reply.header("access-control-allow-origin"), None, "{origin}");
    }
    let below = read_as_page(&integrator, &session, secret, "https://www.shop.test").await;
    assert_eq!(below.header("access-control-allow-origin"), Some("https://www.shop.test"));
    let ask = |origin| {
        let path = format!("/sessions/{}", text(&session, "id"));
        let request = integrator.with_key(None).request(Method::OPTIONS, &path).header("origin", origin);
        send(request.header("access-control-request-method", "GET"))
    };
    let asked = ask(PAGE).await;
    assert_eq!((asked.status, asked.header("access-control-allow-methods")), (204, Some("GET")));
    assert_eq!(asked.header("access-control-allow-headers"), Some("authorization"));
    assert_eq!(ask("https://evil.test").await.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn cors_does_not_allow_api_keys() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let path = format!("/sessions/{}", text(&session, "id"));
    let reply = send(integrator.request(Method::GET, &path).header("origin", PAGE)).await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, None));
    let reply = send(integrator.with_key(None).request(Method::GET, &path).header("origin", PAGE)).await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (401, None));
}

#[tokio::test]
async fn client_secret_reads_only_its_session() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let (session, other) = (integrator.create_session("shop.test").await, integrator.create_session("shop.test").await);
    let secret = text(&session, "client_secret");
    assert_ne!(secret, text(&other, "client_secret"));
    let page = integrator.with_key(Some(secret));
    page.get_session(&other).await.assert_error(401, "invalid_api_key");
    page.cancel(&session).await.assert_error(401, "invalid_api_key");
    page.refresh(&session).await.assert_error(401, "invalid_api_key");
    page.authenticate(&session, &service.phone().answer(&session)).await.assert_error(401, "invalid_api_key");
    page.get("/domains").await.assert_error(401, "invalid_api_key");
    page.get("/sessions").await.assert_error(401, "invalid_api_key");
    page.get(&format!("/sessions/{}/qr.svg", text(&session, "id"))).await.assert_error(401, "invalid_api_key");
    let wrong = format!("{}A", &secret[..secret.len() - 1]);
    let wrong = if wrong == secret { format!("{}B", &secret[..secret.len() - 1]) } else { wrong };
    integrator.with_key(Some(&wrong)).get_session(&session).await.assert_error(401, "invalid_api_key");
    page.get_session(&session).await.with(200);
    integrator.cancel(&session).await;
    page.get_session(&session).await.assert_error(410, "session_cancelled");
}

#[tokio::test]
async fn secret_survives_refresh_and_repetition() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let body = json!({ "domain": "shop.test" });
    let first = integrator.create_idempotently("one", &body).await.with(201);
    let again = integrator.create_idempotently("one", &body).await.with(201);
    assert_eq!(first, again);
    integrator.refresh(&first).await.with(200);
    integrator.with_key(Some(text(&first, "client_secret"))).get_session(&first).await.with(200);
    // The secret is not stored in the database.
    let kept = service.app.store.read("SELECT reply FROM idempotency_keys", Vec::new()).await.expect("a database");
    assert!(!kept[0].text(0).expect("a reply").contains(text(&first, "client_secret")));
    // Another key of the account gets the session without the secret, which it could not use.
    let colleague = service.integrator().await;
    let other = colleague.create_idempotently("one", &body).await.with(201);
    assert_eq!((&other["id"], other.get("client_secret")), (&first["id"], None));
}

#[tokio::test]
async fn client_secret_reads_have_their_own_limit() {
    let service = Service::with(&[("rate_limit_get_session", "2/m")]).await;
    let integrator = service.shop().await;
    let (session, other) = (integrator.create_session("shop.test").await, integrator.create_session("shop.test").await);
    let page = integrator.with_key(Some(text(&session, "client_secret")));
    page.get_session(&session).await.with(200);
    page.get_session(&session).await.with(200);
    page.get_session(&session).await.assert_error(429, "rate_limited");
    integrator.with_key(Some(text(&other, "client_secret"))).get_session(&other).await.with(200);
    integrator.get_session(&session).await.with(200);
}
