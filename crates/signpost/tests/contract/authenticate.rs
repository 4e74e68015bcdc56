//! Answers to a session and the order of their checks (docs/api.md, Authenticate).

use jiff::SignedDuration;
use serde_json::{Value, json};
use signpost_auth::{Challenge, Wallet};

use crate::harness::{Phone, Service, text};

fn with(answer: &Value, changes: &[(&str, Value)]) -> Value {
    let mut answer = answer.clone();
    for (member, value) in changes {
        answer[*member] = value.clone();
    }
    answer
}

fn without(answer: &Value, member: &str) -> Value {
    let mut answer = answer.clone();
    answer.as_object_mut().expect("an object").remove(member);
    answer
}

/// Faults of an answer in the order of the checks, each with the expected status and code.
const FAULTS: [(&str, u16, &str); 6] = [
    ("no such session", 404, "session_not_found"),
    ("a field is missing", 400, "invalid_request"),
    ("the timestamp is off", 408, "timestamp_out_of_range"),
    ("the challenge is another's", 404, "challenge_not_found"),
    ("the session is over", 0, ""),
    ("the signature is another's", 406, "invalid_signature"),
];

/// Returns an answer with all faults of [`FAULTS`] from `first` on, except for the session's faults.
fn faulty(answer: &Value, first: usize) -> Value {
    let faults: [fn(&Value) -> Value; 6] = [
        Value::clone,
        |answer| without(answer, "signature"),
        |answer| with(answer, &[("timestamp", json!(1))]),
        |answer| with(answer, &[("challenge", json!("svc:login:shop.test:1:AAAAAAAAAAAAAAAAAAAAAA"))]),
        Value::clone,
        |answer| with(answer, &[("public_key", json!(text(answer, "public_key").replace("02", "03")))]),
    ];
    faults[first..].iter().rev().fold(answer.clone(), |answer, fault| fault(&answer))
}

#[tokio::test]
async fn first_fault_in_order_is_reported() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let phone = Phone::of(7, &service.clock);
    for (over, status, code) in
        [("expired", 410, "session_expired"), ("answered", 409, "session_already_authenticated")]
    {
        let session = integrator.create_session("shop.test").await;
        if over == "answered" {
            integrator.authenticate(&session, &phone.answer(&session)).await.with(200);
        }
        // An answered session that is also expired is reported as answered.
        service.advance_clock(SignedDuration::from_secs(400));
        let answer = phone.answer(&session);
        for (first, (fault, mut expected, mut phrase)) in FAULTS.into_iter().enumerate().take(5) {
            let mut target = session.clone();
            if first == 0 {
                target["id"] = json!(text(&session, "id").replace("sess_", "sess_x"));
            }
            if expected == 0 {
                (expected, phrase) = (status, code);
            }
            let reply = integrator.authenticate(&target, &faulty(&answer, first)).await;
            assert_eq!((reply.status, reply.code().as_str()), (expected, phrase), "{over}: {fault}: {}", reply.text);
        }
    }
    let session = integrator.create_session("shop.test").await;
    let answer = phone.answer(&session);
    integrator.authenticate(&session, &faulty(&answer, 5)).await.assert_error(406, "invalid_signature");
    integrator.authenticate(&session, &answer).await.with(200);
}

#[tokio::test]
async fn answer_is_accepted_once() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let answer = service.phone().answer(&session);
    let first = integrator.authenticate(&session, &answer).await.with(200);
    integrator.authenticate(&session, &answer).await.assert_error(409, "session_already_authenticated");
    let other = Phone::of(8, &service.clock).answer(&session);
    integrator.authenticate(&session, &other).await.assert_error(409, "session_already_authenticated");
    assert_eq!(integrator.get_session(&session).await.with(200), first);
    assert_eq!(service.outbox().await.len(), 1);
}

#[tokio::test]
async fn invalid_answers_do_not_lock_a_session() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let answer = service.phone().answer(&session);
    for number in 0..20 {
        let wrong =
            with(&answer, &[("signature", json!(Wallet::from_bytes([9; 32]).unwrap().sign(&number.to_string())))]);
        integrator.authenticate(&session, &wrong).await.assert_error(406, "invalid_signature");
    }
    assert!(service.outbox().await.is_empty());
    integrator.authenticate(&session, &answer).await.with(200);
}

