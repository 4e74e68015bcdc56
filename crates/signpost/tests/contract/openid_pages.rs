//! The pages of OpenID Connect: consent, and errors of requests that cannot continue.

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::json;
use signpost_openid::clients::ClientName;

use crate::harness::{Browser, RelyingParty, Service, send, text};
use crate::openid_flow::{Realm, is_to, place};
use crate::page_flow::hosts;

#[tokio::test]
async fn consent_is_requested_once() {
    let mut realm = Realm::with(&[], |settings| settings.name = Some(ClientName::parse("Ann's <wiki>").unwrap())).await;
    let sent = realm.asks(&[("scope", "openid email")]).await;
    let back = realm.logs_in(sent).await;
    let asked = realm.browser.goes_to(&place(&back)).await;
    let html = &asked.is(200, "consent").html;
    for told in ["Ann's &lt;wiki&gt;", "shop.test", "app.test", "@shop.test"] {
        assert!(html.contains(told), "{told}: {html}");
    }
    assert!(!html.contains("the groups you are in") && html.contains("?lang=es"), "{html}");
    let back = realm.browser.agrees(&asked).await;
    realm.party.code(&back);
    assert_eq!(realm.asks_again(&[("scope", "openid email")]).await, "code");
    assert_eq!(realm.asks_again(&[("scope", "openid")]).await, "code");
    assert_eq!(realm.asks_again(&[("scope", "openid profile")]).await, "consent page");
    assert_eq!(realm.asks_again(&[("scope", "openid profile"), ("prompt", "none")]).await, "consent_required");
    assert_eq!(realm.asks_again(&[("scope", "openid"), ("prompt", "consent")]).await, "consent page");
    let other = RelyingParty::at(&realm.service, &realm.domain, |_| {}).await;
    let sent = realm.browser.goes_to(&other.authorize(&[])).await;
    assert!(is_to(&sent, "/authorize/consent/"), "{sent:?}");
}

#[tokio::test]
async fn login_page_names_the_client_and_its_host() {
    let mut realm = Realm::with(&[], |settings| settings.name = Some(ClientName::parse("Ann's <wiki>").unwrap())).await;
    let sent = realm.asks(&[]).await;
    let page = realm.browser.goes_to(&place(&sent)).await;
    let told = page.between("id=\"application\"", "</p>");
    assert!(told.contains("Ann's &lt;wiki&gt;") && told.contains("app.test"), "{told}");
    let sent = realm.asks(&[("ui_locales", "es"), ("prompt", "create")]).await;
    let page = realm.browser.goes_to(&place(&sent)).await;
    assert!(page.between("id=\"application\"", "</p>").contains("te pide que inicies"), "{}", page.html);
    let unnamed = RelyingParty::at(&realm.service, &realm.domain, |_| {}).await;
    let sent = realm.browser.goes_to(&unnamed.authorize(&[])).await;
    let page = realm.browser.goes_to(&place(&sent)).await;
    let told = page.between("id=\"application\"", "</p>");
    assert!(told.contains("app.test") && !told.contains(" at "), "{told}");
}

#[tokio::test]
async fn another_user_can_continue_the_request() {
    let mut realm = Realm::start().await;
    let tokens = realm.tokens(&[("scope", "openid offline_access")]).await;
    let first = RelyingParty::claims(&tokens);
    let back = realm.asks(&[("scope", "openid profile"), ("prompt", "consent")]).await;
    let asked = realm.browser.goes_to(&place(&back)).await;
    assert!(asked.is(200, "consent").html.contains("Not you?"), "{}", asked.html);
    let anew = realm.browser.presses(&asked, "consent", "&answer=other").await;
    let page = anew.is(200, "waiting").form("cancel").0.replace("/cancel", "");
    // The first user is signed out, and the access token revoked.
    assert_eq!(realm.asks_again(&[("prompt", "none")]).await, "login_required");
    assert_eq!(realm.party.userinfo(text(&tokens, "access_token")).await.status, 401);
    let other = crate::harness::Phone::of(8, &realm.service.clock);
    crate::page_flow::registers_at(&realm.service, &realm.integrator, "shop.test", &other).await;
    let back = crate::openid_flow::logs_in_at(&realm.integrator, &mut realm.browser, &other, &page).await;
    let asked = realm.browser.goes_to(&place(&back)).await;
    let left = realm.browser.agrees(&asked).await;
    let code = realm.party.code(&left);
    let second = RelyingParty::claims(&realm.party.redeems(&code).await.with(200));
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
    let page = browser.goes_to(&party.authorize(&[])).await;
    let html = &page.is(503, "unable").html;
    assert!(html.contains("require a server with an https public URL") && html.contains("shop.test"), "{html}");
    let back = page.link("back");
    assert!(back.as_str().starts_with("https://app.test/cb?error=server_error&"), "{back}");
    let page = browser.goes_to(&party.authorize(&[("ui_locales", "es")])).await;
    assert!(page.is(503, "unable").html.contains("nadie puede iniciar"), "{}", page.html);
    let silent = browser.goes_to(&party.authorize(&[("prompt", "none")])).await;
    assert_eq!(party.error(&silent), "login_required");
}

