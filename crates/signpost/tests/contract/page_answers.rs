//! The effects of answers on a page, and the notices of rejected answers (docs/api.md, Page flow).

use serde_json::json;
use signpost_auth::Mode;
use signpost_login::flows::page;
use signpost_login::sessions::{NoticeReason, Renewal, Session, SessionState};
use signpost_store::Statement;

use crate::harness::{Service, scan, text};
use crate::page_flow::{
    SECRET, browser, code, complete_session, create_session, create_user, page_of, post_answer, reason,
    register_hosted_domain, request, scan_and_answer, shop, shown, users, visit_page,
};

#[tokio::test]
async fn replaced_code_is_reported_to_the_wallet() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    create_user(&service, &integrator, &service.phone()).await;
    let session = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    let fresh = page::renew_page(&service.app.login, page.clone(), Renewal::ByHand).await.expect("a page");
    let old = scan_and_answer(&integrator, &service.phone(), &page).await.with(404);
    let response = "a new code replaced this one: scan the code that the page shows now";
    assert_eq!(old, json!({ "error": response, "details": { "reason": "replaced" } }));
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::Replaced));
    // An invalid signature changes no notice.
    let other = create_session(&integrator, json!({})).await;
    let first = visit_page(&service, &other, &browser(1)).await;
    page::renew_page(&service.app.login, first.clone(), Renewal::ByHand).await.expect("a page");
    let mut forged = service.phone().answer_with(&shown(&first), Some("11"));
    forged["signature"] = "3006020101020101".into();
    assert_eq!(post_answer(&integrator, &shown(&first), &forged).await.status, 404);
    assert_eq!(reason(&page_of(&service, &other).await), None);
    scan_and_answer(&integrator, &service.phone(), &fresh).await.with(200);
    assert_eq!(reason(&page_of(&service, &session).await), None, "an accepted answer clears the reason");
}

#[tokio::test]
async fn wrong_numbers_count_across_codes_and_modes() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({})).await;
    let wrong = async |page: &Session| {
        let shown = shown(page);
        let number = if text(&shown, "confirm_code") == "11" { "12" } else { "11" };
        let reply =
            post_answer(&integrator, &shown, &service.phone().answer_with(&shown, Some(number))).await.with(406);
        assert_eq!(reply["details"]["reason"], "confirm_code");
    };
    let page = visit_page(&service, &session, &browser(1)).await;
    wrong(&page).await;
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::ConfirmCode { tries_left: 2 }));
    let renewed = page::renew_page(&service.app.login, page, Renewal::ByHand).await.expect("a page");
    wrong(&renewed).await;
    let switched = page::switch_mode(&service.app.login, renewed, Mode::Register).await.expect("a page");
    assert_eq!(switched.challenge.mode, Mode::Register);
    wrong(&switched).await;
    let over = page_of(&service, &session).await;
    assert_eq!(reason(&over), Some(NoticeReason::ConfirmCode { tries_left: 0 }));
    integrator.get_session(&session).await.assert_error(410, "session_cancelled");
    assert_eq!(scan_and_answer(&integrator, &service.phone(), &switched).await.status, 404);
}

#[tokio::test]
async fn page_shows_clock_and_code_errors() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    let shown = shown(&page);
    let mut late = service.phone().answer_with(&shown, shown["confirm_code"].as_str());
    late["timestamp"] = (service.clock.now().as_second() - 95).into();
    assert_eq!(post_answer(&integrator, &shown, &late).await.status, 408);
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::Clock { seconds_off: -95 }));
    let altered = text(&shown, "qr_data").replace("http://localhost", "http://evil.test");
    let altered = json!({ "qr_data": altered });
    let signed = service.phone().answer_with(&altered, shown["confirm_code"].as_str());
    let reply = post_answer(&integrator, &shown, &signed).await.with(406);
    assert_eq!(reply["details"]["reason"], "host");
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::Host));
}

