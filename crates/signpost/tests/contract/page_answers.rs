//! The effects of answers on a page, and the notices of rejected answers (docs/api.md, Page flow).

use serde_json::json;
use signpost_auth::Mode;
use signpost_login::flows::page;
use signpost_login::sessions::{NoticeReason, Renewal, Session, SessionState};
use signpost_store::step;

use crate::harness::{Service, scan, text};
use crate::page_flow::{
    SECRET, browser, code, completes, hosts, opens, page_of, posts, reason, registers, request, scans, shop, shown,
    users, visits,
};

#[tokio::test]
async fn replaced_code_is_reported_to_the_wallet() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    registers(&service, &integrator, &service.phone()).await;
    let session = opens(&integrator, json!({})).await;
    let page = visits(&service, &session, &browser(1)).await;
    let fresh = page::renew_page(&service.app.login, page.clone(), Renewal::ByHand).await.expect("a page");
    let old = scans(&integrator, &service.phone(), &page).await.with(404);
    let told = "a new code replaced this one: scan the code that the page shows now";
    assert_eq!(old, json!({ "error": told, "details": { "reason": "replaced" } }));
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::Replaced));
    // An invalid signature changes no notice.
    let other = opens(&integrator, json!({})).await;
    let first = visits(&service, &other, &browser(1)).await;
    page::renew_page(&service.app.login, first.clone(), Renewal::ByHand).await.expect("a page");
    let mut forged = service.phone().answers_with(&shown(&first), Some("11"));
    forged["signature"] = "3006020101020101".into();
    assert_eq!(posts(&integrator, &shown(&first), &forged).await.status, 404);
    assert_eq!(reason(&page_of(&service, &other).await), None);
    scans(&integrator, &service.phone(), &fresh).await.with(200);
    assert_eq!(reason(&page_of(&service, &session).await), None, "an answer that counts clears what was refused");
}

#[tokio::test]
async fn wrong_numbers_count_across_codes_and_modes() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = opens(&integrator, json!({})).await;
    let wrong = async |page: &Session| {
        let shown = shown(page);
        let number = if text(&shown, "confirm_code") == "11" { "12" } else { "11" };
        let reply = posts(&integrator, &shown, &service.phone().answers_with(&shown, Some(number))).await.with(406);
        assert_eq!(reply["details"]["reason"], "confirm_code");
    };
    let page = visits(&service, &session, &browser(1)).await;
    wrong(&page).await;
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::ConfirmCode { tries_left: 2 }));
    let renewed = page::renew_page(&service.app.login, page, Renewal::ByHand).await.expect("a page");
    wrong(&renewed).await;
    let switched = page::switch_mode(&service.app.login, renewed, Mode::Register).await.expect("a page");
    assert_eq!(switched.challenge.mode, Mode::Register);
    wrong(&switched).await;
    let over = page_of(&service, &session).await;
    assert_eq!(reason(&over), Some(NoticeReason::ConfirmCode { tries_left: 0 }));
    integrator.sees(&session).await.refused(410, "session_cancelled");
    assert_eq!(scans(&integrator, &service.phone(), &switched).await.status, 404);
}

#[tokio::test]
async fn page_shows_clock_and_code_errors() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = opens(&integrator, json!({})).await;
    let page = visits(&service, &session, &browser(1)).await;
    let shown = shown(&page);
    let mut late = service.phone().answers_with(&shown, shown["confirm_code"].as_str());
    late["timestamp"] = (service.clock.now().as_second() - 95).into();
    assert_eq!(posts(&integrator, &shown, &late).await.status, 408);
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::Clock { seconds_off: -95 }));
    let altered = text(&shown, "qr_data").replace("http://localhost", "http://evil.test");
    let altered = json!({ "qr_data": altered });
    let signed = service.phone().answers_with(&altered, shown["confirm_code"].as_str());
    let reply = posts(&integrator, &shown, &signed).await.with(406);
    assert_eq!(reply["details"]["reason"], "host");
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::Host));
}

#[tokio::test]
async fn unknown_key_requires_a_registration_code() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = opens(&integrator, json!({})).await;
    let page = visits(&service, &session, &browser(1)).await;
    // Only after the right number: without it, accounts are not revealed.
    assert_eq!(posts(&integrator, &shown(&page), &service.phone().answers(&shown(&page))).await.status, 406);
    let told = scans(&integrator, &service.phone(), &page).await.with(404);
    assert_eq!(told["error"], "no account has this key yet: scan the new code on the page to create one");
    let asked = page_of(&service, &session).await;
    assert_eq!((asked.challenge.mode, reason(&asked)), (Mode::Register, Some(NoticeReason::UnknownKey)));
    assert_eq!(integrator.sees(&session).await.with(200)["mode"], "register");
    assert_eq!(users(&service).await, 0);
    // The login code is invalid; the new one creates the account.
    assert_eq!(scans(&integrator, &service.phone(), &page).await.status, 404);
    let asked = page_of(&service, &session).await;
    assert!(scan(&shown(&asked)).webhook().path().ends_with("/hosted/register"));
    scans(&integrator, &service.phone(), &asked).await.with(200);
    completes(&integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
    let outbox = service.outbox().await;
    assert_eq!((outbox.len(), &outbox[0].body["event"]), (1, &json!("register")));
    assert_eq!(users(&service).await, 1);
}