#[tokio::test]
async fn trusted_native_apps_require_consent() {
    let mut realm = Realm::with(&[], |settings| {
        settings.is_trusted = true;
        settings.is_public = true;
        settings.redirect_uris = signpost_openid::clients::RedirectUris::parse(["http://127.0.0.1/cb"]).unwrap();
    })
    .await;
    let at = [("redirect_uri", "http://127.0.0.1:5000/cb")];
    let sent = realm.asks(&at).await;
    let back = realm.logs_in(sent).await;
    assert!(is_to(&back, "/authorize/consent/"), "{back:?}");
    let asked = realm.browser.goes_to(&place(&back)).await;
    realm.browser.agrees(&asked).await;
    // Consent is stored, as for every client.
    let again = realm.asks(&at).await;
    assert_eq!(again.status, 303);
    assert!(place(&again).starts_with("/cb?code="), "{again:?}");
}

#[tokio::test]
async fn denied_consent_is_requested_again() {
    let mut realm = Realm::start().await;
    let sent = realm.asks(&[]).await;
    let back = realm.logs_in(sent).await;
    let page = place(&back);
    let asked = realm.browser.goes_to(&page).await;
    let left = realm.browser.presses(&asked, "consent", "&answer=deny").await;
    assert_eq!(realm.party.error(&left), "access_denied");
    realm.browser.goes_to(&page).await.is(410, "over");
    assert_eq!(realm.asks_again(&[]).await, "consent page");
}

#[tokio::test]
async fn cancelled_login_returns_no_code() {
    let mut realm = Realm::start().await;
    let sent = realm.asks(&[]).await;
    let shown = realm.browser.goes_to(&place(&sent)).await;
    let cancelled = realm.browser.presses(&shown, "cancel", "").await;
    let back = cancelled.link("back");
    let back = realm.browser.goes_to(&format!("{}?{}", back.path(), back.query().expect("an error"))).await;
    assert_eq!(realm.party.error(&back), "access_denied");
    let sent = realm.asks(&[]).await;
    let page = place(&sent);
    realm.browser.goes_to(&page).await;
    realm.service.passes(SignedDuration::from_mins(50));
    let back = realm.browser.goes_to(&page).await.link("back");
    let back = realm.browser.goes_to(&format!("{}?{}", back.path(), back.query().expect("an error"))).await;
    assert_eq!(realm.party.error(&back), "access_denied");
}

#[tokio::test]
async fn consent_after_max_age_requires_a_login() {
    let mut realm = Realm::start().await;
    let sent = realm.asks(&[("max_age", "300")]).await;
    let back = realm.logs_in(sent).await;
    let asked = realm.browser.goes_to(&place(&back)).await;
    realm.service.passes(SignedDuration::from_secs(301));
    let anew = realm.browser.presses(asked.is(200, "consent"), "consent", "&answer=allow").await;
    let page = anew.is(200, "waiting").form("cancel").0.replace("/cancel", "");
    let phone = realm.service.phone();
    let back = crate::openid_flow::logs_in_at(&realm.integrator, &mut realm.browser, &phone, &page).await;
    let tokens = realm.party.redeems(&realm.party.code(&back)).await.with(200);
    assert_eq!(RelyingParty::claims(&tokens)["auth_time"], realm.service.clock.now().as_second());
}

#[tokio::test]
async fn request_is_bound_to_its_browser() {
    let mut realm = Realm::start().await;
    let sent = realm.asks(&[]).await;
    let page = place(&sent);
    let mut other = Browser::at(&realm.service);
    other.goes_to(&page).await.is(403, "other");
    let back = realm.logs_in(sent).await;
    let consent = place(&back);
    other.goes_to(&consent).await.is(410, "over");
    // The page cookie of another browser gives no access either.
    other.goes_to(&realm.party.authorize(&[])).await;
    assert!(other.cookie.is_some());
    other.goes_to(&consent).await.is(410, "over");
    realm.browser.goes_to(&consent).await.is(200, "consent");
    realm.service.passes(SignedDuration::from_mins(60));
    realm.browser.goes_to(&consent).await.is(410, "over");
}

#[tokio::test]
async fn completion_code_yields_one_code() {
    let mut realm = Realm::trusted().await;
    let sent = realm.asks(&[]).await;
    let page = place(&sent);
    let back = realm.logs_in(sent).await;
    realm.party.code(&back);
    let again = realm.browser.goes_to(&page).await;
    assert!(again.status == 200, "{again:?}");
    let path = format!("{}/authorize/return?session_id=sess_x&code=x", realm.party.path);
    realm.browser.goes_to(&path).await.is(410, "over");
    let path = format!("{}/authorize/return", realm.party.path);
    realm.browser.goes_to(&path).await.is(410, "over");
    let head = realm.browser.request(Method::HEAD, &path).send().await.expect("a reply");
    assert_eq!(head.status(), 405);
}

