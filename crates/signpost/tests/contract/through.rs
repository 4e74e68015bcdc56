//! docs/handlers.md, The `through` rendering: a code with `v=2` has a single valid answer text, which names the host
//! that receives the answer and the number.

use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use signpost_auth::{Challenge, QrData, Signing, Wallet, WebhookSecret};
use signpost_login::domains;
use signpost_login::sessions::{self, AnswerRefusal, ConfirmCode, NewSession, Session, SessionOptions};
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::outbound::EgressPolicy;

use crate::harness::{Integrator, Phone, Reply, Service, scan, send, text};

#[derive(Deserialize)]
struct Vectors {
    answers: Answers,
}

#[derive(Deserialize)]
struct Answers {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    qr_data: String,
    number: Option<String>,
    text: String,
    confirm_code: Option<String>,
    outcome: String,
}

/// Returns the session of a code.
pub(crate) fn session(code: &QrData, number: Option<&str>) -> Session {
    let (now, account) = (Timestamp::UNIX_EPOCH, Account { name: "a".to_owned(), environment: Environment::Live });
    let new = domains::NewDomain {
        domain: code.challenge().domain.to_string(),
        webhook_url: "https://example.com/".to_owned(),
        event_url: None,
        handler: domains::HandlerKind::Direct,
        events: None,
    };
    let random = domains::DomainEntropy { id: [1; 16], token: [2; 20], secret: WebhookSecret::from_bytes(&[1; 32]) };
    let domain = domains::register(&new, account, EgressPolicy::Public, now, random).expect("a domain").domain;
    let is_hosted = code.signing() != Signing::Sentence;
    let new = NewSession {
        mode: code.challenge().mode,
        webhook_url: code.webhook().clone(),
        hosted_url: is_hosted.then(|| code.webhook().clone()),
        metadata: None,
        confirm_code: number.map(|number| ConfirmCode::from_stored(number).expect("two digits")),
        options: SessionOptions::default(),
        page: None,
        link: None,
    };
    let random = sessions::SessionEntropy { id: [3; 16], nonce: code.challenge().nonce.0 };
    let issued_at = Timestamp::from_second(code.challenge().issued_at).expect("a time");
    let ttl = u64::try_from(code.expires_at() - code.challenge().issued_at).expect("a future time");
    Session::open(&domain, new, Duration::from_secs(ttl), issued_at, random)
}

#[test]
fn test_vectors_have_the_expected_outcome() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/challenge.json");
    let vectors: Vectors = serde_json::from_str(&std::fs::read_to_string(path).expect("a file")).expect("vectors");
    let wallet = Wallet::from_bytes([7; 32]).expect("a key");
    assert!(vectors.answers.cases.len() > 25);
    for Case { name, qr_data, number, text, confirm_code, outcome } in vectors.answers.cases {
        let session = session(&QrData::parse(&qr_data).expect("a code"), number.as_deref());
        assert_eq!(session.qr_data().expect("a code").to_string(), qr_data, "{name}");
        let (now, signed_at) = (session.created_at, session.created_at.as_second());
        let mut answer = wallet.answer_text(text.clone(), signed_at, None);
        answer.confirm_code = confirm_code;
        let is_confirmed = session.is_confirmed_by(&answer);
        let found = match session.verify(&answer, now) {
            Ok(_) if is_confirmed => "taken",
            Ok(_) => "confirm_code",
            Err(AnswerRefusal::Host) => "host",
            Err(AnswerRefusal::UnknownChallenge) => "challenge_not_found",
            Err(other) => panic!("{name}: {other:?}"),
        };
        assert_eq!(found, outcome, "{name}: {text}");
        // If no accepted text was signed, the error has no reason.
        answer.signature = wallet.sign("another text");
        let refused = session.verify(&answer, now).expect_err(&name);
        assert_eq!(refused == AnswerRefusal::UnknownChallenge, outcome == "challenge_not_found", "{name}");
        assert_ne!(refused, AnswerRefusal::Host, "{name}");
    }
}

