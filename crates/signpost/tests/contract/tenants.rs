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
    SECRET, browser, code, complete_session, create_session, create_user_at, page_of, post_answer, reason,
    register_hosted_domain, request, scan_and_answer, shown, visit_page,
};

/// A combination with a pending login page. All pages are open in a single browser.
struct Tenant {
    integrator: Integrator,
    environment: Environment,
    session: Value,
    page: Session,
}

async fn tenants(service: &Service) -> Vec<Tenant> {
    let mut tenants = Vec::new();
    for environment in Environment::ALL {
        for account in ["acme", "rival"] {
            let integrator = service.integrator_of(account, environment).await;
            for domain in ["shop.test", "bank.test"] {
                register_hosted_domain(&integrator, domain).await;
                let session = create_session(&integrator, json!({ "domain": domain })).await;
                let page = visit_page(service, &session, &browser(1)).await;
                tenants.push(Tenant { integrator: integrator.clone(), environment, session, page });
            }
        }
    }
    assert_eq!(tenants.len(), 8);
    tenants
}

async fn service() -> Service {
    Service::with(&[("allow_private_webhooks", "true"), ("public_url", "https://login.test")]).await
}

#[tokio::test]
async fn realm_rejects_sessions_and_codes_of_others() {
    let service = service().await;
    let tenants = tenants(&service).await;
    let wallet = Wallet::from_bytes([5; 32]).expect("a key");
    for (current, own) in tenants.iter().enumerate() {
        for (others, foreign) in tenants.iter().enumerate().filter(|(others, _)| *others != current) {
            let response = format!("{current} {others}");
            // The page, in the other environment.
            let found = page::find_page(&service.app.login, foreign.environment, text(&own.session, "id")).await;
            let is_same = own.environment == foreign.environment;
            assert_eq!(found.expect("a database").is_some(), is_same, "{response}");
            // The browser's completion code of the other page.
            let foreign_code = code(&foreign.page, &browser(1));
            assert_ne!(foreign_code, code(&own.page, &browser(1)), "{response}");
            let reply = complete_session(&own.integrator, &own.session, &foreign_code, Some(SECRET)).await;
            assert_eq!(reply.assert_error(406, "invalid_signature")["reason"], "completion_code", "{response}");
            // The session, with the other account's API key.
            let path = format!("/sessions/{}", text(&own.session, "id"));
            let seen = foreign.integrator.get(&path).await;
            let has_same_account = own.integrator.key == foreign.integrator.key;
            assert_eq!(seen.status, if has_same_account { 200 } else { 404 }, "{response}: {}", seen.text);
            // A Lightning wallet's signature for the other page, at this page's URL.
            let link = |tenant: &Tenant| tenant.page.lnurl(&service.app.public_address).expect("a link");
            let signed = AuthUrl::parse(&link(foreign)).expect("a link").signed_by(&wallet);
            let path = link(own).split_once('?').expect("a query").0.replace("https://login.test", "");
            let url = format!("{}?{}", service.url(&path), signed.query().expect("a query"));
            let told_wallet = send(own.integrator.http.request(Method::GET, url)).await.with(200);
            assert_eq!(told_wallet["status"], "ERROR", "{response}: {told_wallet}");
            // A wallet's signature for this page, at the URL of the other environment.
            if !is_same {
                let shown = shown(&own.page);
                let answer = service.phone().answer_with(&shown, shown["confirm_code"].as_str());
                let reply = post_answer(&foreign.integrator, &shown_at(&shown, foreign), &answer).await;
                assert_eq!(reply.status, 404, "{response}: {}", reply.text);
            }
        }
        let now = page_of(&service, &own.session).await;
        assert!(!now.is_answered() && now.notice().is_none() && now.challenge == own.page.challenge, "{current}");
        assert!(now.is_owned_by(&browser(1).hash()) && !now.is_owned_by(&browser(2).hash()), "{current}");
    }
}

/// Returns the code with the wallet URL of another combination.
fn shown_at(shown: &Value, other: &Tenant) -> Value {
    let (from, to) = match other.environment {
        Environment::Live => ("/sandbox/v1/", "/v1/"),
        Environment::Sandbox => ("/v1/", "/sandbox/v1/"),
    };
    json!({ "qr_data": text(shown, "qr_data").replace(from, to) })
}

#[tokio::test]
async fn user_of_one_realm_is_unknown_in_others() {
    let service = service().await;
    let tenants = tenants(&service).await;
    let (home, abroad) = tenants.split_first().expect("eight");
    create_user_at(&service, &home.integrator, "shop.test", &service.phone()).await;
    scan_and_answer(&home.integrator, &service.phone(), &home.page).await.with(200);
    for tenant in abroad {
        assert_eq!(scan_and_answer(&tenant.integrator, &service.phone(), &tenant.page).await.status, 404);
        let asked = page_of(&service, &tenant.session).await;
        assert!(reason(&asked).is_some() && !asked.is_answered());
    }
}

