//! `signpost webhook`, and the event list for `signpost listen`.

use std::fs;

use serde_json::Value;
use signpost_login::events::DeliveryScope;
use signpost_login::events::deliveries::list_after;
use signpost_login::ids::EventId;
use signpost_platform::accounts::Environment;

use crate::harness::{Program, Service, text};

#[tokio::test]
async fn events_are_listed_after_an_id() {
    let service = Service::start().await;
    let (shop, other) = (service.shop().await, service.integrator_of("other", Environment::Sandbox).await);
    let live = service.integrator_of("other", Environment::Live).await;
    let mut ids = Vec::new();
    for (integrator, domain) in [(&shop, "a.test"), (&other, "b.test"), (&live, "c.test"), (&shop, "d.test")] {
        service.advance_clock(jiff::SignedDuration::from_secs(1));
        let domain = integrator.register_domain_at(domain, "https://shop.test/hook").await;
        let queued = integrator.post_nothing(&format!("/domains/{}/test-event", text(&domain, "id"))).await.with(202);
        ids.push(text(&queued, "id").to_owned());
    }
    let of = async |after: usize, scope: DeliveryScope, most: u32| {
        let after = EventId::parse(&ids[after]).expect("an ID");
        let rows = list_after(&service.app.store, &after, &scope, most).await.expect("a database");
        rows.iter().map(|row| ids.iter().position(|id| id == row.id.as_str()).expect("known")).collect::<Vec<_>>()
    };
    let everything = DeliveryScope::default;
    assert_eq!(of(0, everything(), 10).await, [1, 2, 3]);
    assert_eq!(of(0, everything(), 2).await, [1, 2]);
    assert!(of(3, everything(), 10).await.is_empty());
    let sandbox = DeliveryScope { environment: Some(Environment::Sandbox), ..everything() };
    assert_eq!(of(0, sandbox.clone(), 10).await, [1, 3]);
    assert_eq!(of(0, DeliveryScope { account: Some("other".to_owned()), ..sandbox }, 10).await, [1]);
}

#[tokio::test]
async fn webhook_verify_names_the_mistake() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &[]).await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    let own = text(&domain, "webhook_secret");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    let body = r#"{"id":"evt_1","event":"test","timestamp":"2026-11-20T12:00:00Z","session_id":"","data":{}}"#;
    write("body", body);
    write("spaced", &body.replace(':', ": ").replace(',', ", ").replace("12: 00: 00", "12:00:00"));
    write("ended", &format!("{body}\n"));
    write("secret.txt", own);
    write("encoded", &Value::from(body).to_string());
    write("secret", &format!("{own}\n"));
    let webhook = |arguments: &[&str]| Program::within(folder.path(), &[&["webhook"], arguments].concat()).run();
    let signed = webhook(&["sign", "body", "--domain", "shop.test"]);
    assert_eq!((signed.code, signed.err.as_str()), (Some(0), ""));
    assert!(
        signed.out.starts_with("x-svc-signature: ") && signed.out.contains("webhook-id: evt_1\n"),
        "{}",
        signed.out
    );
    write("headers", &signed.out);
    write("standard", &signed.out.lines().filter(|line| line.starts_with("webhook-")).collect::<Vec<_>>().join("\n"));
    write("svix", &signed.out.replace("webhook-", "svix-"));
    let curl = webhook(&["sign", "body", "--secret-file", "secret", "--curl", "http://localhost:1/it's"]);
    assert!(curl.out.starts_with("curl ") && curl.out.contains("--data-binary '@body'"), "{}", curl.out);
    let other = integrator.register_domain("other.test").await;
    let quoted = format!("\"{own}\"");
    for (body, secret, mistake) in [
        ("body", own, None),
        ("body", &format!("{own}\n"), Some("secret_line_end")),
        ("body", &quoted, Some("secret_quotes")),
        ("body", text(&other, "webhook_secret"), Some("other_secret")),
        ("spaced", own, Some("parsed_body")),
        ("ended", own, Some("body_end")),
        ("encoded", own, Some("encoded_body")),
        ("body", &format!("Bearer {own}"), Some("secret_prefix")),
    ] {
        let verified = webhook(&["verify", body, "--headers", "headers", "--secret", secret, "--json"]);
        let found: Value = serde_json::from_str(&verified.out).expect("JSON");
        let expected = (Some(i32::from(mistake.is_some())), mistake.is_none(), mistake);
        let got = (verified.code, found["valid"] == true, found["mistakes"][0]["mistake"].as_str());
        assert_eq!(got, expected, "{body} {found} {}", verified.err);
    }
    for (headers, mistake) in [("standard", None), ("svix", Some("header_names"))] {
        let verified = webhook(&["verify", "body", "--headers", headers, "--secret-file", "secret.txt", "--json"]);
        let found: Value = serde_json::from_str(&verified.out).expect("JSON");
        assert_eq!(found["mistakes"][0]["mistake"].as_str(), mistake, "{headers} {found}");
    }
    let by_domain = ["verify", "body", "--headers", "headers", "--domain", "shop.test", "--sandbox"];
    assert!(webhook(&by_domain).out.starts_with("The signature matches."));
    for wrong in [
        &["verify", "body", "--secret", "x"][..],
        &["verify", "body", "--headers", "headers"],
        &["sign", "body"],
        &["sign", "body", "--secret", "x"],
        &["sign", "body", "--secret", own, "--domain", "shop.test"],
    ] {
        assert_eq!(webhook(wrong).code, Some(2), "{wrong:?}");
    }
}
