//! Number matching: `confirm: "code"` on `POST /sessions` (docs/handlers.md, Number matching, additive).

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::harness::{Integrator, Phone, Service, text};

async fn open_session(integrator: &Integrator) -> Value {
    integrator.post("/sessions", &json!({ "domain": "shop.test", "confirm": "code" })).await.with(201)
}

fn answer(phone: &Phone, session: &Value, code: Option<&str>) -> Value {
    phone.answer_with(session, code)
}

/// Returns a wrong number.
fn wrong(session: &Value) -> &'static str {
    if text(session, "confirm_code") == "11" { "12" } else { "11" }
}

#[tokio::test]
async fn the_wallet_must_send_the_number_on_the_page() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = open_session(&integrator).await;
    let code = text(&session, "confirm_code");
    assert!(code.len() == 2 && code.parse::<u8>().is_ok_and(|number| number >= 10), "{code}");
    assert!(!text(&session, "qr_data").contains(&format!("confirm={code}")));
    assert!(integrator.get_session(&session).await.with(200).get("confirm_code").is_none());
    let (phone, missing) = (service.phone(), answer(&service.phone(), &session, None));
    let refused = integrator.authenticate(&session, &missing).await.assert_error(406, "invalid_signature");
    assert_eq!(refused, json!({ "reason": "confirm_code" }));
    integrator
        .authenticate(&session, &answer(&phone, &session, Some(wrong(&session))))
        .await
        .assert_error(406, "invalid_signature");
    integrator.authenticate(&session, &answer(&phone, &session, Some(code))).await.with(200);
    assert_eq!(service.outbox().await.len(), 1);
    // A session without number matching has no number, and the number of an answer is ignored.
    let plain = integrator.create_session("shop.test").await;
    assert!(plain.get("confirm_code").is_none());
    integrator.authenticate(&plain, &answer(&phone, &plain, Some("99"))).await.with(200);
    integrator
        .post("/sessions", &json!({ "domain": "shop.test", "confirm": "word" }))
        .await
        .assert_invalid_field("confirm");
}

#[tokio::test]
async fn the_third_wrong_number_ends_the_session() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = open_session(&integrator).await;
    let (phone, bad) = (service.phone(), wrong(&session));
    // An answer with an invalid signature is not counted as an attempt.
    for _ in 0..5 {
        let mut forged = answer(&phone, &session, Some(bad));
        forged["signature"] = "3006020101020101".into();
        integrator.authenticate(&session, &forged).await.assert_error(406, "invalid_signature");
    }
    for _ in 0..2 {
        integrator
            .authenticate(&session, &answer(&phone, &session, Some(bad)))
            .await
            .assert_error(406, "invalid_signature");
    }
    // A refresh replaces the challenge, and does not reset the attempts.
    let fresh = integrator.refresh(&session).await.with(200);
    integrator.authenticate(&fresh, &answer(&phone, &fresh, Some(bad))).await.assert_error(406, "invalid_signature");
    integrator.get_session(&session).await.assert_error(410, "session_cancelled");
    let right = answer(&phone, &fresh, Some(text(&session, "confirm_code")));
    integrator.authenticate(&fresh, &right).await.assert_error(410, "session_cancelled");
    assert_eq!(service.outbox().await.len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_guesses_get_three_attempts() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    for _ in 0..5 {
        let session = open_session(&integrator).await;
        let guesses = (10..100).map(|number| {
            let (integrator, session) = (integrator.clone(), session.clone());
            let answer = answer(&service.phone(), &session, Some(&number.to_string()));
            tokio::spawn(async move { integrator.authenticate(&session, &answer).await.status })
        });
        let statuses: Vec<u16> = join_all(guesses).await.into_iter().map(|status| status.expect("no panic")).collect();
        let looked_at = statuses.iter().filter(|status| [200, 406].contains(*status)).count();
        assert!((1..=3).contains(&looked_at), "{statuses:?}");
    }
}
