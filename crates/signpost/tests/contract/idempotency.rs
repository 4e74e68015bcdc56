//! `Idempotency-Key` on `POST /sessions` (docs/api.md, Create).

use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::json;

use crate::harness::{Service, text};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_repeated_creation_happens_once() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let body = json!({ "domain": "shop.test", "metadata": { "custom_data": "x" } });
    let replies = join_all((0..16).map(|_| {
        let (integrator, body) = (integrator.clone(), body.clone());
        tokio::spawn(async move { integrator.create_idempotently("order-17", &body).await })
    }))
    .await;
    let replies: Vec<_> = replies.into_iter().map(|reply| reply.expect("no panic")).collect();
    let first = replies[0].with(201);
    assert!(replies.iter().all(|reply| reply.with(201) == first), "{replies:?}");
    let replayed = replies.iter().filter(|reply| reply.header("idempotent-replayed") == Some("true")).count();
    assert_eq!(replayed, 15);
    // Another spelling of the body is an equal request.
    let spelled = r#"{ "metadata": { "custom_data": "x" },  "mode": "login", "domain": "SHOP.test." }"#;
    let again = integrator.create_idempotently("order-17", &serde_json::from_str(spelled).expect("JSON")).await;
    assert_eq!(again.with(201), first);
    let other = integrator.create_idempotently("order-18", &body).await.with(201);
    assert_ne!(other["id"], first["id"]);
}

#[tokio::test]
async fn a_key_is_valid_for_one_request_and_a_day() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let body = json!({ "domain": "shop.test" });
    let first = integrator.create_idempotently("k", &body).await.with(201);
    for other in
        [json!({ "domain": "shop.test", "mode": "register" }), json!({ "domain": "shop.test", "metadata": {} })]
    {
        integrator.create_idempotently("k", &other).await.assert_error(422, "idempotency_key_reused");
    }
    let rival = service.integrator_of("rival", signpost_platform::accounts::Environment::Sandbox).await;
    rival.register_domain("shop.test").await;
    assert_ne!(rival.create_idempotently("k", &body).await.with(201)["id"], first["id"]);
    // Failures are not stored.
    integrator
        .create_idempotently("late", &json!({ "domain": "late.test" }))
        .await
        .assert_error(422, "domain_not_registered");
    integrator.register_domain("late.test").await;
    integrator.create_idempotently("late", &json!({ "domain": "late.test" })).await.with(201);
    for wrong in ["", " ", "a b", &"k".repeat(256)] {
        integrator.create_idempotently(wrong, &body).await.assert_invalid_field("Idempotency-Key");
    }
    service.advance_clock(SignedDuration::from_hours(24));
    let next = integrator.create_idempotently("k", &body).await.with(201);
    assert_ne!(text(&next, "id"), text(&first, "id"));
}
