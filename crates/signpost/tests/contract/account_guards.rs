//! Isolation of accounts: tenants, browsers, forms, and the operator's return path.

use std::path::Path;

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_platform::accounts::Environment;
use signpost_platform::clock::Clock;

use crate::account::{account_of, answer_session, code_of, keys_on, log_in, signed_in};
use crate::harness::{Browser, Integrator, Phone, Program, RunningProgram, Service, embedded_database, http, text};
use crate::page_flow::{SECRET, complete_session, create_user_at, register_hosted_domain};

/// Posts a form without a page.
async fn post_form(browser: &mut Browser, path: &str, origin: Option<&str>, body: &str) -> u16 {
    let form = browser.request(Method::POST, path).header("content-type", "application/x-www-form-urlencoded");
    let form = origin.into_iter().fold(form, |form, origin| form.header("origin", origin));
    browser.send(form.body(body.to_owned())).await.status
}

#[tokio::test]
async fn forms_reject_foreign_origins_and_tokens() {
    let service = Service::start().await;
    let (integrator, mut owner, account) = signed_in(&service).await;
    let shown = owner.visit(&account).await;
    let key = keys_on(&shown).remove(0);
    let mut stranger = Browser::at(&service);
    create_user_at(&service, &integrator, "shop.test", &Phone::of(9, &service.clock)).await;
    log_in(&integrator, &mut stranger, &Phone::of(9, &service.clock), "shop.test").await;
    let other = stranger.visit(&account).await;
    let (own, evil) = (owner.origin.clone(), "https://evil.test");
    let forms = [format!("rename-{key}"), "add".to_owned(), "sign-out".to_owned(), "sign-out-everywhere".to_owned()];
    for form in forms {
        let (action, token) = shown.form(&form);
        let foreign = other.form(if form.starts_with("rename") { "add" } else { &form }).1;
        let another = shown.form(if form == "add" { "sign-out" } else { "add" }).1;
        for (origin, cookie, token) in [
            (Some(evil), &owner.login_cookie, &*token),
            (Some("null"), &owner.login_cookie, &token),
            (None, &owner.login_cookie, &token),
            (Some(&*own), &owner.login_cookie, ""),
            (Some(&*own), &owner.login_cookie, &foreign),
            (Some(&*own), &owner.login_cookie, &another),
            (Some(&*own), &stranger.login_cookie, &token),
            (Some(&*own), &None, &token),
        ] {
            let mut browser = Browser { login_cookie: cookie.clone(), ..Browser::at(&service) };
            let body = format!("token={token}&credential={key}&name=Stolen");
            assert_eq!(post_form(&mut browser, &action, origin, &body).await, 403, "{form} {origin:?} {token}");
        }
    }
    assert!(!owner.visit(&account).await.is(200, "account").html.contains("Stolen"));
    // A user's own CSRF token does not grant access to another user's keys.
    let (action, token) = other.form(&format!("rename-{}", keys_on(&other)[0]));
    let body = format!("token={token}&credential={key}&name=Stolen");
    post_form(&mut stranger, &action, Some(&own), &body).await;
    assert!(!owner.visit(&account).await.html.contains("Stolen"));
}

#[tokio::test]
async fn unknown_accounts_look_signed_out() {
    let service = Service::start().await;
    let (_, mut browser, account) = signed_in(&service).await;
    let mut stranger = Browser::at(&service);
    let unknown = format!("/account/dom_{}", "0".repeat(26));
    let (there, nowhere) = (stranger.visit(&account).await, stranger.visit(&unknown).await);
    let plain = |html: &str, path: &str, token: &str| html.replace(path, "").replace(token, "");
    let token = |shown: &crate::harness::ShownPage| shown.form("login").1;
    assert_eq!(
        plain(&there.is(200, "signed-out").html, &account, &token(&there)),
        plain(&nowhere.is(200, "signed-out").html, &unknown, &token(&nowhere))
    );
    assert!(!there.html.contains("shop.test"));
    browser.visit("/account/nonsense").await.is(200, "signed-out");
    stranger.submit(&nowhere, "login", "").await.is(403, "no-login");
    let gone = stranger.follow(&format!("{account}/return?session_id=sess_0&code=x")).await;
    gone.is(200, "signed-out");
}

