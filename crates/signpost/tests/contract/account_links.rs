//! The pages that add a key, as somebody would use them who wants to be let in where they are not, or to be taken for
//! somebody else.

use reqwest::Method;
use reqwest::header::LOCATION;

use crate::account::signed_in;
use crate::harness::{Browser, Service, ShownPage};

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
