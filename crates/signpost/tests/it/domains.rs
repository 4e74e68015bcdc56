//! Domains: registration, change and proof (specification, §3 and §4; contract, §3.3).

use reqwest::Method;
use serde_json::{Value, json};
use signpost::account::Environment;

use crate::harness::{Integrator, server, server_with};
use crate::name_server::NameServer;

const HOOK: &str = "https://hooks.example.net/login";

fn path(domain: &Value, behind: &str) -> String {
    format!("/domains/{}{behind}", domain["id"].as_str().unwrap())
}

async fn prove(integrator: &Integrator, domain: &Value) -> crate::harness::Reply {
    integrator.send_bare(Method::POST, &path(domain, "/verify"), "").await
}

#[tokio::test]
async fn a_registration_shows_its_secret_once() {
    let server = server().await;
    let integrator = server.integrator().await;
    let created = integrator.register("Shop.Example.com.", HOOK).await;
    assert_eq!((created["domain"].as_str(), created["verified"].as_bool()), (Some("shop.example.com"), Some(false)));
    assert!(created["webhook_secret"].as_str().unwrap().starts_with("whsec_"));
    let token = created["verification_token"].as_str().unwrap();
    assert!(token.strip_prefix("svc-verify=").is_some_and(|token| token.len() == 32));
    let shown = integrator.get(&path(&created, "")).await.expect(200);
    assert_eq!((shown["verification_token"].as_str(), shown.get("webhook_secret")), (Some(token), None));
    let listed = &integrator.get("/domains").await.expect(200)["domains"][0];
    let members: Vec<_> = listed.as_object().unwrap().keys().cloned().collect();
    assert_eq!(members, ["created_at", "domain", "id", "verified", "webhook_url"]);
    let again = json!({ "domain": "shop.example.com", "webhook_url": HOOK });
    integrator.post("/domains", again).await.expect_error(409, "domain_exists");
    let stranger = server.integrator_of("stranger", Environment::Sandbox).await;
    stranger.get(&path(&created, "")).await.expect_error(404, "domain_not_found");
    stranger.patch(&path(&created, ""), json!({ "webhook_url": HOOK })).await.expect_error(404, "domain_not_found");
    stranger.register("shop.example.com", HOOK).await;
}

#[tokio::test]
async fn names_and_webhooks_have_rules() {
    let server = server().await;
    let live = server.integrator_of("default", Environment::Live).await;
    let sandbox = server.integrator().await;
    let table = [
        ("com", HOOK, Some("domain"), Some("domain")),
        ("co.uk", HOOK, Some("domain"), Some("domain")),
        ("127.0.0.1", HOOK, Some("domain"), Some("domain")),
        ("a.example.com:80", HOOK, Some("domain"), Some("domain")),
        ("*.example.com", HOOK, Some("domain"), Some("domain")),
        ("localhost", HOOK, Some("domain"), None),
        ("shop.test", HOOK, None, None),
        ("b\u{fc}cher.example", HOOK, None, None),
        ("a.example.com", "http://a.example.com/x", Some("webhook_url"), Some("webhook_url")),
        ("b.example.com", "http://localhost:9000/x", Some("webhook_url"), None),
        ("c.example.com", "http://127.0.0.1:9000/x", Some("webhook_url"), None),
        ("d.example.com", "https://10.0.0.1/x", Some("webhook_url"), Some("webhook_url")),
        ("e.example.com", "https://e.example.com/x#y", Some("webhook_url"), Some("webhook_url")),
        ("f.example.com", "https://u:p@f.example.com/x", Some("webhook_url"), Some("webhook_url")),
        ("g.example.com", "ftp://g.example.com/x", Some("webhook_url"), Some("webhook_url")),
    ];
    for (domain, webhook_url, in_live, in_sandbox) in table {
        for (integrator, field) in [(&live, in_live), (&sandbox, in_sandbox)] {
            let reply = integrator.post("/domains", json!({ "domain": domain, "webhook_url": webhook_url })).await;
            match field {
                None => drop(reply.expect(201)),
                Some(field) => assert_eq!(reply.expect_error(400, "invalid_request")["field"], field, "{domain}"),
            }
        }
    }
    for (body, field) in
        [(json!({ "domain": "x.example.com" }), "webhook_url"), (json!({ "webhook_url": HOOK }), "domain")]
    {
        assert_eq!(sandbox.post("/domains", body).await.expect_error(400, "invalid_request")["field"], field);
    }
}

#[tokio::test]
async fn private_webhooks_are_the_operators_choice() {
    let body = json!({ "domain": "example.com", "webhook_url": "http://10.0.0.1/x" });
    let server = server_with(&[("allow_private_webhooks", "true")]).await;
    server.integrator_of("default", Environment::Live).await.post("/domains", body).await.expect(201);
    let body = json!({ "domain": "example.com", "webhook_url": "http://localhost/x" });
    let server = server_with(&[("allow_private_webhooks", "false")]).await;
    let reply = server.integrator().await.post("/domains", body).await;
    assert_eq!(reply.expect_error(400, "invalid_request")["field"], "webhook_url");
}

