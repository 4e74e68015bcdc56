//! The account pages (docs/account.md): signed-in users and their keys.

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_login::jobs::retention;

use crate::harness::{Browser, Integrator, Phone, Service, ShownPage, text};
use crate::page_flow::{
    SECRET, complete_session, create_session, create_user_at, post_answer, register_hosted_domain, shop,
};

const SIGNED_OUT: &str = "SELECT actor FROM audit WHERE action = 'user.signed_out'";

/// Scans the code of the page and enters its number; returns the status.
pub(crate) async fn scan_and_answer(integrator: &Integrator, phone: &Phone, shown: &ShownPage) -> u16 {
    let code = shown.code();
    post_answer(integrator, &code, &phone.answer_with(&code, code["confirm_code"].as_str())).await.status
}

/// Opens the site's login page and answers with the wallet; returns the session and the final page.
pub(crate) async fn answer_session(
    integrator: &Integrator,
    browser: &mut Browser,
    phone: &Phone,
    with: Value,
) -> (Value, ShownPage) {
    let session = create_session(integrator, with).await;
    let shown = browser.open(&session).await;
    assert_eq!(scan_and_answer(integrator, phone, &shown).await, 200);
    let done = browser.open(&session).await;
    done.is(200, "done");
    (session, done)
}

/// Logs in, including the site's completion.
pub(crate) async fn log_in(integrator: &Integrator, browser: &mut Browser, phone: &Phone, domain: &str) {
    let (session, done) = answer_session(integrator, browser, phone, json!({ "domain": domain })).await;
    complete_session(integrator, &session, &code_of(&done), Some(SECRET)).await.with(200);
}

pub(crate) fn code_of(done: &ShownPage) -> String {
    done.link("continue").query_pairs().find(|(name, _)| name == "code").expect("a code").1.into_owned()
}

pub(crate) fn account_of(domain: &Value) -> String {
    format!("/account/{}", text(domain, "id"))
}

/// Registers a user at `shop.test` and signs in; returns the path of the account page.
pub(crate) async fn signed_in(service: &Service) -> (Integrator, Browser, String) {
    let integrator = service.integrator().await;
    let domain = register_hosted_domain(&integrator, "shop.test").await;
    create_user_at(service, &integrator, "shop.test", &service.phone()).await;
    let mut browser = Browser::at(service);
    log_in(&integrator, &mut browser, &service.phone(), "shop.test").await;
    (integrator, browser, account_of(&domain))
}

/// Returns the credential IDs on an account page, oldest first.
pub(crate) fn keys_on(shown: &ShownPage) -> Vec<String> {
    let fields = shown.html.split("<form id=\"rename-").skip(1);
    fields.map(|rest| rest.split('"').next().expect("an id").to_owned()).collect()
}

#[tokio::test]
async fn completed_login_sets_a_new_cookie() {
    let service = Service::start().await;
    let (integrator, mut browser, account) = signed_in(&service).await;
    let first = browser.login_cookie.clone().expect("a cookie");
    assert!(first.starts_with("signpost_login=") && browser.cookie != browser.login_cookie);
    let shown = browser.visit(&account).await;
    let html = &shown.is(200, "account").html;
    let key = service.phone().public_key();
    for expected in ["shop.test", &key[key.len() - 8..], "You are signed in with it", "Add a second key", "Wallet"] {
        assert!(html.contains(expected), "{expected}: {html}");
    }
    assert!(browser.visit("/account").await.is(200, "accounts").html.contains("shop.test"));
    log_in(&integrator, &mut browser, &service.phone(), "shop.test").await;
    assert_ne!(browser.login_cookie.as_ref(), Some(&first));
    browser.visit(&account).await.is(200, "account");
    let mut old = Browser { login_cookie: Some(first), ..Browser::at(&service) };
    old.visit(&account).await.is(200, "signed-out");
    old.visit("/account").await.is(200, "signed-out");
}

#[tokio::test]
async fn uncompleted_login_does_not_sign_in() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let account = account_of(&register_hosted_domain(&integrator, "shop.test").await);
    create_user_at(&service, &integrator, "shop.test", &service.phone()).await;
    let mut browser = Browser::at(&service);
    let (session, done) = answer_session(&integrator, &mut browser, &service.phone(), json!({})).await;
    let cookie = browser.login_cookie.clone();
    browser.open(&session).await.is(200, "done");
    assert!(cookie.is_some() && browser.login_cookie == cookie, "a reload reuses the session");
    for page in [&*account, "/account"] {
        browser.visit(page).await.is(200, "signed-out");
    }
    complete_session(&integrator, &session, &code_of(&done), Some("another browser of the site's")).await.with(406);
    browser.visit(&account).await.is(200, "signed-out");
}

