//! Deliveries in the console (docs/console.md): attempts, reasons of failures, retries.

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use reqwest::Method;
use signpost_auth::WebhookSecret;
use signpost_login::events::deliveries::list_all;
use signpost_login::ids::EventId;
use tokio::net::TcpListener;

use crate::console::{operator, post_form};
use crate::console_forms::audit_page;
use crate::harness::{Browser, Endpoint, Service, ShownPage, text, until};

/// Returns an operator's browser and the path of a delivery that the endpoint rejected.
async fn refused(
    service: &Service,
    endpoint: &mut Endpoint,
    status: StatusCode,
    message: &'static str,
) -> (Browser, String) {
    let mut browser = operator(service).await;
    let domain = service.integrator().await.register_domain_at("shop.test", &endpoint.url("/events")).await;
    let path = format!("/console/sites/{}", text(&domain, "id"));
    let site = browser.visit(&path).await;
    endpoint.respond_with((status, message));
    let sent = post_form(&mut browser, &site, &format!("{path}/test"), "").await;
    endpoint.next_request().await;
    let delivery = sent.headers["location"].to_str().expect("an address").to_owned();
    let delivery = format!("/console/deliveries/{}", delivery.rsplit('/').next().expect("an id"));
    until("the attempt is remembered", async || {
        browser.visit(&delivery).await.html.contains(&format!(", {}", status.as_str())).then_some(())
    })
    .await;
    (browser, delivery)
}

