//! `mode: "link"` (docs/api.md, Link): adds another key to the account of a logged-in user, after confirmation in the
//! browser of the page.

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_auth::{AuthUrl, Mode, Wallet};
use signpost_login::flows::link::{confirm_link, decline_link};
use signpost_login::ids::CredentialId;
use signpost_login::sessions::{NoticeReason, Session};
use signpost_store::{Statement, params};

use crate::harness::{Integrator, Phone, Reply, Service, members, send, text};
use crate::page_flow::{
    SECRET, browser, code, complete_session, create_session, create_user, page_of, post_answer, reason, request,
    scan_and_answer, shop, shown, visit_page,
};

/// Creates the phone of a user; the number selects its key.
pub(crate) fn phone(service: &Service, number: u8) -> Phone {
    Phone::of(number, &service.clock)
}

/// Registers a user at the shop, logged in; returns the user ID.
pub(crate) async fn register_user(service: &Service, integrator: &Integrator) -> String {
    text(&create_user(service, integrator, &service.phone()).await["user"], "id").to_owned()
}

/// Creates a link session for the user and opens its page.
pub(crate) async fn open_link(service: &Service, integrator: &Integrator, user: &str) -> (Value, Session) {
    let session = create_session(integrator, json!({ "mode": "link", "user": user })).await;
    let page = visit_page(service, &session, &browser(1)).await;
    (session, page)
}

/// Answers the link with the phone and confirms it on the page.
pub(crate) async fn answer_and_confirm(service: &Service, integrator: &Integrator, session: &Value, by: &Phone) {
    scan_and_answer(integrator, by, &page_of(service, session).await).await.with(200);
    confirm_link(&service.app.login, page_of(service, session).await).await.expect("an answer");
}

pub(crate) async fn complete_link(integrator: &Integrator, session: &Value, page: &Session) -> Reply {
    complete_session(integrator, session, &code(page, &browser(1)), Some(SECRET)).await
}

async fn shop_id(integrator: &Integrator) -> String {
    let domains = integrator.get("/domains").await.with(200);
    let all = domains["domains"].as_array().expect("a list").clone();
    text(all.iter().find(|domain| domain["domain"] == "shop.test").expect("the shop"), "id").to_owned()
}

async fn credentials(integrator: &Integrator, user: &str) -> Vec<Value> {
    let path = format!("/domains/{}/users/{user}", shop_id(integrator).await);
    integrator.get(&path).await.with(200)["credentials"].as_array().expect("a list").clone()
}

/// Adds keys to the user up to this number.
pub(crate) async fn add_keys_up_to(service: &Service, user: &str, many: u8) {
    const ADD: &str = "
        INSERT INTO credentials (domain_id, public_key, created_at, id, user_id, kind, name)
        SELECT domain_id, $1, created_at, $2, user_id, kind, 'Another' FROM credentials WHERE user_id = $3 LIMIT 1";
    for number in 1..many {
        let key = phone(service, 100 + number).public_key();
        let id = CredentialId::new(service.clock.now(), [number; 16]);
        let added = service.app.store.write([Statement::new(ADD, params![key, &id, user])]).await;
        assert!(added.expect("a database").is_committed());
    }
}

#[tokio::test]
async fn a_confirmed_wallet_is_added_to_the_account() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    let (session, page) = open_link(&service, &integrator, &user).await;
    assert_eq!(page.challenge.mode, Mode::Link);
    let second = phone(&service, 21);
    let response = scan_and_answer(&integrator, &second, &page).await.with(200);
    assert_eq!((&response["status"], members(&response)), (&json!("linked"), ["message", "status"].into()));
    // Anyone who saw the QR code can answer it, so the answer has no effect until the confirmation.
    let answered = page_of(&service, &session).await;
    assert!(answered.waits_for_confirmation());
    let seen = integrator.get_session(&session).await.with(200);
    assert_eq!((&seen["status"], &seen["mode"], seen.get("user")), (&json!("pending"), &json!("link"), None));
    assert_eq!(
        complete_link(&integrator, &session, &page).await.assert_error(406, "invalid_signature")["reason"],
        "completion_code"
    );
    assert_eq!(credentials(&integrator, &user).await.len(), 1);
    confirm_link(&service.app.login, answered).await.expect("an answer");
    let done = complete_link(&integrator, &session, &page).await.with(200);
    let key = second.public_key();
    assert_eq!(
        (&done["mode"], &done["method"], &done["user"]["id"], &done["user"]["public_key"]),
        (&json!("link"), &json!("scan"), &json!(user), &json!(key))
    );
    let own = credentials(&integrator, &user).await;
    assert_eq!((own.len(), &own[1]["public_key"], &own[1]["kind"]), (2, &json!(key), &json!("wallet")));
    let event: Value = service.outbox().await.iter().map(|queued| queued.body.clone()).find(is_link).expect("an event");
    let data = &event["data"];
    assert_eq!((&data["user_id"], &data["method"], &data["public_key"]), (&json!(user), &json!("scan"), &json!(key)));
    assert!(text(data, "challenge").starts_with("svc:link:shop.test:") && data["signed_message"].is_string());
    // Both keys now log in this user.
    for phone in [service.phone(), second] {
        let session = create_session(&integrator, json!({})).await;
        let page = visit_page(&service, &session, &browser(2)).await;
        scan_and_answer(&integrator, &phone, &page).await.with(200);
        let done = complete_session(&integrator, &session, &code(&page, &browser(2)), Some(SECRET)).await.with(200);
        assert_eq!(done["user"]["id"], json!(user));
    }
}