#[tokio::test]
async fn sites_share_neither_secret_nor_page() {
    let service = service().await;
    let tenants = tenants(&service).await;
    let [first, second, ..] = &tenants[..] else { panic!("eight") };
    // A valid code of one site, injected into a browser at the other site.
    create_user_at(&service, &first.integrator, "shop.test", &service.phone()).await;
    scan_and_answer(&first.integrator, &service.phone(), &first.page).await.with(200);
    let planted = code(&first.page, &browser(1));
    complete_session(&second.integrator, &second.session, &planted, Some(SECRET))
        .await
        .assert_error(406, "invalid_signature");
    let details = complete_session(&first.integrator, &first.session, &planted, Some("the victim's own")).await;
    assert_eq!(details.assert_error(406, "invalid_signature")["reason"], "browser");
    complete_session(&first.integrator, &first.session, &planted, Some(SECRET))
        .await
        .assert_error(410, "session_cancelled");
}

/// Registers a user in each combination, all with a single phone.
async fn users_of(service: &Service, tenants: &[Tenant]) -> Vec<(String, String)> {
    let mut users = Vec::new();
    for tenant in tenants {
        let domain = tenant.page.domain_id.to_string();
        let name = tenant.page.challenge.domain.to_string();
        let done = create_user_at(service, &tenant.integrator, &name, &service.phone()).await;
        users.push((domain, text(&done["user"], "id").to_owned()));
    }
    users
}

#[tokio::test]
async fn accounts_cannot_be_linked_from_another_realm() {
    let service = service().await;
    let tenants = tenants(&service).await;
    let users = users_of(&service, &tenants).await;
    let mut links = Vec::new();
    for (tenant, (_, user)) in tenants.iter().zip(&users) {
        let with = json!({ "domain": tenant.page.challenge.domain, "mode": "link", "user": user });
        let session = create_session(&tenant.integrator, with).await;
        links.push((visit_page(&service, &session, &browser(1)).await, session));
    }
    let second = Phone::of(21, &service.clock);
    for (current, own) in tenants.iter().enumerate() {
        for (others, _) in tenants.iter().enumerate().filter(|(others, _)| *others != current) {
            let response = format!("{current} {others}");
            let (their_domain, their_user) = &users[others];
            // The other combination's user, at this domain.
            let body = request(&json!({ "domain": own.page.challenge.domain, "mode": "link", "user": their_user }));
            own.integrator.post("/sessions", &body).await.assert_error(404, "user_not_found");
            let here = format!("/domains/{}/users/{their_user}", users[current].0);
            own.integrator.get(&here).await.assert_error(404, "not_found");
            // The other combination's user and domain, with this API key.
            let has_same_account = own.integrator.key == tenants[others].integrator.key;
            let there = format!("/domains/{their_domain}/users/{their_user}");
            assert_eq!(own.integrator.get(&there).await.status, if has_same_account { 200 } else { 404 }, "{response}");
            let key = format!("{there}/credentials/{}", service.phone().public_key());
            if !has_same_account {
                send(own.integrator.request(Method::DELETE, &key)).await.assert_error(404, "domain_not_found");
            }
            // The completion code of the other link session, at this domain.
            let foreign = code(&links[others].0, &browser(1));
            let reply = complete_session(&own.integrator, &links[current].1, &foreign, Some(SECRET)).await;
            assert_eq!(reply.assert_error(406, "invalid_signature")["reason"], "completion_code", "{response}");
        }
    }
    // A link code is valid only for its own account. Each account may link with its own page.
    for (at, (tenant, (page, session))) in tenants.iter().zip(&links).enumerate() {
        scan_and_answer(&tenant.integrator, &second, page).await.with(200);
        confirm_link(&service.app.login, page_of(&service, session).await).await.expect("an answer");
        let done =
            complete_session(&tenant.integrator, session, &code(page, &browser(1)), Some(SECRET)).await.with(200);
        assert_eq!(text(&done["user"], "id"), users[at].1);
        for (other, (domain, user)) in users.iter().enumerate() {
            let path = format!("/domains/{domain}/users/{user}");
            let seen = tenants[other].integrator.get(&path).await.with(200);
            let expected = if other <= at { 2 } else { 1 };
            assert_eq!(seen["credentials"].as_array().map(Vec::len), Some(expected), "{at} {other}");
        }
    }
}
