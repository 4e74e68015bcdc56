//! Attacks on the pages that add a key: access to another account, and a victim's key in the attacker's account.

use jiff::SignedDuration;
use reqwest::Method;
use reqwest::header::LOCATION;

use crate::account::{keys_on, log_in, scan_and_answer, signed_in};
use crate::account_keys::confirm_key;
use crate::harness::{Browser, Phone, Service, ShownPage};

/// Presses a button and returns the path of the redirect without following it.
async fn press_without_redirect(browser: &mut Browser, shown: &ShownPage, button: &str) -> String {
    let (action, token) = shown.form(button);
    let form = browser.request(Method::POST, &action).header("origin", &browser.origin);
    let form = form.header("content-type", "application/x-www-form-urlencoded").body(format!("token={token}"));
    let reply = browser.send(form).await;
    assert_eq!(reply.status, 303, "{}", reply.html);
    let to: reqwest::Url = reply.headers[LOCATION].to_str().expect("an address").parse().expect("a URL");
    to.path().to_owned()
}

fn path_of(page: &ShownPage) -> String {
    let cancel = page.form("cancel").0;
    cancel.split("/cancel").next().expect("a path").to_owned()
}

#[tokio::test]
async fn link_page_is_bound_to_its_browser() {
    let service = Service::start().await;
    let (_, mut attacker, account) = signed_in(&service).await;
    let shown = attacker.visit(&account).await;
    let mut stranger = Browser::at(&service);
    let signed_out = stranger.visit(&account).await;
    // A lured victim would add their key to the attacker's account.
    let mut victim = Browser::at(&service);
    for (browser, shown, button) in [(&mut attacker, &shown, "add"), (&mut stranger, &signed_out, "login")] {
        let page = press_without_redirect(browser, shown, button).await;
        victim.visit(&page).await.is(403, "other");
        browser.visit(&page).await.is(200, "waiting");
    }
}

#[tokio::test]
async fn link_page_expires_despite_renewals() {
    let service = Service::start().await;
    let (integrator, mut browser, account) = signed_in(&service).await;
    let shown = browser.visit(&account).await;
    let mut page = browser.submit(&shown, "add", "").await;
    let path = path_of(&page);
    for _ in 0..28 {
        service.advance_clock(SignedDuration::from_mins(1));
        page = browser.visit(&path).await;
        if page.state() == "expired" {
            page = browser.submit(&page, "renew", "").await;
        }
        page.is(200, "waiting");
    }
    // A declined answer does not extend the lifetime.
    service.advance_clock(SignedDuration::from_secs(110));
    page = browser.visit(&path).await;
    assert_eq!(scan_and_answer(&integrator, &Phone::of(66, &service.clock), &page).await, 200);
    service.advance_clock(SignedDuration::from_mins(1));
    let asked = browser.visit(&path).await;
    let key = asked.is(200, "link").between("name=\"key\" value=\"", "\"");
    let declined = browser.submit(&asked, "confirm-link", &format!("&answer=no&key={key}")).await;
    declined.is(200, "expired");
    assert!(!declined.html.contains("id=\"renew\""), "{}", declined.html);
    browser.visit(&path).await.is(200, "expired");
}

#[tokio::test]
async fn global_sign_out_closes_link_pages() {
    let service = Service::start().await;
    let (integrator, mut owner, account) = signed_in(&service).await;
    let mut thief = Browser::at(&service);
    log_in(&integrator, &mut thief, &service.phone(), "shop.test").await;
    let stolen = thief.visit(&account).await;
    let page = thief.submit(&stolen, "add", "").await;
    let shown = owner.visit(&account).await;
    owner.submit(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    assert_eq!(scan_and_answer(&integrator, &Phone::of(66, &service.clock), &page).await, 404);
}

#[tokio::test]
async fn outdated_tab_cannot_confirm_another_key() {
    let service = Service::start().await;
    let (integrator, mut browser, account) = signed_in(&service).await;
    let shown = browser.visit(&account).await;
    let page = browser.submit(&shown, "add", "").await;
    assert_eq!(scan_and_answer(&integrator, &Phone::of(8, &service.clock), &page).await, 200);
    let old = browser.visit(&path_of(&page)).await;
    let key = old.is(200, "link").between("name=\"key\" value=\"", "\"").to_owned();
    // The key is declined in another tab, and an attacker answers the new code.
    let renewed = browser.submit(&old, "confirm-link", &format!("&answer=no&key={key}")).await;
    assert_eq!(scan_and_answer(&integrator, &Phone::of(66, &service.clock), renewed.is(200, "waiting")).await, 200);
    for fields in [format!("&answer=yes&key={key}"), "&answer=yes".to_owned()] {
        browser.submit(&old, "confirm-link", &fields).await.is(200, "link");
    }
    let added = confirm_key(&mut browser, &page).await;
    assert_eq!(keys_on(added.is(200, "account")).len(), 2);
}
