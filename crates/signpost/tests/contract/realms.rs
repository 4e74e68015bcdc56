//! Two accounts, two domains, live and sandbox on one host: each combination rejects the data of all others.

use reqwest::Method;
use serde_json::{Value, json};
use signpost_auth::{AuthUrl, Wallet};
use signpost_login::flows::link::confirm_link;
use signpost_login::flows::page;
use signpost_login::sessions::Session;
use signpost_platform::accounts::Environment;

use crate::harness::{Integrator, Phone, Service, send, text};
use crate::page_flow::{
    SECRET, browser, code, completes, hosts, opens, page_of, posts, reason, registers_at, request, scans, shown, visits,
};

/// One combination, with a login page that waits. All pages are open in one browser.
struct Realm {
    integrator: Integrator,
    environment: Environment,
    session: Value,
    page: Session,
}

async fn realms(service: &Service) -> Vec<Realm> {
    let mut realms = Vec::new();
    for environment in Environment::ALL {
        for account in ["acme", "rival"] {
            let integrator = service.integrator_of(account, environment).await;
            for domain in ["shop.test", "bank.test"] {
                hosts(&integrator, domain).await;
                let session = opens(&integrator, json!({ "domain": domain })).await;
                let page = visits(service, &session, &browser(1)).await;
                realms.push(Realm { integrator: integrator.clone(), environment, session, page });
            }
        }
    }
    assert_eq!(realms.len(), 8);
    realms
}

async fn service() -> Service {
    Service::with(&[("allow_private_webhooks", "true"), ("public_url", "https://login.test")]).await
}

#[tokio::test]
async fn realm_rejects_sessions_and_codes_of_others() {
    let service = service().await;
    let realms = realms(&service).await;
    let wallet = Wallet::from_bytes([5; 32]).expect("a key");
    for (ours, own) in realms.iter().enumerate() {
        for (theirs, foreign) in realms.iter().enumerate().filter(|(theirs, _)| *theirs != ours) {
            let told = format!("{ours} {theirs}");
            // The page, in the other environment.
            let found = page::find_page(&service.app.login, foreign.environment, text(&own.session, "id")).await;
            let is_same = own.environment == foreign.environment;
            assert_eq!(found.expect("a database").is_some(), is_same, "{told}");
            // The browser's completion code of the other page.
            let foreign_code = code(&foreign.page, &browser(1));
            assert_ne!(foreign_code, code(&own.page, &browser(1)), "{told}");
            let reply = completes(&own.integrator, &own.session, &foreign_code, Some(SECRET)).await;
            assert_eq!(reply.refused(406, "invalid_signature")["reason"], "completion_code", "{told}");
            // The session, with the other account's API key.
            let path = format!("/sessions/{}", text(&own.session, "id"));
            let seen = foreign.integrator.get(&path).await;
            let is_theirs = own.integrator.key == foreign.integrator.key;
            assert_eq!(seen.status, if is_theirs { 200 } else { 404 }, "{told}: {}", seen.text);
            // A Lightning wallet's signature for the other page, at this page's URL.
            let link = |realm: &Realm| realm.page.lnurl(&service.app.public_address).expect("a link");
            let signed = AuthUrl::parse(&link(foreign)).expect("a link").signed_by(&wallet);
            let path = link(own).split_once('?').expect("a query").0.replace("https://login.test", "");
            let url = format!("{}?{}", service.url(&path), signed.query().expect("a query"));
            let told_wallet = send(own.integrator.http.request(Method::GET, url)).await.with(200);
            assert_eq!(told_wallet["status"], "ERROR", "{told}: {told_wallet}");
            // A wallet's signature for this page, at the URL of the other environment.
            if !is_same {
                let shown = shown(&own.page);
                let answer = service.phone().answers_with(&shown, shown["confirm_code"].as_str());
                let reply = posts(&foreign.integrator, &shown_at(&shown, foreign), &answer).await;
                assert_eq!(reply.status, 404, "{told}: {}", reply.text);
            }
        }
        let now = page_of(&service, &own.session).await;
        assert!(!now.is_answered() && now.notice().is_none() && now.challenge == own.page.challenge, "{ours}");
        assert!(now.is_owned_by(&browser(1).hash()) && !now.is_owned_by(&browser(2).hash()), "{ours}");
    }
}

/// Returns the code with the wallet URL of another combination.
fn shown_at(shown: &Value, other: &Realm) -> Value {
    let (from, to) = match other.environment {
        Environment::Live => ("/sandbox/v1/", "/v1/"),
        Environment::Sandbox => ("/v1/", "/sandbox/v1/"),
    };
    json!({ "qr_data": text(shown, "qr_data").replace(from, to) })
}

