//! Answers of devices that come at the same time as others: one of them wins, and there is one event.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::harness::{Browser, Integrator, Phone, Service};
use crate::page_flow::{opens, page_of, scans, shop};
use crate::passkey::TestPasskey;
use crate::passkeys::{arrives, signs_up};

/// A tab of the same browser.
fn tab(browser: &Browser) -> Browser {
    let Browser { http, base, origin, cookie, login_cookie, .. } = browser;
    let (http, base, origin) = (http.clone(), base.clone(), origin.clone());
    Browser {
        http,
        base,
        origin,
        cookie: cookie.clone(),
        login_cookie: login_cookie.clone(),
        hint_cookie: None,
        setup_cookie: None,
    }
}

/// All tabs bring their answer at once; how many were accepted.
pub(crate) async fn bring_at_once(browser: &mut Browser, session: &Value, answers: &[Value]) -> usize {
    let token = browser.opens(session).await.between("name=\"token\" value=\"", "\"").to_owned();
    let race = answers.iter().map(|answer| {
        let (mut tab, token) = (tab(browser), token.clone());
        async move { tab.posts_passkey(session, &token, &answer.to_string()).await.0 }
    });
    let statuses = join_all(race).await;
    assert!(statuses.iter().all(|&status| status < 500), "{statuses:?}");
    statuses.into_iter().filter(|&status| status == 200).count()
}

pub(crate) async fn setting() -> (Service, Integrator, Browser) {
    let service = Service::with(&[("allow_private_webhooks", "true"), ("rate_limit_answer", "off")]).await;
    let integrator = shop(&service).await;
    let browser = Browser::at(&service);
    (service, integrator, browser)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_answers_that_come_at_once_one_wins() {
    let (service, integrator, mut browser) = setting().await;
    let (mut passkey, _) = signs_up(&integrator, &mut browser, "shop.test").await;
    for round in 0..5 {
        let session = arrives(&integrator, &mut browser, "shop.test").await;
        let asked = browser.asked(&session, "get").await;
        let answers: Vec<_> = (0..8).map(|_| passkey.get(&asked, &browser.origin, &[])).collect();
        assert_eq!(bring_at_once(&mut browser, &session, &answers).await, 1);
        browser.returns(&integrator, &session).await.with(200);
        assert_eq!(service.outbox().await.len(), 2 + round);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_passkeys_that_are_made_at_once_one_becomes_the_account() {
    let (service, integrator, mut browser) = setting().await;
    for round in 1..=5 {
        let session = opens(&integrator, json!({ "mode": "register" })).await;
        browser.opens(&session).await.is(200, "waiting");
        let asked = browser.asked(&session, "create").await;
        let made: Vec<_> = (0..8).map(|_| TestPasskey::create(&asked, &browser.origin, &[]).1).collect();
        assert_eq!(bring_at_once(&mut browser, &session, &made).await, 1);
        browser.returns(&integrator, &session).await.with(200);
        assert_eq!((service.outbox().await.len(), crate::page_flow::users(&service).await), (round, round));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_passkey_and_a_wallet_at_once_log_in_one_of_them() {
    let (service, integrator, mut browser) = setting().await;
    let (mut passkey, registered) = signs_up(&integrator, &mut browser, "shop.test").await;
    let phone = Phone::of(9, &service.clock);
    crate::page_flow::registers(&service, &integrator, &phone).await;
    for _ in 0..10 {
        let session = arrives(&integrator, &mut browser, "shop.test").await;
        let page = page_of(&service, &session).await;
        let asked = browser.asked(&session, "get").await;
        let answer = passkey.get(&asked, &browser.origin, &[]);
        let answers = [answer];
        let (brought, scanned) =
            tokio::join!(bring_at_once(&mut browser, &session, &answers), scans(&integrator, &phone, &page));
        assert_eq!(brought + usize::from(scanned.status == 200), 1, "{}", scanned.text);
        let done = browser.returns(&integrator, &session).await.with(200);
        assert_eq!(done["method"], if brought == 1 { "passkey" } else { "scan" });
        assert_eq!(done["user"]["id"] == registered["user"]["id"], brought == 1);
    }
}
