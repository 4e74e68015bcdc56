//! The RP-initiated logout plan of the OpenID Foundation's conformance suite, one test per module, with its name.
//! Passing them is not a certification.

use serde_json::Value;

use crate::harness::{RelyingParty, ShownPage, text};
use crate::openid_flow::{Tenant, place};

const POST_LOGOUT_URI: &str = "https://app.test/out";

/// Returns an issuer with a signed-in user, and the tokens of the client.
async fn signed_in() -> (Tenant, Value) {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&[("scope", "openid offline_access")]).await;
    (tenant, tokens)
}

async fn request_logout(tenant: &mut Tenant, set: &[(&str, &str)]) -> ShownPage {
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(set).finish();
    let path = format!("{}/logout?{query}", tenant.party.path);
    tenant.browser.visit(&path).await
}

async fn is_signed_out(tenant: &mut Tenant, tokens: &Value) -> bool {
    let is_out = tenant.repeat_authorization(&[("prompt", "none")]).await == "login_required";
    let (access, refresh) = (text(tokens, "access_token"), text(tokens, "refresh_token"));
    let are_over = tenant.party.userinfo(access).await.status == 401;
    if is_out {
        tenant.party.refresh(refresh).await.with(400);
    }
    assert_eq!(is_out, are_over, "the session ends with its grants");
    is_out
}

fn location(sent: &ShownPage) -> Option<&str> {
    sent.headers.get("location").map(|to| to.to_str().expect("text"))
}

#[tokio::test]
async fn rp_initiated_logout() {
    let (mut tenant, tokens) = signed_in().await;
    let set =
        [("id_token_hint", text(&tokens, "id_token")), ("post_logout_redirect_uri", POST_LOGOUT_URI), ("state", "a b")];
    let back = request_logout(&mut tenant, &set).await;
    assert_eq!((back.status, location(&back)), (303, Some("https://app.test/out?state=a%20b")));
    assert!(is_signed_out(&mut tenant, &tokens).await);
    // Without a session no confirmation is needed, and the browser returns to the application.
    let back = request_logout(&mut tenant, &set).await;
    assert_eq!((back.status, location(&back)), (303, Some("https://app.test/out?state=a%20b")));
}

#[tokio::test]
async fn discovery() {
    let tenant = Tenant::start().await;
    let response = tenant.party.discovery().await;
    assert_eq!(text(&response, "end_session_endpoint"), format!("{}/logout", tenant.party.issuer()));
}

#[tokio::test]
async fn bad_logout_redirect_uri() {
    let (mut tenant, tokens) = signed_in().await;
    for uri in ["https://app.test/cb", "https://evil.test/out", "https://app.test/out/", "javascript:alert(1)"] {
        let set = [("id_token_hint", text(&tokens, "id_token")), ("post_logout_redirect_uri", uri)];
        request_logout(&mut tenant, &set).await.is(400, "logout-fault");
    }
    assert!(!is_signed_out(&mut tenant, &tokens).await);
}

#[tokio::test]
async fn query_added_to_logout_redirect_uri() {
    let (mut tenant, tokens) = signed_in().await;
    let uri = "https://app.test/out?foo=bar";
    let set = [("id_token_hint", text(&tokens, "id_token")), ("post_logout_redirect_uri", uri)];
    request_logout(&mut tenant, &set).await.is(400, "logout-fault");
}

#[tokio::test]
async fn modified_id_token_hint() {
    let (mut tenant, tokens) = signed_in().await;
    let hint = text(&tokens, "id_token");
    let (rest, signature) = hint.rsplit_once('.').expect("three parts");
    let modified = format!("{rest}.{}", signature.chars().rev().collect::<String>());
    let set = [("id_token_hint", modified.as_str()), ("post_logout_redirect_uri", POST_LOGOUT_URI)];
    request_logout(&mut tenant, &set).await.is(400, "logout-fault");
    assert!(!is_signed_out(&mut tenant, &tokens).await);
}

#[tokio::test]
async fn bad_id_token_hint() {
    let (mut tenant, tokens) = signed_in().await;
    let set = [("id_token_hint", "not a token"), ("post_logout_redirect_uri", POST_LOGOUT_URI)];
    request_logout(&mut tenant, &set).await.is(400, "logout-fault");
    assert!(!is_signed_out(&mut tenant, &tokens).await);
}

