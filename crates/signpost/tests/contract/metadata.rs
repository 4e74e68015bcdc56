//! docs/api.md, Create: the metadata of a session is returned unchanged.

use serde_json::{Value, json};

use crate::harness::{Integrator, Service, members};

#[tokio::test]
async fn metadata_is_returned_in_every_state() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    for metadata in [
        json!({}),
        json!({ "return_url": "/account?tab=1#top", "custom_data": "a \"b\" \\ \u{0} \u{1F600} ü\n" }),
        json!({ "return_url": "https://www.shop.test:8443/account", "custom_data": "" }),
        json!({ "custom_data": "é".repeat(4096) }),
        json!({ "other": { "nested": [1, -2, 0.5, true, null, "x"] }, "": "empty", "zeta": 1, "alpha": 2 }),
    ] {
        let body = json!({ "domain": "shop.test", "metadata": metadata });
        let session = integrator.post("/sessions", &body).await.with(201);
        assert_eq!(session["metadata"], metadata);
        let pending = integrator.get_session(&session).await.with(200);
        assert_eq!(members(&pending), ["id", "domain_id", "status", "expires_at", "metadata"].into());
        assert_eq!(pending["metadata"], metadata);
        integrator.refresh(&session).await.with(200);
        assert_eq!(integrator.get_session(&session).await.with(200)["metadata"], metadata);
        let session = integrator.post("/sessions", &body).await.with(201);
        integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
        let seen = integrator.get_session(&session).await.with(200);
        assert_eq!(members(&seen), ["id", "domain_id", "status", "authenticated_at", "user", "metadata"].into());
        assert_eq!(seen["metadata"], metadata);
    }
}

#[tokio::test]
async fn numbers_preserve_every_digit() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    for number in
        ["9007199254740993", "18446744073709551616", "123456789012345678901234567890", "0.1234567890123456789"]
    {
        let body = format!(r#"{{"domain":"shop.test","metadata":{{"order":{number}}}}}"#);
        let created = integrator.post_raw("/sessions", &body).await;
        let session = created.with(201);
        assert!(created.text.contains(number), "{number} became {}", session["metadata"]);
        assert!(integrator.get_session(&session).await.text.contains(number), "{number}");
    }
}

#[tokio::test]
async fn a_return_url_stays_on_the_domain() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let (longest, too_long) = (format!("/{}", "é".repeat(2047)), format!("/{}", "é".repeat(2048)));
    for (value, ok) in [
        (json!("/"), true),
        (json!("/a//b?next=//c"), true),
        (json!("https://shop.test"), true),
        (json!("https://SHOP.test/"), true),
        (json!(longest), true),
        (json!(too_long), false),
        (json!("//evil.test"), false),
        (json!("/\\evil.test"), false),
        (json!("/\t/evil.test"), false),
        (json!("\\\\evil.test"), false),
        (json!(" /account"), false),
        (json!("http://shop.test/"), false),
        (json!("https://evil.test/"), false),
        (json!("https://shop.test.evil.test/"), false),
        (json!("https://shop.test@evil.test/"), false),
        (json!("https:/\\evil.test"), false),
        (json!("javascript:alert(1)"), false),
        (json!("account"), false),
        (json!(""), false),
        (json!(null), false),
        (json!(1), false),
        (json!(["/"]), false),
    ] {
        check(&integrator, "return_url", &value, ok).await;
    }
}

#[tokio::test]
async fn custom_data_has_at_most_4096_characters() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    for (value, ok) in [
        (json!(""), true),
        (json!("ü".repeat(4096)), true),
        (json!("\u{1F600}".repeat(4096)), true),
        (json!("a".repeat(4097)), false),
        (json!({ "cart": 1 }), false),
        (json!(1), false),
        (json!(null), false),
    ] {
        check(&integrator, "custom_data", &value, ok).await;
    }
}

async fn check(integrator: &Integrator, member: &str, value: &Value, ok: bool) {
    let body = json!({ "domain": "shop.test", "metadata": { member: value } });
    let reply = integrator.post("/sessions", &body).await;
    if ok {
        assert_eq!(reply.with(201)["metadata"][member], *value);
    } else {
        reply.assert_invalid_field(&format!("metadata.{member}"));
    }
}
