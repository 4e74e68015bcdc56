//! The Basic OP plan of the OpenID Foundation's conformance suite, one test per module, with its name. Passing them is
//! not a certification.

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::json;

use crate::harness::{RelyingParty, VERIFIER, send, text};
use crate::openid_flow::{Tenant, is_to};

#[tokio::test]
async fn server_test() {
    let mut tenant = Tenant::start().await;
    let tokens = tenant.tokens(&[]).await;
    assert_eq!((&tokens["token_type"], &tokens["expires_in"]), (&json!("Bearer"), &json!(3600)));
    assert_eq!((&tokens["scope"], tokens.get("refresh_token")), (&json!("openid profile email"), None));
    let claims = RelyingParty::claims(&tokens);
    let now = tenant.service.clock.now().as_second();
    assert_eq!(
        (text(&claims, "iss"), text(&claims, "aud")),
        (&*tenant.party.issuer(), tenant.party.client.id.as_str())
    );
    assert_eq!((&claims["iat"], &claims["exp"], &claims["auth_time"]), (&json!(now), &json!(now + 300), &json!(now)));
    assert_eq!((&claims["nonce"], &claims["acr"]), (&json!("a nonce"), &json!("urn:signpost:wallet+match")));
    assert_eq!(claims["amr"], json!(["pop", "swk"]));
    assert!(text(&claims, "sub").starts_with("usr_") && text(&claims, "sid").starts_with("bses_"));
    let hash = signpost_openid::claims::hash_access_token(text(&tokens, "access_token"));
    assert_eq!(text(&claims, "at_hash"), hash);
}

#[tokio::test]
async fn response_type_missing() {
    let mut tenant = Tenant::start().await;
    let sent = tenant.authorize(&[("response_type", "")]).await;
    assert_eq!(tenant.party.error(&sent), "invalid_request");
}

#[tokio::test]
async fn id_token_signature() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&[]).await;
    let header = text(&tokens, "id_token").split('.').next().expect("a header");
    let header = data_encoding::BASE64URL_NOPAD.decode(header.as_bytes()).expect("base64url");
    let header: serde_json::Value = serde_json::from_slice(&header).expect("JSON");
    assert_eq!((&header["alg"], header["kid"].is_string()), (&json!("RS256"), true), "{header}");
    let environment = signpost_platform::accounts::Environment::Sandbox;
    let verified = tenant.service.app.openid.verify_own_token(environment, text(&tokens, "id_token")).await;
    assert_eq!(verified.expect("a database"), Some(RelyingParty::claims(&tokens)));
}

#[tokio::test]
async fn id_token_unsigned() {
    // The module is for providers that issue such tokens.
    let tenant = Tenant::start().await;
    let response = tenant.party.discovery().await;
    assert_eq!(response["id_token_signing_alg_values_supported"], json!(["RS256", "ES256"]));
}

#[tokio::test]
async fn user_info_get() {
    let mut tenant = Tenant::start().await;
    let tokens = tenant.tokens(&[]).await;
    let claims = RelyingParty::claims(&tokens);
    let info = tenant.party.userinfo(text(&tokens, "access_token")).await.with(200);
    for name in ["sub", "name", "preferred_username", "nickname", "groups", "email"] {
        assert_eq!(info[name], claims[name], "{name}: the same in both");
        assert!(!info[name].is_null(), "{name}");
    }
    assert_eq!(text(&info, "email"), format!("{}@shop.test", text(&info, "sub")));
    assert_eq!(info.get("email_verified"), None, "applications may refuse users with false");
    assert_eq!((&info["name"], &info["groups"]), (&info["nickname"], &json!([])));
}

#[tokio::test]
async fn user_info_post_header() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&[]).await;
    let request = tenant.service.visitor().http.request(Method::POST, tenant.party.url("/userinfo"));
    send(request.bearer_auth(text(&tokens, "access_token"))).await.with(200);
}

#[tokio::test]
async fn user_info_post_body() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&[]).await;
    let token = text(&tokens, "access_token");
    send(tenant.party.request("/userinfo", &[("access_token", token)])).await.with(200);
    let both = send(tenant.party.request("/userinfo", &[("access_token", token)]).bearer_auth(token)).await;
    assert_eq!(both.with(400)["error"], "invalid_request");
    let request = tenant.service.visitor().http.get(tenant.party.url(&format!("/userinfo?access_token={token}")));
    let in_address = send(request).await;
    assert_eq!((in_address.status, in_address.header("www-authenticate").is_some()), (401, true));
}