#[tokio::test]
async fn no_id_token_hint() {
    let (mut tenant, tokens) = signed_in().await;
    request_logout(&mut tenant, &[("post_logout_redirect_uri", POST_LOGOUT_URI), ("state", "x")])
        .await
        .is(400, "logout-fault");
    let id = tenant.party.client.id.to_string();
    let set = [("client_id", id.as_str()), ("post_logout_redirect_uri", POST_LOGOUT_URI), ("state", "x")];
    let asked = request_logout(&mut tenant, &set).await;
    asked.is(200, "logout");
    assert!(!is_signed_out(&mut tenant, &tokens).await, "the person has not pressed the button");
    let set = format!("&client_id={id}&post_logout_redirect_uri=https%3A%2F%2Fapp.test%2Fout&state=x");
    let left = tenant.browser.submit(&asked, "logout", &set).await;
    assert_eq!(left.is(200, "leaving").link("continue").as_str(), "https://app.test/out?state=x");
    assert!(is_signed_out(&mut tenant, &tokens).await);
}

#[tokio::test]
async fn no_params() {
    let (mut tenant, tokens) = signed_in().await;
    let asked = request_logout(&mut tenant, &[]).await;
    asked.is(200, "logout");
    tenant.browser.submit(&asked, "logout", "").await.is(200, "logged-out");
    assert!(is_signed_out(&mut tenant, &tokens).await);
    request_logout(&mut tenant, &[]).await.is(200, "logged-out");
}

#[tokio::test]
async fn no_post_logout_redirect_uri() {
    let (mut tenant, tokens) = signed_in().await;
    request_logout(&mut tenant, &[("id_token_hint", text(&tokens, "id_token"))]).await.is(200, "logged-out");
    assert!(is_signed_out(&mut tenant, &tokens).await);
}

#[tokio::test]
async fn no_state() {
    let (mut tenant, tokens) = signed_in().await;
    let set = [("id_token_hint", text(&tokens, "id_token")), ("post_logout_redirect_uri", POST_LOGOUT_URI)];
    assert_eq!(location(&request_logout(&mut tenant, &set).await), Some(POST_LOGOUT_URI));
}

#[tokio::test]
async fn only_state() {
    let (mut tenant, tokens) = signed_in().await;
    let asked = request_logout(&mut tenant, &[("state", "x")]).await;
    asked.is(200, "logout");
    tenant.browser.submit(&asked, "logout", "").await.is(200, "logged-out");
    assert!(is_signed_out(&mut tenant, &tokens).await);
}

#[tokio::test]
async fn cross_site_form_does_not_sign_out() {
    let (mut tenant, tokens) = signed_in().await;
    let asked = request_logout(&mut tenant, &[]).await;
    let (action, token) = asked.form("logout");
    for (origin, token) in [("https://evil.test", token.as_str()), (&*tenant.browser.origin.clone(), "wrong")] {
        let request = tenant.browser.request(reqwest::Method::POST, &action).header("origin", origin);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        tenant.browser.send(request.body(format!("token={token}"))).await.is(403, "stale");
    }
    assert!(!is_signed_out(&mut tenant, &tokens).await);
}

#[tokio::test]
async fn hint_of_another_user_needs_confirmation() {
    let (mut tenant, tokens) = signed_in().await;
    let hint = text(&tokens, "id_token").to_owned();
    tenant.phone = crate::harness::Phone::of(8, &tenant.service.clock);
    crate::page_flow::create_user_at(&tenant.service, &tenant.integrator, "shop.test", &tenant.phone).await;
    let other = tenant.tokens(&[("prompt", "login"), ("scope", "openid offline_access")]).await;
    request_logout(&mut tenant, &[("id_token_hint", &hint)]).await.is(200, "logout");
    assert!(!is_signed_out(&mut tenant, &other).await);
}

/// Posts a request from a page of the application, without the cookies of the browser.
async fn post(tenant: &mut Tenant, path: &str, set: &[(&str, &str)]) -> ShownPage {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(set).finish();
    let request = tenant.browser.http.post(tenant.party.url(path)).header("origin", "https://app.test");
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(body);
    tenant.browser.send(request).await
}