#[tokio::test]
async fn webhooks_can_be_changed() {
    let server = server().await;
    let integrator = server.integrator().await;
    let created = integrator.register("example.com", HOOK).await;
    let change = json!({ "webhook_url": "https://example.com/new", "event_url": "https://events.example.org/x" });
    let shown = integrator.patch(&path(&created, ""), change).await.expect(200);
    assert_eq!(shown["webhook_url"], "https://example.com/new");
    assert_eq!(shown["event_url"], "https://events.example.org/x");
    let shown = integrator.patch(&path(&created, ""), json!({ "event_url": null })).await.expect(200);
    assert_eq!(shown.get("event_url"), None);
    for (change, field) in [
        (json!({ "webhook_url": null }), "webhook_url"),
        (json!({ "event_url": "http://10.0.0.1/" }), "event_url"),
        (json!({ "domain": "other.example" }), "domain"),
    ] {
        let reply = integrator.patch(&path(&created, ""), change).await;
        assert_eq!(reply.expect_error(400, "invalid_request")["field"], field);
    }
}

#[tokio::test]
async fn a_text_record_proves_a_domain() {
    let names = NameServer::start().await;
    let server = server_with(&[("dns_server", &names.address.to_string())]).await;
    let integrator = server.integrator().await;
    for (domain, at) in [("a.example.com", "_svc-challenge.a.example.com"), ("b.example.com", "b.example.com")] {
        let created = integrator.register(domain, HOOK).await;
        let details = prove(&integrator, &created).await.expect_error(422, "domain_verification_failed");
        assert_eq!(details["checks"].as_array().unwrap().len(), 3);
        names.publish(at, "svc-verify=somebody-elses");
        let details = prove(&integrator, &created).await.expect_error(422, "domain_verification_failed");
        let found =
            details["checks"].as_array().unwrap().iter().any(|check| check["found"][0] == "svc-verify=somebody-elses");
        assert!(found, "{details}");
        names.publish(at, created["verification_token"].as_str().unwrap());
        let verified = prove(&integrator, &created).await.expect(200);
        let members: Vec<_> = verified.as_object().unwrap().keys().cloned().collect();
        assert_eq!(members, ["domain", "id", "verified", "verified_at"]);
        // Repeated, it is the same answer without another look.
        names.publish(at, "gone");
        server.pass(10);
        assert_eq!(prove(&integrator, &created).await.expect(200), verified);
        assert_eq!(integrator.get(&path(&created, "")).await.expect(200)["verified_at"], verified["verified_at"]);
    }
    integrator.send_bare(Method::POST, "/domains/dom_x/verify", "").await.expect_error(404, "domain_not_found");
}

#[tokio::test]
async fn a_proved_name_is_closed_to_claims_by_others() {
    let names = NameServer::start().await;
    let server = server_with(&[("dns_server", &names.address.to_string())]).await;
    let (owner, stranger) = (server.integrator().await, server.integrator_of("stranger", Environment::Sandbox).await);
    let own = owner.register("shop.example.com", HOOK).await;
    let mut claims = Vec::new();
    for domain in ["shop.example.com", "a.shop.example.com", "example.com", "other.example.com"] {
        claims.push(stranger.register(domain, HOOK).await);
        stranger.post("/sessions", json!({ "domain": domain })).await.expect(201);
    }
    names.publish("_svc-challenge.shop.example.com", own["verification_token"].as_str().unwrap());
    prove(&owner, &own).await.expect(200);
    for domain in ["shop.example.com", "a.shop.example.com", "example.com"] {
        let reply = stranger.post("/sessions", json!({ "domain": domain })).await;
        reply.expect_error(422, "domain_not_verified");
    }
    stranger.post("/sessions", json!({ "domain": "other.example.com" })).await.expect(201);
    owner.post("/sessions", json!({ "domain": "shop.example.com" })).await.expect(201);
    // Whoever proves the name as well may use it as well.
    names.publish("shop.example.com", claims[0]["verification_token"].as_str().unwrap());
    prove(&stranger, &claims[0]).await.expect(200);
    stranger.post("/sessions", json!({ "domain": "shop.example.com" })).await.expect(201);
}

#[tokio::test]
async fn an_operator_may_ask_for_proofs_of_everyone() {
    let server = server_with(&[("require_verified_domains", "true")]).await;
    let integrator = server.integrator().await;
    integrator.register("example.com", HOOK).await;
    let reply = integrator.post("/sessions", json!({ "domain": "example.com" })).await;
    reply.expect_error(422, "domain_not_verified");
}
