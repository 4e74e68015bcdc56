//! The OpenID Connect endpoints that clients call directly: client authentication, requests, replies.

use data_encoding::BASE64;
use reqwest::Method;
use reqwest::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE};
use serde_json::json;
use signpost_openid::clients::{ClientAuthMethod, EmailClaim, RedirectUris};

use crate::harness::{RelyingParty, Service, VERIFIER, send, text};
use crate::openid_flow::Tenant;

/// A header, form fields, and the status and error of the rejection.
type TriedLogin<'a> = (Option<&'a str>, &'a [(&'a str, &'a str)], u16, &'a str);

const REDIRECT_URI: &str = "https://app.test/cb";

fn form<'a>(code: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let usual = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", REDIRECT_URI),
        ("code_verifier", VERIFIER),
    ];
    [&usual[..], more].concat()
}

#[tokio::test]
async fn client_authenticates_with_its_own_secret() {
    let mut tenant = Tenant::trusted().await;
    let (id, secret) = (tenant.party.client.id.to_string(), tenant.party.secret.clone().expect("a secret"));
    let basic = |text: &str| format!("Basic {}", BASE64.encode(text.as_bytes()));
    let good = basic(&format!("{id}:{secret}"));
    let cases: [TriedLogin<'_>; 10] = [
        (None, &[], 401, "invalid_client"),
        (None, &[("client_id", &id)], 401, "invalid_client"),
        (None, &[("client_id", &id), ("client_secret", "wrong")], 401, "invalid_client"),
        (None, &[("client_secret", &secret)], 401, "invalid_client"),
        (Some(&basic(&format!("{id}:wrong"))), &[], 401, "invalid_client"),
        (Some(&basic(&format!("cli_1:{secret}"))), &[], 401, "invalid_client"),
        (Some("Bearer x"), &[], 401, "invalid_client"),
        (Some(&good), &[("client_secret", &secret)], 400, "invalid_request"),
        (Some(&good), &[("client_id", "cli_1")], 400, "invalid_request"),
        (Some(&good), &[("client_assertion", "x")], 401, "invalid_client"),
    ];
    let code = tenant.code(&[]).await;
    for (header, more, status, error) in cases {
        for path in ["/token", "/revoke", "/introspect"] {
            let form = [&form(&code, more)[..], &[("token", "x")]].concat();
            let request = tenant.party.request(path, &form);
            let request = header.into_iter().fold(request, |request, header| request.header(AUTHORIZATION, header));
            let reply = send(request).await;
            assert_eq!((reply.status, &reply.json()["error"]), (status, &json!(error)), "{path} {header:?} {more:?}");
        }
    }
    // The code is still unused.
    let encoded = basic(&format!("{}:{}", id.replace('_', "%5F"), secret.replace('_', "%5F")));
    send(tenant.party.request("/token", &form(&code, &[])).header(AUTHORIZATION, encoded)).await.with(200);
}

#[tokio::test]
async fn public_client_requires_pkce() {
    let mut tenant = Tenant::with(&[], |settings| {
        settings.is_public = true;
        settings.is_trusted = true;
        settings.redirect_uris = RedirectUris::parse(["http://127.0.0.1/cb"]).expect("URIs");
    })
    .await;
    let sent = tenant.authorize(&[("code_challenge", ""), ("code_challenge_method", "")]).await;
    assert_eq!(tenant.party.error(&sent), "invalid_request");
    // A native app gets its port from the system.
    tenant.party.redirect_uri = "http://127.0.0.1:49152/cb".to_owned();
    let tokens = tenant.tokens(&[("scope", "openid offline_access")]).await;
    let next = tenant.party.refresh(text(&tokens, "refresh_token")).await.with(200);
    assert_ne!(next["refresh_token"], tokens["refresh_token"]);
    let response = tenant.party.post("/introspect", &[("token", text(&next, "access_token"))]).await;
    assert_eq!(response.with(400)["error"], "unauthorized_client");
    let id = tenant.party.client.id.to_string();
    let with_secret = [("token", "x"), ("client_id", &*id), ("client_secret", "anything")];
    assert_eq!(send(tenant.party.request("/revoke", &with_secret)).await.with(401)["error"], "invalid_client");
}

