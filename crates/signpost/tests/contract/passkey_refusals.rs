//! Rejected passkeys, and the messages for the user and the device.

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_auth::{Mode, PasskeyHandle};
use signpost_login::flows::page;
use signpost_login::sessions::{NoticeReason, Renewal};

use crate::harness::{Browser, Service, send, text};
use crate::page_flow::{create_session, page_of, reason, register_hosted_domain, shop};
use crate::passkey::{BACKED_UP, Lie, TestPasskey, USER_PRESENT, USER_VERIFIED, cose_of_point, cose_of_rsa};
use crate::passkeys::{sign_up, start_login};

/// Starts a server without a limit on answers.
async fn service() -> Service {
    Service::with(&[("allow_private_webhooks", "true"), ("rate_limit_answer", "off")]).await
}

/// Returns forgeries for both ceremonies.
fn forgeries() -> Vec<(&'static str, Lie)> {
    vec![
        ("another origin", Lie::Origin("https://evil.test")),
        ("the host, another port", Lie::Origin("http://localhost:1")),
        ("https for http", Lie::Origin("https://localhost")),
        ("another relying party", Lie::RpId("evil.test")),
        ("a frame", Lie::CrossOrigin),
        ("a page above", Lie::TopOrigin(json!("https://evil.test"))),
        ("another challenge", Lie::Challenge([1; 32])),
        ("another type", Lie::Type("payment.get")),
        ("nobody verified", Lie::Flags(USER_VERIFIED)),
        ("nobody present", Lie::Flags(USER_PRESENT)),
        ("backed up though it cannot be", Lie::Flags(BACKED_UP)),
        ("two origins", Lie::ClientData(|text| text.replacen('{', r#"{"origin":"http://localhost","#, 1).into_bytes())),
        ("something behind", Lie::AuthenticatorData(|data| [data, vec![0]].concat())),
    ]
}

#[track_caller]
fn assert_rejected(reply: &(u16, Value), status: u16, reason: &str) {
    assert_eq!((reply.0, &reply.1["reason"]), (status, &json!(reason)), "{reply:?}");
    assert!(!text(&reply.1, "message").is_empty());
}

#[tokio::test]
async fn forged_login_leaves_the_page_pending() {
    let service = service().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let (mut passkey, _) = sign_up(&integrator, &mut browser, "shop.test").await;
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    for (name, lie) in forgeries() {
        let asked = browser.asked(&session, "get").await;
        let answer = passkey.get(&asked, &browser.origin, &[lie]);
        assert_rejected(&browser.post_credential(&session, &answer).await, 422, "not_accepted");
        let page = page_of(&service, &session).await;
        assert!(!page.is_answered(), "{name}");
        assert_eq!(reason(&page), Some(NoticeReason::PasskeyRefused), "{name}");
        browser.open(&session).await.is(200, "refused");
    }
    assert_eq!(browser.use_passkey(&session, &mut passkey).await, (200, json!({})));
    browser.return_to_site(&integrator, &session).await.with(200);
}

#[tokio::test]
async fn forged_registration_creates_no_account() {
    let service = service().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    browser.open(&session).await.is(200, "waiting");
    let keys = [
        ("EdDSA", Lie::Key([&[0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21, 0x58, 32][..], &[1; 32]].concat())),
        ("ES384", Lie::Key(cose_of_point(-35, 2, &[1; 48], &[2; 48]))),
        ("ES256K", Lie::Key(cose_of_point(-47, 8, &[1; 32], &[2; 32]))),
        ("no point", Lie::Key(cose_of_point(-7, 1, &[1; 32], &[2; 32]))),
        ("RSA of 1024 bits", Lie::Key(cose_of_rsa(&[0xff; 128], &[1, 0, 1]))),
        ("another id", Lie::Id(vec![1; 16])),
        ("a statement of no attestation", Lie::Statement("none", vec![0xa1, 1, 1])),
        ("an attestation cut off", Lie::Attestation(|object| object[..object.len() - 1].to_vec())),
    ];
    for (name, lie) in forgeries().into_iter().chain(keys) {
        let asked = browser.asked(&session, "create").await;
        let (_, made) = TestPasskey::create(&asked, &browser.origin, &[lie]);
        let reply = browser.post_credential(&session, &made).await;
        assert_eq!((reply.0, &reply.1["reason"]), (422, &json!("not_accepted")), "{name}");
        assert!(!page_of(&service, &session).await.is_answered(), "{name}");
    }
    let mut passkey = browser.create_passkey(&session).await;
    browser.return_to_site(&integrator, &session).await.with(200);
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    assert_eq!(browser.use_passkey(&session, &mut passkey).await, (200, json!({})));
}

#[tokio::test]
async fn malformed_answers_are_rejected() {
    let service = service().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    for text in ["", "null", "{}", "[]", "{\"id\":1}", "\u{0}", "💥"] {
        assert_rejected(&browser.post_credential(&session, &json!(text)).await, 422, "not_accepted");
    }
    let shown = browser.open(&session).await;
    let token = shown.between("name=\"token\" value=\"", "\"").to_owned();
    let (status, _) = browser.post_passkey(&session, &token, &"x".repeat(200_000)).await;
    assert!((400..500).contains(&status), "{status}");
    // A registration response is rejected for a login.
    let asked = browser.asked(&session, "get").await;
    let options = json!({
        "challenge": asked["challenge"], "rp": { "id": "localhost" }, "user": { "id": "AA" },
        "pubKeyCredParams": [{ "alg": -7 }],
    });
    let (_, made) = TestPasskey::create(&options, &browser.origin, &[]);
    assert_rejected(&browser.post_credential(&session, &made).await, 422, "not_accepted");
}

#[tokio::test]
async fn answer_is_valid_once_and_on_its_page() {
    let service = service().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let (mut passkey, _) = sign_up(&integrator, &mut browser, "shop.test").await;
    let first = start_login(&integrator, &mut browser, "shop.test").await;
    let other = start_login(&integrator, &mut browser, "shop.test").await;
    let answer = passkey.get(&browser.asked(&first, "get").await, &browser.origin, &[]);
    assert_rejected(&browser.post_credential(&other, &answer).await, 422, "not_accepted");
    let token = browser.open(&first).await.between("name=\"token\" value=\"", "\"").to_owned();
    assert_eq!(browser.post_credential(&first, &answer).await, (200, json!({})));
    let again = browser.post_passkey(&first, &token, &answer.to_string()).await;
    assert_rejected(&again, 409, "not_asked");
    browser.return_to_site(&integrator, &first).await.with(200);
    let later = browser.post_passkey(&first, &token, &answer.to_string()).await;
    assert!((400..500).contains(&later.0), "{later:?}");
    assert!(!page_of(&service, &other).await.is_answered());
    assert_eq!(service.outbox().await.len(), 2);
}

#[tokio::test]
async fn only_the_page_can_post_an_answer() {
    let service = service().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let (mut passkey, _) = sign_up(&integrator, &mut browser, "shop.test").await;
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    let answer = passkey.get(&browser.asked(&session, "get").await, &browser.origin, &[]).to_string();
    let token = browser.open(&session).await.between("name=\"token\" value=\"", "\"").to_owned();
    // Another browser, which gets neither options nor token.
    let mut other = Browser::at(&service);
    other.open(&session).await.is(403, "other");
    assert_eq!(other.prompt(&session).await.0, 403);
    assert_eq!(other.post_passkey(&session, &token, &answer).await.0, 403);
    // A page of another origin in the right browser; a guessed token, and the token of another page.
    let here = std::mem::replace(&mut browser.origin, "https://evil.test".to_owned());
    assert_eq!(browser.post_passkey(&session, &token, &answer).await.0, 403);
    browser.origin = here;
    assert_eq!(browser.post_passkey(&session, "guessed", &answer).await.0, 403);
    let page = start_login(&integrator, &mut browser, "shop.test").await;
    let foreign = browser.open(&page).await.between("name=\"token\" value=\"", "\"").to_owned();
    assert_eq!(browser.post_passkey(&session, &foreign, &answer).await.0, 403);
    assert!(!page_of(&service, &session).await.is_answered());
    assert_eq!(browser.post_passkey(&session, &token, &answer).await, (200, json!({})));
}

#[tokio::test]
async fn passkey_can_answer_the_previous_code() {
    let service = service().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let (mut passkey, _) = sign_up(&integrator, &mut browser, "shop.test").await;
    for (renewals, is_good) in [(1, true), (2, false)] {
        let session = start_login(&integrator, &mut browser, "shop.test").await;
        let answer = passkey.get(&browser.asked(&session, "get").await, &browser.origin, &[]);
        for _ in 0..renewals {
            let page = page_of(&service, &session).await;
            page::renew_page(&service.app.login, page, Renewal::ByHand).await.expect("a page");
        }
        assert_eq!(browser.post_credential(&session, &answer).await.0 == 200, is_good, "{renewals}");
        if is_good {
            browser.return_to_site(&integrator, &session).await.with(200);
            let events = service.outbox().await;
            let event = events.iter().find(|event| event.body["session_id"] == session["id"]).expect("an event");
            assert_eq!(event.body["data"]["challenge"], session["challenge"], "the signed challenge");
        }
    }
    // The previous code was for another mode.
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    let answer = passkey.get(&browser.asked(&session, "get").await, &browser.origin, &[]);
    let page = page_of(&service, &session).await;
    page::switch_mode(&service.app.login, page, Mode::Register).await.expect("a page");
    assert_rejected(&browser.post_credential(&session, &answer).await, 422, "not_accepted");
    // An expired session returns no options.
    service.advance_clock(SignedDuration::from_hours(1));
    let expired = browser.prompt(&session).await;
    assert!((400..500).contains(&expired.0), "{expired:?}");
}

#[tokio::test]
async fn passkey_belongs_to_one_user() {
    let service = service().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let (mut passkey, _) = sign_up(&integrator, &mut browser, "shop.test").await;
    let (mut other, _) = sign_up(&integrator, &mut browser, "shop.test").await;
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    let asked = browser.asked(&session, "get").await;
    let foreign = other.get(&asked, &browser.origin, &[])["response"]["userHandle"].as_str().expect("one").to_owned();
    for handle in [foreign, PasskeyHandle::from_bytes([3; 32]).to_string()] {
        let answer = passkey.get(&asked, &browser.origin, &[Lie::UserHandle(handle)]);
        assert_rejected(&browser.post_credential(&session, &answer).await, 422, "not_accepted");
    }
    // The other passkey's ID with this passkey's signature.
    let mut answer = passkey.get(&asked, &browser.origin, &[]);
    for member in ["id", "rawId"] {
        answer[member] = json!(other.id());
    }
    answer["response"].as_object_mut().expect("an object").remove("userHandle");
    assert_rejected(&browser.post_credential(&session, &answer).await, 422, "not_accepted");
    let answer = passkey.get(&asked, &browser.origin, &[]);
    assert_eq!(browser.post_credential(&session, &answer).await, (200, json!({})));
}

#[tokio::test]
async fn login_without_a_user_handle_is_rejected() {
    let service = service().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let (mut passkey, _) = sign_up(&integrator, &mut browser, "shop.test").await;
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    let asked = browser.asked(&session, "get").await;
    for none in [Some(json!(null)), Some(json!("")), None] {
        let mut answer = passkey.get(&asked, &browser.origin, &[]);
        match none {
            Some(none) => answer["response"]["userHandle"] = none,
            None => drop(answer["response"].as_object_mut().expect("an object").remove("userHandle")),
        }
        let refused = browser.post_credential(&session, &answer).await;
        assert_rejected(&refused, 422, "not_accepted");
        assert!(text(&refused.1, "message").contains("does not name its user"), "{refused:?}");
        assert!(!page_of(&service, &session).await.is_answered());
    }
}

#[tokio::test]
async fn audit_log_limits_passkey_rejections() {
    const REFUSED: &str = "SELECT details FROM audit WHERE action = 'passkey.refused' ORDER BY id";
    let service = service().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    let (mut passkey, _) = sign_up(&integrator, &mut browser, "shop.test").await;
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    let refused = async |expected: &[&str]| {
        let rows = service.app.store.read(REFUSED, Vec::new()).await.expect("a database");
        let details = rows.iter().map(|row| serde_json::from_str::<Value>(row.text(0).expect("a text")).expect("JSON"));
        let reasons: Vec<_> = details.map(|details| text(&details, "reason").to_owned()).collect();
        assert_eq!(reasons, expected);
    };
    for lie in [Lie::Origin("https://evil.test"), Lie::Origin("https://evil.test"), Lie::Flags(USER_PRESENT)] {
        let asked = browser.asked(&session, "get").await;
        let answer = passkey.get(&asked, &browser.origin, &[lie]);
        assert_rejected(&browser.post_credential(&session, &answer).await, 422, "not_accepted");
        service.advance_clock(SignedDuration::from_millis(1));
    }
    refused(&["origin", "user_presence"]).await;
    service.advance_clock(SignedDuration::from_mins(1));
    let asked = browser.asked(&session, "get").await;
    let mut answer = passkey.get(&asked, &browser.origin, &[Lie::Origin("https://evil.test")]);
    assert_rejected(&browser.post_credential(&session, &answer).await, 422, "not_accepted");
    service.advance_clock(SignedDuration::from_millis(1));
    for member in ["id", "rawId"] {
        answer[member] = json!("A".repeat(22));
    }
    assert_rejected(&browser.post_credential(&session, &answer).await, 404, "unknown_passkey");
    refused(&["origin", "user_presence", "origin", "unknown"]).await;
}

#[tokio::test]
async fn passkey_of_a_deleted_user_is_signalled() {
    let service = service().await;
    let integrator = service.integrator().await;
    let domain = register_hosted_domain(&integrator, "shop.test").await;
    let mut browser = Browser::at(&service);
    let (mut passkey, done) = sign_up(&integrator, &mut browser, "shop.test").await;
    let path = format!("/domains/{}/users/{}", text(&domain, "id"), text(&done["user"], "id"));
    assert_eq!(send(integrator.request(Method::DELETE, &path)).await.status, 204);
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    let reply = browser.use_passkey(&session, &mut passkey).await;
    assert_rejected(&reply, 404, "unknown_passkey");
    assert_eq!(reply.1["signal"], json!({ "rpId": "localhost", "credentialId": passkey.id() }));
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::UnknownPasskey));
}

#[tokio::test]
async fn closed_registration_creates_no_passkey() {
    let service = service().await;
    let integrator = service.integrator().await;
    let domain = register_hosted_domain(&integrator, "shop.test").await;
    let path = format!("/domains/{}", text(&domain, "id"));
    integrator.patch(&path, &json!({ "registration": "closed" })).await.with(200);
    let mut browser = Browser::at(&service);
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    let page = page_of(&service, &session).await;
    assert_eq!(page.challenge.mode, Mode::Login);
    let asked = browser.asked(&session, "get").await;
    assert!(asked.get("user").is_none());
    // A domain without passkeys returns no options.
    integrator.patch(&path, &json!({ "methods": ["scan"] })).await.with(200);
    assert_rejected(&browser.prompt(&session).await, 409, "not_asked");
    let (status, _) = browser.post_credential(&session, &json!({})).await;
    assert_eq!(status, 409);
}
