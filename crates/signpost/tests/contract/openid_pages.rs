//! The pages of OpenID Connect: consent, and errors of requests that cannot continue.

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::json;
use signpost_openid::clients::ClientName;

use crate::harness::{Browser, RelyingParty, Service, send, text};
use crate::openid_flow::{Tenant, is_to, place};
use crate::page_flow::register_hosted_domain;

#[tokio::test]
async fn consent_is_requested_once() {
    let mut tenant =
        Tenant::with(&[], |settings| settings.name = Some(ClientName::parse("Ann's <wiki>").unwrap())).await;
    let sent = tenant.authorize(&[("scope", "openid email")]).await;
    let back = tenant.log_in(sent).await;
    let asked = tenant.browser.visit(&place(&back)).await;
    let html = &asked.is(200, "consent").html;
    for expected in ["Ann's &lt;wiki&gt;", "shop.test", "app.test", "@shop.test"] {
        assert!(html.contains(expected), "{expected}: {html}");
    }
    assert!(!html.contains("the groups you are in") && html.contains("?lang=es"), "{html}");
    let back = tenant.browser.give_consent(&asked).await;
    tenant.party.code(&back);
    assert_eq!(tenant.repeat_authorization(&[("scope", "openid email")]).await, "code");
    assert_eq!(tenant.repeat_authorization(&[("scope", "openid")]).await, "code");
    assert_eq!(tenant.repeat_authorization(&[("scope", "openid profile")]).await, "consent page");
    assert_eq!(
        tenant.repeat_authorization(&[("scope", "openid profile"), ("prompt", "none")]).await,
        "consent_required"
    );
    assert_eq!(tenant.repeat_authorization(&[("scope", "openid"), ("prompt", "consent")]).await, "consent page");
    let other = RelyingParty::at(&tenant.service, &tenant.domain, |_| {}).await;
    let sent = tenant.browser.visit(&other.authorize(&[])).await;
    assert!(is_to(&sent, "/authorize/consent/"), "{sent:?}");
}

#[tokio::test]
async fn login_page_names_the_client_and_its_host() {
    let mut tenant =
        Tenant::with(&[], |settings| settings.name = Some(ClientName::parse("Ann's <wiki>").unwrap())).await;
    let sent = tenant.authorize(&[]).await;
    let page = tenant.browser.visit(&place(&sent)).await;
    let response = page.between("id=\"application\"", "</p>");
    assert!(response.contains("Ann's &lt;wiki&gt;") && response.contains("app.test"), "{response}");
    let sent = tenant.authorize(&[("ui_locales", "es"), ("prompt", "create")]).await;
    let page = tenant.browser.visit(&place(&sent)).await;
    assert!(page.between("id=\"application\"", "</p>").contains("te pide que inicies"), "{}", page.html);
    let unnamed = RelyingParty::at(&tenant.service, &tenant.domain, |_| {}).await;
    let sent = tenant.browser.visit(&unnamed.authorize(&[])).await;
    let page = tenant.browser.visit(&place(&sent)).await;
    let response = page.between("id=\"application\"", "</p>");
    assert!(response.contains("app.test") && !response.contains(" at "), "{response}");
}

#[tokio::test]
async fn another_user_can_continue_the_request() {
    let mut tenant = Tenant::start().await;
    let tokens = tenant.tokens(&[("scope", "openid offline_access")]).await;
    let first = RelyingParty::claims(&tokens);
    let back = tenant.authorize(&[("scope", "openid profile"), ("prompt", "consent")]).await;
    let asked = tenant.browser.visit(&place(&back)).await;
    assert!(asked.is(200, "consent").html.contains("Not you?"), "{}", asked.html);
    let anew = tenant.browser.submit(&asked, "consent", "&answer=other").await;
    let page = anew.is(200, "waiting").form("cancel").0.replace("/cancel", "");
    // The first user is signed out, and the access token revoked.
    assert_eq!(tenant.repeat_authorization(&[("prompt", "none")]).await, "login_required");
    assert_eq!(tenant.party.userinfo(text(&tokens, "access_token")).await.status, 401);
    let other = crate::harness::Phone::of(8, &tenant.service.clock);
    crate::page_flow::create_user_at(&tenant.service, &tenant.integrator, "shop.test", &other).await;
    let back = crate::openid_flow::log_in_at(&tenant.integrator, &mut tenant.browser, &other, &page).await;
    let asked = tenant.browser.visit(&place(&back)).await;
    let left = tenant.browser.give_consent(&asked).await;
    let code = tenant.party.code(&left);
    let second = RelyingParty::claims(&tenant.party.exchange_code(&code).await.with(200));
    assert_ne!(first["sub"], second["sub"]);
}