#[tokio::test]
async fn return_path_rejects_head() {
    let service = Service::start().await;
    let (_, mut browser, account) = signed_in(&service).await;
    let asked = browser.request(Method::HEAD, &format!("{account}/return?session_id=sess_0&code=x"));
    assert_eq!(browser.send(asked).await.status, 405);
}

#[tokio::test]
async fn sign_in_is_valid_in_one_realm_only() {
    let settings = [("allow_private_webhooks", "true"), ("public_url", "https://login.test")];
    let service = Service::with(&settings).await;
    let mut tenants = Vec::new();
    for account in ["acme", "other"] {
        for environment in Environment::ALL {
            let integrator = service.integrator_of(account, environment).await;
            for name in ["shop.test", "bank.test"] {
                let domain = register_hosted_domain(&integrator, name).await;
                create_user_at(&service, &integrator, name, &service.phone()).await;
                tenants.push((integrator.clone(), name, account_of(&domain)));
            }
        }
    }
    assert_eq!(tenants.len(), 8);
    let arrive = || Browser { origin: "https://login.test".to_owned(), ..Browser::at(&service) };
    let mut everywhere = arrive();
    for (integrator, name, account) in &tenants {
        let mut browser = arrive();
        log_in(integrator, &mut browser, &service.phone(), name).await;
        let cookie = browser.login_cookie.clone().expect("a cookie");
        assert!(cookie.starts_with("__Host-signpost_login="), "{cookie}");
        let own = browser.visit(account).await;
        assert_eq!(keys_on(own.is(200, "account")).len(), 1);
        let (_, token) = own.form("sign-out-everywhere");
        for (_, _, foreign) in tenants.iter().filter(|(_, _, other)| other != account) {
            browser.visit(foreign).await.is(200, "signed-out");
            let body = format!("token={token}");
            let path = format!("{foreign}/sign-out-everywhere");
            assert_eq!(post_form(&mut browser, &path, Some("https://login.test"), &body).await, 403);
        }
        log_in(integrator, &mut everywhere, &service.phone(), name).await;
    }
    // A key has eight accounts; signing out of the first does not affect the others.
    let (_, _, first) = &tenants[0];
    let shown = everywhere.visit(first).await;
    everywhere.submit(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    for (number, (_, _, account)) in tenants.iter().enumerate() {
        everywhere.visit(account).await.is(200, if number == 0 { "signed-out" } else { "account" });
    }
}

#[tokio::test]
async fn cookie_is_limited_to_fifty_realms() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let mut browser = Browser::at(&service);
    let mut accounts = Vec::new();
    for number in 0..51 {
        let name = format!("shop{number}.test");
        let domain = register_hosted_domain(&integrator, &name).await;
        create_user_at(&service, &integrator, &name, &service.phone()).await;
        log_in(&integrator, &mut browser, &service.phone(), &name).await;
        service.advance_clock(SignedDuration::from_secs(1));
        accounts.push(account_of(&domain));
    }
    browser.visit(&accounts[0]).await.is(200, "signed-out");
    for account in [&accounts[1], &accounts[50]] {
        browser.visit(account).await.is(200, "account");
    }
}

#[tokio::test]
async fn logins_at_one_domain_do_not_evict_others() {
    let service = Service::start().await;
    let (integrator, mut browser, account) = signed_in(&service).await;
    let bank = account_of(&register_hosted_domain(&integrator, "bank.test").await);
    create_user_at(&service, &integrator, "bank.test", &service.phone()).await;
    log_in(&integrator, &mut browser, &service.phone(), "bank.test").await;
    for _ in 0..51 {
        service.advance_clock(SignedDuration::from_secs(1));
        answer_session(&integrator, &mut browser, &service.phone(), json!({ "domain": "shop.test" })).await;
    }
    for account in [&bank, &account] {
        browser.visit(account).await.is(200, "account");
    }
}