#[tokio::test]
async fn invalid_requests_return_protocol_errors() {
    let mut tenant = Tenant::trusted().await;
    let code = tenant.code(&[]).await;
    for (form, error) in [
        (vec![], "invalid_request"),
        (vec![("grant_type", "password"), ("username", "ann"), ("password", "x")], "unsupported_grant_type"),
        (vec![("grant_type", "client_credentials")], "unsupported_grant_type"),
        (vec![("grant_type", "authorization_code"), ("redirect_uri", REDIRECT_URI)], "invalid_request"),
        (vec![("grant_type", "authorization_code"), ("code", &code)], "invalid_request"),
        (form("sgp_code_x", &[]), "invalid_grant"),
        (form(&code, &[("code", &code)]), "invalid_request"),
        (form(&code, &[])[..3].to_vec(), "invalid_grant"),
        (vec![("grant_type", "refresh_token")], "invalid_request"),
        (vec![("grant_type", "refresh_token"), ("refresh_token", "x")], "invalid_grant"),
    ] {
        let reply = tenant.party.post("/token", &form).await;
        assert_eq!(reply.with(400)["error"], error, "{form:?}");
    }
    let wrong_uri: Vec<_> =
        form(&code, &[]).into_iter().map(|(name, value)| (name, value.replace("/cb", "/CB"))).collect();
    let wrong_uri: Vec<_> = wrong_uri.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(tenant.party.post("/token", &wrong_uri).await.with(400)["error"], "invalid_grant");
    let id = tenant.party.client.id.as_str();
    let json = tenant.party.request("/token", &[]).basic_auth(id, tenant.party.secret.as_deref());
    let json = json.body("{}").header(CONTENT_TYPE, "application/json");
    assert_eq!(send(json).await.status, 400);
    let large = "x".repeat(20_000);
    assert_eq!(tenant.party.post("/token", &[("grant_type", &large)]).await.status, 413);
    let method = tenant.service.visitor().http.request(Method::GET, tenant.party.url("/token"));
    assert_eq!(method.send().await.expect("a reply").status(), 405);
    tenant.party.exchange_code(&code).await.with(200);
}

#[tokio::test]
async fn scope_can_be_narrowed_but_not_extended() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&[("scope", "openid email offline_access")]).await;
    let token = text(&tokens, "refresh_token").to_owned();
    let asks = |scope| [("grant_type", "refresh_token"), ("refresh_token", token.as_str()), ("scope", scope)];
    assert_eq!(tenant.party.post("/token", &asks("openid profile")).await.with(400)["error"], "invalid_scope");
    let next = tenant.party.post("/token", &asks("openid email")).await.with(200);
    assert_eq!(next["scope"], "openid email", "the scopes of the access token");
    // The refresh token retains all granted scopes.
    let all = tenant.party.refresh(text(&next, "refresh_token")).await.with(200);
    assert_eq!(all["scope"], "openid email offline_access");
}