#[tokio::test]
async fn posted_logout_exposes_no_id_token() {
    let (mut tenant, tokens) = signed_in().await;
    let hint = text(&tokens, "id_token").to_owned();
    let set = [
        ("id_token_hint", hint.as_str()),
        ("post_logout_redirect_uri", POST_LOGOUT_URI),
        ("state", "a b"),
        ("lang", "es"),
    ];
    let posted = post(&mut tenant, "/logout", &set).await;
    let to = place(&posted);
    let user = RelyingParty::claims(&tokens)["sub"].as_str().expect("a user").to_owned();
    assert!(!to.contains(&hint) && !to.contains("id_token_hint") && !to.contains(&user), "{to}");
    assert!(to.contains("lang=es") && to.contains("state=a+b"), "{to}");
    // In another browser the URL has no hint.
    let hint_cookie = tenant.browser.hint_cookie.take();
    tenant.browser.visit(&to).await.is(400, "logout-fault");
    tenant.browser.hint_cookie = Some(format!("signpost_hint={}", "A".repeat(43)));
    tenant.browser.visit(&to).await.is(400, "logout-fault");
    assert!(!is_signed_out(&mut tenant, &tokens).await);
    tenant.browser.hint_cookie = hint_cookie;
    let back = tenant.browser.visit(&to).await;
    assert_eq!((back.status, location(&back)), (303, Some("https://app.test/out?state=a%20b")));
    assert!(is_signed_out(&mut tenant, &tokens).await);
}

#[tokio::test]
async fn posted_logout_requires_a_valid_hint() {
    let (mut tenant, tokens) = signed_in().await;
    let hint = text(&tokens, "id_token").to_owned();
    post(&mut tenant, "/logout", &[("id_token_hint", "not a token")]).await.is(400, "logout-fault");
    post(&mut tenant, "/logout", &[("id_token_hint", &hint), ("id_token_hint", &hint)]).await.is(400, "logout-fault");
    for set in [&[][..], &[("posted_hint", "x")]] {
        let posted = post(&mut tenant, "/logout", set).await;
        let to = place(&posted);
        assert!(!to.contains("posted_hint"), "{to}");
        tenant.browser.visit(&to).await.is(200, "logout");
    }
    assert!(!is_signed_out(&mut tenant, &tokens).await);
}

#[tokio::test]
async fn posted_authorization_exposes_no_id_token() {
    let (mut tenant, tokens) = signed_in().await;
    let hint = text(&tokens, "id_token").to_owned();
    let request = tenant.party.authorize(&[]);
    let query = request.split_once('?').expect("a query").1.to_owned();
    let pairs: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let with = |more: &[(&'static str, &str)]| -> Vec<(String, String)> {
        let more = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        pairs.iter().cloned().chain(more).collect()
    };
    for (more, outcome) in [
        (with(&[("id_token_hint", &hint), ("prompt", "none")]), "code"),
        (with(&[("id_token_hint", "not a token"), ("prompt", "none")]), "invalid_request"),
        (with(&[("id_token_hint", &hint), ("id_token_hint", &hint)]), "invalid_request"),
    ] {
        let set: Vec<_> = more.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let posted = post(&mut tenant, "/authorize", &set).await;
        let to = place(&posted);
        assert!(!to.contains(&hint) && !to.contains("id_token_hint"), "{to}");
        let back = tenant.browser.visit(&to).await;
        let answer = tenant.party.authorization_response(&back);
        assert_eq!(answer.get("error").map_or("code", String::as_str), outcome, "{to}");
    }
    // The hint does not name the signed-in user.
    tenant.phone = crate::harness::Phone::of(8, &tenant.service.clock);
    crate::page_flow::create_user_at(&tenant.service, &tenant.integrator, "shop.test", &tenant.phone).await;
    tenant.tokens(&[("prompt", "login")]).await;
    let set = with(&[("id_token_hint", &hint), ("prompt", "none")]);
    let set: Vec<_> = set.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let posted = post(&mut tenant, "/authorize", &set).await;
    let back = tenant.browser.visit(&place(&posted)).await;
    assert_eq!(tenant.party.authorization_response(&back)["error"], "login_required");
}
