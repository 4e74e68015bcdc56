//! Concurrent OpenID Connect requests, and deletions during a flow: a grant is valid only while all that it depends on
//! exists.

use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};
use signpost_login::domains;
use signpost_login::ids::DomainId;
use signpost_openid::clients::{self, AllowList};
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::Actor;

use crate::harness::{Phone, RelyingParty, Service, database, text};
use crate::openid_flow::{Tenant, log_in_by};
use crate::page_flow::create_user_at;

const OFFLINE: [(&str, &str); 1] = [("scope", "openid profile offline_access")];

/// A restart does not change the public URL.
const FIXED_ADDRESS: [(&str, &str); 2] = [("public_url", "http://localhost:8080"), ("allow_private_webhooks", "true")];

/// Returns the error of each reply, empty for successes.
async fn errors(replies: impl IntoIterator<Item = impl Future<Output = crate::harness::Reply>>) -> Vec<String> {
    let replies = join_all(replies).await;
    let error = |reply: &crate::harness::Reply| reply.json()["error"].as_str().unwrap_or_default().to_owned();
    replies.iter().map(error).collect()
}

/// Checks that both tokens of the client are invalid.
async fn assert_revoked(party: &RelyingParty, tokens: &Value) {
    assert_eq!(party.userinfo(text(tokens, "access_token")).await.status, 401);
    let refreshed = party.refresh(text(tokens, "refresh_token")).await;
    assert_eq!(refreshed.with(400)["error"], "invalid_grant");
    let response = party.post("/introspect", &[("token", text(tokens, "access_token"))]).await.with(200);
    assert_eq!(response, json!({ "active": false }));
}

async fn count(as_user: &Tenant, what: &'static str) -> usize {
    as_user.service.app.store.read(what, Vec::new()).await.expect("a database").len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_redemptions_revoke_the_tokens() {
    let mut tenant = Tenant::trusted().await;
    let code = tenant.code(&OFFLINE).await;
    let party = tenant.party.clone();
    let errors = errors((0..64).map(|_| party.exchange_code(&code))).await;
    assert_eq!(errors.iter().filter(|error| error.is_empty()).count(), 1, "{errors:?}");
    assert!(errors.iter().all(|error| ["", "invalid_grant"].contains(&error.as_str())), "{errors:?}");
    assert_eq!(count(&tenant, "SELECT hash FROM openid_tokens").await, 2, "an access token and a refresh token");
    assert_eq!(count(&tenant, "SELECT id FROM openid_grants WHERE revoked_at IS NOT NULL").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_refreshes_get_one_token() {
    let mut tenant = Tenant::trusted().await;
    let first = tenant.tokens(&OFFLINE).await;
    let party = tenant.party.clone();
    let replies = join_all((0..64).map(|_| party.refresh(text(&first, "refresh_token")))).await;
    let next: std::collections::BTreeSet<String> =
        replies.iter().map(|reply| text(&reply.with(200), "refresh_token").to_owned()).collect();
    assert_eq!(next.len(), 1, "{next:?}");
    let next = next.into_iter().next().expect("one");
    assert_ne!(next, text(&first, "refresh_token"));
    // After the next token was used, the first token counts as stolen.
    let second = party.refresh(&next).await.with(200);
    let reused = party.refresh(text(&first, "refresh_token")).await;
    assert_eq!(reused.with(400)["error"], "invalid_grant");
    assert_revoked(&party, &second).await;
}

#[tokio::test]
async fn late_refresh_token_reuse_revokes_the_grant() {
    let mut tenant = Tenant::trusted().await;
    let first = tenant.tokens(&OFFLINE).await;
    let second = tenant.party.refresh(text(&first, "refresh_token")).await.with(200);
    tenant.service.advance_clock(SignedDuration::from_secs(19));
    let again = tenant.party.refresh(text(&first, "refresh_token")).await.with(200);
    assert_eq!(again["refresh_token"], second["refresh_token"]);
    tenant.service.advance_clock(SignedDuration::from_secs(1));
    tenant.party.refresh(text(&first, "refresh_token")).await.with(400);
    assert_revoked(&tenant.party, &second).await;
}

#[tokio::test]
async fn unused_codes_and_tokens_expire() {
    let mut tenant = Tenant::trusted().await;
    let code = tenant.code(&OFFLINE).await;
    tenant.service.advance_clock(SignedDuration::from_secs(60));
    assert_eq!(tenant.party.exchange_code(&code).await.with(400)["error"], "invalid_grant");
    let code = tenant.code_again(&OFFLINE).await;
    tenant.service.advance_clock(SignedDuration::from_secs(59));
    let tokens = tenant.party.exchange_code(&code).await.with(200);
    tenant.service.advance_clock(SignedDuration::from_hours(1) - SignedDuration::from_secs(1));
    tenant.party.userinfo(text(&tokens, "access_token")).await.with(200);
    tenant.service.advance_clock(SignedDuration::from_secs(1));
    assert_eq!(tenant.party.userinfo(text(&tokens, "access_token")).await.status, 401);
    tenant.service.advance_clock(SignedDuration::from_hours(30 * 24 - 2));
    let next = tenant.party.refresh(text(&tokens, "refresh_token")).await.with(200);
    tenant.service.advance_clock(SignedDuration::from_hours(30 * 24));
    tenant.party.refresh(text(&next, "refresh_token")).await.with(400);
}

#[tokio::test]
async fn deleted_user_has_no_tokens() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&OFFLINE).await;
    let sub = RelyingParty::claims(&tokens)["sub"].as_str().expect("a user").to_owned();
    tenant
        .integrator
        .request(reqwest::Method::DELETE, &format!("{}/{sub}", tenant.users()))
        .send()
        .await
        .expect("a reply");
    assert_revoked(&tenant.party, &tokens).await;
    assert_eq!(tenant.repeat_authorization(&[("prompt", "none")]).await, "login_required");
}

#[tokio::test]
async fn removed_key_revokes_its_grants() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&OFFLINE).await;
    tenant
        .service
        .app
        .store
        .write([signpost_store::Statement::new("DELETE FROM credentials", Vec::new())])
        .await
        .expect("a database");
    assert_revoked(&tenant.party, &tokens).await;
}