fn is_link(event: &Value) -> bool {
    event["event"] == "link"
}

#[tokio::test]
async fn a_lightning_wallet_is_added_to_the_account() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    let (session, page) = open_link(&service, &integrator, &user).await;
    let wallet = Wallet::from_bytes([22; 32]).expect("a key");
    let link = page.lnurl(&service.app.public_address).expect("a link");
    assert!(link.ends_with("&action=link"), "{link}");
    let signed = AuthUrl::parse(&link).expect("a link").signed_by(&wallet);
    let url = service.url(&format!("{}?{}", signed.path(), signed.query().expect("a query")));
    assert_eq!(send(integrator.http.request(Method::GET, url)).await.with(200), json!({ "status": "OK" }));
    assert!(page_of(&service, &session).await.waits_for_confirmation());
    confirm_link(&service.app.login, page_of(&service, &session).await).await.expect("an answer");
    assert_eq!(complete_link(&integrator, &session, &page).await.with(200)["method"], "lightning");
    assert_eq!(credentials(&integrator, &user).await[1]["kind"], "lightning");
}

#[tokio::test]
async fn a_key_in_use_cannot_be_linked() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let (other, user) = (phone(&service, 21), register_user(&service, &integrator).await);
    create_user(&service, &integrator, &other).await;
    for taken in [service.phone(), other] {
        let (session, page) = open_link(&service, &integrator, &user).await;
        let reply = scan_and_answer(&integrator, &taken, &page).await;
        assert_eq!((reply.status, reply.json()["details"]["reason"].as_str()), (409, Some("credential_exists")));
        let now = page_of(&service, &session).await;
        assert_eq!((now.is_answered(), reason(&now)), (false, Some(NoticeReason::KeyTaken)));
        // The correct number was not counted as a failed attempt.
        answer_and_confirm(&service, &integrator, &session, &phone(&service, 30)).await;
    }
    assert_eq!(credentials(&integrator, &user).await.len(), 1);
}

#[tokio::test]
async fn a_key_taken_before_completion_ends_the_session() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    let second = phone(&service, 21);
    let (session, page) = open_link(&service, &integrator, &user).await;
    answer_and_confirm(&service, &integrator, &session, &second).await;
    create_user(&service, &integrator, &second).await;
    complete_link(&integrator, &session, &page).await.assert_error(409, "credential_exists");
    complete_link(&integrator, &session, &page).await.assert_error(410, "session_cancelled");
    assert_eq!(credentials(&integrator, &user).await.len(), 1);
}

#[tokio::test]
async fn two_concurrent_links_add_one_tenth_key() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    add_keys_up_to(&service, &user, 9).await;
    let mut waiting = Vec::new();
    for number in [21, 22] {
        let (session, page) = open_link(&service, &integrator, &user).await;
        answer_and_confirm(&service, &integrator, &session, &phone(&service, number)).await;
        waiting.push((session, page));
    }
    let third = open_link(&service, &integrator, &user).await;
    let [(first, of_first), (second, of_second)] = &waiting[..] else { panic!("two") };
    let replies =
        tokio::join!(complete_link(&integrator, first, of_first), complete_link(&integrator, second, of_second));
    let mut statuses = [replies.0.status, replies.1.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{} {}", replies.0.text, replies.1.text);
    assert_eq!(credentials(&integrator, &user).await.len(), 10);
    // A page that was already open shows the reason, and new link sessions are rejected.
    let reply = scan_and_answer(&integrator, &phone(&service, 23), &third.1).await;
    assert_eq!((reply.status, reply.json()["details"]["reason"].as_str()), (409, Some("too_many_credentials")));
    assert_eq!(reason(&page_of(&service, &third.0).await), Some(NoticeReason::TooManyKeys));
    let body = request(&json!({ "mode": "link", "user": user }));
    integrator.post("/sessions", &body).await.assert_error(409, "too_many_credentials");
}

#[tokio::test]
async fn a_key_linked_by_two_users_goes_to_one() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    let other = create_user(&service, &integrator, &phone(&service, 21)).await;
    let shared = phone(&service, 22);
    let mut waiting = Vec::new();
    for user in [&*user, text(&other["user"], "id")] {
        let (session, page) = open_link(&service, &integrator, user).await;
        answer_and_confirm(&service, &integrator, &session, &shared).await;
        waiting.push((session, page));
    }
    let [(first, of_first), (second, of_second)] = &waiting[..] else { panic!("two") };
    let replies =
        tokio::join!(complete_link(&integrator, first, of_first), complete_link(&integrator, second, of_second));
    let refused = if replies.0.status == 200 { &replies.1 } else { &replies.0 };
    refused.assert_error(409, "credential_exists");
    assert_eq!(replies.0.status.min(replies.1.status), 200);
}