#[tokio::test]
async fn narrowed_access_token_omits_claims() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&[("scope", "openid profile email offline_access")]).await;
    let has = |claims: &serde_json::Value| ["email", "preferred_username"].map(|name| claims.get(name).is_some());
    let narrowed = tenant.refresh_with(&tokens, "openid email").await;
    assert_eq!(has(&tenant.party.userinfo(text(&narrowed, "access_token")).await.with(200)), [true, false]);
    assert_eq!(has(&RelyingParty::claims(&narrowed)), [true, false]);
    let response = tenant.party.post("/introspect", &[("token", text(&narrowed, "access_token"))]).await.with(200);
    assert_eq!((&response["scope"], response.get("username")), (&json!("openid email"), None));
    // The first access token retains its scopes.
    assert_eq!(has(&tenant.party.userinfo(text(&tokens, "access_token")).await.with(200)), [true, true]);
    let response = tenant.party.post("/introspect", &[("token", text(&tokens, "access_token"))]).await.with(200);
    assert_eq!(response["username"], RelyingParty::claims(&tokens)["preferred_username"]);

    let without_openid = tenant.refresh_with(&narrowed, "email").await;
    assert_eq!((&without_openid["scope"], without_openid.get("id_token")), (&json!("email"), None));
    let refused = tenant.party.userinfo(text(&without_openid, "access_token")).await;
    assert_eq!(refused.with(403)["error"], "insufficient_scope");
    assert!(refused.header("www-authenticate").is_some_and(|text| text.contains("scope=\"openid\"")));
    let all = tenant.party.refresh(text(&without_openid, "refresh_token")).await.with(200);
    assert_eq!(has(&tenant.party.userinfo(text(&all, "access_token")).await.with(200)), [true, true]);
    for scope in ["openid,email", "unheard"] {
        let form = [("grant_type", "refresh_token"), ("refresh_token", text(&all, "refresh_token")), ("scope", scope)];
        let refused = tenant.party.post("/token", &form).await.with(400);
        assert_eq!(refused["error"], "invalid_scope", "{scope}");
        assert_eq!(text(&refused, "error_description").contains("commas"), scope.contains(','), "{refused}");
    }
    tenant.party.refresh(text(&all, "refresh_token")).await.with(200);
}

#[tokio::test]
async fn commas_between_scopes_are_reported() {
    let mut tenant = Tenant::trusted().await;
    let sent = tenant.authorize(&[("scope", "openid,profile")]).await;
    let answer = tenant.party.authorization_response(&sent);
    assert_eq!(answer["error"], "invalid_scope");
    assert!(answer["error_description"].contains("commas"), "{answer:?}");
}

#[tokio::test]
async fn secret_in_header_and_form_requires_any() {
    for (method, accepted) in [
        (None, [true, true, false]),
        (Some(ClientAuthMethod::Basic), [true, false, false]),
        (Some(ClientAuthMethod::Post), [false, true, false]),
        (Some(ClientAuthMethod::Any), [true, true, true]),
    ] {
        let tenant = Tenant::with(&[], |settings| settings.auth_method = method).await;
        let (id, secret) = (tenant.party.client.id.to_string(), tenant.party.secret.clone().expect("a secret"));
        let in_form = [("token", "x"), ("client_id", &*id), ("client_secret", &*secret)];
        let asks = async |has_header: bool, form: &[(&str, &str)]| {
            let request = tenant.party.request("/revoke", form);
            send(if has_header { request.basic_auth(&id, Some(&secret)) } else { request }).await
        };
        let replies = [asks(true, &in_form[..1]).await, asks(false, &in_form).await, asks(true, &in_form).await];
        let statuses = replies.each_ref().map(|reply| reply.status);
        assert_eq!(statuses.map(|status| status == 200), accepted, "{method:?}: {statuses:?}");
        if method != Some(ClientAuthMethod::Any) {
            assert_eq!(replies[2].with(400)["error"], "invalid_request", "{method:?}");
        }
        for reply in &replies[..2] {
            assert!(reply.status == 200 || reply.with(401)["error"] == "invalid_client", "{method:?}");
        }
        // Two different secrets are two methods, for every client.
        let wrong = [in_form[0], in_form[1], ("client_secret", "wrong")];
        assert_eq!(asks(true, &wrong).await.with(400)["error"], "invalid_request", "{method:?}");
    }
}