#[tokio::test]
async fn repeated_answer_leaves_the_notice() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = opens(&integrator, json!({})).await;
    let page = visits(&service, &session, &browser(1)).await;
    let told = "no account has this key yet: scan the new code on the page to create one";
    let needed = json!({ "error": told, "details": { "reason": "account_needed" } });
    for _ in 0..2 {
        assert_eq!(scans(&integrator, &service.phone(), &page).await.with(404), needed);
        assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::UnknownKey));
    }
    // A clock error does not replace the notice.
    let asked = page_of(&service, &session).await;
    let mut late = service.phone().answers_with(&shown(&asked), None);
    late["timestamp"] = (service.clock.now().as_second() - 95).into();
    assert_eq!(posts(&integrator, &shown(&asked), &late).await.status, 408);
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::UnknownKey));
    // After a renewal, the previous code is reported as replaced.
    let login = &service.app.login;
    service.passes(jiff::SignedDuration::from_secs(115));
    let renewed = page::renew_page(login, asked.clone(), Renewal::Automatic).await.expect("a page");
    let told = scans(&integrator, &service.phone(), &asked).await.with(404);
    assert!(text(&told, "error").contains("replaced"), "{told}");
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::UnknownKey));
    scans(&integrator, &service.phone(), &renewed).await.with(200);
}

#[tokio::test]
async fn known_key_creates_no_second_account() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    registers(&service, &integrator, &service.phone()).await;
    let session = opens(&integrator, json!({ "mode": "register" })).await;
    let page = visits(&service, &session, &browser(1)).await;
    assert_eq!(scans(&integrator, &service.phone(), &page).await.status, 409);
    let refused = page_of(&service, &session).await;
    assert_eq!((refused.challenge.mode, reason(&refused)), (Mode::Register, Some(NoticeReason::KeyKnown)));
    let login = page::switch_mode(&service.app.login, refused, Mode::Login).await.expect("a page");
    assert_eq!(reason(&login), None);
    scans(&integrator, &service.phone(), &login).await.with(200);
    completes(&integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
    assert_eq!(users(&service).await, 1);
}

#[tokio::test]
async fn correct_number_uses_no_attempt() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = opens(&integrator, json!({})).await;
    let mut page = visits(&service, &session, &browser(1)).await;
    for _ in 0..2 {
        let shown = shown(&page);
        let number = if text(&shown, "confirm_code") == "11" { "12" } else { "11" };
        let answer = service.phone().answers_with(&shown, Some(number));
        assert_eq!(posts(&integrator, &shown, &answer).await.status, 406);
    }
    // A third attempt remains; switching between the modes does not use it up.
    for _ in 0..4 {
        assert_eq!(scans(&integrator, &service.phone(), &page).await.status, 404);
        let asked = page_of(&service, &session).await;
        page = page::switch_mode(&service.app.login, asked, Mode::Login).await.expect("a page");
    }
    let register = page::switch_mode(&service.app.login, page.clone(), Mode::Register).await.expect("a page");
    scans(&integrator, &service.phone(), &register).await.with(200);
    completes(&integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
}

/// Runs a statement, and clears the domain cache.
async fn execute_sql(service: &Service, change: &'static str) {
    service.app.store.write([step(change, Vec::new())]).await.expect("a database");
    service.app.login.domains.invalidate_all();
}

#[tokio::test]
async fn closed_registration_requires_an_invitation() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    execute_sql(&service, "UPDATE domains SET registration = 'closed'").await;
    let session = opens(&integrator, json!({})).await;
    let page = visits(&service, &session, &browser(1)).await;
    let told = scans(&integrator, &service.phone(), &page).await.with(404);
    assert_eq!(told["error"], "no account has this key, and no new accounts can be created here");
    let closed = page_of(&service, &session).await;
    assert_eq!((closed.challenge.mode, reason(&closed)), (Mode::Login, Some(NoticeReason::Closed)));
    assert_eq!(closed.challenge, page.challenge, "the code stays");
    // The button of the page is refused as well.
    let same = page::switch_mode(&service.app.login, closed, Mode::Register).await.expect("a page");
    assert_eq!((same.challenge.mode, reason(&same)), (Mode::Login, Some(NoticeReason::Closed)));
    assert_eq!(users(&service).await, 0);
    // Invited users may switch the mode.
    let invited = opens(&integrator, json!({ "mode": "register" })).await;
    let page = visits(&service, &invited, &browser(1)).await;
    let login = page::switch_mode(&service.app.login, page, Mode::Login).await.expect("a page");
    assert_eq!(scans(&integrator, &service.phone(), &login).await.status, 404);
    let asked = page_of(&service, &invited).await;
    assert_eq!((asked.challenge.mode, reason(&asked)), (Mode::Register, Some(NoticeReason::UnknownKey)));
    scans(&integrator, &service.phone(), &asked).await.with(200);
    completes(&integrator, &invited, &code(&asked, &browser(1)), Some(SECRET)).await.with(200);
    assert_eq!(users(&service).await, 1);
}

