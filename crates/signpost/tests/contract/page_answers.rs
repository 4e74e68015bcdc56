//! What answers lead to on a page, and what it says of those that were refused (docs/api.md, Page flow).

use serde_json::json;
use signpost_auth::Mode;
use signpost_login::flows::page;
use signpost_login::sessions::{NoticeReason, Renewal, Session};

use crate::harness::{Service, scan, text};
use crate::page_flow::{
    SECRET, browser, code, completes, opens, page_of, posts, reason, registers, scans, shop, shown, users, visits,
};

#[tokio::test]
async fn who_signed_a_replaced_code_is_told_so() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    registers(&service, &integrator, &service.phone()).await;
    let session = opens(&integrator, json!({})).await;
    let page = visits(&service, &session, &browser(1)).await;
    let fresh = page::renew_page(&service.app.login, page.clone(), Renewal::ByHand).await.expect("a page");
    let old = scans(&integrator, &service.phone(), &page).await.with(404);
    assert_eq!(old, json!({ "error": "a new code replaced this one: scan the code that the page shows now" }));
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::Replaced));
    // Nobody's signature says nothing to the page.
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
async fn wrong_numbers_are_counted_over_new_codes_and_modes() {
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
async fn a_clock_that_is_off_and_an_altered_code_are_said_on_the_page() {
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
async fn who_has_no_account_is_asked_before_one_is_created() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let session = opens(&integrator, json!({})).await;
    let page = visits(&service, &session, &browser(1)).await;
    // Not before the number is right: whoever types none learns nothing of accounts.
    assert_eq!(posts(&integrator, &shown(&page), &service.phone().answers(&shown(&page))).await.status, 406);
    let told = scans(&integrator, &service.phone(), &page).await.with(404);
    assert_eq!(told["error"], "no account has this key yet: scan the new code on the page to create one");
    let asked = page_of(&service, &session).await;
    assert_eq!((asked.challenge.mode, reason(&asked)), (Mode::Register, Some(NoticeReason::UnknownKey)));
    assert_eq!(integrator.sees(&session).await.with(200)["mode"], "register");
    assert_eq!(users(&service).await, 0);
    // The login's code is dead; the new one creates the account.
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
async fn who_has_an_account_gets_no_second_one() {
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