#[tokio::test]
async fn cross_site_form_grants_no_consent() {
    let mut realm = Realm::start().await;
    let sent = realm.asks(&[]).await;
    let back = realm.logs_in(sent).await;
    let asked = realm.browser.goes_to(&place(&back)).await;
    let (action, token) = asked.form("consent");
    let origin = realm.browser.origin.clone();
    for (from, token) in [("https://evil.test", token.as_str()), (&*origin, "wrong"), (&*origin, "")] {
        let request = realm.browser.request(Method::POST, &action).header("origin", from);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        realm.browser.send(request.body(format!("token={token}&answer=allow"))).await.is(403, "stale");
    }
    assert_eq!(realm.asks_again(&[("prompt", "none")]).await, "consent_required");
}

#[tokio::test]
async fn pages_are_secure_and_uncached() {
    let realm = Realm::start().await;
    let http = realm.service.visitor().http;
    // The harness checks the headers of every page.
    for path in ["/authorize", "/authorize/return", "/logout", "/authorize/consent/auz_x"] {
        for language in ["en", "es"] {
            let reply = send(http.get(realm.party.url(path)).header("accept-language", language)).await;
            assert!(matches!(reply.status, 200 | 400 | 410), "{path}: {}", reply.status);
            assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
            assert!(reply.text.contains(&format!("lang=\"{language}\"")), "{path}");
        }
    }
    let sent = send(http.get(realm.service.url(&realm.party.authorize(&[])))).await;
    assert_eq!((sent.status, sent.header("cache-control")), (303, Some("no-store")));
}

#[tokio::test]
async fn long_state_is_returned_and_longer_rejected() {
    let mut realm = Realm::trusted().await;
    let state = "é \"&+<>%".repeat(228);
    assert!(state.len() >= 2048, "{}", state.len());
    let sent = realm.asks(&[("state", &state)]).await;
    let back = realm.logs_in(sent).await;
    assert_eq!(realm.party.gets(&back)["state"], state);
    let too_long = "x".repeat(8 * 1024);
    assert_eq!(realm.asks(&[("state", &too_long)]).await.status, 413);
}

#[tokio::test]
async fn unknown_issuers_are_not_found() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let hosted = hosts(&integrator, "shop.test").await;
    let direct = integrator.registers("direct.test").await;
    let mut browser = Browser::at(&service);
    let (hosted, direct) = (text(&hosted, "id"), text(&direct, "id"));
    for path in ["/sandbox/dom_x", &format!("/sandbox/{direct}"), &format!("/{hosted}")] {
        for address in ["authorize", "authorize/return", "logout", "userinfo"] {
            assert_eq!(browser.goes_to(&format!("{path}/{address}")).await.status, 404, "{path}/{address}");
        }
        let token = service.visitor().http.post(service.url(&format!("{path}/token"))).send().await.expect("a reply");
        assert_eq!(token.status(), 404);
    }
    browser.goes_to(&format!("/sandbox/{hosted}/authorize")).await.is(400, "client-fault");
}

#[tokio::test]
async fn sandbox_login_needs_no_user() {
    let mut realm = Realm::trusted().await;
    let sent = realm.asks(&[("prompt", "create")]).await;
    let page = place(&sent);
    let id = page.split('?').next().and_then(|path| path.rsplit('/').next()).expect("an id").to_owned();
    realm.browser.goes_to(&page).await;
    let told = realm.integrator.post(&format!("/sessions/{id}/simulate"), json!({ "wallet": 5 })).await.with(200);
    assert_eq!(told["status"], 200, "{told}");
    let done = realm.browser.goes_to(&page).await;
    let back = done.is(200, "done").link("continue");
    let back = realm.browser.goes_to(&format!("{}?{}", back.path(), back.query().expect("a code"))).await;
    let tokens = realm.party.redeems(&realm.party.code(&back)).await.with(200);
    let users = realm.integrator.get(&realm.users()).await.with(200);
    assert_eq!(users["users"].as_array().map(Vec::len), Some(2), "{users}");
    assert!(text(&RelyingParty::claims(&tokens), "sub").starts_with("usr_"));
    assert_eq!(realm.service.outbox().await.len(), 1, "of its login the application learns by itself");
}

#[tokio::test]
async fn closed_registration_creates_no_account() {
    let mut realm = Realm::trusted().await;
    let path = format!("/domains/{}", text(&realm.domain, "id"));
    realm.integrator.patch(&path, &json!({ "registration": "closed" })).await.with(200);
    let sent = realm.asks(&[("prompt", "create")]).await;
    assert_eq!(realm.party.error(&sent), "access_denied");
    let sent = realm.asks(&[("prompt", "login")]).await;
    let page = place(&sent);
    let shown = realm.browser.goes_to(&page).await;
    let stranger = crate::harness::Phone::of(9, &realm.service.clock);
    assert_ne!(crate::account::scans(&realm.integrator, &stranger, &shown).await, 200);
    realm.browser.goes_to(&page).await.is(200, "refused");
}
