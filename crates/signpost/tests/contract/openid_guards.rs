//! OpenID Connect under attack: floods by unauthenticated clients, and requests that are pending during a sign-out.

use serde_json::json;
use signpost_openid::clients::RedirectUris;
use signpost_openid::grants::{self, Grant, OpaqueToken, OpaqueTokenKind};
use signpost_openid::ids::GrantId;
use signpost_store::{params, step};

use crate::harness::{RelyingParty, is_written, send, text};
use crate::openid_flow::Realm;

const OFFLINE: [(&str, &str); 1] = [("scope", "openid offline_access")];

/// Returns the stored grant of a code.
async fn grant_of(realm: &Realm, code: &str) -> Grant {
    let code = OpaqueToken::parse(OpaqueTokenKind::Code, code).expect("a code");
    grants::sql::find_by_code(&realm.service.app.store, &code).await.expect("a database").expect("a grant")
}

#[tokio::test]
async fn public_clients_are_limited_by_address() {
    let settings = [("rate_limit_token", "2/m"), ("trusted_proxies", "127.0.0.1"), ("allow_private_webhooks", "true")];
    let realm = Realm::with(&settings, |settings| {
        settings.is_public = true;
        settings.redirect_uris = RedirectUris::parse(["http://127.0.0.1/cb"]).expect("URIs");
    })
    .await;
    let id = realm.party.client.id.to_string();
    let asks = async |address: &str| {
        let request = realm.party.request("/token", &[("client_id", &id), ("grant_type", "x")]);
        send(request.header("x-forwarded-for", address)).await.status
    };
    for status in [400, 400, 429] {
        assert_eq!(asks("203.0.113.7").await, status);
    }
    assert_eq!(asks("203.0.113.8").await, 400);
    // A client with its secret has its own limit, whatever its IP address.
    let party = RelyingParty::at(&realm.service, &realm.domain, |_| {}).await;
    for (address, status) in [("203.0.113.7", 400), ("203.0.113.8", 400), ("203.0.113.9", 429)] {
        let request = party.request("/token", &[("grant_type", "x")]);
        let request = request.basic_auth(party.client.id.as_str(), party.secret.as_deref());
        assert_eq!(send(request.header("x-forwarded-for", address)).await.status, status, "{address}");
    }
}

#[tokio::test]
async fn consent_pages_count_as_logins() {
    let mut realm = Realm::with(&[("rate_limit_create_session", "3/m")], |_| {}).await;
    realm.code(&[]).await;
    for _ in 0..2 {
        assert_eq!(realm.asks_again(&[("prompt", "consent")]).await, "consent page");
    }
    assert_eq!(realm.asks(&[("prompt", "consent")]).await.status, 429);
    assert_eq!(realm.asks_again(&[]).await, "code", "where nothing waits nothing counts");
}

