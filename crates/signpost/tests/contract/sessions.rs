//! Specification, §4, and docs/api.md, Sessions: creating and reading sessions.

use jiff::SignedDuration;
use serde_json::{Value, json};
use signpost_auth::{Challenge, Mode};
use signpost_platform::accounts::Environment;

use crate::harness::{Endpoint, Service, UNREACHABLE_URL, members, scan, text, time};

const CREATED: [&str; 8] =
    ["id", "domain_id", "challenge", "qr_data", "expires_at", "status", "created_at", "client_secret"];

#[tokio::test]
async fn only_the_domain_is_required() {
    let service = Service::start().await;
    let session = service.shop().await.create_session("shop.test").await;
    assert_eq!(members(&session), CREATED.into());
    assert!(text(&session, "id").starts_with("sess_"));
    assert_eq!(session["status"], "pending");
    let (created_at, expires_at) = (time(&session, "created_at"), time(&session, "expires_at"));
    assert_eq!(created_at, service.clock.now().as_millisecond());
    assert_eq!(expires_at - created_at, 300_000);
    let parts: Vec<_> = text(&session, "challenge").split(':').collect();
    let [scheme, mode, domain, unix, nonce] = parts[..] else { panic!("{parts:?}") };
    assert_eq!((scheme, mode, domain), ("svc", "login", "shop.test"));
    assert_eq!(unix, (created_at / 1000).to_string());
    // At least 128 bits in base32 or base64url.
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    assert!(nonce.len() >= 22 && nonce.chars().all(is_letter), "{nonce}");
    let qr = scan(&session);
    assert_eq!(qr.challenge().to_string(), text(&session, "challenge"));
    assert_eq!(qr.webhook().as_str(), UNREACHABLE_URL);
    assert_eq!(qr.expires_at(), expires_at / 1000);
}

#[tokio::test]
async fn operator_sets_the_session_lifetime() {
    for (setting, milliseconds) in [("1s", 1000), ("90s", 90_000), ("1h", 3_600_000)] {
        let service = Service::with(&[("session_ttl", setting)]).await;
        let session = service.shop().await.create_session("shop.test").await;
        assert_eq!(time(&session, "expires_at") - time(&session, "created_at"), milliseconds);
    }
}

#[tokio::test]
async fn session_ids_and_challenges_are_unique() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let (one, two) = (integrator.create_session("shop.test").await, integrator.create_session("shop.test").await);
    assert_ne!(one["id"], two["id"]);
    assert_ne!(one["challenge"], two["challenge"]);
}

#[tokio::test]
async fn mode_is_login_or_register() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let modes = [("login", Mode::Login), ("register", Mode::Register), ("registration", Mode::Register)];
    for (word, mode) in modes {
        let session = integrator.post("/sessions", &json!({ "domain": "shop.test", "mode": word })).await.with(201);
        let challenge = Challenge::parse(text(&session, "challenge")).expect("a challenge");
        assert_eq!(challenge.mode, mode);
        assert!(text(&session, "challenge").starts_with(&format!("svc:{}:", mode.as_str())));
        let sentence = format!("Sign this to {} to shop.test at ", mode.as_str());
        assert!(challenge.sentence().starts_with(&sentence));
    }
    for word in ["", "LOGIN", "logout", " login", "auth"] {
        integrator
            .post("/sessions", &json!({ "domain": "shop.test", "mode": word }))
            .await
            .assert_invalid_field("mode");
    }
}

#[tokio::test]
async fn domain_must_belong_to_the_account() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    for domain in ["shop.test", "SHOP.test", "shop.test."] {
        let session = integrator.create_session(domain).await;
        assert!(text(&session, "challenge").contains(":shop.test:"));
    }
    for domain in ["other.test", "www.shop.test", "test.shop", "localhost"] {
        let reply = integrator.post("/sessions", &json!({ "domain": domain })).await;
        assert_eq!(reply.assert_error(422, "domain_not_registered")["domain"], domain);
    }
    for domain in ["", "shop", "https://shop.test", "shop.test:443", "127.0.0.1", "*.shop.test", "shop test"] {
        integrator.post("/sessions", &json!({ "domain": domain })).await.assert_invalid_field("domain");
    }
}

#[tokio::test]
async fn webhook_url_must_belong_to_the_domain() {
    let service = Service::start().await;
    let (live, sandbox) = (service.integrator_of("acme", Environment::Live).await, service.integrator().await);
    live.register_domain_at("shop.test", "https://auth.provider.test:8443/hook").await;
    sandbox.register_domain_at("shop.test", "http://127.0.0.1:1/hook").await;
    for (url, in_live, in_sandbox) in [
        ("https://shop.test/login", true, true),
        ("https://shop.test:9443/login", true, true),
        ("https://SHOP.test/login", true, true),
        ("https://www.shop.test/login?a=b", true, true),
        ("https://a.b.shop.test/", true, true),
        ("https://auth.provider.test/other", true, false),
        ("https://auth.provider.test:1/", true, false),
        ("https://provider.test/", false, false),
        ("https://x.auth.provider.test/", false, false),
        ("https://myshop.test/", false, false),
        ("https://shop.test.evil.test/", false, false),
        ("https://shop.test@evil.test/", false, false),
        ("https://user@shop.test/", false, false),
        ("https://shop.test/#top", false, false),
        ("https://shop.test\\@evil.test/", false, false),
        ("https://shop.test/a b", false, false),
        ("http://shop.test/login", false, false),
        ("ftp://shop.test/", false, false),
        ("http://127.0.0.1:2/other", false, true),
        ("http://localhost:1/hook", false, false),
        ("/login", false, false),
        ("", false, false),
    ] {
        for (integrator, ok) in [(&live, in_live), (&sandbox, in_sandbox)] {
            let body = json!({ "domain": "shop.test", "webhook_url": url });
            let reply = integrator.post("/sessions", &body).await;
            if !ok {
                reply.assert_invalid_field("webhook_url");
                continue;
            }
            let shown = scan(&reply.with(201)).webhook().to_string();
            assert_eq!(shown.to_lowercase(), url.to_lowercase());
        }
    }
}

