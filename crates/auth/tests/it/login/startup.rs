//! Tests the check of the settings when a router is created.

use std::sync::{Arc, Mutex};

use axum::http::request::Parts;
use serde_json::{Value, json};
use signpost_auth::client::Signpost;
use signpost_auth::login::{LoginOptions, LoginSite, SignedIn, SiteError, router};
use tokio::sync::Notify;

use super::service::Service;

/// A site that records the warnings.
#[derive(Clone, Default)]
struct QuietSite {
    warnings: Arc<Mutex<Vec<String>>>,
    warned: Arc<Notify>,
}

impl LoginSite for QuietSite {
    async fn sign_in(&self, _: SignedIn, _: &Parts) -> Result<Vec<String>, SiteError> {
        Ok(Vec::new())
    }

    fn on_warning(&self, warning: &str) {
        self.warnings.lock().unwrap().push(warning.to_owned());
        self.warned.notify_one();
    }
}

fn start(base: &str, site: &QuietSite) {
    let signpost = Signpost::new("svc_test_secret-key").unwrap().with_base_url(base).unwrap();
    let options = LoginOptions::new("shop.example", "https://shop.example", "a".repeat(32)).unwrap();
    // The task of the check continues without the router.
    drop(router(signpost, options, site.clone()));
}

/// Returns the warning about a service that sends this reply to every request.
async fn warning(status: u16, body: Value) -> String {
    let service = Service::start().await;
    service.reply(status, body);
    let site = QuietSite::default();
    start(&service.base(), &site);
    site.warned.notified().await;
    let warnings = site.warnings.lock().unwrap();
    assert_eq!(warnings.len(), 1);
    assert!(!warnings[0].contains("secret-key"), "{warnings:?}");
    warnings[0].clone()
}

fn error(code: &str) -> Value {
    json!({ "error": { "code": code, "message": "no" } })
}

#[tokio::test]
async fn wrong_settings_are_logged() {
    for (status, body, cause) in [
        (401, error("invalid_api_key"), "rejects the API key"),
        (403, error("insufficient_scope"), "no scope auth"),
        (404, json!({ "detail": "Not Found" }), "is not that of a Signpost server"),
        (404, error("not_found"), "is not that of a Signpost server"),
        (200, json!({}), "is not that of a Signpost server"),
        (500, error("internal_error"), "replied with an error"),
        (200, domain("direct"), "requires the handler hosted"),
    ] {
        let warning = warning(status, body.clone()).await;
        assert!(warning.starts_with("logins will fail: ") && warning.contains(cause), "{body}: {warning}");
    }
}

#[tokio::test]
async fn unreachable_service_is_logged() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let site = QuietSite::default();
    start(&format!("http://127.0.0.1:{port}/v1"), &site);
    site.warned.notified().await;
    assert!(site.warnings.lock().unwrap()[0].contains("cannot be reached"));
}

#[tokio::test]
async fn correct_settings_are_not_logged() {
    let service = Service::start().await;
    service.reply(200, domain("hosted"));
    let site = QuietSite::default();
    start(&service.base(), &site);
    while service.take_requests().is_empty() {
        tokio::task::yield_now().await;
    }
    // The reply to another request shows that the service also sent the reply to the check.
    let other = Signpost::new("svc_test_key").unwrap().with_base_url(&service.base()).unwrap();
    other.domains().get("shop.example").await.unwrap();
    assert!(site.warnings.lock().unwrap().is_empty());
}

#[test]
fn router_needs_no_runtime() {
    start("http://127.0.0.1:9/v1", &QuietSite::default());
}

fn domain(handler: &str) -> Value {
    json!({ "id": "dom_1", "domain": "shop.example", "verified": true, "webhook_url": "https://shop.example/wallet",
            "created_at": "2023-11-14T22:13:10Z", "verification_token": "t", "handler": handler, "methods": ["scan"],
            "registration": "open" })
}