#[tokio::test]
async fn deleted_client_has_no_tokens() {
    let mut tenant = Tenant::trusted().await;
    let (tokens, code) = (tenant.tokens(&OFFLINE).await, tenant.code_again(&OFFLINE).await);
    let (store, client, now) = (&tenant.service.app.store, &tenant.party.client, tenant.service.clock.now());
    let account = signpost_platform::accounts::Account { name: "acme".to_owned(), environment: Environment::Sandbox };
    clients::sql::delete(store, &account, &client.domain_id, &client.id, &Actor::Operator, now)
        .await
        .expect("a client");
    assert_eq!(tenant.party.userinfo(text(&tokens, "access_token")).await.status, 401);
    assert_eq!(tenant.party.exchange_code(&code).await.with(401)["error"], "invalid_client");
    tenant.authorize(&[]).await.is(400, "client-fault");
}

#[tokio::test]
async fn deleted_domain_revokes_its_tokens() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&OFFLINE).await;
    let path = format!("/domains/{}", text(&tenant.domain, "id"));
    tenant.integrator.request(reqwest::Method::DELETE, &path).send().await.expect("a reply");
    assert_eq!(tenant.party.userinfo(text(&tokens, "access_token")).await.status, 404);
    assert_eq!(tenant.party.refresh(text(&tokens, "refresh_token")).await.status, 404);
    assert_eq!(tenant.authorize(&[]).await.status, 404);
}

#[tokio::test]
async fn sign_out_everywhere_revokes_grants() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&OFFLINE).await;
    let shown = tenant.browser.visit(&format!("/account/{}", text(&tenant.domain, "id"))).await;
    tenant.browser.submit(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    assert_revoked(&tenant.party, &tokens).await;
    // A later login is valid.
    tenant.service.advance_clock(SignedDuration::from_secs(1));
    let tokens = tenant.tokens(&OFFLINE).await;
    tenant.party.userinfo(text(&tokens, "access_token")).await.with(200);
}