#[tokio::test]
async fn user_of_one_realm_is_unknown_in_others() {
    let service = service().await;
    let realms = realms(&service).await;
    let (home, abroad) = realms.split_first().expect("eight");
    registers_at(&service, &home.integrator, "shop.test", &service.phone()).await;
    scans(&home.integrator, &service.phone(), &home.page).await.with(200);
    for realm in abroad {
        assert_eq!(scans(&realm.integrator, &service.phone(), &realm.page).await.status, 404);
        let asked = page_of(&service, &realm.session).await;
        assert!(reason(&asked).is_some() && !asked.is_answered());
    }
}

#[tokio::test]
async fn sites_share_neither_secret_nor_page() {
    let service = service().await;
    let realms = realms(&service).await;
    let [first, second, ..] = &realms[..] else { panic!("eight") };
    // A valid code of one site, injected into a browser at the other site.
    registers_at(&service, &first.integrator, "shop.test", &service.phone()).await;
    scans(&first.integrator, &service.phone(), &first.page).await.with(200);
    let planted = code(&first.page, &browser(1));
    completes(&second.integrator, &second.session, &planted, Some(SECRET)).await.refused(406, "invalid_signature");
    let details = completes(&first.integrator, &first.session, &planted, Some("the victim's own")).await;
    assert_eq!(details.refused(406, "invalid_signature")["reason"], "browser");
    completes(&first.integrator, &first.session, &planted, Some(SECRET)).await.refused(410, "session_cancelled");
}

/// Registers a user in each combination, all with one phone.
async fn users_of(service: &Service, realms: &[Realm]) -> Vec<(String, String)> {
    let mut users = Vec::new();
    for realm in realms {
        let domain = realm.page.domain_id.to_string();
        let name = realm.page.challenge.domain.to_string();
        let done = registers_at(service, &realm.integrator, &name, &service.phone()).await;
        users.push((domain, text(&done["user"], "id").to_owned()));
    }
    users
}

#[tokio::test]
async fn accounts_cannot_be_linked_from_another_realm() {
    let service = service().await;
    let realms = realms(&service).await;
    let users = users_of(&service, &realms).await;
    let mut links = Vec::new();
    for (realm, (_, user)) in realms.iter().zip(&users) {
        let with = json!({ "domain": realm.page.challenge.domain, "mode": "link", "user": user });
        let session = opens(&realm.integrator, with).await;
        links.push((visits(&service, &session, &browser(1)).await, session));
    }
    let second = Phone::of(21, &service.clock);
    for (ours, own) in realms.iter().enumerate() {
        for (theirs, _) in realms.iter().enumerate().filter(|(theirs, _)| *theirs != ours) {
            let told = format!("{ours} {theirs}");
            let (their_domain, their_user) = &users[theirs];
            // The other combination's user, at this domain.
            let body = request(&json!({ "domain": own.page.challenge.domain, "mode": "link", "user": their_user }));
            own.integrator.post("/sessions", &body).await.refused(404, "user_not_found");
            let here = format!("/domains/{}/users/{their_user}", users[ours].0);
            own.integrator.get(&here).await.refused(404, "not_found");
            // The other combination's user and domain, with this API key.
            let is_ours = own.integrator.key == realms[theirs].integrator.key;
            let there = format!("/domains/{their_domain}/users/{their_user}");
            assert_eq!(own.integrator.get(&there).await.status, if is_ours { 200 } else { 404 }, "{told}");
            let key = format!("{there}/credentials/{}", service.phone().public_key());
            if !is_ours {
                send(own.integrator.request(Method::DELETE, &key)).await.refused(404, "domain_not_found");
            }
            // The completion code of the other link session, at this domain.
            let foreign = code(&links[theirs].0, &browser(1));
            let reply = completes(&own.integrator, &links[ours].1, &foreign, Some(SECRET)).await;
            assert_eq!(reply.refused(406, "invalid_signature")["reason"], "completion_code", "{told}");
        }
    }
    // A link code is valid only for its own account. Each account may link with its own page.
    for (at, (realm, (page, session))) in realms.iter().zip(&links).enumerate() {
        scans(&realm.integrator, &second, page).await.with(200);
        confirm_link(&service.app.login, page_of(&service, session).await).await.expect("an answer");
        let done = completes(&realm.integrator, session, &code(page, &browser(1)), Some(SECRET)).await.with(200);
        assert_eq!(text(&done["user"], "id"), users[at].1);
        for (other, (domain, user)) in users.iter().enumerate() {
            let path = format!("/domains/{domain}/users/{user}");
            let seen = realms[other].integrator.get(&path).await.with(200);
            let expected = if other <= at { 2 } else { 1 };
            assert_eq!(seen["credentials"].as_array().map(Vec::len), Some(expected), "{at} {other}");
        }
    }
}
