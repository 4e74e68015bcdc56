//! Registration of domains and changes of their webhook URLs (specification, §4, and docs/api.md, Domains).

use std::collections::BTreeSet;

use serde_json::{Value, json};
use signpost_auth::WebhookSecret;
use signpost_platform::accounts::Environment;

use crate::harness::{Endpoint, Service, UNREACHABLE_URL, members, text, time};

const LISTED: [&str; 5] = ["id", "domain", "verified", "webhook_url", "created_at"];

#[tokio::test]
async fn registration_returns_the_secret_once() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    assert!(text(&domain, "id").starts_with("dom_"));
    assert_eq!((&domain["domain"], &domain["verified"]), (&json!("shop.test"), &json!(false)));
    assert_eq!(text(&domain, "webhook_url"), UNREACHABLE_URL);
    let token = text(&domain, "verification_token").strip_prefix("svc-verify=").expect("a token");
    assert!(token.len() >= 22 && token.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)), "{token}");
    let secret = text(&domain, "webhook_secret");
    assert!(secret.starts_with("whsec_") && WebhookSecret::parse(secret).is_ok());
    let shown = integrator.get(&format!("/domains/{}", text(&domain, "id"))).await;
    assert!(!shown.text.contains(secret) && !shown.text.contains("secret"), "{}", shown.text);
    assert_eq!(shown.with(200)["verification_token"], domain["verification_token"]);
    let listed = integrator.get("/domains").await;
    assert!(!listed.text.contains(token) && !listed.text.contains("whsec_"), "{}", listed.text);
}

#[tokio::test]
async fn list_contains_domains_of_one_environment() {
    let service = Service::start().await;
    let (live, sandbox) = (service.integrator_of("acme", Environment::Live).await, service.integrator().await);
    assert_eq!(live.get("/domains").await.with(200), json!({ "domains": [] }));
    for name in ["b.test", "a.test", "c.test"] {
        live.register_domain_at(name, &format!("https://{name}/hook")).await;
    }
    sandbox.register_domain("sandbox.test").await;
    service.integrator_of("other", Environment::Live).await.register_domain_at("d.test", "https://d.test/").await;
    let list = live.get("/domains").await.with(200);
    assert_eq!(members(&list), ["domains"].into());
    let domains = list["domains"].as_array().expect("a list");
    let names: BTreeSet<_> = domains.iter().map(|domain| text(domain, "domain")).collect();
    assert_eq!(names, ["a.test", "b.test", "c.test"].into());
    for domain in domains {
        assert_eq!(members(domain), LISTED.into());
        assert_eq!(domain["verified"], false);
        assert_eq!(text(domain, "webhook_url"), format!("https://{}/hook", text(domain, "domain")));
        assert_eq!(time(domain, "created_at"), service.clock.now().as_millisecond());
        let shown = live.get(&format!("/domains/{}", text(domain, "id"))).await.with(200);
        for member in LISTED {
            assert_eq!(shown[member], domain[member]);
        }
    }
}

#[tokio::test]
async fn name_is_unique_per_account_and_environment() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let body = |name: &str| json!({ "domain": name, "webhook_url": UNREACHABLE_URL });
    let first = integrator.register_domain("shop.test").await;
    for name in ["shop.test", "SHOP.Test", "shop.test."] {
        let details = integrator.post("/domains", &body(name)).await.assert_error(409, "domain_exists");
        assert_eq!(details, json!({ "domain": "shop.test", "id": first["id"] }));
    }
    let colleague = service.integrator().await;
    colleague.post("/domains", &body("shop.test")).await.assert_error(409, "domain_exists");
    let other = service.integrator_of("other", Environment::Sandbox).await.register_domain("shop.test").await;
    let live =
        service.integrator_of("acme", Environment::Live).await.register_domain_at("shop.test", "https://a.test/").await;
    for domain in [&other, &live] {
        assert_ne!(domain["id"], first["id"]);
        assert_ne!(domain["verification_token"], first["verification_token"]);
        assert_ne!(domain["webhook_secret"], first["webhook_secret"]);
    }
}

#[tokio::test]
async fn only_registrable_host_names_are_accepted() {
    let service = Service::start().await;
    let live = service.integrator_of("acme", Environment::Live).await;
    let sandbox = service.integrator().await;
    for (name, stored, in_live, in_sandbox) in [
        ("example.test", "example.test", true, true),
        ("Shop.Example.COM.", "shop.example.com", true, true),
        ("bücher.example", "xn--bcher-kva.example", true, true),
        ("someone.github.io", "someone.github.io", true, true),
        ("a.co.uk", "a.co.uk", true, true),
        ("localhost", "localhost", false, true),
        ("com", "", false, false),
        ("co.uk", "", false, false),
        ("github.io", "", false, false),
        ("test", "", false, false),
        ("127.0.0.1", "", false, false),
        ("2130706433", "", false, false),
        ("[::1]", "", false, false),
        ("example.test:443", "", false, false),
        ("https://example.test", "", false, false),
        ("example.test/path", "", false, false),
        ("*.example.test", "", false, false),
        ("me@example.test", "", false, false),
        ("exa mple.test", "", false, false),
        ("-a.test", "", false, false),
        ("a..test", "", false, false),
        ("a_b.test", "", false, false),
        ("", "", false, false),
        (&format!("{}.test", "a".repeat(64)), "", false, false),
    ] {
        for (integrator, ok) in [(&live, in_live), (&sandbox, in_sandbox)] {
            let reply = integrator.post("/domains", &json!({ "domain": name, "webhook_url": "https://a.test/" })).await;
            if ok {
                assert_eq!(reply.with(201)["domain"], stored);
            } else {
                reply.assert_invalid_field("domain");
            }
        }
    }
}