/// Checks that a login with these parameters succeeds.
async fn assert_login_succeeds(set: &[(&str, &str)]) {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(set).await;
    assert!(tokens["id_token"].is_string(), "{set:?}");
}

#[tokio::test]
async fn ensure_request_without_nonce_succeeds_for_code_flow() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&[("nonce", "")]).await;
    assert_eq!(RelyingParty::claims(&tokens).get("nonce"), None);
}

#[tokio::test]
async fn ensure_request_with_unknown_parameter_succeeds() {
    assert_login_succeeds(&[("extra", "foobar")]).await;
}

#[tokio::test]
async fn display_page() {
    assert_login_succeeds(&[("display", "page")]).await;
}

#[tokio::test]
async fn display_popup() {
    assert_login_succeeds(&[("display", "popup")]).await;
}

#[tokio::test]
async fn login_hint() {
    assert_login_succeeds(&[("login_hint", "ann@shop.test")]).await;
}

#[tokio::test]
async fn ui_locales() {
    let mut tenant = Tenant::start().await;
    let sent = tenant.authorize(&[("ui_locales", "fr-CA es-MX en")]).await;
    assert!(is_to(&sent, "?lang=es"), "{sent:?}");
    let asked = tenant.log_in(sent).await;
    assert!(is_to(&asked, "/authorize/consent/"), "{asked:?}");
}

#[tokio::test]
async fn claims_locales() {
    assert_login_succeeds(&[("claims_locales", "se")]).await;
}

#[tokio::test]
async fn ensure_request_with_acr_values_succeeds() {
    assert_login_succeeds(&[("acr_values", "1 2")]).await;
}

#[tokio::test]
async fn claims_essential() {
    assert_login_succeeds(&[("claims", r#"{"id_token":{"name":{"essential":true}}}"#)]).await;
}

#[tokio::test]
async fn id_token_hint() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&[]).await;
    let hint = text(&tokens, "id_token").to_owned();
    // The hint has expired by then, and its key may be retired.
    tenant.service.advance_clock(SignedDuration::from_hours(2));
    assert_eq!(tenant.repeat_authorization(&[("id_token_hint", &hint), ("prompt", "none")]).await, "code");
    let forged = format!("{}A", &hint[..hint.len() - 1]);
    for wrong in ["x", &forged[..forged.len() - 8], &hint.replace('.', "")] {
        assert_eq!(tenant.repeat_authorization(&[("id_token_hint", wrong)]).await, "invalid_request", "{wrong}");
    }
}

#[tokio::test]
async fn scope_profile() {
    let mut tenant = Tenant::trusted().await;
    let claims = RelyingParty::claims(&tenant.tokens(&[("scope", "openid profile")]).await);
    assert!(claims["nickname"].is_string() && claims.get("email").is_none(), "{claims}");
}

#[tokio::test]
async fn scope_email() {
    let mut tenant = Tenant::trusted().await;
    let claims = RelyingParty::claims(&tenant.tokens(&[("scope", "openid email")]).await);
    assert!(claims["email"].is_string() && claims.get("nickname").is_none(), "{claims}");
}

/// The order of scopes and of parameters is irrelevant.
#[tokio::test]
async fn alternate_happy_flow() {
    let mut tenant = Tenant::trusted().await;
    tenant.tokens(&[]).await;
    let asked = tenant.party.authorize(&[("scope", "email openid")]);
    let (path, query) = asked.split_once('?').expect("a query");
    let reversed = query.split('&').rev().collect::<Vec<_>>().join("&");
    assert_ne!(reversed, query);
    let sent = tenant.browser.visit(&format!("{path}?{reversed}")).await;
    let code = tenant.party.code(&sent);
    let tokens = tenant.party.exchange_code(&code).await.with(200);
    assert_eq!(tokens["scope"], "openid email");
    assert!(RelyingParty::claims(&tokens)["email"].is_string());
}

#[tokio::test]
async fn scope_address() {
    assert_login_succeeds(&[("scope", "openid address")]).await;
}

#[tokio::test]
async fn scope_phone() {
    assert_login_succeeds(&[("scope", "openid phone")]).await;
}

#[tokio::test]
async fn scope_all() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&[("scope", "openid profile email address phone offline_access")]).await;
    assert_eq!(tokens["scope"], "openid profile email offline_access");
}