/// Starts an endpoint that accepts only signatures with this secret; returns its URL.
async fn start_checking_endpoint(secret: WebhookSecret) -> String {
    let take = move |headers: HeaderMap, body: Bytes| {
        let secret = secret.clone();
        async move {
            let expected = secret.x_svc_signature(&body);
            let is_signed = headers.get("x-svc-signature").is_some_and(|signed| signed == expected.as_str());
            if is_signed { StatusCode::NO_CONTENT } else { StatusCode::UNAUTHORIZED }
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("http://{}/events", listener.local_addr().expect("an address"));
    tokio::spawn(async { axum::serve(listener, Router::new().fallback(take)).await });
    address
}

async fn compare(browser: &mut Browser, delivery: &str) -> ShownPage {
    let shown = browser.visit(delivery).await;
    post_form(browser, &shown, &format!("{delivery}/compare"), "").await
}

#[tokio::test]
async fn console_retries_all_failed_deliveries() {
    let (service, mut endpoint) = (Service::start().await, Endpoint::start().await);
    let (mut browser, _) = refused(&service, &mut endpoint, StatusCode::GONE, "gone").await;
    let failed = browser.visit("/console/deliveries?state=failed").await;
    assert!(failed.html.contains("Send all of them again: 1"), "{}", failed.html);
    let again = post_form(&mut browser, &failed, "/console/deliveries/retry", "&domain=").await;
    assert!(again.headers["location"].to_str().expect("an address").ends_with("state=pending&sent=1"), "{again:?}");
    endpoint.next_request().await;
    let message = browser.visit("/console/deliveries?state=pending&sent=1").await;
    assert!(message.html.contains("1 event is sent again within a second."), "{}", message.html);
    assert!(audit_page(&mut browser, "delivery.retried").await.contains("operator:usr_"));
}

#[tokio::test]
async fn comparison_names_the_secret_of_the_endpoint() {
    let (service, mut endpoint) = (Service::start().await, Endpoint::start().await);
    let (mut browser, delivery) = refused(&service, &mut endpoint, StatusCode::UNAUTHORIZED, "no").await;
    // The endpoint has the secret of another site and accepts only its signatures.
    let other = service.integrator().await.register_domain("other.test").await;
    let secret = WebhookSecret::parse(text(&other, "webhook_secret")).expect("a secret");
    let checking = start_checking_endpoint(secret).await;
    let store = &service.app.store;
    let id = EventId::parse(delivery.rsplit('/').next().expect("an id")).expect("an id");
    let moved = signpost_store::Statement::new(
        "UPDATE deliveries SET url = $1 WHERE id = $2",
        signpost_store::params![checking, &id],
    );
    store.write([moved]).await.expect("a database");
    let compared = compare(&mut browser, &delivery).await;
    assert!(compared.html.contains("the secret of other.test"), "{}", compared.html);
    assert!(audit_page(&mut browser, "delivery.compared").await.contains("operator:usr_"));
    // If the tests find no cause, the page explains how to continue.
    let hanging = signpost_store::Statement::new(
        "UPDATE deliveries SET url = 'http://127.0.0.1:1/' WHERE id = $1",
        signpost_store::params![&id],
    );
    store.write([hanging]).await.expect("a database");
    let unreachable = compare(&mut browser, &delivery).await;
    assert!(unreachable.html.contains("the endpoint gave no answer"), "{}", unreachable.html);
}

#[tokio::test]
async fn comparison_shows_valid_or_unknown_results() {
    let (service, mut endpoint) = (Service::start().await, Endpoint::start().await);
    let (mut browser, delivery) = refused(&service, &mut endpoint, StatusCode::FORBIDDEN, "no").await;
    let right = compare(&mut browser, &delivery).await;
    assert!(right.html.contains("The signature is right"), "{}", right.html);
    // An endpoint that rejects every request allows no conclusion.
    for _ in 0..80 {
        endpoint.respond_with(StatusCode::FORBIDDEN);
    }
    let unknown = compare(&mut browser, &delivery).await;
    assert!(unknown.html.contains("signpost listen URL --domain shop.test"), "{}", unknown.html);
    assert!(unknown.html.contains("It cannot know the secret and the code of the site"), "{}", unknown.html);
}

#[tokio::test]
async fn delivery_bodies_are_escaped_and_exact() {
    let (service, mut endpoint) = (Service::start().await, Endpoint::start().await);
    let message = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    let (mut browser, delivery) = refused(&service, &mut endpoint, StatusCode::GONE, message).await;
    let store = &service.app.store;
    let id = EventId::parse(delivery.rsplit('/').next().expect("an id")).expect("an id");
    // Responses of public endpoints are stored, and the site chooses the URL.
    let body = "{\"a\":\"<script>alert(3)</script>\u{202e}\n  x\"}";
    let attempts = serde_json::json!([{ "started_at": "2026-01-01T00:00:00Z", "duration_ms": 1, "status": 500, "answer": message }]);
    let stored = signpost_store::Statement::new(
        "UPDATE deliveries SET body = $1, past_attempts = $2, url = $3 WHERE id = $4",
        signpost_store::params![body, attempts.to_string(), "https://x.test/<script>alert(4)</script>", &id],
    );
    store.write([stored]).await.expect("a database");
    for path in [&delivery, &"/console/deliveries".to_owned(), &"/console".to_owned()] {
        let shown = browser.visit(path).await.html;
        assert!(!shown.contains("<script>alert") && !shown.contains("<img src=x"), "{path}: {shown}");
    }
    let shown = browser.visit(&delivery).await.html;
    assert!(shown.contains("&lt;script&gt;alert(3)") && shown.contains("<mark>U+202E</mark>"), "{shown}");
    assert!(!shown.contains('\u{202e}'), "{shown}");
    let file = browser.send(browser.request(Method::GET, &format!("{delivery}/body"))).await;
    assert_eq!(file.html, body, "byte by byte");
    let header = |name: &str| file.headers[name].to_str().expect("text").to_owned();
    assert!(header("content-disposition").starts_with("attachment;"));
    assert_eq!(
        (header("content-type").as_str(), header("cache-control").as_str()),
        ("application/octet-stream", "no-store")
    );
    assert_eq!(list_all(store, None, 10).await.expect("a database").len(), 1);
}
