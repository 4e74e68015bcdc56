//! `flow: "page"` (docs/api.md, Page flow): a single browser owns the page, and the site gets no result before it
//! returns.

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use signpost_auth::Mode;
use signpost_login::flows::page;
use signpost_login::sessions::{ConfirmCode, NoticeReason, Renewal, ReturnOutcome, Session};
use signpost_platform::accounts::Environment;
use signpost_platform::pages::cookie::CookieSecret;
use signpost_store::Statement;

use crate::harness::{Integrator, Phone, Reply, Service, UNREACHABLE_URL, members, scan, send, text};

/// The browser secret of the site.
pub(crate) const SECRET: &str = "a secret that the site keeps in a cookie";

fn hash(secret: &str) -> String {
    BASE64URL_NOPAD.encode(&Sha256::digest(secret))
}

/// Returns the cookie secret of a browser.
pub(crate) fn browser(number: u8) -> CookieSecret {
    CookieSecret::from_bytes([number; 32])
}

pub(crate) async fn register_hosted_domain(integrator: &Integrator, name: &str) -> Value {
    let domain = integrator.register_domain_at(name, UNREACHABLE_URL).await;
    let path = format!("/domains/{}", text(&domain, "id"));
    integrator.patch(&path, &json!({ "handler": "hosted" })).await.with(200)
}

pub(crate) async fn shop(service: &Service) -> Integrator {
    let integrator = service.integrator().await;
    register_hosted_domain(&integrator, "shop.test").await;
    integrator
}

/// Returns the body of a session request with these members.
pub(crate) fn request(with: &Value) -> Value {
    let mut body = json!({
        "domain": "shop.test", "flow": "page", "metadata": { "return_url": "/in" }, "browser_hash": hash(SECRET),
    });
    for (name, value) in with.as_object().expect("an object") {
        body[name] = value.clone();
    }
    body
}

pub(crate) async fn create_session(integrator: &Integrator, with: Value) -> Value {
    integrator.post("/sessions", &request(&with)).await.with(201)
}

/// Returns the stored session of a page.
pub(crate) async fn page_of(service: &Service, session: &Value) -> Session {
    let url = text(session, "page_url");
    let environment = if url.contains("/sandbox/") { Environment::Sandbox } else { Environment::Live };
    let found = page::find_page(&service.app.login, environment, text(session, "id")).await;
    found.expect("a database").expect("a page").0
}

/// Opens the page in a browser.
pub(crate) async fn visit_page(service: &Service, session: &Value, cookie: &CookieSecret) -> Session {
    let session = page_of(service, session).await;
    page::claim_page(&service.app.login, session, cookie).await.expect("a database")
}

/// Returns the QR code and the number of the page.
pub(crate) fn shown(page: &Session) -> Value {
    let number = page.confirm_code.as_ref().map(ConfirmCode::reveal);
    json!({ "qr_data": page.qr_data().expect("a code").to_string(), "confirm_code": number })
}

/// Posts an answer to the URL of the code, as a wallet does.
pub(crate) async fn post_answer(integrator: &Integrator, shown: &Value, answer: &Value) -> Reply {
    let response = scan(shown).webhook().clone();
    let url = reqwest::Url::parse(&integrator.api).expect("an address").join(response.path()).expect("an address");
    send(integrator.http.post(url).header("content-type", "application/json").body(answer.to_string())).await
}

/// Scans the code of the page and enters its number.
pub(crate) async fn scan_and_answer(integrator: &Integrator, phone: &Phone, page: &Session) -> Reply {
    let shown = shown(page);
    post_answer(integrator, &shown, &phone.answer_with(&shown, shown["confirm_code"].as_str())).await
}

/// Returns the completion code from the return URL of the page.
pub(crate) fn code(page: &Session, cookie: &CookieSecret) -> String {
    let code = Session::page_code_for(cookie, &page.id);
    let url = page.return_with(ReturnOutcome::Code(&code)).expect("a return URL");
    let pairs: Vec<_> = url.query_pairs().into_owned().collect();
    assert_eq!((&*pairs[0].0, &*pairs[0].1, &*pairs[1].0), ("session_id", page.id.as_str(), "code"), "{url}");
    pairs[1].1.clone()
}

pub(crate) async fn complete_session(
    integrator: &Integrator,
    session: &Value,
    code: &str,
    secret: Option<&str>,
) -> Reply {
    let mut body = json!({ "code": code });
    if let Some(secret) = secret {
        body["browser_secret"] = secret.into();
    }
    integrator.post(&format!("/sessions/{}/complete", text(session, "id")), &body).await
}