#[tokio::test]
async fn newest_login_of_a_browser_is_valid() {
    let service = Service::start().await;
    let (integrator, other) = (shop(&service).await, Phone::of(8, &service.clock));
    let domain = integrator.get("/domains").await.with(200)["domains"][0].clone();
    for phone in [service.phone(), Phone::of(8, &service.clock)] {
        create_user_at(&service, &integrator, "shop.test", &phone).await;
    }
    let mut browser = Browser::at(&service);
    let (first, first_done) = answer_session(&integrator, &mut browser, &service.phone(), json!({})).await;
    let (second, second_done) = answer_session(&integrator, &mut browser, &other, json!({})).await;
    // The first tab is reloaded after the second login.
    browser.open(&first).await.is(200, "done");
    complete_session(&integrator, &second, &code_of(&second_done), Some(SECRET)).await.with(200);
    let is_shown = async |browser: &mut Browser, phone: &Phone| {
        let shown = browser.visit(&account_of(&domain)).await;
        let key = phone.public_key();
        shown.is(200, "account").html.contains(&key[key.len() - 8..])
    };
    assert!(is_shown(&mut browser, &other).await);
    complete_session(&integrator, &first, &code_of(&first_done), Some(SECRET)).await.with(200);
    assert!(is_shown(&mut browser, &service.phone()).await && !is_shown(&mut browser, &other).await);
    // After sign-out, no earlier sign-in becomes valid again.
    let shown = browser.visit(&account_of(&domain)).await;
    browser.submit(&shown, "sign-out", "").await.is(200, "signed-out");
    browser.visit(&account_of(&domain)).await.is(200, "signed-out");
}

#[tokio::test]
async fn sign_in_expires_after_a_day_idle_or_30_days() {
    let service = Service::start().await;
    let (integrator, mut browser, account) = signed_in(&service).await;
    for _ in 0..29 {
        service.advance_clock(SignedDuration::from_hours(23));
        browser.visit(&account).await.is(200, "account");
    }
    service.advance_clock(SignedDuration::from_hours(24));
    browser.visit(&account).await.is(200, "signed-out");
    let list = browser.visit("/account").await;
    assert!(list.is(200, "accounts").html.contains("Your sign-in here has ended."), "{}", list.html);
    log_in(&integrator, &mut browser, &service.phone(), "shop.test").await;
    for hour in 0..(30 * 24 / 20) {
        browser.visit(&account).await.is(200, "account");
        assert!(hour < 36);
        service.advance_clock(SignedDuration::from_hours(20));
    }
    browser.visit(&account).await.is(200, "signed-out");
}

#[tokio::test]
async fn expired_browser_sessions_are_deleted() {
    let service = Service::start().await;
    let (integrator, mut browser, _) = signed_in(&service).await;
    let mut other = Browser::at(&service);
    answer_session(&integrator, &mut other, &service.phone(), json!({})).await;
    let left = async || {
        retention::sweep(&service.app.store, service.clock.now()).await.expect("a database");
        service.app.store.read("SELECT id FROM browser_sessions", Vec::new()).await.expect("a database").len()
    };
    service.advance_clock(SignedDuration::from_hours(24) - SignedDuration::from_secs(1));
    assert_eq!(left().await, 2);
    service.advance_clock(SignedDuration::from_secs(2));
    assert_eq!(left().await, 1, "the other session is pending");
    service.advance_clock(SignedDuration::from_hours(30 * 24));
    assert_eq!(left().await, 0);
    browser.visit("/account").await.is(200, "signed-out");
}

