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
    service.advance_clock(SignedDuration::from_secs(100));
    let refreshed = integrator.refresh(&session).await.with(200);
    assert_eq!(members(&refreshed), ["id", "domain_id", "challenge", "qr_data", "expires_at"].into());
    assert_eq!(refreshed["id"], session["id"]);
    assert_ne!(refreshed["challenge"], session["challenge"]);
    let now = service.clock.now();
    assert_eq!(time(&refreshed, "expires_at"), now.as_millisecond() + 300_000);
    let qr = scan(&refreshed);
    assert_eq!(qr.challenge().to_string(), text(&refreshed, "challenge"));
    assert_eq!(qr.challenge().issued_at, now.as_second());
    assert_eq!(qr.challenge().mode, signpost_auth::Mode::Register);
    let seen = integrator.get_session(&session).await.with(200);
    assert_eq!((&seen["status"], &seen["expires_at"]), (&json!("pending"), &refreshed["expires_at"]));
    assert_eq!(seen["metadata"]["custom_data"], "kept");
    let other = integrator.create_session("shop.test").await;
    integrator.authenticate(&other, &service.phone().answer(&refreshed)).await.assert_error(404, "challenge_not_found");
    integrator.authenticate(&session, &service.phone().answer(&refreshed)).await.with(200);
}

#[tokio::test]
async fn refresh_invalidates_the_old_challenge() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let phone = service.phone();
    let answers = [phone.answer(&session), phone.sign_text(text(&session, "challenge"))];
    // Both challenges are of the same millisecond, so only the nonces differ.
    let refreshed = integrator.refresh(&session).await.with(200);
    for answer in &answers {
        integrator.authenticate(&session, answer).await.assert_error(404, "challenge_not_found");
    }
    integrator.authenticate(&session, &phone.answer(&refreshed)).await.with(200);
}

#[tokio::test]
async fn expired_session_is_refreshed_for_15_minutes() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let (one, two) = (integrator.create_session("shop.test").await, integrator.create_session("shop.test").await);
    service.advance_clock(SignedDuration::from_secs(300 + 15 * 60) - SignedDuration::from_millis(1));
    integrator.get_session(&one).await.assert_error(410, "session_expired");
    let refreshed = integrator.refresh(&one).await.with(200);
    assert_eq!(integrator.get_session(&one).await.with(200)["status"], "pending");
    service.advance_clock(SignedDuration::from_millis(2));
    let details = integrator.refresh(&two).await.assert_error(410, "session_expired");
    assert_eq!(details["status"], "expired");
    integrator.get_session(&two).await.assert_error(410, "session_expired");
    integrator.authenticate(&one, &service.phone().answer(&refreshed)).await.with(200);
}

#[tokio::test]
async fn authenticated_session_cannot_be_refreshed() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    integrator.authenticate(&session, &service.phone().answer(&session)).await.with(200);
    let before = integrator.get_session(&session).await.with(200);
    for seconds in [0, 299, 1, 15 * 60, 3600] {
        service.advance_clock(SignedDuration::from_secs(seconds));
        integrator.refresh(&session).await.assert_error(409, "session_already_authenticated");
    }
    assert_eq!(integrator.get_session(&session).await.with(200), before);
}