/// Creates an account, from the code to the completion.
pub(crate) async fn create_user(service: &Service, integrator: &Integrator, phone: &Phone) -> Value {
    create_user_at(service, integrator, "shop.test", phone).await
}

pub(crate) async fn create_user_at(service: &Service, integrator: &Integrator, domain: &str, phone: &Phone) -> Value {
    let session = create_session(integrator, json!({ "mode": "register", "domain": domain })).await;
    let page = visit_page(service, &session, &browser(1)).await;
    scan_and_answer(integrator, phone, &page).await.with(200);
    complete_session(integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200)
}

pub(crate) async fn users(service: &Service) -> usize {
    service.app.store.read("SELECT public_key FROM credentials", Vec::new()).await.expect("a database").len()
}

pub(crate) fn reason(page: &Session) -> Option<NoticeReason> {
    page.notice().map(|notice| notice.reason.clone())
}

#[tokio::test]
async fn result_is_hidden_until_the_browser_returns() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    let here = format!("http://localhost:{}/sandbox/login/", service.app.listen.port());
    assert_eq!(text(&session, "page_url"), format!("{here}{}", text(&session, "id")));
    let page = visit_page(&service, &session, &browser(1)).await;
    let answered = scan_and_answer(&integrator, &service.phone(), &page).await.with(200);
    assert_eq!(members(&answered), ["message", "status"].into(), "the wallet gets no completion code");
    // Only the page shows the answer; the site, the outbox and the users do not.
    assert!(page_of(&service, &session).await.is_answered());
    let seen = integrator.get_session(&session).await.with(200);
    assert_eq!((&seen["status"], &seen["mode"], seen.get("user")), (&json!("pending"), &json!("register"), None));
    assert_eq!((service.outbox().await.len(), users(&service).await), (0, 0));
    let code = code(&page, &browser(1));
    let done = complete_session(&integrator, &session, &code, Some(SECRET)).await.with(200);
    assert_eq!(
        (&done["status"], &done["user"]["public_key"]),
        (&json!("authenticated"), &json!(service.phone().public_key()))
    );
    assert_eq!((service.outbox().await.len(), users(&service).await), (1, 1));
    complete_session(&integrator, &session, &code, Some(SECRET))
        .await
        .assert_error(409, "session_already_authenticated");
}

#[tokio::test]
async fn first_browser_owns_the_page() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    let unclaimed = page_of(&service, &session).await;
    assert!(unclaimed.page_owner().is_none() && !unclaimed.is_owned_by(&browser(1).hash()));
    let page = visit_page(&service, &session, &browser(1)).await;
    assert!(page.is_owned_by(&browser(1).hash()) && !page.is_owned_by(&browser(2).hash()));
    // Another browser with the link; another tab.
    let other = visit_page(&service, &session, &browser(2)).await;
    assert!(other.is_owned_by(&browser(1).hash()) && !other.is_owned_by(&browser(2).hash()));
    let again = visit_page(&service, &session, &browser(1)).await;
    assert_eq!(code(&page, &browser(1)), code(&again, &browser(1)));
    scan_and_answer(&integrator, &service.phone(), &page).await.with(200);
    let foreign = code(&page, &browser(2));
    let details =
        complete_session(&integrator, &session, &foreign, Some(SECRET)).await.assert_error(406, "invalid_signature");
    assert_eq!(details["reason"], "completion_code");
    complete_session(&integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_concurrent_browsers_owns_the_page() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    for _ in 0..10 {
        let session = create_session(&integrator, json!({})).await;
        let page = page_of(&service, &session).await;
        let race = (1..=8).map(|number| {
            let (login, page) = (service.app.login.clone(), page.clone());
            tokio::spawn(async move {
                let page = page::claim_page(&login, page, &browser(number)).await.expect("a database");
                usize::from(page.is_owned_by(&browser(number).hash()))
            })
        });
        let owners = futures_util::future::join_all(race).await;
        assert_eq!(owners.into_iter().map(|owner| owner.expect("no panic")).sum::<usize>(), 1);
    }
}