#[tokio::test]
async fn a_declined_answer_and_its_code_are_invalid() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    let (session, page) = open_link(&service, &integrator, &user).await;
    let (onlooker, own) = (phone(&service, 66), phone(&service, 21));
    let code_seen = shown(&page);
    let answer = onlooker.answer_with(&code_seen, code_seen["confirm_code"].as_str());
    post_answer(&integrator, &code_seen, &answer).await.with(200);
    // The owner's own wallet is too late for this challenge.
    assert_eq!(scan_and_answer(&integrator, &own, &page).await.status, 404);
    let declined = decline_link(&service.app.login, page_of(&service, &session).await).await.expect("an answer");
    assert!(!declined.is_answered() && declined.challenge != page.challenge);
    assert_eq!((declined.challenge.mode, declined.link()), (Mode::Link, page.link()));
    assert_eq!(post_answer(&integrator, &code_seen, &answer).await.status, 404);
    complete_link(&integrator, &session, &page).await.assert_error(406, "invalid_signature");
    // No answer awaits a confirmation.
    assert!(confirm_link(&service.app.login, page_of(&service, &session).await).await.is_err());
    assert!(decline_link(&service.app.login, page_of(&service, &session).await).await.is_err());
    answer_and_confirm(&service, &integrator, &session, &own).await;
    assert!(decline_link(&service.app.login, page_of(&service, &session).await).await.is_err(), "it was confirmed");
    complete_link(&integrator, &session, &page).await.with(200);
    let keys: Vec<_> = credentials(&integrator, &user).await.iter().map(|own| own["public_key"].clone()).collect();
    assert_eq!(keys, [json!(service.phone().public_key()), json!(own.public_key())]);
}

#[tokio::test]
async fn an_answer_not_shown_cannot_be_confirmed() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    let (session, page) = open_link(&service, &integrator, &user).await;
    let own = phone(&service, 21);
    scan_and_answer(&integrator, &own, &page).await.with(200);
    let seen = page_of(&service, &session).await;
    // The answer is declined in another tab, and another phone answers the new challenge.
    decline_link(&service.app.login, seen.clone()).await.expect("an answer");
    scan_and_answer(&integrator, &phone(&service, 66), &page_of(&service, &session).await).await.with(200);
    assert!(confirm_link(&service.app.login, seen.clone()).await.is_err());
    assert!(decline_link(&service.app.login, seen).await.is_err());
    assert!(page_of(&service, &session).await.waits_for_confirmation());
}

#[tokio::test]
async fn an_unconfirmed_answer_expires_with_its_session() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    let (session, page) = open_link(&service, &integrator, &user).await;
    scan_and_answer(&integrator, &phone(&service, 21), &page).await.with(200);
    service.advance_clock(SignedDuration::from_secs(299));
    assert!(page_of(&service, &session).await.waits_for_confirmation());
    integrator.get_session(&session).await.with(200);
    service.advance_clock(SignedDuration::from_secs(1));
    assert!(confirm_link(&service.app.login, page_of(&service, &session).await).await.is_err());
    integrator.get_session(&session).await.assert_error(410, "session_expired");
    assert_eq!(credentials(&integrator, &user).await.len(), 1);
}

#[tokio::test]
async fn a_deleted_user_gets_no_key() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    let (session, page) = open_link(&service, &integrator, &user).await;
    let (late, of_late) = open_link(&service, &integrator, &user).await;
    answer_and_confirm(&service, &integrator, &session, &phone(&service, 21)).await;
    let path = format!("/domains/{}/users/{user}", shop_id(&integrator).await);
    assert_eq!(send(integrator.request(Method::DELETE, &path)).await.status, 204);
    complete_link(&integrator, &session, &page).await.assert_error(404, "user_not_found");
    complete_link(&integrator, &session, &page).await.assert_error(410, "session_cancelled");
    assert_eq!(scan_and_answer(&integrator, &phone(&service, 22), &of_late).await.status, 404);
    assert!(!page_of(&service, &late).await.is_answered());
    assert_eq!(crate::page_flow::users(&service).await, 0);
}

#[tokio::test]
async fn a_link_requires_its_browser_and_secret() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let user = register_user(&service, &integrator).await;
    let (session, page) = open_link(&service, &integrator, &user).await;
    answer_and_confirm(&service, &integrator, &session, &phone(&service, 21)).await;
    let other = Session::page_code_for(&browser(2), &page.id);
    complete_session(&integrator, &session, other.reveal(), Some(SECRET)).await.assert_error(406, "invalid_signature");
    let details = complete_session(&integrator, &session, &code(&page, &browser(1)), Some("another")).await;
    assert_eq!(details.assert_error(406, "invalid_signature")["reason"], "browser");
    integrator.get_session(&session).await.assert_error(410, "session_cancelled");
    assert_eq!(credentials(&integrator, &user).await.len(), 1);
}
