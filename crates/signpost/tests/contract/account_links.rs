//! The pages that add a key, as somebody would use them who wants to be let in where they are not, or to be taken for
//! somebody else.

use jiff::SignedDuration;
use reqwest::Method;
use reqwest::header::LOCATION;

use crate::account::{keys_on, logs_in, scans, signed_in};
use crate::account_keys::confirms;
use crate::harness::{Browser, Phone, Service, ShownPage};

/// Presses a button, and goes nowhere: the address of the page that it leads to.
async fn page_behind(browser: &mut Browser, shown: &ShownPage, button: &str) -> String {
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
async fn a_page_that_an_account_opens_is_of_the_browser_that_asked() {
    let service = Service::start().await;
    let (_, mut attacker, account) = signed_in(&service).await;
    let shown = attacker.goes_to(&account).await;
    let mut stranger = Browser::at(&service);
    let signed_out = stranger.goes_to(&account).await;
    // Whoever is lured there would give their key to the account of somebody else.
    let mut victim = Browser::at(&service);
    for (browser, shown, button) in [(&mut attacker, &shown, "add"), (&mut stranger, &signed_out, "login")] {
        let page = page_behind(browser, shown, button).await;
        victim.goes_to(&page).await.is(403, "other");
        browser.goes_to(&page).await.is(200, "waiting");
    }
}

#[tokio::test]
async fn a_page_that_adds_a_key_ends_however_often_another_code_is_asked_for() {
    let service = Service::start().await;
    let (integrator, mut browser, account) = signed_in(&service).await;
    let shown = browser.goes_to(&account).await;
    let mut page = browser.presses(&shown, "add", "").await;
    let path = path_of(&page);
    for _ in 0..28 {
        service.passes(SignedDuration::from_mins(1));
        page = browser.goes_to(&path).await;
        if page.state() == "expired" {
            page = browser.presses(&page, "renew", "").await;
        }
        page.is(200, "waiting");
    }
    // An answer that is declined gives no more time either.
    service.passes(SignedDuration::from_secs(110));
    page = browser.goes_to(&path).await;
    assert_eq!(scans(&integrator, &Phone::of(66, &service.clock), &page).await, 200);
    service.passes(SignedDuration::from_mins(1));
    let asked = browser.goes_to(&path).await;
    let key = asked.is(200, "link").between("name=\"key\" value=\"", "\"");
    let declined = browser.presses(&asked, "confirm-link", &format!("&answer=no&key={key}")).await;
    declined.is(200, "expired");
    assert!(!declined.html.contains("id=\"renew\""), "{}", declined.html);
    browser.goes_to(&path).await.is(200, "expired");
}

#[tokio::test]
async fn signing_out_in_all_browsers_ends_the_pages_that_add_keys() {
    let service = Service::start().await;
    let (integrator, mut owner, account) = signed_in(&service).await;
    let mut thief = Browser::at(&service);
    logs_in(&integrator, &mut thief, &service.phone(), "shop.test").await;
    let stolen = thief.goes_to(&account).await;
    let page = thief.presses(&stolen, "add", "").await;
    let shown = owner.goes_to(&account).await;
    owner.presses(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    assert_eq!(scans(&integrator, &Phone::of(66, &service.clock), &page).await, 404);
}

#[tokio::test]
async fn a_tab_that_shows_one_key_confirms_no_other() {
    let service = Service::start().await;
    let (integrator, mut browser, account) = signed_in(&service).await;
    let shown = browser.goes_to(&account).await;
    let page = browser.presses(&shown, "add", "").await;
    assert_eq!(scans(&integrator, &Phone::of(8, &service.clock), &page).await, 200);
    let old = browser.goes_to(&path_of(&page)).await;
    let key = old.is(200, "link").between("name=\"key\" value=\"", "\"").to_owned();
    // In another tab it is declined, and an onlooker answers the new code.
    let renewed = browser.presses(&old, "confirm-link", &format!("&answer=no&key={key}")).await;
    assert_eq!(scans(&integrator, &Phone::of(66, &service.clock), renewed.is(200, "waiting")).await, 200);
    for fields in [format!("&answer=yes&key={key}"), "&answer=yes".to_owned()] {
        browser.presses(&old, "confirm-link", &fields).await.is(200, "link");
    }
    let added = confirms(&mut browser, &page).await;
    assert_eq!(keys_on(added.is(200, "account")).len(), 2);
}