#[tokio::test]
async fn only_the_two_renderings_are_accepted() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let phone = service.phone();
    for mode in ["login", "register"] {
        let body = json!({ "domain": "shop.test", "mode": mode });
        let session = integrator.post("/sessions", &body).await.with(201);
        let (short, sentence) = renderings(&session);
        let other_mode = if mode == "login" { "register" } else { "login" };
        for wrong in [
            short.to_uppercase(),
            format!("{short} "),
            format!("{sentence}\n"),
            sentence.replace("Sign", "sign"),
            sentence.replace("shop.test", "shop.test."),
            sentence.replace(mode, other_mode),
            short.replace(mode, other_mode),
            short[..short.len() - 1].to_owned(),
            short.replace("svc:", ""),
            sentence.replace(" at ", " at 0"),
        ] {
            integrator.authenticate(&session, &phone.sign_text(&wrong)).await.assert_error(404, "challenge_not_found");
        }
        // The signature is for the sentence, but the answer contains the short form.
        let mixed = with(&phone.sign_text(&sentence), &[("challenge", json!(short))]);
        integrator.authenticate(&session, &mixed).await.assert_error(406, "invalid_signature");
        integrator.authenticate(&session, &phone.sign_text(&short)).await.with(200);
        let session = integrator.post("/sessions", &body).await.with(201);
        integrator.authenticate(&session, &phone.sign_text(&renderings(&session).1)).await.with(200);
    }
}

fn renderings(session: &Value) -> (String, String) {
    let short = text(session, "challenge").to_owned();
    let sentence = Challenge::parse(&short).expect("a challenge").sentence();
    (short, sentence)
}

#[tokio::test]
async fn foreign_challenge_is_not_found() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let (one, two) = (integrator.create_session("shop.test").await, integrator.create_session("shop.test").await);
    integrator.authenticate(&one, &service.phone().answer(&two)).await.assert_error(404, "challenge_not_found");
    integrator.authenticate(&two, &service.phone().answer(&two)).await.with(200);
    integrator.authenticate(&one, &service.phone().answer(&two)).await.assert_error(404, "challenge_not_found");
}

#[tokio::test]
async fn timestamp_tolerance_is_thirty_seconds() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let now = service.clock.now().as_second();
    for (timestamp, status) in [
        (now, 200),
        (now - 30, 200),
        (now + 30, 200),
        (now - 31, 408),
        (now + 31, 408),
        (now * 1000, 408),
        (0, 408),
        (-now, 408),
        (i64::MAX, 408),
        (i64::MIN, 408),
    ] {
        let session = integrator.create_session("shop.test").await;
        let answer = with(&service.phone().answer(&session), &[("timestamp", json!(timestamp))]);
        let reply = integrator.authenticate(&session, &answer).await;
        assert_eq!(reply.status, status, "{timestamp}: {}", reply.text);
        if status == 408 {
            reply.assert_error(408, "timestamp_out_of_range");
        }
    }
}

#[tokio::test]
async fn missing_or_mistyped_field_is_named() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let answer = service.phone().answer(&session);
    for field in ["public_key", "signature", "challenge", "timestamp"] {
        integrator.authenticate(&session, &without(&answer, field)).await.assert_invalid_field(field);
        for wrong in [json!(null), json!(true), json!([]), json!({}), json!(1.5)] {
            integrator.authenticate(&session, &with(&answer, &[(field, wrong)])).await.assert_invalid_field(field);
        }
    }
    integrator
        .authenticate(&session, &with(&answer, &[("timestamp", json!("1800000000"))]))
        .await
        .assert_invalid_field("timestamp");
    integrator
        .authenticate(&session, &with(&answer, &[("public_key", json!(2))]))
        .await
        .assert_invalid_field("public_key");
    for (device, field) in [
        (json!("ios"), "device_info"),
        (json!([]), "device_info"),
        (json!({ "platform": 1 }), "device_info.platform"),
        (json!({ "version": {} }), "device_info.version"),
        (json!({ "device_id": true }), "device_info.device_id"),
    ] {
        integrator.authenticate(&session, &with(&answer, &[("device_info", device)])).await.assert_invalid_field(field);
    }
    integrator.authenticate(&session, &json!({})).await.assert_invalid_field("public_key");
    integrator.authenticate(&session, &answer).await.with(200);
}

#[tokio::test]
async fn unknown_fields_are_ignored() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    for (device, shown) in [
        (None, json!({})),
        (Some(json!({})), json!({})),
        (Some(json!({ "platform": "android" })), json!({ "platform": "android" })),
        (Some(json!({ "build": 7, "version": "2" })), json!({ "version": "2" })),
        (Some(json!({ "device_id": "D-1" })), json!({ "device_id": "D-1" })),
    ] {
        let session = integrator.create_session("shop.test").await;
        let mut answer = without(&service.phone().answer(&session), "device_info");
        answer["wallet"] = json!({ "name": "x", "deep": [1, { "a": null }] });
        if let Some(device) = device {
            answer["device_info"] = device;
        }
        let seen = integrator.authenticate(&session, &answer).await.with(200);
        assert_eq!(seen["user"]["device_info"], shown, "{answer}");
    }
}