async fn hosted(service: &Service, environment: Environment) -> Integrator {
    let integrator = service.integrator_of("acme", environment).await;
    let domain = integrator.register_domain_at("shop.test", "http://127.0.0.1:1/hook").await;
    let path = format!("/domains/{}", text(&domain, "id"));
    integrator.patch(&path, &json!({ "handler": "hosted" })).await.with(200);
    integrator
}

async fn create_session(integrator: &Integrator, mode: &str) -> Value {
    integrator.post("/sessions", &json!({ "domain": "shop.test", "mode": mode, "confirm": "code" })).await.with(201)
}

/// Posts to the code's webhook URL like a wallet, without an API key.
async fn post_answer(integrator: &Integrator, session: &Value, answer: &Value) -> Reply {
    let response = scan(session).webhook().clone();
    // The test's server does not listen at its public URL.
    let url = reqwest::Url::parse(&integrator.api).expect("an address").join(response.path()).expect("an address");
    send(integrator.http.post(url).header("content-type", "application/json").body(answer.to_string())).await
}

/// Returns the signature of a wallet that scanned the code with another host in it, and the number.
fn relayed(phone: &Phone, session: &Value) -> Value {
    let number = text(session, "confirm_code");
    let sentence = Challenge::parse(text(session, "challenge")).expect("a challenge").sentence();
    phone.sign_text(&format!("{sentence} through evil.example with {number}"))
}

#[tokio::test]
async fn signature_for_another_host_is_rejected() {
    for (environment, public_url) in
        [(Environment::Sandbox, None), (Environment::Live, Some("https://Login.B\u{fc}cher.test:443/"))]
    {
        let settings = public_url.map(|url| ("public_url", url));
        let settings: Vec<_> = settings.into_iter().chain([("allow_private_webhooks", "true")]).collect();
        let service = Service::with(&settings).await;
        let integrator = hosted(&service, environment).await;
        for (mode, status) in [("register", "registered"), ("login", "authenticated")] {
            let session = create_session(&integrator, mode).await;
            let qr_data = text(&session, "qr_data");
            assert!(qr_data.starts_with("svc://auth?v=2&") && qr_data.ends_with("&number=1"), "{qr_data}");
            let (phone, number) = (service.phone(), text(&session, "confirm_code"));
            // The attacker receives this answer and posts it to this server. The key is known in a login, and new in a
            // registration.
            for _ in 0..5 {
                let refused = post_answer(&integrator, &session, &relayed(&phone, &session)).await;
                assert_eq!((refused.status, &refused.json()["details"]), (406, &json!({ "reason": "host" })));
                let handed_in = integrator.authenticate(&session, &relayed(&phone, &session)).await;
                assert_eq!(handed_in.assert_error(406, "invalid_signature"), json!({ "reason": "host" }));
            }
            let before = service.outbox().await.len();
            let answer = phone.answer_with(&session, Some(number));
            let authority = signpost_auth::authority(scan(&session).webhook());
            let expected = format!(" through {authority} with {number}");
            assert!(text(&answer, "challenge").ends_with(&expected), "{answer}");
            assert!(answer.get("confirm_code").is_none(), "{answer}");
            assert!(public_url.is_none() || authority == "login.xn--bcher-kva.test", "{authority}");
            assert_eq!(post_answer(&integrator, &session, &answer).await.with(200)["status"], status);
            let events = service.outbox().await;
            let event = events.iter().find(|event| event.body["session_id"] == session["id"]).expect("an event");
            assert_eq!((events.len(), &event.body["data"]["signed_message"]), (before + 1, &answer["challenge"]));
            assert_eq!(event.body["data"]["challenge"], session["challenge"]);
        }
    }
}

