//! Domain verification (docs/api.md, Verification), and its effect on other accounts.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signpost_platform::accounts::Environment;

use crate::harness::{Integrator, NameServer, Reply, Service, members, text, time};

async fn verify(integrator: &Integrator, domain: &Value) -> Reply {
    integrator.post_nothing(&format!("/domains/{}/verify", text(domain, "id"))).await
}

/// Returns a domain that is verified by a record at its name.
async fn register_verified(names: &NameServer, integrator: &Integrator, name: &str) -> Value {
    let domain = integrator.register_domain(name).await;
    names.set_txt(name, &[text(&domain, "verification_token")]);
    verify(integrator, &domain).await.with(200)
}

async fn with_names() -> (Service, NameServer) {
    let names = NameServer::start().await;
    (Service::with(&[("dns_server", &names.setting())]).await, names)
}

#[tokio::test]
async fn record_at_or_below_the_name_verifies_it() {
    let (service, names) = with_names().await;
    let integrator = service.integrator().await;
    for (name, at) in [("below.test", "_svc-challenge.below.test"), ("at.test", "at.test")] {
        let domain = integrator.register_domain(name).await;
        let token = text(&domain, "verification_token");
        names.set_txt(at, &["v=spf1 -all", "svc-verify=somebody-elses", token, "google=x"]);
        let reply = verify(&integrator, &domain).await.with(200);
        assert_eq!(members(&reply), ["id", "domain", "verified", "verified_at"].into());
        assert_eq!((&reply["id"], &reply["domain"]), (&domain["id"], &json!(name)));
        assert_eq!(reply["verified"], true);
        assert_eq!(time(&reply, "verified_at"), service.clock.now().as_millisecond());
        let shown = integrator.get(&format!("/domains/{}", text(&domain, "id"))).await.with(200);
        assert_eq!((&shown["verified"], &shown["verified_at"]), (&json!(true), &reply["verified_at"]));
    }
    let list = integrator.get("/domains").await.with(200);
    assert!(list["domains"].as_array().unwrap().iter().all(|domain| domain["verified"] == true), "{list}");
}

#[tokio::test]
async fn failed_check_lists_its_lookups() {
    let (service, names) = with_names().await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    names.set_txt("shop.test", &["v=spf1 include:private.test", "svc-verify=wrong"]);
    names.fail_for("_svc-challenge.shop.test");
    let details = verify(&integrator, &domain).await.assert_error(422, "domain_verification_failed");
    assert_eq!(details["domain"], "shop.test");
    let checks = details["checks"].as_array().expect("a list");
    let of =
        |name: &str| checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("{name}: {details}"));
    for check in checks {
        assert_eq!(check["expected"], domain["verification_token"]);
    }
    assert_eq!(of("shop.test")["found"], json!(["svc-verify=wrong"]));
    assert_eq!(of("_svc-challenge.shop.test")["found"], json!([]));
    assert!(of("_svc-challenge.shop.test")["error"].is_string(), "{details}");
    assert!(of("https://shop.test/.well-known/svc-verify")["error"].is_string(), "{details}");
    assert!(!details.to_string().contains("spf1"), "{details}");
    let shown = integrator.get(&format!("/domains/{}", text(&domain, "id"))).await.with(200);
    assert_eq!(shown["verified"], false);
}

#[tokio::test]
async fn each_check_repeats_its_lookups() {
    let (service, names) = with_names().await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    verify(&integrator, &domain).await.assert_error(422, "domain_verification_failed");
    names.set_txt("shop.test", &["svc-verify=old"]);
    verify(&integrator, &domain).await.assert_error(422, "domain_verification_failed");
    names.set_txt("shop.test", &[text(&domain, "verification_token")]);
    let first = verify(&integrator, &domain).await.with(200);
    names.set_txt("shop.test", &[]);
    service.advance_clock(jiff::SignedDuration::from_secs(60));
    assert_eq!(verify(&integrator, &domain).await.with(200), first);
}

