//! Rejected page requests change neither the cookies of the browser nor the lifetime of its session.

use jiff::SignedDuration;
use reqwest::header::{CONTENT_TYPE, ORIGIN, SET_COOKIE};
use reqwest::{Method, RequestBuilder};
use serde_json::json;

use crate::account::signed_in;
use crate::console::{FORM_PATHS, browser_at, operator, post_form};
use crate::harness::{Browser, Service, text};
use crate::page_flow::{create_session, register_hosted_domain};

const FORM: &str = "application/x-www-form-urlencoded";

/// Returns a form post from a page of this origin.
fn form(browser: &Browser, path: &str, origin: &str) -> RequestBuilder {
    let request = browser.request(Method::POST, path).header(ORIGIN, origin.to_owned());
    request.header(CONTENT_TYPE, FORM).body("token=x&answer=yes")
}

/// Returns the paths of the forms of a site, a user and an application.
async fn forms(service: &Service) -> Vec<String> {
    let integrator = service.integrator().await;
    let domain = text(&register_hosted_domain(&integrator, "forms.test").await, "id").to_owned();
    let session = create_session(&integrator, json!({ "domain": "forms.test" })).await;
    let login = format!("/sandbox/login/{}", text(&session, "id"));
    let of_login =
        ["cancel", "renew", "mode", "offer", "link", "passkey", "claim"].map(|name| format!("{login}/{name}"));
    let of_account = ["login", "add", "rename", "remove", "sign-out", "sign-out-everywhere"];
    let of_account = of_account.map(|name| format!("/account/{domain}/{name}"));
    let of_issuer = ["logout/confirm", "authorize/consent/auth_x"].map(|path| format!("/sandbox/{domain}/{path}"));
    let of_console = FORM_PATHS.map(str::to_owned);
    let of_locator = ["/atm/1/report".to_owned(), "/.signpost/logout".to_owned()];
    of_login.into_iter().chain(of_account).chain(of_issuer).chain(of_console).chain(of_locator).collect()
}

#[tokio::test]
async fn rejected_form_changes_no_cookie() {
    let service = Service::with(&[("services", "atm,auth")]).await;
    // Cross-site forms have no cookies (`SameSite=Lax`), nor have forms of a page that was open when the cookies
    // expired.
    for path in forms(&service).await {
        for origin in ["https://evil.test".to_owned(), browser_at(&service).origin] {
            let mut browser = browser_at(&service);
            let request = form(&browser, &path, &origin);
            let refused = browser.send(request).await;
            assert!((400..500).contains(&refused.status), "{path} {origin}: {}", refused.status);
            let is_reported_here = path == "/atm/1/report" && origin == browser.origin;
            let sets = refused.headers.contains_key(SET_COOKIE);
            // The report form is shown again with the typed text; its cookie is not for signing in.
            assert_eq!(sets, is_reported_here, "{path} {origin}: {:?}", refused.headers.get(SET_COOKIE));
        }
    }
}

#[tokio::test]
async fn cross_site_form_does_not_sign_out() {
    let service = Service::start().await;
    let (_, mut browser, account) = signed_in(&service).await;
    let address = browser_at(&service).base;
    let kept = browser.login_cookie.clone();
    for path in forms(&service).await {
        // The browser sends no cookies, but stores the cookies of the reply.
        let without_cookies = Browser { base: address.clone(), ..Browser::at(&service) };
        let refused = form(&without_cookies, &path, "https://evil.test");
        browser.send(refused).await;
        assert_eq!(browser.login_cookie, kept, "{path}");
    }
    browser.visit(&account).await.is(200, "account");
}

#[tokio::test]
async fn rejected_request_does_not_extend_the_console() {
    let service = Service::start().await;
    let mut browser = operator(&service).await;
    service.advance_clock(SignedDuration::from_mins(50));
    let own = browser.origin.clone();
    for (path, origin) in [("/console/keys", own.as_str()), ("/console/keys", "https://evil.test")] {
        let request = form(&browser, path, origin);
        browser.send(request).await.is(403, "stale");
    }
    service.advance_clock(SignedDuration::from_mins(10));
    // An hour after the last accepted request; the rejection does not extend the session.
    for _ in 0..2 {
        browser.visit("/console").await.is(403, "login");
    }
}

#[tokio::test]
async fn other_page_does_not_extend_the_console() {
    let service = Service::start().await;
    let mut browser = operator(&service).await;
    service.advance_clock(SignedDuration::from_mins(59));
    browser.visit("/account").await.is(200, "accounts");
    service.advance_clock(SignedDuration::from_mins(1));
    browser.visit("/console").await.is(403, "login");
    browser.visit("/account").await.is(200, "accounts");
    browser.visit("/console").await.is(403, "login");
}

#[tokio::test]
async fn accepted_form_extends_the_console() {
    let service = Service::start().await;
    let mut browser = operator(&service).await;
    let page = browser.visit("/console/keys").await;
    service.advance_clock(SignedDuration::from_mins(50));
    // The form is accepted, and requires a login within the last five minutes.
    post_form(&mut browser, &page, "/console/operators", "").await.is(403, "log-in-again");
    service.advance_clock(SignedDuration::from_mins(50));
    assert_eq!(browser.visit("/console").await.status, 200);
}
