//! OpenID Connect under attack: floods by unauthenticated clients, and requests that are pending during a sign-out.

use serde_json::json;
use signpost_openid::clients::RedirectUris;
use signpost_openid::grants::{self, Grant, OpaqueToken, OpaqueTokenKind};
use signpost_openid::ids::GrantId;
use signpost_store::{Statement, params};

use crate::harness::{RelyingParty, is_written, send, text};
use crate::openid_flow::Tenant;

const OFFLINE: [(&str, &str); 1] = [("scope", "openid offline_access")];

/// Returns the stored grant of a code.
async fn grant_of(tenant: &Tenant, code: &str) -> Grant {
    let code = OpaqueToken::parse(OpaqueTokenKind::Code, code).expect("a code");
    grants::sql::find_by_code(&tenant.service.app.store, &code).await.expect("a database").expect("a grant")
}

#[tokio::test]
async fn public_clients_are_limited_by_address() {
    let settings = [("rate_limit_token", "2/m"), ("trusted_proxies", "127.0.0.1"), ("allow_private_webhooks", "true")];
    let tenant = Tenant::with(&settings, |settings| {
        settings.is_public = true;
        settings.redirect_uris = RedirectUris::parse(["http://127.0.0.1/cb"]).expect("URIs");
    })
    .await;
    let id = tenant.party.client.id.to_string();
    let asks = async |address: &str| {
        let request = tenant.party.request("/token", &[("client_id", &id), ("grant_type", "x")]);
        send(request.header("x-forwarded-for", address)).await.status
    };
    for status in [400, 400, 429] {
        assert_eq!(asks("203.0.113.7").await, status);
    }
    assert_eq!(asks("203.0.113.8").await, 400);
    // A client with its secret has its own limit, independent of its IP address.
    let party = RelyingParty::at(&tenant.service, &tenant.domain, |_| {}).await;
    for (address, status) in [("203.0.113.7", 400), ("203.0.113.8", 400), ("203.0.113.9", 429)] {
        let request = party.request("/token", &[("grant_type", "x")]);
        let request = request.basic_auth(party.client.id.as_str(), party.secret.as_deref());
        assert_eq!(send(request.header("x-forwarded-for", address)).await.status, status, "{address}");
    }
}

#[tokio::test]
async fn consent_pages_count_as_logins() {
    let mut tenant = Tenant::with(&[("rate_limit_create_session", "3/m")], |_| {}).await;
    tenant.code(&[]).await;
    for _ in 0..2 {
        assert_eq!(tenant.repeat_authorization(&[("prompt", "consent")]).await, "consent page");
    }
    assert_eq!(tenant.authorize(&[("prompt", "consent")]).await.status, 429);
    assert_eq!(tenant.repeat_authorization(&[]).await, "code", "without pending requests none count");
}

#[tokio::test]
async fn stored_bytes_are_limited_by_address() {
    let settings =
        [("rate_limit_create_session", "10/m"), ("trusted_proxies", "127.0.0.1"), ("allow_private_webhooks", "true")];
    let tenant = Tenant::with(&settings, |_| {}).await;
    let state = "x".repeat(7 * 1024);
    let (long, short) = (tenant.party.authorize(&[("state", &state)]), tenant.party.authorize(&[]));
    let asks = async |path: &str, address: &str| {
        let request = tenant.service.visitor().http.get(tenant.service.url(path));
        send(request.header("x-forwarded-for", address).header("accept", "text/html")).await
    };
    // 30 KiB a minute: three requests with 8 KiB and a row each.
    for _ in 0..3 {
        assert_eq!(asks(&long, "2001:db8::1").await.status, 303);
    }
    for address in ["2001:db8::1", "2001:db8::2"] {
        let refused = asks(&long, address).await;
        assert_eq!(refused.status, 429, "{address}: one network");
        assert!(refused.header("retry-after").is_some() && refused.text.contains("<h1"), "{}", refused.text);
    }
    for _ in 0..10 {
        assert_eq!(asks(&short, "2001:db8:0:1::1").await.status, 303);
    }
    assert_eq!(asks(&short, "2001:db8:0:1::1").await.status, 429);
    tenant.service.advance_clock(jiff::SignedDuration::from_mins(1));
    assert_eq!(asks(&long, "2001:db8::1").await.status, 303);
}

/// Returns the result of a `COUNT` query.
async fn count(tenant: &Tenant, sql: &'static str) -> i64 {
    let row = tenant.service.app.store.read_one(sql, params![]).await.expect("a database");
    row.expect("COUNT is one row").int(0).expect("a number")
}

#[tokio::test]
async fn abandoned_logins_are_deleted_in_two_hours() {
    const SESSIONS: &str = "SELECT COUNT(*) FROM sessions";
    const REQUESTS: &str = "SELECT COUNT(*) FROM openid_authorizations";

    let mut tenant = Tenant::trusted().await;
    let before = count(&tenant, SESSIONS).await;
    // A completed login, a login of a site, and two abandoned logins.
    tenant.code(&[]).await;
    crate::page_flow::create_session(&tenant.integrator, json!({})).await;
    for _ in 0..2 {
        tenant.authorize(&[("prompt", "login")]).await;
    }
    assert_eq!((count(&tenant, SESSIONS).await - before, count(&tenant, REQUESTS).await), (4, 2));
    let (store, clock) = (tenant.service.app.store.clone(), tenant.service.clock.clone());
    for (minutes, sessions, requests) in [(59, 4, 2), (2, 2, 0)] {
        tenant.service.advance_clock(jiff::SignedDuration::from_mins(minutes));
        signpost_login::jobs::retention::sweep(&store, clock.now()).await.expect("a database");
        signpost_openid::jobs::sweep::sweep(&store, clock.now()).await.expect("a database");
        assert_eq!((count(&tenant, SESSIONS).await - before, count(&tenant, REQUESTS).await), (sessions, requests));
    }
}