#[tokio::test]
async fn issuer_without_logins_returns_server_error() {
    // Live on loopback: the issuer exists for trials, but logins require HTTPS.
    let service = Service::start().await;
    let live = service.integrator_of("acme", signpost_platform::accounts::Environment::Live).await;
    let domain = crate::hosted::shop(&live, "https://shop.test/hook").await;
    let party = RelyingParty::at(&service, &domain, |_| {}).await;
    let mut browser = Browser::at(&service);
    let page = browser.visit(&party.authorize(&[])).await;
    let html = &page.is(503, "unable").html;
    assert!(html.contains("require a server with an https public URL") && html.contains("shop.test"), "{html}");
    let back = page.link("back");
    assert!(back.as_str().starts_with("https://app.test/cb?error=server_error&"), "{back}");
    let page = browser.visit(&party.authorize(&[("ui_locales", "es")])).await;
    assert!(page.is(503, "unable").html.contains("nadie puede iniciar"), "{}", page.html);
    let silent = browser.visit(&party.authorize(&[("prompt", "none")])).await;
    assert_eq!(party.error(&silent), "login_required");
}

#[tokio::test]
async fn trusted_native_apps_require_consent() {
    let mut tenant = Tenant::with(&[], |settings| {
        settings.is_trusted = true;
        settings.is_public = true;
        settings.redirect_uris = signpost_openid::clients::RedirectUris::parse(["http://127.0.0.1/cb"]).unwrap();
    })
    .await;
    let at = [("redirect_uri", "http://127.0.0.1:5000/cb")];
    let sent = tenant.authorize(&at).await;
    let back = tenant.log_in(sent).await;
    assert!(is_to(&back, "/authorize/consent/"), "{back:?}");
    let asked = tenant.browser.visit(&place(&back)).await;
    tenant.browser.give_consent(&asked).await;
    // Consent is stored, as for every client.
    let again = tenant.authorize(&at).await;
    assert_eq!(again.status, 303);
    assert!(place(&again).starts_with("/cb?code="), "{again:?}");
}

#[tokio::test]
async fn denied_consent_is_requested_again() {
    let mut tenant = Tenant::start().await;
    let sent = tenant.authorize(&[]).await;
    let back = tenant.log_in(sent).await;
    let page = place(&back);
    let asked = tenant.browser.visit(&page).await;
    let left = tenant.browser.submit(&asked, "consent", "&answer=deny").await;
    assert_eq!(tenant.party.error(&left), "access_denied");
    tenant.browser.visit(&page).await.is(410, "over");
    assert_eq!(tenant.repeat_authorization(&[]).await, "consent page");
}

#[tokio::test]
async fn cancelled_login_returns_no_code() {
    let mut tenant = Tenant::start().await;
    let sent = tenant.authorize(&[]).await;
    let shown = tenant.browser.visit(&place(&sent)).await;
    let cancelled = tenant.browser.submit(&shown, "cancel", "").await;
    let back = cancelled.link("back");
    let back = tenant.browser.visit(&format!("{}?{}", back.path(), back.query().expect("an error"))).await;
    assert_eq!(tenant.party.error(&back), "access_denied");
    let sent = tenant.authorize(&[]).await;
    let page = place(&sent);
    tenant.browser.visit(&page).await;
    tenant.service.advance_clock(SignedDuration::from_mins(50));
    let back = tenant.browser.visit(&page).await.link("back");
    let back = tenant.browser.visit(&format!("{}?{}", back.path(), back.query().expect("an error"))).await;
    assert_eq!(tenant.party.error(&back), "access_denied");
}