#[tokio::test]
async fn key_changes_require_a_recent_login() {
    let service = Service::start().await;
    let (integrator, mut browser, account) = signed_in(&service).await;
    let fresh = browser.visit(&account).await;
    let key = keys_on(&fresh).remove(0);
    service.advance_clock(SignedDuration::from_mins(5));
    let old = browser.visit(&account).await;
    assert!(old.is(200, "account").html.contains("Log in again to change your keys"), "{}", old.html);
    assert!(keys_on(&old).is_empty() && !old.html.contains("id=\"add\""), "{}", old.html);
    // A page that was loaded earlier still has the buttons.
    let renamed = browser.submit(&fresh, &format!("rename-{key}"), &format!("&credential={key}&name=Other")).await;
    renamed.is(403, "log-in-again");
    browser.submit(&fresh, "add", "").await.is(403, "log-in-again");
    let login = browser.submit(&renamed, "login", "").await;
    assert!(login.is(200, "waiting").html.contains("Log in to"), "{}", login.html);
    let events = service.outbox().await.len();
    assert_eq!(scan_and_answer(&integrator, &service.phone(), &login).await, 200);
    let cancel = login.form("cancel").0;
    let done = browser.visit(cancel.split("/cancel").next().expect("a path")).await;
    let back = done.is(200, "done").link("continue");
    assert!(back.path() == format!("{account}/return"), "{back}");
    let shown = browser.follow(&format!("{}?{}", back.path(), back.query().expect("a code"))).await;
    assert_eq!(keys_on(shown.is(200, "account")).len(), 1);
    assert_eq!(service.outbox().await.len(), events, "no event for a login at the account page");
    // The code is valid once.
    let again = browser.follow(&format!("{}?{}", back.path(), back.query().expect("a code"))).await;
    assert!(again.html.contains("Nothing has changed."), "{}", again.html);
}

#[tokio::test]
async fn key_names_are_cleaned_and_validated() {
    let service = Service::start().await;
    let (_, mut browser, account) = signed_in(&service).await;
    let shown = browser.visit(&account).await;
    let key = keys_on(&shown).remove(0);
    let form = format!("rename-{key}");
    let mut rename = async |name: &str| {
        let name: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
        browser.submit(&shown, &form, &format!("&credential={key}&name={name}")).await
    };
    let named = rename(" My \u{202e}phone\n<b> ").await;
    assert!(named.is(200, "account").html.contains("<bdi>My phone &lt;b&gt;</bdi>"), "{}", named.html);
    assert!(named.html.contains("The key has its new name."));
    for name in ["", "\u{200b}", &"é".repeat(61)] {
        let refused = rename(name).await;
        refused.is(422, "account");
        assert!(refused.html.contains("role=\"alert\"") && refused.html.contains("aria-invalid"), "{}", refused.html);
    }
    let strange = browser.submit(&shown, &form, "&credential=cred_0&name=x").await;
    assert!(strange.is(200, "account").html.contains("That key was removed before."), "{}", strange.html);
}

#[tokio::test]
async fn sign_out_ends_one_or_all_sessions() {
    let service = Service::start().await;
    let (integrator, mut here, account) = signed_in(&service).await;
    let mut there = Browser::at(&service);
    log_in(&integrator, &mut there, &service.phone(), "shop.test").await;
    let shown = here.visit(&account).await;
    here.submit(&shown, "sign-out", "").await.is(200, "signed-out");
    here.visit(&account).await.is(200, "signed-out");
    there.visit(&account).await.is(200, "account");
    log_in(&integrator, &mut here, &service.phone(), "shop.test").await;
    let shown = there.visit(&account).await;
    let out = there.submit(&shown, "sign-out-everywhere", "").await;
    assert!(out.is(200, "signed-out").html.contains("signed out in all browsers"), "{}", out.html);
    for browser in [&mut here, &mut there] {
        browser.visit(&account).await.is(200, "signed-out");
    }
    let entries = service.app.store.read(SIGNED_OUT, Vec::new()).await.expect("a database");
    let [entry] = &*entries else { panic!("{entries:?}") };
    assert!(entry.text(0).expect("an actor").starts_with("usr_"));
}

#[tokio::test]
async fn deleting_an_account_signs_it_out() {
    let service = Service::start().await;
    let (integrator, mut browser, account) = signed_in(&service).await;
    let shown = browser.visit(&account).await;
    let domain = account.trim_start_matches("/account/");
    let key = service.phone().public_key();
    let path = format!("/domains/{domain}/users/{key}");
    integrator.request(Method::DELETE, &path).send().await.expect("an answer");
    browser.visit(&account).await.is(200, "signed-out");
    browser.submit(&shown, "add", "").await.is(403, "signed-out");
    // Registration with a deleted user's key creates a new user.
    create_user_at(&service, &integrator, "shop.test", &service.phone()).await;
    browser.visit(&account).await.is(200, "signed-out");
}

#[tokio::test]
async fn account_pages_support_spanish() {
    let service = Service::start().await;
    let (_, mut browser, account) = signed_in(&service).await;
    let shown = browser.visit(&format!("{account}?lang=es")).await;
    assert!(shown.html.contains("Tus llaves") && shown.html.contains("Falta una de repuesto"), "{}", shown.html);
    assert!(shown.html.contains("/sign-out?lang=es\""), "a button preserves the language");
}