#[tokio::test]
async fn stored_bytes_are_limited_by_address() {
    let settings =
        [("rate_limit_create_session", "10/m"), ("trusted_proxies", "127.0.0.1"), ("allow_private_webhooks", "true")];
    let realm = Realm::with(&settings, |_| {}).await;
    let state = "x".repeat(7 * 1024);
    let (long, short) = (realm.party.authorize(&[("state", &state)]), realm.party.authorize(&[]));
    let asks = async |path: &str, address: &str| {
        let request = realm.service.visitor().http.get(realm.service.url(path));
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
    realm.service.passes(jiff::SignedDuration::from_mins(1));
    assert_eq!(asks(&long, "2001:db8::1").await.status, 303);
}

/// Returns the result of a `COUNT` query.
async fn count(realm: &Realm, sql: &'static str) -> i64 {
    let row = realm.service.app.store.read_one(sql, params![]).await.expect("a database");
    row.expect("COUNT is one row").int(0).expect("a number")
}

#[tokio::test]
async fn abandoned_logins_are_deleted_in_two_hours() {
    const SESSIONS: &str = "SELECT COUNT(*) FROM sessions";
    const REQUESTS: &str = "SELECT COUNT(*) FROM openid_authorizations";

    let mut realm = Realm::trusted().await;
    let before = count(&realm, SESSIONS).await;
    // A completed login, a login of a site, and two abandoned logins.
    realm.code(&[]).await;
    crate::page_flow::opens(&realm.integrator, json!({})).await;
    for _ in 0..2 {
        realm.asks(&[("prompt", "login")]).await;
    }
    assert_eq!((count(&realm, SESSIONS).await - before, count(&realm, REQUESTS).await), (4, 2));
    let (store, clock) = (realm.service.app.store.clone(), realm.service.clock.clone());
    for (minutes, sessions, requests) in [(59, 4, 2), (2, 2, 0)] {
        realm.service.passes(jiff::SignedDuration::from_mins(minutes));
        signpost_login::jobs::forget::sweep(&store, clock.now()).await.expect("a database");
        signpost_openid::jobs::sweep::sweep(&store, clock.now()).await.expect("a database");
        assert_eq!((count(&realm, SESSIONS).await - before, count(&realm, REQUESTS).await), (sessions, requests));
    }
}

#[tokio::test]
async fn invalid_nonces_are_rejected() {
    let mut realm = Realm::trusted().await;
    for nonce in ["a\0b".to_owned(), "n".repeat(513)] {
        let sent = realm.asks(&[("nonce", &nonce)]).await;
        assert_eq!(realm.party.error(&sent), "invalid_request");
    }
    let nonce = "n".repeat(512);
    let tokens = realm.tokens(&[("nonce", &nonce)]).await;
    assert_eq!(RelyingParty::claims(&tokens)["nonce"], nonce);
}

#[tokio::test]
async fn forms_have_at_most_64_fields() {
    let realm = Realm::trusted().await;
    let names: Vec<String> = (0..65).map(|number| format!("field{number}")).collect();
    let fields: Vec<_> = names.iter().map(|name| (name.as_str(), "x")).collect();
    let told = realm.party.posts("/revoke", &fields).await.with(400);
    assert_eq!(told["error"], "invalid_request");
    assert!(text(&told, "error_description").contains("64"), "{told}");
}

#[tokio::test]
async fn logout_invalidates_pending_grants() {
    let mut realm = Realm::trusted().await;
    let tokens = realm.tokens(&OFFLINE).await;
    let code = realm.code_again(&OFFLINE).await;
    let (store, now) = (realm.service.app.store.clone(), realm.service.clock.now());
    let another = |grant: Grant, number: u8| Grant {
        id: GrantId::new(now, [number; 16]),
        code_hash: OpaqueToken::new(OpaqueTokenKind::Code, [number; 32]).hash(),
        ..grant
    };
    let grant = grant_of(&realm, &code).await;
    grants::sql::insert(&store, another(grant.clone(), 1), Vec::new()).await.expect("a grant");
    let logout = format!("{}/logout?id_token_hint={}", realm.party.path, text(&tokens, "id_token"));
    realm.browser.goes_to(&logout).await.is(200, "logged-out");
    assert!(!is_written(grants::sql::insert(&store, another(grant, 2), Vec::new()).await));
    assert_eq!(realm.party.redeems(&code).await.with(400)["error"], "invalid_grant");
}

#[tokio::test]
async fn grants_just_after_a_sign_out_are_invalid() {
    let mut realm = Realm::trusted().await;
    let tokens = realm.tokens(&OFFLINE).await;
    let shown = realm.browser.goes_to(&format!("/account/{}", text(&realm.domain, "id"))).await;
    realm.browser.presses(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    let later = realm.service.clock.now() + jiff::SignedDuration::from_secs(1);
    let set = step("UPDATE openid_grants SET created_at = $1", params![later]);
    realm.service.app.store.write([set]).await.expect("a database");
    assert_eq!(realm.party.userinfo(text(&tokens, "access_token")).await.status, 401);
    assert_eq!(realm.party.refreshes(text(&tokens, "refresh_token")).await.with(400)["error"], "invalid_grant");
}

/// A second server is two minutes behind. The first login has no browser any more: the second replaced its cookie.
#[tokio::test]
async fn sign_out_tolerates_clock_skew() {
    let behind = -jiff::SignedDuration::from_mins(1);
    let mut realm = Realm::trusted().await;
    let first = realm.tokens(&OFFLINE).await;
    realm.service.passes(behind);
    let second = realm.tokens(&[OFFLINE[0], ("prompt", "login")]).await;
    realm.service.passes(behind);
    let shown = realm.browser.goes_to(&format!("/account/{}", text(&realm.domain, "id"))).await;
    realm.browser.presses(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    for tokens in [first, second] {
        assert_eq!(realm.party.userinfo(text(&tokens, "access_token")).await.status, 401);
        assert_eq!(realm.party.refreshes(text(&tokens, "refresh_token")).await.with(400)["error"], "invalid_grant");
    }
    let tokens = realm.tokens(&OFFLINE).await;
    realm.party.userinfo(text(&tokens, "access_token")).await.with(200);
    realm.party.refreshes(text(&tokens, "refresh_token")).await.with(200);
    // The new login also ends if the user signs out again, at a server that is further behind.
    realm.service.passes(behind);
    let shown = realm.browser.goes_to(&format!("/account/{}", text(&realm.domain, "id"))).await;
    realm.browser.presses(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    assert_eq!(realm.party.userinfo(text(&tokens, "access_token")).await.status, 401);
}

#[tokio::test]
async fn sign_out_after_registration_tolerates_skew() {
    let mut realm = Realm::trusted().await;
    realm.phone = crate::harness::Phone::of(9, &realm.service.clock);
    let tokens = realm.tokens(&[OFFLINE[0], ("prompt", "create")]).await;
    realm.party.userinfo(text(&tokens, "access_token")).await.with(200);
    realm.service.passes(-jiff::SignedDuration::from_mins(2));
    let shown = realm.browser.goes_to(&format!("/account/{}", text(&realm.domain, "id"))).await;
    realm.browser.presses(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    assert_eq!(realm.party.userinfo(text(&tokens, "access_token")).await.status, 401);
}

#[tokio::test]
async fn secret_with_a_suffix_is_rejected() {
    let realm = Realm::trusted().await;
    let secret = realm.party.secret.clone().expect("a secret");
    for (more, status) in [("", 200), ("&more", 401), ("=more", 401)] {
        let request = realm.party.request("/revoke", &[("token", "x")]);
        let request = request.basic_auth(realm.party.client.id.as_str(), Some(format!("{secret}{more}")));
        assert_eq!(send(request).await.status, status, "{more}");
    }
}