#[tokio::test]
async fn check_ends_within_ten_seconds() {
    let (service, names) = with_names().await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    names.ignore("shop.test");
    names.ignore("_svc-challenge.shop.test");
    let begun = Instant::now();
    verify(&integrator, &domain).await.assert_error(422, "domain_verification_failed");
    // Plus the time that a busy machine needs.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn found_proof_ends_the_check() {
    let (service, names) = with_names().await;
    let integrator = service.integrator().await;
    let (domain, other) =
        (integrator.register_domain("shop.test").await, integrator.register_domain("other.test").await);
    names.set_txt("_svc-challenge.shop.test", &[text(&domain, "verification_token")]);
    for silent in ["shop.test", "other.test", "_svc-challenge.other.test"] {
        names.ignore(silent);
    }
    tokio::select! {
        found = verify(&integrator, &domain) => drop(found.with(200)),
        _ = verify(&integrator, &other) => panic!("it took as long as a failed look-up"),
    }
}

#[tokio::test]
async fn two_accounts_can_verify_one_domain() {
    let (service, names) = with_names().await;
    let one = service.integrator_of("one", Environment::Sandbox).await;
    let two = service.integrator_of("two", Environment::Sandbox).await;
    let (first, second) = (one.register_domain("shop.test").await, two.register_domain("shop.test").await);
    names.set_txt("shop.test", &[text(&first, "verification_token")]);
    verify(&one, &first).await.with(200);
    verify(&two, &second).await.assert_error(422, "domain_verification_failed");
    two.post("/sessions", &json!({ "domain": "shop.test" })).await.assert_error(422, "domain_not_verified");
    names.set_txt("shop.test", &[text(&first, "verification_token"), text(&second, "verification_token")]);
    verify(&two, &second).await.with(200);
    one.create_session("shop.test").await;
    two.create_session("shop.test").await;
}

#[tokio::test]
async fn verified_domain_excludes_unverified_accounts() {
    let (service, names) = with_names().await;
    let owner = service.integrator_of("owner", Environment::Sandbox).await;
    let other = service.integrator_of("other", Environment::Sandbox).await;
    for name in ["a.shop.test", "co.uk-shop.test", "one.co.uk"] {
        register_verified(&names, &owner, name).await;
    }
    for (name, is_claimed) in [
        ("a.shop.test", true),
        ("shop.test", true),
        ("b.a.shop.test", true),
        ("c.b.a.shop.test", true),
        ("b.shop.test", false),
        ("aa.shop.test", false),
        ("a.b.shop.test", false),
        ("myshop.test", false),
        ("two.co.uk", false),
        ("www.one.co.uk", true),
    ] {
        other.register_domain(name).await;
        let reply = other.post("/sessions", &json!({ "domain": name })).await;
        if is_claimed {
            assert_eq!(reply.assert_error(422, "domain_not_verified")["domain"], name);
        } else {
            reply.with(201);
        }
    }
    owner.register_domain("shop.test").await;
    owner.create_session("shop.test").await;
    let elsewhere = service.integrator_of("other", Environment::Live).await;
    elsewhere.register_domain_at("a.shop.test", "https://a.shop.test/").await;
    elsewhere.create_session("a.shop.test").await;
}

#[tokio::test]
async fn setting_requires_verified_domains() {
    let names = NameServer::start().await;
    let settings = [("require_verified_domains", "true"), ("dns_server", &names.setting())];
    let service = Service::with(&settings).await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    let body = json!({ "domain": "shop.test" });
    assert_eq!(
        integrator.post("/sessions", &body).await.assert_error(422, "domain_not_verified")["domain"],
        "shop.test"
    );
    let unknown = json!({ "domain": "unknown.test" });
    integrator.post("/sessions", &unknown).await.assert_error(422, "domain_not_registered");
    names.set_txt("shop.test", &[text(&domain, "verification_token")]);
    verify(&integrator, &domain).await.with(200);
    integrator.post("/sessions", &body).await.with(201);
}