/// Webhook URLs, and whether they are allowed in live, in the sandbox, and with private webhooks.
const WEBHOOKS: [(&str, bool, bool, bool); 19] = [
    ("https://shop.test/hook", true, true, true),
    ("https://other.test:8443/hook?a=b", true, true, true),
    ("http://shop.test/hook", false, false, true),
    ("http://localhost:3000/hook", false, true, true),
    ("https://localhost/hook", false, true, true),
    ("http://127.0.0.1:3000/hook", false, true, true),
    ("http://127.8.8.8/hook", false, true, true),
    ("http://[::1]:3000/hook", false, true, true),
    ("http://10.0.0.1/hook", false, false, true),
    ("https://192.168.0.1/hook", false, false, true),
    ("https://169.254.169.254/latest", false, false, true),
    ("https://8.8.8.8/hook", false, false, true),
    ("https://user@shop.test/hook", false, false, false),
    ("https://user:pw@shop.test/hook", false, false, false),
    ("https://shop.test/hook#top", false, false, false),
    ("ftp://shop.test/hook", false, false, false),
    ("https://shop.test\\@evil.test/", false, false, false),
    ("/hook", false, false, false),
    ("", false, false, false),
];

#[tokio::test]
async fn webhook_url_rules_depend_on_the_environment() {
    let auto = Service::start().await;
    let allowed = Service::with(&[("allow_private_webhooks", "true")]).await;
    let refused = Service::with(&[("allow_private_webhooks", "false")]).await;
    // Servers behind a proxy have external clients, so loopback is not allowed.
    let public = Service::with(&[("public_url", "https://login.example.com")]).await;
    let proxied = Service::with(&[("trusted_proxies", "127.0.0.1")]).await;
    for (service, environment, column) in [
        (&public, Environment::Sandbox, 0),
        (&proxied, Environment::Sandbox, 0),
        (&auto, Environment::Live, 0),
        (&auto, Environment::Sandbox, 1),
        (&allowed, Environment::Live, 2),
        (&allowed, Environment::Sandbox, 2),
        (&refused, Environment::Live, 0),
        (&refused, Environment::Sandbox, 0),
    ] {
        let integrator = service.integrator_of("acme", environment).await;
        let patched = integrator.register_domain_at("patched.test", "https://shop.test/").await;
        let patched = format!("/domains/{}", text(&patched, "id"));
        for (number, (url, live, sandbox, private)) in WEBHOOKS.into_iter().enumerate() {
            let ok = [live, sandbox, private][column];
            let name = format!("n{number}.test");
            let registered = integrator.post("/domains", &json!({ "domain": name, "webhook_url": url })).await;
            let webhook = integrator.patch(&patched, &json!({ "webhook_url": url })).await;
            let event = integrator.patch(&patched, &json!({ "event_url": url })).await;
            if ok {
                assert_eq!(registered.with(201)["webhook_url"], url);
                assert_eq!(webhook.with(200)["webhook_url"], url);
                assert_eq!(event.with(200)["event_url"], url);
            } else {
                registered.assert_invalid_field("webhook_url");
                webhook.assert_invalid_field("webhook_url");
                event.assert_invalid_field("event_url");
            }
        }
    }
}

#[tokio::test]
async fn patch_changes_only_the_given_fields() {
    let service = Service::start().await;
    let integrator = service.integrator_of("acme", Environment::Live).await;
    let domain = integrator.register_domain_at("shop.test", "https://shop.test/hook").await;
    let path = format!("/domains/{}", text(&domain, "id"));
    let before = integrator.get(&path).await.with(200);
    assert_eq!(before.get("event_url"), None);
    let with = |changes: &[(&str, &str)]| {
        let mut expected = before.clone();
        for (member, value) in changes {
            expected[*member] = json!(value);
        }
        expected
    };
    let (webhook, event) = (("webhook_url", "https://shop.test/new"), ("event_url", "https://events.test/"));
    for (change, expected) in [
        (json!({}), with(&[])),
        (json!({ "event_url": null }), with(&[])),
        (json!({ "event_url": event.1 }), with(&[event])),
        (json!({}), with(&[event])),
        (json!({ "webhook_url": webhook.1 }), with(&[event, webhook])),
        (json!({ "event_url": null }), with(&[webhook])),
        (json!({ "event_url": event.1, "webhook_url": "https://shop.test/hook" }), with(&[event])),
    ] {
        assert_eq!(integrator.patch(&path, &change).await.with(200), expected, "{change}");
        assert_eq!(integrator.get(&path).await.with(200), expected, "{change}");
    }
    integrator.patch(&path, &json!({ "webhook_url": null })).await.assert_invalid_field("webhook_url");
    integrator.patch(&path, &json!({ "event_url": 1 })).await.assert_invalid_field("event_url");
    let half = json!({ "webhook_url": "https://shop.test/half", "event_url": "ftp://shop.test/" });
    integrator.patch(&path, &half).await.assert_invalid_field("event_url");
    assert_eq!(integrator.get(&path).await.with(200), with(&[event]));
}

#[tokio::test]
async fn session_uses_the_webhook_of_its_creation() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let (mut old, mut new) = (Endpoint::start().await, Endpoint::start().await);
    let domain = integrator.register_domain_at("shop.test", &old.url("/old")).await;
    let session = integrator.create_session("shop.test").await;
    let path = format!("/domains/{}", text(&domain, "id"));
    integrator.patch(&path, &json!({ "webhook_url": new.url("/new") })).await.with(200);
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    assert_eq!(old.next_request().await.path, "/old");
    let session: Value = integrator.create_session("shop.test").await;
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    assert_eq!(new.next_request().await.path, "/new");
}