#[tokio::test]
async fn invalid_nonces_are_rejected() {
    let mut tenant = Tenant::trusted().await;
    for nonce in ["a\0b".to_owned(), "n".repeat(513)] {
        let sent = tenant.authorize(&[("nonce", &nonce)]).await;
        assert_eq!(tenant.party.error(&sent), "invalid_request");
    }
    let nonce = "n".repeat(512);
    let tokens = tenant.tokens(&[("nonce", &nonce)]).await;
    assert_eq!(RelyingParty::claims(&tokens)["nonce"], nonce);
}

#[tokio::test]
async fn forms_have_at_most_64_fields() {
    let tenant = Tenant::trusted().await;
    let names: Vec<String> = (0..65).map(|number| format!("field{number}")).collect();
    let fields: Vec<_> = names.iter().map(|name| (name.as_str(), "x")).collect();
    let response = tenant.party.post("/revoke", &fields).await.with(400);
    assert_eq!(response["error"], "invalid_request");
    assert!(text(&response, "error_description").contains("64"), "{response}");
}

#[tokio::test]
async fn logout_invalidates_pending_grants() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&OFFLINE).await;
    let code = tenant.code_again(&OFFLINE).await;
    let (store, now) = (tenant.service.app.store.clone(), tenant.service.clock.now());
    let another = |grant: Grant, number: u8| Grant {
        id: GrantId::new(now, [number; 16]),
        code_hash: OpaqueToken::new(OpaqueTokenKind::Code, [number; 32]).hash(),
        ..grant
    };
    let grant = grant_of(&tenant, &code).await;
    grants::sql::insert(&store, another(grant.clone(), 1), Vec::new()).await.expect("a grant");
    let logout = format!("{}/logout?id_token_hint={}", tenant.party.path, text(&tokens, "id_token"));
    tenant.browser.visit(&logout).await.is(200, "logged-out");
    assert!(!is_written(grants::sql::insert(&store, another(grant, 2), Vec::new()).await));
    assert_eq!(tenant.party.exchange_code(&code).await.with(400)["error"], "invalid_grant");
}

#[tokio::test]
async fn grants_just_after_a_sign_out_are_invalid() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&OFFLINE).await;
    let shown = tenant.browser.visit(&format!("/account/{}", text(&tenant.domain, "id"))).await;
    tenant.browser.submit(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    let later = tenant.service.clock.now() + jiff::SignedDuration::from_secs(1);
    let set = Statement::new("UPDATE openid_grants SET created_at = $1", params![later]);
    tenant.service.app.store.write([set]).await.expect("a database");
    assert_eq!(tenant.party.userinfo(text(&tokens, "access_token")).await.status, 401);
    assert_eq!(tenant.party.refresh(text(&tokens, "refresh_token")).await.with(400)["error"], "invalid_grant");
}

/// A second server is two minutes behind. The first login no longer has a browser: the second replaced its cookie.
#[tokio::test]
async fn sign_out_tolerates_clock_skew() {
    let behind = -jiff::SignedDuration::from_mins(1);
    let mut tenant = Tenant::trusted().await;
    let first = tenant.tokens(&OFFLINE).await;
    tenant.service.advance_clock(behind);
    let second = tenant.tokens(&[OFFLINE[0], ("prompt", "login")]).await;
    tenant.service.advance_clock(behind);
    let shown = tenant.browser.visit(&format!("/account/{}", text(&tenant.domain, "id"))).await;
    tenant.browser.submit(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    for tokens in [first, second] {
        assert_eq!(tenant.party.userinfo(text(&tokens, "access_token")).await.status, 401);
        assert_eq!(tenant.party.refresh(text(&tokens, "refresh_token")).await.with(400)["error"], "invalid_grant");
    }
    let tokens = tenant.tokens(&OFFLINE).await;
    tenant.party.userinfo(text(&tokens, "access_token")).await.with(200);
    tenant.party.refresh(text(&tokens, "refresh_token")).await.with(200);
    // The new login also ends if the user signs out again, at a server that is further behind.
    tenant.service.advance_clock(behind);
    let shown = tenant.browser.visit(&format!("/account/{}", text(&tenant.domain, "id"))).await;
    tenant.browser.submit(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    assert_eq!(tenant.party.userinfo(text(&tokens, "access_token")).await.status, 401);
}

#[tokio::test]
async fn sign_out_after_registration_tolerates_skew() {
    let mut tenant = Tenant::trusted().await;
    tenant.phone = crate::harness::Phone::of(9, &tenant.service.clock);
    let tokens = tenant.tokens(&[OFFLINE[0], ("prompt", "create")]).await;
    tenant.party.userinfo(text(&tokens, "access_token")).await.with(200);
    tenant.service.advance_clock(-jiff::SignedDuration::from_mins(2));
    let shown = tenant.browser.visit(&format!("/account/{}", text(&tenant.domain, "id"))).await;
    tenant.browser.submit(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    assert_eq!(tenant.party.userinfo(text(&tokens, "access_token")).await.status, 401);
}

#[tokio::test]
async fn secret_with_a_suffix_is_rejected() {
    let tenant = Tenant::trusted().await;
    let secret = tenant.party.secret.clone().expect("a secret");
    for (more, status) in [("", 200), ("&more", 401), ("=more", 401)] {
        let request = tenant.party.request("/revoke", &[("token", "x")]);
        let request = request.basic_auth(tenant.party.client.id.as_str(), Some(format!("{secret}{more}")));
        assert_eq!(send(request).await.status, status, "{more}");
    }
}