#[tokio::test]
async fn anonymous_account_requests_are_limited() {
    let service = Service::with(&[("rate_limit_get_session", "20/m"), ("rate_limit_create_session", "30/m")]).await;
    let mut stranger = Browser::at(&service);
    let mut seen = Vec::new();
    for _ in 0..25 {
        seen.push(stranger.visit("/account/dom_0").await.status);
    }
    assert_eq!(seen.iter().filter(|status| **status == 429).count(), 5, "{seen:?}");
    let page = stranger.visit("/account/dom_0").await;
    assert_eq!(page.status, 429);
    let (origin, mut opened) = (stranger.origin.clone(), Vec::new());
    for _ in 0..5 {
        opened.push(post_form(&mut stranger, "/account/dom_0/login", Some(&origin), "token=").await);
    }
    assert_eq!(opened, [403, 403, 403, 429, 429]);
}

async fn serve(folder: &Path) -> RunningProgram {
    let folder = folder.to_owned();
    tokio::task::spawn_blocking(move || Program::serve(&folder, &[("SIGNPOST_LOG", "error")])).await.expect("no panic")
}

/// Creates a browser for this server.
pub(crate) fn new_browser(server: &RunningProgram) -> Browser {
    let base = server.address("sandbox").trim_end_matches("/sandbox/v1").to_owned();
    let origin = server.address("public_address");
    Browser {
        http: http(),
        base,
        origin,
        cookie: None,
        login_cookie: None,
        hint_cookie: None,
        setup_cookie: None,
        user_agent: None,
    }
}

pub(crate) async fn start_with_domain(folder: &Path) -> (RunningProgram, Integrator, Value, Phone) {
    embedded_database(&folder.join("signpost-data"));
    let arguments = ["keys", "create", "--environment", "sandbox", "--name", "account", "--json"];
    let key = Program::within(folder, &arguments).run_async().await.json();
    let server = serve(folder).await;
    let key = Some(text(&key, "key").to_owned());
    let integrator = Integrator { http: http(), api: server.address("sandbox"), key };
    let domain = register_hosted_domain(&integrator, "shop.test").await;
    (server, integrator, domain, Phone::of(7, &Clock::System))
}

/// Creates an account on the login page; returns the session and the completion code.
pub(crate) async fn create_account(integrator: &Integrator, browser: &mut Browser, phone: &Phone) -> (Value, String) {
    let (session, done) = answer_session(integrator, browser, phone, json!({ "mode": "register" })).await;
    (session, code_of(&done))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pending_login_survives_a_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, integrator, domain, phone) = start_with_domain(folder.path()).await;
    let mut browser = new_browser(&server);
    let (session, code) = create_account(&integrator, &mut browser, &phone).await;
    tokio::task::spawn_blocking(|| server.kill()).await.expect("no panic");
    let server = serve(folder.path()).await;
    let integrator = Integrator { api: server.address("sandbox"), ..integrator };
    let mut browser =
        Browser { cookie: browser.cookie.clone(), login_cookie: browser.login_cookie.clone(), ..new_browser(&server) };
    browser.visit(&account_of(&domain)).await.is(200, "signed-out");
    complete_session(&integrator, &session, &code, Some(SECRET)).await.with(200);
    tokio::task::spawn_blocking(|| server.kill()).await.expect("no panic");
    let server = serve(folder.path()).await;
    let mut browser =
        Browser { cookie: browser.cookie.clone(), login_cookie: browser.login_cookie.clone(), ..new_browser(&server) };
    browser.visit(&account_of(&domain)).await.is(200, "account");
}