#[tokio::test]
async fn client_stores_its_auth_method() {
    let tenant = Tenant::start().await;
    let path = format!("/domains/{}/clients", text(&tenant.domain, "id"));
    let request = json!({ "redirect_uris": [REDIRECT_URI], "token_endpoint_auth_method": "client_secret_post" });
    let mut expected = tenant.integrator.post(&path, &request).await.with(201);
    assert_eq!(expected["token_endpoint_auth_method"], "client_secret_post");
    expected.as_object_mut().expect("an object").remove("client_secret");
    let one = format!("{path}/{}", text(&expected, "client_id"));
    let change = json!({ "token_endpoint_auth_method": "any" });
    expected["token_endpoint_auth_method"] = "any".into();
    assert_eq!(tenant.integrator.patch(&one, &change).await.with(200), expected);
    assert_eq!(tenant.integrator.patch(&one, &json!({ "name": null })).await.with(200), expected);
    expected.as_object_mut().expect("an object").remove("token_endpoint_auth_method");
    let change = json!({ "token_endpoint_auth_method": null });
    assert_eq!(tenant.integrator.patch(&one, &change).await.with(200), expected);
    assert_eq!(tenant.integrator.get(&one).await.with(200), expected);
}

#[tokio::test]
async fn rejected_method_lists_allowed_methods() {
    let tenant = Tenant::start().await;
    let http = tenant.service.visitor().http;
    for (path, methods, allowed) in [
        ("/authorize", [Method::HEAD, Method::PUT], "GET, POST"),
        ("/authorize/return", [Method::HEAD, Method::POST], "GET"),
        ("/authorize/consent/auz_x", [Method::HEAD, Method::DELETE], "GET, POST"),
        ("/logout", [Method::HEAD, Method::PATCH], "GET, POST"),
        ("/logout/confirm", [Method::GET, Method::HEAD], "POST"),
        ("/token", [Method::GET, Method::HEAD], "POST,OPTIONS"),
        ("/revoke", [Method::GET, Method::PUT], "POST,OPTIONS"),
        ("/introspect", [Method::GET, Method::HEAD], "POST"),
        ("/userinfo", [Method::PUT, Method::DELETE], "GET,HEAD,POST,OPTIONS"),
        ("/jwks", [Method::POST, Method::DELETE], "GET,HEAD,OPTIONS"),
    ] {
        for method in methods {
            let reply = http.request(method.clone(), tenant.party.url(path)).send().await.expect("a reply");
            let response = reply.headers().get(ALLOW).map(|value| value.to_str().expect("text"));
            assert_eq!((reply.status().as_u16(), response), (405, Some(allowed)), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn client_revokes_and_introspects_its_tokens() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&[("scope", "openid offline_access")]).await;
    let (access, refresh) = (text(&tokens, "access_token"), text(&tokens, "refresh_token"));
    let response = tenant.party.post("/introspect", &[("token", access)]).await.with(200);
    let claims = RelyingParty::claims(&tokens);
    assert_eq!(
        (&response["active"], &response["sub"], &response["iss"]),
        (&json!(true), &claims["sub"], &claims["iss"])
    );
    assert_eq!(response["scope"], "openid offline_access");
    assert_eq!(response["exp"].as_i64(), Some(tenant.service.clock.now().as_second() + 3600));
    assert_eq!(tenant.party.post("/introspect", &[("token", refresh)]).await.with(200)["active"], true);
    for unknown in ["x", "sgp_at_x", &format!("{access}A")] {
        let response = tenant.party.post("/introspect", &[("token", unknown)]).await.with(200);
        assert_eq!(response, json!({ "active": false }));
        tenant.party.post("/revoke", &[("token", unknown)]).await.with(200);
    }
    tenant.party.post("/revoke", &[("token", access), ("token_type_hint", "refresh_token")]).await.with(200);
    assert_eq!(tenant.party.userinfo(access).await.status, 401);
    let next = tenant.party.refresh(refresh).await.with(200);
    tenant.party.post("/revoke", &[("token", text(&next, "refresh_token"))]).await.with(200);
    assert_eq!(tenant.party.userinfo(text(&next, "access_token")).await.status, 401);
    tenant.party.refresh(text(&next, "refresh_token")).await.with(400);
}

#[tokio::test]
async fn cors_excludes_the_authorization_endpoint() {
    let tenant = Tenant::trusted().await;
    let http = tenant.service.visitor().http;
    for (path, is_open) in [
        ("/token", true),
        ("/userinfo", true),
        ("/revoke", true),
        ("/introspect", false),
        ("/authorize", false),
        ("/logout", false),
    ] {
        let asked = http.request(Method::OPTIONS, tenant.party.url(path)).header("origin", "https://spa.test").send();
        let asked = asked.await.expect("a reply");
        let allowed = asked.headers().get("access-control-allow-origin").map(|value| value.to_str().expect("text"));
        assert_eq!(allowed, is_open.then_some("*"), "{path}");
        assert_eq!(asked.status() == 204, is_open, "{path}");
        let headers = asked.headers().get("access-control-allow-headers").map(|value| value.to_str().expect("text"));
        let expected = "accept, authorization, content-type, dpop, mcp-protocol-version";
        assert_eq!(headers, is_open.then_some(expected), "{path}");
    }
    let refused = tenant.party.userinfo("x").await;
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (401, Some("*")));
    let challenge = refused.header("www-authenticate").expect("a challenge");
    assert_eq!(challenge, format!("Bearer realm=\"{}\", error=\"invalid_token\"", tenant.party.issuer()));
}

#[tokio::test]
async fn email_claim_follows_the_setting() {
    for (email, expected) in [(EmailClaim::None, None), (EmailClaim::Synthetic, Some("shop.test"))] {
        let mut tenant = Tenant::with(&[], |settings| {
            settings.is_trusted = true;
            settings.email = email;
        })
        .await;
        let claims = RelyingParty::claims(&tenant.tokens(&[]).await);
        assert_eq!(claims["email"].as_str().map(|text| text.split('@').nth(1).expect("a host")), expected);
        assert_eq!(claims.get("email_verified"), None);
    }
}

#[tokio::test]
async fn client_can_select_es256() {
    let mut tenant = Tenant::with(&[], |settings| {
        settings.is_trusted = true;
        settings.algorithm = signpost_openid::jose::SigningAlgorithm::Es256;
    })
    .await;
    let tokens = tenant.tokens(&[]).await;
    let environment = signpost_platform::accounts::Environment::Sandbox;
    let verified = tenant.service.app.openid.verify_own_token(environment, text(&tokens, "id_token")).await;
    assert_eq!(verified.expect("a database"), Some(RelyingParty::claims(&tokens)));
}

#[tokio::test]
async fn token_requests_are_limited_by_client() {
    let mut tenant = Tenant::with(&[("rate_limit_token", "3/m")], |settings| settings.is_trusted = true).await;
    let tokens = tenant.tokens(&[]).await;
    for _ in 0..2 {
        tenant.party.exchange_code("x").await.with(400);
    }
    let exceeded = tenant.party.exchange_code("x").await;
    assert_eq!(exceeded.with(429)["error"], "temporarily_unavailable");
    assert!(exceeded.header("retry-after").is_some());
    // The client's tokens and unauthenticated requests have separate limits.
    for _ in 0..3 {
        tenant.party.userinfo(text(&tokens, "access_token")).await.with(200);
    }
    tenant.party.userinfo(text(&tokens, "access_token")).await.with(429);
    for status in [401, 401, 401, 429] {
        assert_eq!(tenant.party.userinfo("x").await.status, status);
    }
}

#[tokio::test]
async fn database_contains_no_secrets() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(folder.path(), &Service::clock(), &[]).await;
    let mut tenant = Tenant::of(service, |settings| settings.is_trusted = true).await;
    let tokens = tenant.tokens(&[("scope", "openid offline_access")]).await;
    tenant.party.refresh(text(&tokens, "refresh_token")).await.with(200);
    let files = std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").path());
    let copied: Vec<u8> =
        files.filter(|file| file.is_file()).flat_map(|file| std::fs::read(file).expect("a file")).collect();
    let has = |text: &str| copied.windows(text.len()).any(|bytes| bytes == text.as_bytes());
    assert!(has(tenant.party.client.id.as_str()), "the search is broken");
    for kind in ["sgp_code_", "sgp_at_", "sgp_rt_", "sgp_cs_"] {
        assert!(!has(kind), "{kind}");
    }
    tenant.service.stop().await;
}