#[tokio::test]
async fn unknown_key_requires_a_registration_code() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    // An unknown account is reported only after the right number, so that accounts are not revealed without it.
    assert_eq!(post_answer(&integrator, &shown(&page), &service.phone().answer(&shown(&page))).await.status, 406);
    let response = scan_and_answer(&integrator, &service.phone(), &page).await.with(404);
    assert_eq!(response["error"], "no account has this key yet: scan the new code on the page to create one");
    let asked = page_of(&service, &session).await;
    assert_eq!((asked.challenge.mode, reason(&asked)), (Mode::Register, Some(NoticeReason::UnknownKey)));
    assert_eq!(integrator.get_session(&session).await.with(200)["mode"], "register");
    assert_eq!(users(&service).await, 0);
    // The login code is invalid; the new code creates the account.
    assert_eq!(scan_and_answer(&integrator, &service.phone(), &page).await.status, 404);
    let asked = page_of(&service, &session).await;
    assert!(scan(&shown(&asked)).webhook().path().ends_with("/hosted/register"));
    scan_and_answer(&integrator, &service.phone(), &asked).await.with(200);
    complete_session(&integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
    let outbox = service.outbox().await;
    assert_eq!((outbox.len(), &outbox[0].body["event"]), (1, &json!("register")));
    assert_eq!(users(&service).await, 1);
}

#[tokio::test]
async fn repeated_answer_leaves_the_notice() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    let response = "no account has this key yet: scan the new code on the page to create one";
    let needed = json!({ "error": response, "details": { "reason": "account_needed" } });
    for _ in 0..2 {
        assert_eq!(scan_and_answer(&integrator, &service.phone(), &page).await.with(404), needed);
        assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::UnknownKey));
    }
    // A clock error does not replace the notice.
    let asked = page_of(&service, &session).await;
    let mut late = service.phone().answer_with(&shown(&asked), None);
    late["timestamp"] = (service.clock.now().as_second() - 95).into();
    assert_eq!(post_answer(&integrator, &shown(&asked), &late).await.status, 408);
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::UnknownKey));
    // After a renewal, the previous code is reported as replaced.
    let login = &service.app.login;
    service.advance_clock(jiff::SignedDuration::from_secs(115));
    let renewed = page::renew_page(login, asked.clone(), Renewal::Automatic).await.expect("a page");
    let response = scan_and_answer(&integrator, &service.phone(), &asked).await.with(404);
    assert!(text(&response, "error").contains("replaced"), "{response}");
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::UnknownKey));
    scan_and_answer(&integrator, &service.phone(), &renewed).await.with(200);
}

#[tokio::test]
async fn known_key_creates_no_second_account() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    create_user(&service, &integrator, &service.phone()).await;
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    assert_eq!(scan_and_answer(&integrator, &service.phone(), &page).await.status, 409);
    let refused = page_of(&service, &session).await;
    assert_eq!((refused.challenge.mode, reason(&refused)), (Mode::Register, Some(NoticeReason::KeyKnown)));
    let login = page::switch_mode(&service.app.login, refused, Mode::Login).await.expect("a page");
    assert_eq!(reason(&login), None);
    scan_and_answer(&integrator, &service.phone(), &login).await.with(200);
    complete_session(&integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
    assert_eq!(users(&service).await, 1);
}

#[tokio::test]
async fn correct_number_uses_no_attempt() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({})).await;
    let mut page = visit_page(&service, &session, &browser(1)).await;
    for _ in 0..2 {
        let shown = shown(&page);
        let number = if text(&shown, "confirm_code") == "11" { "12" } else { "11" };
        let answer = service.phone().answer_with(&shown, Some(number));
        assert_eq!(post_answer(&integrator, &shown, &answer).await.status, 406);
    }
    // A third attempt remains; switching between the modes does not use it up.
    for _ in 0..4 {
        assert_eq!(scan_and_answer(&integrator, &service.phone(), &page).await.status, 404);
        let asked = page_of(&service, &session).await;
        page = page::switch_mode(&service.app.login, asked, Mode::Login).await.expect("a page");
    }
    let register = page::switch_mode(&service.app.login, page.clone(), Mode::Register).await.expect("a page");
    scan_and_answer(&integrator, &service.phone(), &register).await.with(200);
    complete_session(&integrator, &session, &code(&page, &browser(1)), Some(SECRET)).await.with(200);
}

/// Runs a statement, and clears the domain cache.
async fn execute_sql(service: &Service, change: &'static str) {
    service.app.store.write([Statement::new(change, Vec::new())]).await.expect("a database");
    service.app.login.domains.invalidate_all();
}

