//! docs/api.md, Refresh: a new challenge for an unanswered session.

use jiff::SignedDuration;
use serde_json::json;

use crate::harness::{Service, members, scan, text, time};

#[tokio::test]
async fn refresh_issues_a_new_challenge() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let body = json!({ "domain": "shop.test", "mode": "register", "metadata": { "custom_data": "kept" } });
    let session = integrator.post("/sessions", &body).await.with(201);
    service.passes(SignedDuration::from_secs(100));
    let refreshed = integrator.refreshes(&session).await.with(200);
    assert_eq!(members(&refreshed), ["id", "challenge", "qr_data", "expires_at"].into());
    assert_eq!(refreshed["id"], session["id"]);
    assert_ne!(refreshed["challenge"], session["challenge"]);
    let now = service.clock.now();
    assert_eq!(time(&refreshed, "expires_at"), now.as_millisecond() + 300_000);
    let qr = scan(&refreshed);
    assert_eq!(qr.challenge().to_string(), text(&refreshed, "challenge"));
    assert_eq!(qr.challenge().issued_at, now.as_second());
    assert_eq!(qr.challenge().mode, signpost_auth::Mode::Register);
    let seen = integrator.sees(&session).await.with(200);
    assert_eq!((&seen["status"], &seen["expires_at"]), (&json!("pending"), &refreshed["expires_at"]));
    assert_eq!(seen["metadata"]["custom_data"], "kept");
    let other = integrator.opens("shop.test").await;
    integrator.hands_in(&other, &service.phone().answers(&refreshed)).await.refused(404, "challenge_not_found");
    integrator.hands_in(&session, &service.phone().answers(&refreshed)).await.with(200);
}

#[tokio::test]
async fn refresh_invalidates_the_old_challenge() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.opens("shop.test").await;
    let phone = service.phone();
    let answers = [phone.answers(&session), phone.signs(text(&session, "challenge"))];
    // In the same millisecond, so only the nonces differ.
    let refreshed = integrator.refreshes(&session).await.with(200);
    for answer in &answers {
        integrator.hands_in(&session, answer).await.refused(404, "challenge_not_found");
    }
    integrator.hands_in(&session, &phone.answers(&refreshed)).await.with(200);
}

#[tokio::test]
async fn expired_session_is_refreshed_for_15_minutes() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let (one, two) = (integrator.opens("shop.test").await, integrator.opens("shop.test").await);
    service.passes(SignedDuration::from_secs(300 + 15 * 60) - SignedDuration::from_millis(1));
    integrator.sees(&one).await.refused(410, "session_expired");
    let refreshed = integrator.refreshes(&one).await.with(200);
    assert_eq!(integrator.sees(&one).await.with(200)["status"], "pending");
    service.passes(SignedDuration::from_millis(2));
    let details = integrator.refreshes(&two).await.refused(410, "session_expired");
    assert_eq!(details["status"], "expired");
    integrator.sees(&two).await.refused(410, "session_expired");
    integrator.hands_in(&one, &service.phone().answers(&refreshed)).await.with(200);
}

#[tokio::test]
async fn authenticated_session_cannot_be_refreshed() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.opens("shop.test").await;
    integrator.hands_in(&session, &service.phone().answers(&session)).await.with(200);
    let before = integrator.sees(&session).await.with(200);
    for seconds in [0, 299, 1, 15 * 60, 3600] {
        service.passes(SignedDuration::from_secs(seconds));
        integrator.refreshes(&session).await.refused(409, "session_already_authenticated");
    }
    assert_eq!(integrator.sees(&session).await.with(200), before);
}