#[tokio::test]
async fn prompt_login() {
    let mut tenant = Tenant::trusted().await;
    let first = RelyingParty::claims(&tenant.tokens(&[]).await);
    tenant.service.advance_clock(SignedDuration::from_secs(2));
    let second = RelyingParty::claims(&tenant.tokens(&[("prompt", "login")]).await);
    assert_eq!(first["sub"], second["sub"]);
    assert!(second["auth_time"].as_i64() > first["auth_time"].as_i64(), "{first} {second}");
}

#[tokio::test]
async fn prompt_none_not_logged_in() {
    let mut tenant = Tenant::trusted().await;
    assert_eq!(tenant.repeat_authorization(&[("prompt", "none")]).await, "login_required");
}

#[tokio::test]
async fn prompt_none_logged_in() {
    let mut tenant = Tenant::trusted().await;
    let first = RelyingParty::claims(&tenant.tokens(&[]).await);
    tenant.service.advance_clock(SignedDuration::from_mins(10));
    let sent = tenant.authorize(&[("prompt", "none")]).await;
    let code = tenant.party.code(&sent);
    let second = RelyingParty::claims(&tenant.party.exchange_code(&code).await.with(200));
    for name in ["sub", "auth_time", "sid"] {
        assert_eq!(first[name], second[name], "{name}");
    }
}

#[tokio::test]
async fn max_age_1() {
    let mut tenant = Tenant::trusted().await;
    let first = RelyingParty::claims(&tenant.tokens(&[]).await);
    tenant.service.advance_clock(SignedDuration::from_secs(2));
    assert_eq!(tenant.repeat_authorization(&[("max_age", "1"), ("prompt", "none")]).await, "login_required");
    let second = RelyingParty::claims(&tenant.tokens(&[("max_age", "1")]).await);
    assert!(second["auth_time"].as_i64() > first["auth_time"].as_i64(), "{first} {second}");
}

#[tokio::test]
async fn max_age_10000() {
    let mut tenant = Tenant::trusted().await;
    tenant.tokens(&[]).await;
    tenant.service.advance_clock(SignedDuration::from_secs(2));
    assert_eq!(tenant.repeat_authorization(&[("max_age", "10000")]).await, "code");
}

#[tokio::test]
async fn auth_code_reuse() {
    let mut tenant = Tenant::trusted().await;
    let code = tenant.code(&[("scope", "openid offline_access")]).await;
    let tokens = tenant.party.exchange_code(&code).await.with(200);
    assert_eq!(tenant.party.exchange_code(&code).await.with(400)["error"], "invalid_grant");
    assert_eq!(tenant.party.userinfo(text(&tokens, "access_token")).await.status, 401);
    let refreshed = tenant.party.refresh(text(&tokens, "refresh_token")).await;
    assert_eq!(refreshed.with(400)["error"], "invalid_grant");
}

#[tokio::test]
async fn auth_code_reuse_after_30_seconds() {
    let mut tenant = Tenant::trusted().await;
    let code = tenant.code(&[]).await;
    let tokens = tenant.party.exchange_code(&code).await.with(200);
    tenant.service.advance_clock(SignedDuration::from_secs(30));
    assert_eq!(tenant.party.exchange_code(&code).await.with(400)["error"], "invalid_grant");
    assert_eq!(tenant.party.userinfo(text(&tokens, "access_token")).await.status, 401);
}

#[tokio::test]
async fn ensure_registered_redirect_uri() {
    let mut tenant = Tenant::start().await;
    let uris = [
        "https://app.test/cb/",
        "https://app.test/CB",
        "https://app.test/cb?x=1",
        "https://app.test/cb#x",
        "https://app.test:444/cb",
        "https://ann@app.test/cb",
        "http://app.test/cb",
        "https://app.test/other/../cb",
        "javascript:alert(1)",
        "",
    ];
    for uri in uris {
        tenant.authorize(&[("redirect_uri", uri)]).await.is(400, "client-fault");
    }
    for id in ["", "cli_x", "client"] {
        tenant.authorize(&[("client_id", id)]).await.is(400, "client-fault");
    }
}