#[tokio::test]
async fn closed_registration_rejects_earlier_answers() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = opens(&integrator, json!({})).await;
    let page = visits(&service, &session, &browser(1)).await;
    scans(&integrator, &service.phone(), &page).await;
    let asked = page_of(&service, &session).await;
    scans(&integrator, &service.phone(), &asked).await.with(200);
    execute_sql(&service, "UPDATE domains SET registration = 'closed'").await;
    let own = code(&asked, &browser(1));
    completes(&integrator, &session, &own, Some(SECRET)).await.refused(406, "invalid_signature");
    assert_eq!((users(&service).await, service.outbox().await.len()), (0, 0));
    completes(&integrator, &session, &own, Some(SECRET)).await.refused(410, "session_cancelled");
    assert!(matches!(page_of(&service, &session).await.state, SessionState::Cancelled { .. }), "it sends nobody back");
}

#[tokio::test]
async fn page_requires_a_usable_login_method() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = hosts(&integrator, "shop.test").await;
    let path = format!("/domains/{}", text(&domain, "id"));
    for (methods, confirm, status) in [
        (json!(["passkey"]), None, 201),
        (json!(["browser"]), None, 201),
        (json!(["browser", "passkey"]), Some("code"), 201),
        (json!(["lightning"]), Some("code"), 422),
        (json!(["lightning", "passkey"]), Some("code"), 201),
        (json!(["lightning"]), None, 201),
        (json!(["scan"]), Some("code"), 201),
        (json!(["scan", "passkey"]), None, 201),
    ] {
        integrator.patch(&path, &json!({ "methods": methods })).await.with(200);
        let mut body = request(&json!({}));
        if let Some(confirm) = confirm {
            body["confirm"] = confirm.into();
        }
        let reply = integrator.post("/sessions", &body).await;
        assert_eq!(reply.status, status, "{methods} {confirm:?}: {}", reply.text);
        if status == 422 {
            assert_eq!(reply.refused(422, "no_login_method"), json!({ "domain": "shop.test" }));
        }
        // Without a page, the site shows codes to wallets.
        integrator.post("/sessions", &json!({ "domain": "shop.test" })).await.with(201);
    }
}

#[tokio::test]
async fn only_enabled_methods_are_accepted() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = opens(&integrator, json!({ "mode": "register" })).await;
    let page = visits(&service, &session, &browser(1)).await;
    execute_sql(&service, "UPDATE domains SET methods = 'lightning'").await;
    let told = scans(&integrator, &service.phone(), &page).await.with(404);
    assert_eq!(told["error"], "this kind of wallet is not accepted here: use what the page offers");
    assert!(!page_of(&service, &session).await.is_answered());
    // Without such a wallet there is no number; a method that is enabled later requires one.
    let bare = opens(&integrator, json!({ "mode": "register" })).await;
    assert_eq!(bare.get("confirm_code"), None);
    let page = visits(&service, &bare, &browser(1)).await;
    execute_sql(&service, "UPDATE domains SET methods = 'scan,lightning'").await;
    assert_eq!(scans(&integrator, &service.phone(), &page).await.status, 404);
}

#[tokio::test]
async fn user_deleted_after_the_answer_is_rejected() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    registers(&service, &integrator, &service.phone()).await;
    let before = service.outbox().await.len();
    let session = opens(&integrator, json!({})).await;
    let page = visits(&service, &session, &browser(1)).await;
    scans(&integrator, &service.phone(), &page).await.with(200);
    execute_sql(&service, "DELETE FROM credentials").await;
    let own = code(&page, &browser(1));
    let details = completes(&integrator, &session, &own, Some(SECRET)).await.refused(406, "invalid_signature");
    assert_eq!((details["reason"].clone(), service.outbox().await.len()), (json!("completion_code"), before));
    completes(&integrator, &session, &own, Some(SECRET)).await.refused(410, "session_cancelled");
    assert!(matches!(page_of(&service, &session).await.state, SessionState::Cancelled { .. }), "it sends nobody back");
}