#[tokio::test]
async fn consent_after_max_age_requires_a_login() {
    let mut tenant = Tenant::start().await;
    let sent = tenant.authorize(&[("max_age", "300")]).await;
    let back = tenant.log_in(sent).await;
    let asked = tenant.browser.visit(&place(&back)).await;
    tenant.service.advance_clock(SignedDuration::from_secs(301));
    let anew = tenant.browser.submit(asked.is(200, "consent"), "consent", "&answer=allow").await;
    let page = anew.is(200, "waiting").form("cancel").0.replace("/cancel", "");
    let phone = tenant.service.phone();
    let back = crate::openid_flow::log_in_at(&tenant.integrator, &mut tenant.browser, &phone, &page).await;
    let tokens = tenant.party.exchange_code(&tenant.party.code(&back)).await.with(200);
    assert_eq!(RelyingParty::claims(&tokens)["auth_time"], tenant.service.clock.now().as_second());
}

#[tokio::test]
async fn request_is_bound_to_its_browser() {
    let mut tenant = Tenant::start().await;
    let sent = tenant.authorize(&[]).await;
    let page = place(&sent);
    let mut other = Browser::at(&tenant.service);
    other.visit(&page).await.is(403, "other");
    let back = tenant.log_in(sent).await;
    let consent = place(&back);
    other.visit(&consent).await.is(410, "over");
    // The page cookie of another browser gives no access either.
    other.visit(&tenant.party.authorize(&[])).await;
    assert!(other.cookie.is_some());
    other.visit(&consent).await.is(410, "over");
    tenant.browser.visit(&consent).await.is(200, "consent");
    tenant.service.advance_clock(SignedDuration::from_mins(60));
    tenant.browser.visit(&consent).await.is(410, "over");
}

#[tokio::test]
async fn completion_code_yields_one_code() {
    let mut tenant = Tenant::trusted().await;
    let sent = tenant.authorize(&[]).await;
    let page = place(&sent);
    let back = tenant.log_in(sent).await;
    tenant.party.code(&back);
    let again = tenant.browser.visit(&page).await;
    assert!(again.status == 200, "{again:?}");
    let path = format!("{}/authorize/return?session_id=sess_x&code=x", tenant.party.path);
    tenant.browser.visit(&path).await.is(410, "over");
    let path = format!("{}/authorize/return", tenant.party.path);
    tenant.browser.visit(&path).await.is(410, "over");
    let head = tenant.browser.request(Method::HEAD, &path).send().await.expect("a reply");
    assert_eq!(head.status(), 405);
}

#[tokio::test]
async fn cross_site_form_grants_no_consent() {
    let mut tenant = Tenant::start().await;
    let sent = tenant.authorize(&[]).await;
    let back = tenant.log_in(sent).await;
    let asked = tenant.browser.visit(&place(&back)).await;
    let (action, token) = asked.form("consent");
    let origin = tenant.browser.origin.clone();
    for (from, token) in [("https://evil.test", token.as_str()), (&*origin, "wrong"), (&*origin, "")] {
        let request = tenant.browser.request(Method::POST, &action).header("origin", from);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        tenant.browser.send(request.body(format!("token={token}&answer=allow"))).await.is(403, "stale");
    }
    assert_eq!(tenant.repeat_authorization(&[("prompt", "none")]).await, "consent_required");
}