#[tokio::test]
async fn request_uri_unsigned() {
    let mut tenant = Tenant::start().await;
    let sent = tenant.authorize(&[("request_uri", "https://app.test/request")]).await;
    assert_eq!(tenant.party.error(&sent), "request_uri_not_supported");
}

#[tokio::test]
async fn unsigned_request_object() {
    let mut tenant = Tenant::start().await;
    let sent = tenant.authorize(&[("request", "eyJhbGciOiJub25lIn0.e30.")]).await;
    assert_eq!(tenant.party.error(&sent), "request_not_supported");
}

#[tokio::test]
async fn ensure_request_object_with_redirect_uri() {
    let mut tenant = Tenant::start().await;
    let sent =
        tenant.authorize(&[("request", "eyJhbGciOiJub25lIn0.e30."), ("redirect_uri", "https://evil.test/cb")]).await;
    sent.is(400, "client-fault");
}

#[tokio::test]
async fn refresh_token() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&[("scope", "openid email offline_access")]).await;
    let first = RelyingParty::claims(&tokens);
    tenant.service.advance_clock(SignedDuration::from_mins(30));
    let again = tenant.party.refresh(text(&tokens, "refresh_token")).await.with(200);
    let second = RelyingParty::claims(&again);
    for name in ["iss", "sub", "aud", "auth_time", "sid", "email"] {
        assert_eq!(first[name], second[name], "{name}");
    }
    assert!(second["iat"].as_i64() > first["iat"].as_i64() && second.get("nonce").is_none(), "{second}");
    assert_ne!(again["access_token"], tokens["access_token"]);
    assert_ne!(again["refresh_token"], tokens["refresh_token"]);
    tenant.party.userinfo(text(&again, "access_token")).await.with(200);
}

#[tokio::test]
async fn ensure_request_with_valid_pkce_succeeds() {
    let mut tenant = Tenant::with(&[], |settings| {
        settings.is_trusted = true;
        settings.requires_pkce = false;
    })
    .await;
    let code = tenant.code(&[]).await;
    let form = |verifier: &'static str| {
        [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", "https://app.test/cb"),
            ("code_verifier", verifier),
        ]
    };
    for wrong in ["", "a wrong one", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXK"] {
        assert_eq!(tenant.party.post("/token", &form(wrong)).await.with(400)["error"], "invalid_grant", "{wrong}");
    }
    tenant.party.post("/token", &form(VERIFIER)).await.with(200);
    // A verifier without a challenge indicates that the challenge was removed (RFC 9700, 2.1.1).
    let code = tenant.party.code(
        &tenant.browser.visit(&tenant.party.authorize(&[("code_challenge", ""), ("code_challenge_method", "")])).await,
    );
    assert_eq!(tenant.party.exchange_code(&code).await.with(400)["error"], "invalid_grant");
}

#[tokio::test]
async fn ensure_post_request_succeeds() {
    let mut tenant = Tenant::trusted().await;
    tenant.tokens(&[]).await;
    // The request is from a page of the application, so the browser sends no cookies.
    let request = tenant.party.request("/authorize", &[]).body(tenant.party.query(&[]));
    let sent = send(request.header("origin", "https://app.test").header("sec-fetch-site", "cross-site")).await;
    assert_eq!((sent.status, sent.header("set-cookie")), (303, None));
    let place = sent.header("location").expect("an address").to_owned();
    assert!(place.starts_with(&format!("{}/authorize?", tenant.party.path)), "{place}");
    let back = tenant.browser.visit(&place).await;
    tenant.party.code(&back);
}

#[tokio::test]
async fn server_test_client_secret_post() {
    let mut tenant = Tenant::trusted().await;
    let code = tenant.code(&[]).await;
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("redirect_uri", "https://app.test/cb"),
        ("code_verifier", VERIFIER),
        ("client_id", tenant.party.client.id.as_str()),
        ("client_secret", tenant.party.secret.as_deref().expect("a secret")),
    ];
    send(tenant.party.request("/token", &form)).await.with(200);
}