#[tokio::test]
async fn closed_registration_requires_an_invitation() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    execute_sql(&service, "UPDATE domains SET registration = 'closed'").await;
    let session = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    let response = scan_and_answer(&integrator, &service.phone(), &page).await.with(404);
    assert_eq!(response["error"], "no account has this key, and no new accounts can be created here");
    let closed = page_of(&service, &session).await;
    assert_eq!((closed.challenge.mode, reason(&closed)), (Mode::Login, Some(NoticeReason::Closed)));
    assert_eq!(closed.challenge, page.challenge, "the code stays");
    // The button of the page is refused as well.
    let same = page::switch_mode(&service.app.login, closed, Mode::Register).await.expect("a page");
    assert_eq!((same.challenge.mode, reason(&same)), (Mode::Login, Some(NoticeReason::Closed)));
    assert_eq!(users(&service).await, 0);
    // Invited users may switch the mode.
    let invited = create_session(&integrator, json!({ "mode": "register" })).await;
    let page = visit_page(&service, &invited, &browser(1)).await;
    let login = page::switch_mode(&service.app.login, page, Mode::Login).await.expect("a page");
    assert_eq!(scan_and_answer(&integrator, &service.phone(), &login).await.status, 404);
    let asked = page_of(&service, &invited).await;
    assert_eq!((asked.challenge.mode, reason(&asked)), (Mode::Register, Some(NoticeReason::UnknownKey)));
    scan_and_answer(&integrator, &service.phone(), &asked).await.with(200);
    complete_session(&integrator, &invited, &code(&asked, &browser(1)), Some(SECRET)).await.with(200);
    assert_eq!(users(&service).await, 1);
}

#[tokio::test]
async fn closed_registration_rejects_earlier_answers() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    scan_and_answer(&integrator, &service.phone(), &page).await;
    let asked = page_of(&service, &session).await;
    scan_and_answer(&integrator, &service.phone(), &asked).await.with(200);
    execute_sql(&service, "UPDATE domains SET registration = 'closed'").await;
    let own = code(&asked, &browser(1));
    complete_session(&integrator, &session, &own, Some(SECRET)).await.assert_error(406, "invalid_signature");
    assert_eq!((users(&service).await, service.outbox().await.len()), (0, 0));
    complete_session(&integrator, &session, &own, Some(SECRET)).await.assert_error(410, "session_cancelled");
    assert!(matches!(page_of(&service, &session).await.state, SessionState::Cancelled { .. }), "no redirect");
}

#[tokio::test]
async fn page_requires_a_usable_login_method() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = register_hosted_domain(&integrator, "shop.test").await;
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
            assert_eq!(reply.assert_error(422, "no_login_method"), json!({ "domain": "shop.test" }));
        }
        // Without a page, the site shows codes to wallets.
        integrator.post("/sessions", &json!({ "domain": "shop.test" })).await.with(201);
    }
}

#[tokio::test]
async fn only_enabled_methods_are_accepted() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    execute_sql(&service, "UPDATE domains SET methods = 'lightning'").await;
    let response = scan_and_answer(&integrator, &service.phone(), &page).await.with(404);
    assert_eq!(response["error"], "this kind of wallet is not accepted here: use what the page offers");
    assert!(!page_of(&service, &session).await.is_answered());
    // Without such a wallet there is no number; a method that is enabled later requires a number.
    let bare = create_session(&integrator, json!({ "mode": "register" })).await;
    assert_eq!(bare.get("confirm_code"), None);
    let page = visit_page(&service, &bare, &browser(1)).await;
    execute_sql(&service, "UPDATE domains SET methods = 'scan,lightning'").await;
    assert_eq!(scan_and_answer(&integrator, &service.phone(), &page).await.status, 404);
}

#[tokio::test]
async fn user_deleted_after_the_answer_is_rejected() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    create_user(&service, &integrator, &service.phone()).await;
    let before = service.outbox().await.len();
    let session = create_session(&integrator, json!({})).await;
    let page = visit_page(&service, &session, &browser(1)).await;
    scan_and_answer(&integrator, &service.phone(), &page).await.with(200);
    execute_sql(&service, "DELETE FROM credentials").await;
    let own = code(&page, &browser(1));
    let details =
        complete_session(&integrator, &session, &own, Some(SECRET)).await.assert_error(406, "invalid_signature");
    assert_eq!((details["reason"].clone(), service.outbox().await.len()), (json!("completion_code"), before));
    complete_session(&integrator, &session, &own, Some(SECRET)).await.assert_error(410, "session_cancelled");
    assert!(matches!(page_of(&service, &session).await.state, SessionState::Cancelled { .. }), "no redirect");
}