#[tokio::test]
async fn allowlist_change_revokes_access() {
    let mut tenant = Tenant::trusted().await;
    let tokens = tenant.tokens(&OFFLINE).await;
    let (store, client) = (&tenant.service.app.store, tenant.party.client.clone());
    let mut settings = client.settings.clone();
    settings.allowed = Some(AllowList::parse(["group:staff"]).expect("a list"));
    let set = "UPDATE openid_clients SET settings = $1 WHERE id = $2";
    let json = serde_json::to_string(&settings).expect("JSON");
    store
        .write([signpost_store::Statement::new(set, signpost_store::params![json, &client.id])])
        .await
        .expect("a database");
    assert_revoked(&tenant.party, &tokens).await;
    for prompt in ["none", ""] {
        assert_eq!(tenant.repeat_authorization(&[("prompt", prompt)]).await, "access_denied");
    }
    let sub = RelyingParty::claims(&tokens)["sub"].as_str().expect("a user").to_owned();
    let path = format!("{}/{sub}", tenant.users());
    tenant.integrator.patch(&path, &json!({ "groups": ["staff"] })).await.with(200);
    assert_eq!(tenant.repeat_authorization(&[]).await, "code");
}

#[tokio::test]
async fn restart_preserves_pending_authorizations() {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Service::clock();
    let service = Service::on(folder.path(), &clock, &FIXED_ADDRESS).await;
    let mut tenant = Tenant::of(service, |settings| settings.is_trusted = true).await;
    tenant.browser.origin = "http://localhost:8080".to_owned();
    tenant.party.at_address("http://localhost:8080");
    let sent = tenant.authorize(&OFFLINE).await;
    let Tenant { service, domain: _, mut party, mut browser, integrator, .. } = tenant;
    service.stop().await;
    let service = Service::on(folder.path(), &clock, &FIXED_ADDRESS).await;
    browser.base = service.url("");
    let integrator = crate::harness::Integrator { api: service.url("/sandbox/v1"), ..integrator };
    let back = log_in_by(&integrator, &mut browser, &service.phone(), sent).await;
    let code = party.code(&back);
    service.stop().await;
    let service = Service::on(folder.path(), &clock, &FIXED_ADDRESS).await;
    party = party.moved_to(&service);
    let tokens = party.exchange_code(&code).await.with(200);
    party.userinfo(text(&tokens, "access_token")).await.with(200);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn three_servers_redeem_a_code_once() {
    let (url, clock) = (database().await, Service::clock());
    assert!(url.starts_with("postgres"), "SIGNPOST_TEST_POSTGRES names the server: tests/postgres.sh starts one");
    let settings = [&FIXED_ADDRESS[..], &[("database_url", url.as_str())]].concat();
    let mut others = Vec::new();
    for _ in 0..2 {
        others.push(Service::open(&settings, clock.clone()).await);
    }
    let mut tenant = Tenant::of(Service::open(&settings, clock).await, |settings| settings.is_trusted = true).await;
    tenant.browser.origin = "http://localhost:8080".to_owned();
    tenant.party.at_address("http://localhost:8080");
    let first = tenant.tokens(&OFFLINE).await;
    let parties = [tenant.party.clone(), tenant.party.moved_to(&others[0]), tenant.party.moved_to(&others[1])];
    let replies = join_all((0..48).map(|number| parties[number % 3].refresh(text(&first, "refresh_token")))).await;
    let next: std::collections::BTreeSet<String> =
        replies.iter().map(|reply| text(&reply.with(200), "refresh_token").to_owned()).collect();
    assert_eq!(next.len(), 1, "{next:?}");
    let code = tenant.code_again(&OFFLINE).await;
    let errors = errors((0..48).map(|number| parties[number % 3].exchange_code(&code))).await;
    assert_eq!(errors.iter().filter(|error| error.is_empty()).count(), 1, "{errors:?}");
    assert!(errors.iter().all(|error| ["", "invalid_grant"].contains(&error.as_str())), "{errors:?}");
}

#[tokio::test]
async fn tokens_are_invalid_at_other_issuers() {
    let mut tenant = Tenant::trusted().await;
    let other = crate::page_flow::register_hosted_domain(&tenant.integrator, "other.test").await;
    let party = RelyingParty::at(&tenant.service, &other, |settings| settings.is_trusted = true).await;
    let (tokens, code) = (tenant.tokens(&OFFLINE).await, tenant.code_again(&OFFLINE).await);
    let at_other = tenant.party.at_issuer(&party.path);
    assert_eq!(at_other.userinfo(text(&tokens, "access_token")).await.status, 401);
    assert_eq!(at_other.exchange_code(&code).await.with(401)["error"], "invalid_client");
    // A client of another issuer, and the other environment.
    assert_eq!(party.exchange_code(&code).await.with(400)["error"], "invalid_grant");
    assert_eq!(party.refresh(text(&tokens, "refresh_token")).await.with(400)["error"], "invalid_grant");
    let live = tenant.party.at_issuer(&tenant.party.path.replacen("/sandbox", "", 1));
    assert_eq!(live.userinfo(text(&tokens, "access_token")).await.status, 404);
    // A session of one issuer is invalid at another, and so is its ID token as a hint.
    let (sent, hint) = (tenant.browser.visit(&party.authorize(&[("prompt", "none")])).await, text(&tokens, "id_token"));
    assert_eq!(party.error(&sent), "login_required");
    let sent = tenant.browser.visit(&party.authorize(&[("id_token_hint", hint)])).await;
    assert_eq!(party.error(&sent), "invalid_request");
    // Another client of this issuer.
    let sibling = RelyingParty::at(&tenant.service, &tenant.domain, |_| {}).await;
    assert_eq!(sibling.exchange_code(&code).await.with(400)["error"], "invalid_grant");
    assert_eq!(sibling.refresh(text(&tokens, "refresh_token")).await.with(400)["error"], "invalid_grant");
    let response = sibling.post("/introspect", &[("token", text(&tokens, "access_token"))]).await.with(200);
    assert_eq!(response, json!({ "active": false }));
    sibling.post("/revoke", &[("token", text(&tokens, "refresh_token"))]).await.with(200);
    // The right client can still use its code and tokens.
    tenant.party.exchange_code(&code).await.with(200);
    tenant.party.refresh(text(&tokens, "refresh_token")).await.with(200);
}

#[tokio::test]
async fn expired_rows_are_swept() {
    let mut tenant = Tenant::start().await;
    tenant.tokens(&OFFLINE).await;
    tenant.authorize(&[("prompt", "login")]).await;
    let (store, clock) = (tenant.service.app.store.clone(), tenant.service.clock.clone());
    let sweep = async || signpost_openid::jobs::sweep::sweep(&store, clock.now()).await.expect("a database");
    assert_eq!(sweep().await, 0);
    tenant.service.advance_clock(SignedDuration::from_hours(25));
    assert_eq!(sweep().await, 2, "an expired request and an access token");
    let id = DomainId::parse(text(&tenant.domain, "id")).expect("an id");
    let domain = domains::sql::find_in_any_account(&store, &id).await.expect("a database").expect("a domain");
    tenant.service.advance_clock(SignedDuration::from_hours(30 * 24));
    assert_eq!(sweep().await, 2, "the refresh token, and then the grant");
    signpost_login::flows::removal::remove_all_users(&store, &domain, &Actor::Operator, clock.now())
        .await
        .expect("a database");
    assert_eq!(sweep().await, 1, "the consent");
    for table in ["openid_authorizations", "openid_grants", "openid_tokens", "openid_consents"] {
        let rows = match table {
            "openid_authorizations" => store.read("SELECT id FROM openid_authorizations", Vec::new()).await,
            "openid_grants" => store.read("SELECT id FROM openid_grants", Vec::new()).await,
            "openid_tokens" => store.read("SELECT hash FROM openid_tokens", Vec::new()).await,
            _ => store.read("SELECT user_id FROM openid_consents", Vec::new()).await,
        };
        assert_eq!(rows.expect("a database").len(), 0, "{table}");
    }
}

#[tokio::test]
async fn only_unredeemed_codes_are_swept_early() {
    const GRANTS: &str = "SELECT id FROM openid_grants";
    let mut tenant = Tenant::trusted().await;
    tenant.tokens(&[]).await;
    tenant.code_again(&[]).await;
    let (store, clock) = (tenant.service.app.store.clone(), tenant.service.clock.clone());
    let sweep = async || signpost_openid::grants::sql::sweep_unredeemed(&store, clock.now()).await.expect("a database");
    tenant.service.advance_clock(SignedDuration::from_mins(5) - SignedDuration::from_secs(1));
    assert_eq!((sweep().await, count(&tenant, GRANTS).await), (0, 2));
    tenant.service.advance_clock(SignedDuration::from_secs(2));
    assert_eq!((sweep().await, count(&tenant, GRANTS).await), (1, 1), "a redeemed one stays");
}

/// Servers with clock skew: a login continues at any of them.
#[tokio::test]
async fn clock_skew_preserves_single_use() {
    const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(2);
    let mut tenant = Tenant::trusted().await;
    let code = tenant.code(&OFFLINE).await;
    let clock = tenant.service.clock.clone();
    let other_server = |ahead: bool| clock.advance(if ahead { CLOCK_SKEW } else { -CLOCK_SKEW });
    // Issued by a server that is ahead, redeemed at a server that is behind, then again at the first.
    other_server(false);
    let tokens = tenant.party.exchange_code(&code).await.with(200);
    let claims = RelyingParty::claims(&tokens);
    assert!(claims["auth_time"].as_i64() > claims["iat"].as_i64(), "{claims}");
    tenant.party.userinfo(text(&tokens, "access_token")).await.with(200);
    other_server(true);
    tenant.party.userinfo(text(&tokens, "access_token")).await.with(200);
    let next = tenant.party.refresh(text(&tokens, "refresh_token")).await.with(200);
    other_server(false);
    let repeated = tenant.party.refresh(text(&tokens, "refresh_token")).await.with(200);
    assert_eq!(repeated["refresh_token"], next["refresh_token"], "the answer was lost on the way");
    let after = tenant.party.refresh(text(&next, "refresh_token")).await.with(200);
    tenant.party.userinfo(text(&after, "access_token")).await.with(200);
    assert_eq!(tenant.party.exchange_code(&code).await.with(400)["error"], "invalid_grant");
    assert_revoked(&tenant.party, &after).await;
    // A code from a server that is behind has expired for a server that is ahead, which rejects it and ends no grant.
    let code = tenant.code_again(&[]).await;
    other_server(true);
    assert_eq!(tenant.party.exchange_code(&code).await.with(400)["error"], "invalid_grant");
    assert_eq!(tenant.repeat_authorization(&[("prompt", "none")]).await, "code");
}

#[tokio::test]
async fn one_of_two_consenting_tabs_gets_a_code() {
    let mut tenant = Tenant::start().await;
    let sent = tenant.authorize(&[]).await;
    let back = tenant.log_in(sent).await;
    let asked = tenant.browser.visit(&crate::openid_flow::place(&back)).await;
    let first = tenant.browser.give_consent(&asked).await;
    tenant.party.code(&first);
    tenant.browser.submit(&asked, "consent", "&answer=allow").await.is(410, "over");
}

#[tokio::test]
async fn user_change_invalidates_the_consent_page() {
    let mut tenant = Tenant::start().await;
    let sent = tenant.authorize(&[]).await;
    let back = tenant.log_in(sent).await;
    let asked = tenant.browser.visit(&crate::openid_flow::place(&back)).await;
    let other = Phone::of(8, &tenant.service.clock);
    create_user_at(&tenant.service, &tenant.integrator, "shop.test", &other).await;
    // In another tab another user logs in.
    let second = tenant.authorize(&[("prompt", "login")]).await;
    log_in_by(&tenant.integrator, &mut tenant.browser, &other, second).await;
    tenant.browser.submit(&asked, "consent", "&answer=allow").await.is(403, "stale");
}