#[tokio::test]
async fn code_in_another_browser_is_invalidated() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    for secret in [None, Some(""), Some("another secret")] {
        let session = create_session(&integrator, json!({ "mode": "register" })).await;
        let page = visit_page(&service, &session, &browser(1)).await;
        scan_and_answer(&integrator, &service.phone(), &page).await.with(200);
        // A wrong code has no effect.
        let details =
            complete_session(&integrator, &session, "guess", secret).await.assert_error(406, "invalid_signature");
        assert_eq!(details["reason"], "completion_code");
        let code = code(&page, &browser(1));
        let details =
            complete_session(&integrator, &session, &code, secret).await.assert_error(406, "invalid_signature");
        assert_eq!(details, json!({ "reason": "browser" }));
        complete_session(&integrator, &session, &code, Some(SECRET)).await.assert_error(410, "session_cancelled");
        integrator.get_session(&session).await.assert_error(410, "session_cancelled");
    }
    assert_eq!((service.outbox().await.len(), users(&service).await), (0, 0));
}

#[tokio::test]
async fn secret_is_ignored_without_a_hash() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    for (number, secret) in [(1, None), (2, Some("anything"))] {
        let body =
            json!({ "domain": "shop.test", "flow": "page", "mode": "register", "metadata": { "return_url": "/in" } });
        let session = integrator.post("/sessions", &body).await.with(201);
        let page = visit_page(&service, &session, &browser(1)).await;
        scan_and_answer(&integrator, &Phone::of(number, &service.clock), &page).await.with(200);
        complete_session(&integrator, &session, &code(&page, &browser(1)), secret).await.with(200);
    }
}

#[tokio::test]
async fn page_flow_validates_its_requirements() {
    let settings = [("allow_private_webhooks", "true"), ("public_url", "https://login.test")];
    let service = Service::with(&settings).await;
    let (sandbox, live) = (service.integrator().await, service.integrator_of("acme", Environment::Live).await);
    for integrator in [&sandbox, &live] {
        integrator.register_domain("direct.test").await;
        register_hosted_domain(integrator, "shop.test").await;
        let asks = async |with: Value| integrator.post("/sessions", &request(&with)).await;
        let details = asks(json!({ "domain": "direct.test" })).await.assert_error(422, "domain_not_hosted");
        assert_eq!(details, json!({ "domain": "direct.test" }));
        asks(json!({ "metadata": {} })).await.assert_invalid_field("metadata.return_url");
        for wrong in ["", "abc", &format!("{}=", hash(SECRET)), &hash(SECRET).replace(|_| true, "é"), &hex(SECRET)] {
            asks(json!({ "browser_hash": wrong })).await.assert_invalid_field("browser_hash");
        }
        for flow in ["cross_device", "same_device"] {
            asks(json!({ "flow": flow })).await.assert_invalid_field("browser_hash");
        }
        asks(json!({ "flow": "paper" })).await.assert_invalid_field("flow");
    }
    let session = create_session(&live, json!({})).await;
    assert_eq!(text(&session, "page_url"), format!("https://login.test/login/{}", text(&session, "id")));
    let bare = json!({ "domain": "shop.test", "flow": "page", "metadata": { "return_url": "/in" } });
    live.post("/sessions", &bare).await.assert_invalid_field("browser_hash");
    sandbox.post("/sessions", &bare).await.with(201);
}

fn hex(text: &str) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(text))
}

#[tokio::test]
async fn code_is_renewed_after_two_minutes() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    assert_eq!(page.expires_at.duration_since(page.created_at), SignedDuration::from_mins(2));
    let renews = async |page: &Session, how| page::renew_page(&service.app.login, page.clone(), how).await;
    // Not yet due.
    let same = renews(&page, Renewal::Automatic).await.expect("a page");
    assert_eq!(same.challenge, page.challenge);
    service.advance_clock(SignedDuration::from_secs(115));
    let fresh = renews(&page, Renewal::Automatic).await.expect("a page");
    assert!(fresh.challenge != page.challenge && fresh.confirm_code == page.confirm_code);
    assert_eq!(fresh.expires_at, service.clock.now() + Duration::from_mins(2));
    // Another tab, with the old code.
    let other = renews(&page, Renewal::Automatic).await.expect("a page");
    assert_eq!(other.challenge, fresh.challenge);
    // After 15 minutes renewal requires a user action.
    service.advance_clock(SignedDuration::from_mins(14));
    let stopped = renews(&fresh, Renewal::Automatic).await.expect("a page");
    assert_eq!(stopped.challenge, fresh.challenge);
    integrator.get_session(&session).await.assert_error(410, "session_expired");
    let by_hand = renews(&stopped, Renewal::ByHand).await.expect("a page");
    assert_eq!(by_hand.renews_until(), Some(service.clock.now() + Duration::from_mins(15)));
    integrator.get_session(&session).await.with(200);
    // Fifteen minutes after its code, the session expires.
    service.advance_clock(SignedDuration::from_mins(17));
    let late = renews(&by_hand, Renewal::ByHand).await.expect_err("expired");
    assert!(late.to_string().contains("expired"), "{late}");
}