#[tokio::test]
async fn pages_are_secure_and_uncached() {
    let tenant = Tenant::start().await;
    let http = tenant.service.visitor().http;
    // The harness checks the headers of every page.
    for path in ["/authorize", "/authorize/return", "/logout", "/authorize/consent/auz_x"] {
        for language in ["en", "es"] {
            let reply = send(http.get(tenant.party.url(path)).header("accept-language", language)).await;
            assert!(matches!(reply.status, 200 | 400 | 410), "{path}: {}", reply.status);
            assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
            assert!(reply.text.contains(&format!("lang=\"{language}\"")), "{path}");
        }
    }
    let sent = send(http.get(tenant.service.url(&tenant.party.authorize(&[])))).await;
    assert_eq!((sent.status, sent.header("cache-control")), (303, Some("no-store")));
}

#[tokio::test]
async fn long_state_is_returned_and_longer_rejected() {
    let mut tenant = Tenant::trusted().await;
    let state = "é \"&+<>%".repeat(228);
    assert!(state.len() >= 2048, "{}", state.len());
    let sent = tenant.authorize(&[("state", &state)]).await;
    let back = tenant.log_in(sent).await;
    assert_eq!(tenant.party.authorization_response(&back)["state"], state);
    let too_long = "x".repeat(8 * 1024);
    assert_eq!(tenant.authorize(&[("state", &too_long)]).await.status, 413);
}

#[tokio::test]
async fn unknown_issuers_are_not_found() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let hosted = register_hosted_domain(&integrator, "shop.test").await;
    let direct = integrator.register_domain("direct.test").await;
    let mut browser = Browser::at(&service);
    let (hosted, direct) = (text(&hosted, "id"), text(&direct, "id"));
    for path in ["/sandbox/dom_x", &format!("/sandbox/{direct}"), &format!("/{hosted}")] {
        for address in ["authorize", "authorize/return", "logout", "userinfo"] {
            assert_eq!(browser.visit(&format!("{path}/{address}")).await.status, 404, "{path}/{address}");
        }
        let token = service.visitor().http.post(service.url(&format!("{path}/token"))).send().await.expect("a reply");
        assert_eq!(token.status(), 404);
    }
    browser.visit(&format!("/sandbox/{hosted}/authorize")).await.is(400, "client-fault");
}

#[tokio::test]
async fn sandbox_login_needs_no_user() {
    let mut tenant = Tenant::trusted().await;
    let sent = tenant.authorize(&[("prompt", "create")]).await;
    let page = place(&sent);
    let id = page.split('?').next().and_then(|path| path.rsplit('/').next()).expect("an id").to_owned();
    tenant.browser.visit(&page).await;
    let response = tenant.integrator.post(&format!("/sessions/{id}/simulate"), json!({ "wallet": 5 })).await.with(200);
    assert_eq!(response["status"], 200, "{response}");
    let done = tenant.browser.visit(&page).await;
    let back = done.is(200, "done").link("continue");
    let back = tenant.browser.visit(&format!("{}?{}", back.path(), back.query().expect("a code"))).await;
    let tokens = tenant.party.exchange_code(&tenant.party.code(&back)).await.with(200);
    let users = tenant.integrator.get(&tenant.users()).await.with(200);
    assert_eq!(users["users"].as_array().map(Vec::len), Some(2), "{users}");
    assert!(text(&RelyingParty::claims(&tokens), "sub").starts_with("usr_"));
    assert_eq!(tenant.service.outbox().await.len(), 1, "no event for the login of a client");
}

#[tokio::test]
async fn closed_registration_creates_no_account() {
    let mut tenant = Tenant::trusted().await;
    let path = format!("/domains/{}", text(&tenant.domain, "id"));
    tenant.integrator.patch(&path, &json!({ "registration": "closed" })).await.with(200);
    let sent = tenant.authorize(&[("prompt", "create")]).await;
    assert_eq!(tenant.party.error(&sent), "access_denied");
    let sent = tenant.authorize(&[("prompt", "login")]).await;
    let page = place(&sent);
    let shown = tenant.browser.visit(&page).await;
    let stranger = crate::harness::Phone::of(9, &tenant.service.clock);
    assert_ne!(crate::account::scan_and_answer(&tenant.integrator, &stranger, &shown).await, 200);
    tenant.browser.visit(&page).await.is(200, "refused");
}