#[tokio::test]
async fn code_versions_are_not_interchangeable() {
    let service = Service::start().await;
    let integrator = hosted(&service, Environment::Sandbox).await;
    let phone = service.phone();
    let session = create_session(&integrator, "register").await;
    let challenge = Challenge::parse(text(&session, "challenge")).expect("a challenge");
    for signed in [challenge.to_string(), challenge.sentence()] {
        let mut answer = phone.sign_text(&signed);
        answer["confirm_code"] = session["confirm_code"].clone();
        assert_eq!(post_answer(&integrator, &session, &answer).await.status, 404);
        integrator.authenticate(&session, &answer).await.assert_error(404, "challenge_not_found");
    }
    // Without a number, and for a domain with a direct handler, a code follows the specification.
    let plain = integrator.post("/sessions", &json!({ "domain": "shop.test", "mode": "register" })).await.with(201);
    let direct = service.integrator_of("direct", Environment::Sandbox).await;
    direct.register_domain_at("shop.test", "http://127.0.0.1:1/hook").await;
    let own = create_session(&direct, "register").await;
    for (integrator, session, path) in [(&integrator, &plain, "/hosted/register"), (&direct, &own, "/hook")] {
        let code = scan(session);
        assert_eq!((code.signing(), code.webhook().path().ends_with(path)), (Signing::Sentence, true));
        let sentence = code.challenge().sentence();
        let authority = signpost_auth::authority(code.webhook());
        for signed in [format!("{sentence} through {authority}"), format!("{sentence} through {authority} with 42")] {
            integrator.authenticate(session, &phone.sign_text(&signed)).await.assert_error(404, "challenge_not_found");
        }
        let typed = phone.answer_with(session, session["confirm_code"].as_str());
        assert_eq!(text(&typed, "challenge"), sentence);
        integrator.authenticate(session, &typed).await.with(200);
    }
}

#[tokio::test]
async fn wrong_number_uses_an_attempt() {
    let service = Service::start().await;
    let integrator = hosted(&service, Environment::Sandbox).await;
    let session = create_session(&integrator, "register").await;
    let phone = service.phone();
    let right = text(&session, "confirm_code");
    let wrong = if right == "11" { "12" } else { "11" };
    post_answer(&integrator, &session, &relayed(&phone, &session)).await;
    let mut beside = phone.answer(&session);
    beside["confirm_code"] = right.into();
    for answer in [beside, phone.answer_with(&session, Some(wrong)), phone.answer(&session)] {
        let refused = post_answer(&integrator, &session, &answer).await;
        assert_eq!((refused.status, &refused.json()["details"]["reason"]), (406, &json!("confirm_code")));
    }
    let late = phone.answer_with(&session, Some(right));
    assert_eq!(post_answer(&integrator, &session, &late).await.status, 404);
    integrator.get_session(&session).await.assert_error(410, "session_cancelled");
}

#[tokio::test]
async fn verify_accepts_the_third_rendering() {
    let service = Service::start().await;
    let integrator = hosted(&service, Environment::Sandbox).await;
    let session = create_session(&integrator, "register").await;
    let answer = service.phone().answer_with(&session, Some("42"));
    let body = json!({ "public_key": answer["public_key"], "signature": answer["signature"],
                       "message": answer["challenge"] });
    assert_eq!(integrator.post("/verify", &body).await.with(200)["valid"], true);
    // A refresh does not change the signed text.
    let fresh = integrator.refresh(&session).await.with(200);
    assert!(text(&fresh, "qr_data").ends_with("&number=1"), "{fresh}");
    let answer = service.phone().answer_with(&fresh, session["confirm_code"].as_str());
    post_answer(&integrator, &fresh, &answer).await.with(200);
}

#[tokio::test]
async fn simulated_wallet_signs_the_code() {
    let service = Service::start().await;
    let integrator = hosted(&service, Environment::Sandbox).await;
    let session = create_session(&integrator, "register").await;
    let path = format!("/sessions/{}/simulate", text(&session, "id"));
    for (fault, status) in [("signature", 406), ("timestamp", 408), ("challenge", 404), ("confirm_code", 406)] {
        let response = integrator.post(&path, &json!({ "fault": fault })).await.with(200);
        assert_eq!(response["status"], status, "{fault}");
    }
    let response = integrator.post(&path, &json!({})).await.with(200);
    assert_eq!(response["status"], 200);
    assert!(text(&response["payload"], "challenge").ends_with(&format!(" with {}", text(&session, "confirm_code"))));
}
