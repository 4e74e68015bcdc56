//! Concurrent answers of devices: the first wins, with a single event.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::harness::{Browser, Integrator, Phone, Service};
use crate::page_flow::{create_session, page_of, scan_and_answer, shop};
use crate::passkey::TestPasskey;
use crate::passkeys::{sign_up, start_login};

/// Returns another tab of the browser.
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
        user_agent: None,
    }
}

/// Posts one answer per tab at once, and returns the number accepted.
pub(crate) async fn bring_at_once(browser: &mut Browser, session: &Value, answers: &[Value]) -> usize {
    let token = browser.open(session).await.between("name=\"token\" value=\"", "\"").to_owned();
    let race = answers.iter().map(|answer| {
        let (mut tab, token) = (tab(browser), token.clone());
        async move { tab.post_passkey(session, &token, &answer.to_string()).await.0 }
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
async fn one_of_concurrent_passkey_answers_wins() {
    let (service, integrator, mut browser) = setting().await;
    let (mut passkey, _) = sign_up(&integrator, &mut browser, "shop.test").await;
    for round in 0..5 {
        let session = start_login(&integrator, &mut browser, "shop.test").await;
        let asked = browser.asked(&session, "get").await;
        let answers: Vec<_> = (0..8).map(|_| passkey.get(&asked, &browser.origin, &[])).collect();
        assert_eq!(bring_at_once(&mut browser, &session, &answers).await, 1);
        browser.return_to_site(&integrator, &session).await.with(200);
        assert_eq!(service.outbox().await.len(), 2 + round);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_concurrent_passkeys_is_created() {
    let (service, integrator, mut browser) = setting().await;
    for round in 1..=5 {
        let session = create_session(&integrator, json!({ "mode": "register" })).await;
        browser.open(&session).await.is(200, "waiting");
        let asked = browser.asked(&session, "create").await;
        let made: Vec<_> = (0..8).map(|_| TestPasskey::create(&asked, &browser.origin, &[]).1).collect();
        assert_eq!(bring_at_once(&mut browser, &session, &made).await, 1);
        browser.return_to_site(&integrator, &session).await.with(200);
        assert_eq!((service.outbox().await.len(), crate::page_flow::users(&service).await), (round, round));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_passkey_and_wallet_logs_in() {
    let (service, integrator, mut browser) = setting().await;
    let (mut passkey, registered) = sign_up(&integrator, &mut browser, "shop.test").await;
    let phone = Phone::of(9, &service.clock);
    crate::page_flow::create_user(&service, &integrator, &phone).await;
    for _ in 0..10 {
        let session = start_login(&integrator, &mut browser, "shop.test").await;
        let page = page_of(&service, &session).await;
        let asked = browser.asked(&session, "get").await;
        let answer = passkey.get(&asked, &browser.origin, &[]);
        let answers = [answer];
        let (brought, scanned) =
            tokio::join!(bring_at_once(&mut browser, &session, &answers), scan_and_answer(&integrator, &phone, &page));
        assert_eq!(brought + usize::from(scanned.status == 200), 1, "{}", scanned.text);
        let done = browser.return_to_site(&integrator, &session).await.with(200);
        assert_eq!(done["method"], if brought == 1 { "passkey" } else { "scan" });
        assert_eq!(done["user"]["id"] == registered["user"]["id"], brought == 1);
    }
}
