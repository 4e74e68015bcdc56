//! The passkey for the next login, offered after a login by wallet.

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_login::sessions::NoticeReason;

use crate::harness::{Browser, Integrator, Service, send, text};
use crate::page_flow::{create_session, page_of, reason, register_hosted_domain, scan_and_answer, shop, users};
use crate::passkey::TestPasskey;
use crate::passkey_races::{bring_at_once, setting};
use crate::passkeys::{credentials, start_login};

#[tokio::test]
async fn offered_passkey_logs_in_next_time() {
    let service = Service::start().await;
    let integrator = shop(&service).await;
    let mut browser = Browser::at(&service);
    for mode in ["register", "login"] {
        let session = create_session(&integrator, json!({ "mode": mode })).await;
        browser.open(&session).await.is(200, "waiting");
        scan_and_answer(&integrator, &service.phone(), &page_of(&service, &session).await).await.with(200);
        browser.open(&session).await.is(200, "done");
        let (status, _) = browser.prompt(&session).await;
        if mode == "login" {
            assert_eq!(status, 409, "no second passkey is offered");
            browser.return_to_site(&integrator, &session).await.with(200);
            break;
        }
        let mut passkey = browser.create_passkey(&session).await;
        let registered = browser.return_to_site(&integrator, &session).await.with(200);
        assert_eq!(registered["method"], "scan");
        service.advance_clock(SignedDuration::from_secs(1));
        let next = start_login(&integrator, &mut browser, "shop.test").await;
        assert_eq!(browser.use_passkey(&next, &mut passkey).await, (200, json!({})));
        let done = browser.return_to_site(&integrator, &next).await.with(200);
        assert_eq!((&done["method"], &done["user"]["id"]), (&json!("passkey"), &registered["user"]["id"]));
        let kinds: Vec<_> = credentials(&integrator, &done).await.iter().map(|one| one["kind"].clone()).collect();
        assert_eq!(kinds.len(), 2, "{kinds:?}");
        assert!(kinds.contains(&json!("wallet")) && kinds.contains(&json!("passkey")), "{kinds:?}");
    }
}

async fn remove_passkey(integrator: &Integrator, domain: &Value, done: &Value) -> u16 {
    let path = format!("/domains/{}/users/{}", text(domain, "id"), text(&done["user"], "id"));
    let user = integrator.get(&path).await.with(200);
    let passkey = user["credentials"].as_array().expect("some").iter().find(|one| one["kind"] == "passkey");
    let path = format!("{path}/credentials/{}", text(passkey.expect("a passkey"), "id"));
    send(integrator.request(Method::DELETE, &path)).await.status
}

#[tokio::test]
async fn removed_passkey_is_signalled_as_unknown() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = register_hosted_domain(&integrator, "shop.test").await;
    let mut browser = Browser::at(&service);
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    browser.open(&session).await.is(200, "waiting");
    scan_and_answer(&integrator, &service.phone(), &page_of(&service, &session).await).await.with(200);
    let mut passkey = browser.create_passkey(&session).await;
    let done = browser.return_to_site(&integrator, &session).await.with(200);
    assert_eq!(remove_passkey(&integrator, &domain, &done).await, 204);
    let session = start_login(&integrator, &mut browser, "shop.test").await;
    let reply = browser.use_passkey(&session, &mut passkey).await;
    assert_eq!((reply.0, &reply.1["reason"]), (404, &json!("unknown_passkey")), "{reply:?}");
    assert_eq!(reply.1["signal"], json!({ "rpId": "localhost", "credentialId": passkey.id() }));
    assert_eq!(reason(&page_of(&service, &session).await), Some(NoticeReason::UnknownPasskey));
    // The wallet still logs in.
    scan_and_answer(&integrator, &service.phone(), &page_of(&service, &session).await).await.with(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_tabs_create_one_passkey() {
    let (service, integrator, mut browser) = setting().await;
    let session = create_session(&integrator, json!({ "mode": "register" })).await;
    browser.open(&session).await.is(200, "waiting");
    scan_and_answer(&integrator, &service.phone(), &page_of(&service, &session).await).await.with(200);
    let asked = browser.asked(&session, "create").await;
    let made: Vec<_> = (0..8).map(|_| TestPasskey::create(&asked, &browser.origin, &[]).1).collect();
    assert_eq!(bring_at_once(&mut browser, &session, &made).await, 1);
    browser.return_to_site(&integrator, &session).await.with(200);
    assert_eq!(users(&service).await, 2, "a wallet and a passkey");
}