#[tokio::test]
async fn qr_code_has_at_most_500_characters() {
    let service = Service::start().await;
    let integrator = service.integrator_of("acme", Environment::Live).await;
    integrator.register_domain_at("shop.test", "https://shop.test/webhooks/login").await;
    let session = integrator.create_session("shop.test").await;
    let challenge = text(&session, "challenge");
    let exp = time(&session, "expires_at") / 1000;
    let expected = format!("svc://auth?v=1&webhook=https://shop.test/webhooks/login&challenge={challenge}&exp={exp}");
    assert_eq!(text(&session, "qr_data"), expected);
    assert!(!expected.contains(text(&session, "id")));
    let url = |length: usize| format!("https://shop.test/{}", "a".repeat(length));
    let fixed = expected.len() - "webhooks/login".len();
    for (length, ok) in [(500 - fixed, true), (501 - fixed, false)] {
        let body = json!({ "domain": "shop.test", "webhook_url": url(length) });
        let reply = integrator.post("/sessions", &body).await;
        if ok {
            assert_eq!(text(&reply.with(201), "qr_data").len(), 500);
        } else {
            reply.assert_invalid_field("webhook_url");
        }
    }
}

#[tokio::test]
async fn pending_session_has_status_and_expiry() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let seen = integrator.get_session(&session).await.with(200);
    assert_eq!(members(&seen), ["id", "domain_id", "status", "expires_at"].into());
    assert_eq!(seen["status"], "pending");
    assert_eq!((&seen["id"], &seen["expires_at"]), (&session["id"], &session["expires_at"]));
}

#[tokio::test]
async fn authenticated_session_has_user_and_time() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    service.advance_clock(SignedDuration::from_millis(1234));
    let phone = service.phone();
    let answered = integrator.authenticate(&session, &phone.answer(&session)).await.with(200);
    let seen = integrator.get_session(&session).await.with(200);
    assert_eq!(answered, seen);
    assert_eq!(members(&seen), ["id", "domain_id", "status", "authenticated_at", "user"].into());
    assert_eq!(seen["status"], "authenticated");
    assert_eq!(time(&seen, "authenticated_at"), service.clock.now().as_millisecond());
    let device = json!({ "platform": "ios", "version": "17.5" });
    assert_eq!(seen["user"], json!({ "public_key": phone.public_key(), "device_info": device }));
}

#[tokio::test]
async fn session_expires_exactly_at_its_expiry() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    service.advance_clock(SignedDuration::from_millis(299_999));
    assert_eq!(integrator.get_session(&session).await.with(200)["status"], "pending");
    service.advance_clock(SignedDuration::from_millis(1));
    let details = integrator.get_session(&session).await.assert_error(410, "session_expired");
    assert_eq!(details["status"], "expired");
    service.advance_clock(SignedDuration::from_hours(24 * 6));
    integrator.get_session(&session).await.assert_error(410, "session_expired");
    // A finished session is unknown after a week, even if its row still exists.
    service.advance_clock(SignedDuration::from_hours(24));
    integrator.get_session(&session).await.assert_error(404, "session_not_found");
}

#[tokio::test]
async fn authenticated_session_is_readable_for_a_day() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    service.advance_clock(SignedDuration::from_hours(24) - SignedDuration::from_millis(1));
    assert_eq!(integrator.get_session(&session).await.with(200)["status"], "authenticated");
    service.advance_clock(SignedDuration::from_millis(2));
    integrator.get_session(&session).await.assert_error(404, "session_not_found");
    integrator.refresh(&session).await.assert_error(404, "session_not_found");
}

#[tokio::test]
async fn register_session_accepts_an_answer() {
    let service = Service::start().await;
    let mut endpoint = Endpoint::start().await;
    let integrator = service.integrator().await;
    integrator.register_domain_at("shop.test", &endpoint.url("/hook")).await;
    let body = json!({ "domain": "shop.test", "mode": "registration" });
    let session = integrator.post("/sessions", &body).await.with(201);
    let answer = service.phone().answer(&session);
    assert!(text(&answer, "challenge").starts_with("Sign this to register to shop.test at "));
    integrator.authenticate(&session, &answer).await.with(200);
    let event: Value = endpoint.next_request().await.json();
    assert_eq!((&event["event"], &event["session_id"]), (&json!("register"), &session["id"]));
}