#[tokio::test]
async fn answer_can_be_completed_for_a_minute() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    // A page that can offer a passkey waits longer.
    let without = Statement::new("UPDATE domains SET methods = 'scan'", Vec::new());
    service.app.store.write([without]).await.expect("a database");
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    service.advance_clock(SignedDuration::from_secs(119));
    scan_and_answer(&integrator, &service.phone(), &page).await.with(200);
    service.advance_clock(SignedDuration::from_secs(59));
    integrator.get_session(&session).await.with(200);
    service.advance_clock(SignedDuration::from_secs(1));
    let code = code(&page, &browser(1));
    complete_session(&integrator, &session, &code, Some(SECRET)).await.assert_error(410, "session_expired");
    let page = page_of(&service, &session).await;
    assert!(page::renew_page(&service.app.login, page, Renewal::ByHand).await.is_err(), "it is answered");
    assert_eq!((service.outbox().await.len(), users(&service).await), (0, 0));
}

#[tokio::test]
async fn only_incomplete_pages_can_be_cancelled() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    scan_and_answer(&integrator, &service.phone(), &page).await.with(200);
    let answered = page_of(&service, &session).await;
    page::cancel_page(&service.app.login, answered.clone()).await.expect("a page");
    let own = code(&page, &browser(1));
    complete_session(&integrator, &session, &own, Some(SECRET)).await.assert_error(410, "session_cancelled");
    // With the state that a tab read earlier.
    let done = create_user(&service, &integrator, &service.phone()).await;
    let path = format!("/sessions/{}", text(&done, "id"));
    let seen = page::find_page(&service.app.login, Environment::Sandbox, text(&done, "id")).await;
    let seen = seen.expect("a database").expect("a page").0;
    page::cancel_page(&service.app.login, seen).await.expect("a page");
    assert_eq!(integrator.get(&path).await.with(200)["status"], "authenticated");
    let cancelled = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &cancelled, &browser(1)).await;
    assert_eq!(send(integrator.request(Method::DELETE, &format!("/sessions/{}", page.id))).await.status, 204);
    assert!(page::renew_page(&service.app.login, page.clone(), Renewal::ByHand).await.is_err());
    assert_eq!(scan_and_answer(&integrator, &service.phone(), &page).await.status, 404);
}

#[tokio::test]
async fn session_endpoint_rejects_page_answers() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    let shown = shown(&page);
    let answer = service.phone().answer_with(&shown, shown["confirm_code"].as_str());
    integrator.authenticate(&session, &answer).await.assert_error(404, "challenge_not_found");
    assert!(!page_of(&service, &session).await.is_answered());
    // The number is not checked there, so no attempt is used up.
    for _ in 0..4 {
        let wrong = service.phone().answer_with(&shown, Some("00"));
        integrator.authenticate(&session, &wrong).await.assert_error(404, "challenge_not_found");
    }
    assert_eq!(reason(&page_of(&service, &session).await), None);
    scan_and_answer(&integrator, &service.phone(), &page).await.with(200);
}

#[tokio::test]
async fn mode_switch_extends_the_renewal() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    service.advance_clock(SignedDuration::from_mins(16));
    let switched = page::switch_mode(&service.app.login, page, Mode::Register).await.expect("a page");
    assert_eq!(switched.renews_until(), Some(service.clock.now() + Duration::from_mins(15)));
    service.advance_clock(SignedDuration::from_secs(115));
    let renewed = page::renew_page(&service.app.login, switched.clone(), Renewal::Automatic).await.expect("a page");
    assert!(renewed.challenge != switched.challenge);
    // An answer from a wallet does not extend the renewal.
    let other = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &other, &browser(1)).await;
    assert_eq!(scan_and_answer(&integrator, &service.phone(), &page).await.status, 404);
    assert_eq!(page_of(&service, &other).await.renews_until(), page.renews_until());
}

#[tokio::test]
async fn integrator_can_refresh_a_page() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    let fresh = integrator.refresh(&session).await.with(200);
    let again = page_of(&service, &session).await;
    assert_eq!(
        (text(&fresh, "challenge"), again.is_owned_by(&browser(1).hash())),
        (&*again.challenge.to_string(), true)
    );
    let response = scan_and_answer(&integrator, &service.phone(), &page).await.with(404);
    assert!(text(&response, "error").contains("replaced"), "{response}");
}
