//! Sign-ins (docs/api.md, Sign-ins): where a user is signed in, by the API, the account page and the command line.

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use signpost_login::jobs::retention;
use signpost_openid::jobs::sweep;

use crate::account::{account_of, log_in};
use crate::examples::assert_example;
use crate::harness::{Browser, Integrator, Phone, Program, RelyingParty, Reply, Service, send, text};
use crate::openid_flow::Tenant;
use crate::page_flow::{create_user_at, register_hosted_domain};

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0";
const SAFARI: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                      Version/18.5 Mobile/15E148 Safari/604.1";
const OFFLINE: [(&str, &str); 1] = [("scope", "openid offline_access")];
const SIGNED_OUT: &str = "SELECT actor, details FROM audit WHERE action = 'user.signed_out' ORDER BY id";

/// A user who is signed in in a browser, and there at an application.
struct SignedIn {
    tenant: Tenant,
    tokens: Value,
    /// The path of the user's sign-ins.
    path: String,
}

impl SignedIn {
    async fn start() -> Self {
        Self::at(Tenant::trusted().await).await
    }

    async fn at(mut tenant: Tenant) -> Self {
        tenant.browser.user_agent = Some(FIREFOX);
        let tokens = tenant.tokens(&OFFLINE).await;
        let user = RelyingParty::claims(&tokens)["sub"].as_str().expect("a user").to_owned();
        let path = format!("{}/{user}/sign-ins", tenant.users());
        Self { tenant, tokens, path }
    }

    /// Logs the user in in another browser.
    async fn other_browser(&self) -> Browser {
        let mut browser = Browser { user_agent: Some(SAFARI), ..Browser::at(&self.tenant.service) };
        log_in(&self.tenant.integrator, &mut browser, &self.tenant.phone, "shop.test").await;
        browser
    }

    async fn list(&self) -> Vec<Value> {
        list_at(&self.tenant.integrator, &self.path).await
    }

    /// Returns the ID of the only sign-in of this kind, in the browser with this name.
    async fn id(&self, kind: &str, browser: &str) -> String {
        let list = self.list().await;
        let mut found = list.iter().filter(|one| one["kind"] == kind && text(one, "user_agent").contains(browser));
        let id = text(found.next().expect("a sign-in"), "id").to_owned();
        assert!(found.next().is_none(), "{list:?}");
        id
    }

    async fn end(&self, id: &str) -> Reply {
        delete(&self.tenant.integrator, &format!("{}/{id}", self.path)).await
    }

    fn account(&self) -> String {
        account_of(&self.tenant.domain)
    }

    async fn assert_tokens_refused(&self) {
        let party = &self.tenant.party;
        assert_eq!(party.refresh(text(&self.tokens, "refresh_token")).await.with(400)["error"], "invalid_grant");
        assert_eq!(party.userinfo(text(&self.tokens, "access_token")).await.status, 401);
    }

    /// Returns actor and details of the audit log entries.
    async fn audit(&self) -> Vec<(String, Value)> {
        let rows = self.tenant.service.app.store.read(SIGNED_OUT, Vec::new()).await.expect("a database");
        let read = |row: &signpost_store::Row| {
            let details = serde_json::from_str(row.text(1).expect("details")).expect("JSON");
            (row.text(0).expect("an actor").to_owned(), details)
        };
        rows.iter().map(read).collect()
    }
}

async fn list_at(integrator: &Integrator, path: &str) -> Vec<Value> {
    integrator.get(path).await.with(200)["sign_ins"].as_array().expect("a list").clone()
}

async fn delete(integrator: &Integrator, path: &str) -> Reply {
    send(integrator.request(Method::DELETE, path)).await
}

#[tokio::test]
async fn browsers_and_applications_are_listed() {
    let user = SignedIn::start().await;
    let listed = user.tenant.integrator.get(&user.path).await.with(200);
    assert_example("SignInList", &listed);
    let list = user.list().await;
    assert_eq!(listed["sign_ins"], json!(list), "IDs are stable");
    let mut kinds: Vec<_> = list.iter().map(|one| text(one, "kind")).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["browser", "grant"]);
    let sid = RelyingParty::claims(&user.tokens)["sid"].as_str().expect("an id").to_owned();
    let secrets = [&sid, user.tenant.browser.login_cookie.as_ref().expect("a cookie")];
    for one in &list {
        let id = text(one, "id").strip_prefix("sgn_").expect("an id");
        assert!(secrets.iter().all(|secret| !secret.contains(id)), "{one}");
        assert_eq!(text(one, "user_agent"), FIREFOX);
        let client = (one["kind"] == "grant").then(|| json!(user.tenant.party.client.id));
        assert_eq!(one.get("client_id"), client.as_ref());
    }
    // A sign-in that no site has completed signs no user in, and a code that no client has exchanged is no sign-in.
    user.tenant.integrator.get(&user.path).await.with(200);
    let mut tenant = user.tenant;
    tenant.code_again(&OFFLINE).await;
    assert_eq!(list_at(&tenant.integrator, &user.path).await.len(), 2);
}

#[tokio::test]
async fn ended_browser_must_log_in_again() {
    let mut user = SignedIn::start().await;
    let mut other = user.other_browser().await;
    let code = user.tenant.code_again(&OFFLINE).await;
    let id = user.id("browser", "Firefox").await;
    assert_eq!(user.end(&id).await.status, 204);
    let account = user.account();
    user.tenant.browser.visit(&account).await.is(200, "signed-out");
    assert_eq!(user.tenant.repeat_authorization(&[("prompt", "none")]).await, "login_required");
    user.assert_tokens_refused().await;
    assert_eq!(user.tenant.party.exchange_code(&code).await.with(400)["error"], "invalid_grant");
    // The other browser stays signed in.
    other.visit(&account).await.is(200, "account");
    let list = user.list().await;
    let [left] = &*list else { panic!("{list:?}") };
    assert_eq!((&left["kind"], text(left, "user_agent")), (&json!("browser"), SAFARI));
    user.end(&id).await.assert_error(404, "not_found");
    let tokens = user.tenant.tokens(&OFFLINE).await;
    user.tenant.party.refresh(text(&tokens, "refresh_token")).await.with(200);
    let [(actor, details)] = &*user.audit().await else { panic!("one entry") };
    assert!(actor.starts_with("key_"), "{actor}");
    assert_eq!(details["sign_in_id"], json!(id));
}

#[tokio::test]
async fn ended_grant_refuses_its_tokens() {
    let mut user = SignedIn::start().await;
    let id = user.id("grant", "Firefox").await;
    assert_eq!(user.end(&id).await.status, 204);
    user.assert_tokens_refused().await;
    let account = user.account();
    user.tenant.browser.visit(&account).await.is(200, "account");
    let list = user.list().await;
    assert!(matches!(&*list, [one] if one["kind"] == "browser"), "{list:?}");
    user.end(&id).await.assert_error(404, "not_found");
    let [(_, details)] = &*user.audit().await else { panic!("one entry") };
    assert_eq!(details["client_id"], json!(user.tenant.party.client.id));
}

#[tokio::test]
async fn all_sign_ins_end_together() {
    let mut user = SignedIn::start().await;
    let mut other = user.other_browser().await;
    let ids: Vec<_> = user.list().await.iter().map(|sign_in| text(sign_in, "id").to_owned()).collect();
    for query in ["?kind=browser", "?limit=1", "?"] {
        let reply = delete(&user.tenant.integrator, &format!("{}{query}", user.path)).await;
        match query.len() {
            1 => assert_eq!(reply.status, 204),
            _ => reply.assert_invalid_field(query[1..].split('=').next().expect("a name")),
        }
        assert_eq!(user.list().await.len(), if query.len() == 1 { 0 } else { 3 }, "{query}");
    }
    user.assert_tokens_refused().await;
    let account = user.account();
    user.tenant.browser.visit(&account).await.is(200, "signed-out");
    other.visit(&account).await.is(200, "signed-out");
    for id in &ids {
        user.end(id).await.assert_error(404, "not_found");
    }
    assert_eq!(delete(&user.tenant.integrator, &user.path).await.status, 204, "there are none");
    assert_eq!(user.audit().await.len(), 2);
}

#[tokio::test]
async fn other_accounts_and_users_are_not_found() {
    let user = SignedIn::start().await;
    let service = &user.tenant.service;
    let id = user.id("browser", "Firefox").await;
    let rival = service.integrator_of("rival", signpost_platform::accounts::Environment::Sandbox).await;
    let own = register_hosted_domain(&rival, "rival.test").await;
    rival.get(&user.path).await.assert_error(404, "domain_not_found");
    for path in [user.path.clone(), format!("{}/{id}", user.path)] {
        delete(&rival, &path).await.assert_error(404, "domain_not_found");
        let elsewhere = path.replace(text(&user.tenant.domain, "id"), text(&own, "id"));
        delete(&rival, &elsewhere).await.assert_error(404, "not_found");
    }
    // Another user of the domain.
    let other = Phone::of(8, &service.clock);
    create_user_at(service, &user.tenant.integrator, "shop.test", &other).await;
    let others = format!("{}/{}/sign-ins", user.tenant.users(), other.public_key());
    assert_eq!(list_at(&user.tenant.integrator, &others).await, [] as [Value; 0]);
    for id in [&*id, &user.id("grant", "Firefox").await] {
        delete(&user.tenant.integrator, &format!("{others}/{id}")).await.assert_error(404, "not_found");
    }
    for id in [&id.replace("sgn_", "sess_"), "sgn_1", &format!("sgn_{}", "0".repeat(36))] {
        user.end(id).await.assert_error(404, "not_found");
    }
    let unknown = format!("{}/usr_{}/sign-ins", user.tenant.users(), "0".repeat(36));
    user.tenant.integrator.get(&unknown).await.assert_error(404, "not_found");
    assert_eq!(user.list().await.len(), 2);
}

#[tokio::test]
async fn list_has_pages_and_known_parameters() {
    let user = SignedIn::start().await;
    user.tenant.service.advance_clock(SignedDuration::from_secs(1));
    user.other_browser().await;
    let all: Vec<_> = user.list().await.iter().map(|one| text(one, "id").to_owned()).collect();
    assert!(all.len() == 3 && all.is_sorted_by(|first, second| first > second), "newest first: {all:?}");
    let (mut cursor, mut paged) = (String::new(), Vec::new());
    while paged.len() < all.len() {
        let page = user.tenant.integrator.get(&format!("{}?limit=1{cursor}", user.path)).await.with(200);
        paged.push(text(&page["sign_ins"][0], "id").to_owned());
        match page.get("next_cursor") {
            Some(next) => cursor = format!("&cursor={}", next.as_str().expect("a text")),
            None => break,
        }
    }
    assert_eq!(paged, all);
    for (query, field) in [("kind=browser", "kind"), ("limit=0", "limit"), ("cursor=x", "cursor")] {
        user.tenant.integrator.get(&format!("{}?{query}", user.path)).await.assert_invalid_field(field);
    }
}

#[tokio::test]
async fn invalid_sign_ins_are_not_listed() {
    let mut user = SignedIn::start().await;
    let service = &user.tenant.service;
    service.advance_clock(SignedDuration::from_hours(24));
    let list = user.list().await;
    assert!(matches!(&*list, [one] if one["kind"] == "grant"), "the browser is idle: {list:?}");
    let before = text(&list[0], "last_used_at").to_owned();
    let next = user.tenant.party.refresh(text(&user.tokens, "refresh_token")).await.with(200);
    assert!(text(&user.list().await[0], "last_used_at") > &*before, "a refresh is a use");
    // The user agent is stored for 30 days, the name of the browser longer.
    service.advance_clock(SignedDuration::from_hours(29 * 24));
    user.tenant.party.refresh(text(&next, "refresh_token")).await.with(200);
    service.advance_clock(SignedDuration::from_hours(24));
    let (store, now) = (&service.app.store, service.clock.now());
    sweep::sweep(store, now).await.expect("a database");
    retention::sweep(store, now).await.expect("a database");
    assert_eq!(user.list().await[0]["user_agent"], "Firefox");
    let stored = store.read("SELECT 1 FROM browser_sessions WHERE user_agent IS NOT NULL", Vec::new()).await;
    assert_eq!(stored.expect("a database").len(), 0);
    // A removed key ends the sign-ins that it proved.
    let key = signpost_store::Statement::new("DELETE FROM credentials", Vec::new());
    store.write([key]).await.expect("a database");
    assert_eq!(user.list().await, [] as [Value; 0]);
    let account = user.account();
    user.tenant.browser.visit(&account).await.is(200, "signed-out");
}

#[tokio::test]
async fn account_page_lists_and_ends_sign_ins() {
    let mut user = SignedIn::start().await;
    let (mut other, account) = (user.other_browser().await, user.account());
    let here = user.tenant.browser.visit(&account).await;
    let html = &here.is(200, "account").html;
    for expected in
        ["Where you are signed in", "Firefox on Linux", "Safari on iPhone", "Application at <bdi>app.test</bdi>"]
    {
        assert!(html.contains(expected), "{expected}: {html}");
    }
    let (own, grant) = (user.id("browser", "Firefox").await, user.id("grant", "Firefox").await);
    let id = user.id("browser", "Safari").await;
    assert_eq!((html.matches("This browser.").count(), html.matches("<form id=\"end-sgn_").count()), (1, 2), "{html}");
    assert!(!html.contains(&format!("end-{own}")) && html.contains("aria-label=\"Sign out there: Safari on iPhone\""));
    let ended = user.tenant.browser.submit(&here, &format!("end-{id}"), &format!("&sign_in={id}")).await;
    assert!(ended.is(200, "account").html.contains("You are signed out there."), "{}", ended.html);
    other.visit(&account).await.is(200, "signed-out");
    let again = user.tenant.browser.submit(&here, &format!("end-{id}"), &format!("&sign_in={id}")).await;
    assert!(again.is(200, "account").html.contains("signed out there before"), "{}", again.html);
    let spanish = user.tenant.browser.visit(&format!("{account}?lang=es")).await;
    assert!(spanish.html.contains("Firefox en Linux") && spanish.html.contains("Este navegador."), "{}", spanish.html);
    user.tenant.browser.submit(&here, &format!("end-{grant}"), &format!("&sign_in={grant}")).await.is(200, "account");
    user.assert_tokens_refused().await;
    let actors: Vec<_> = user.audit().await.into_iter().map(|(actor, _)| actor).collect();
    assert!(actors.len() == 2 && actors.iter().all(|actor| actor.starts_with("usr_")), "{actors:?}");
    // The form requires its token, and the signed-in browser.
    let (action, token) = here.form(&format!("end-{grant}"));
    for (browser, token) in [(&mut user.tenant.browser, "x"), (&mut other, &*token)] {
        let request = browser.request(Method::POST, &action).header("origin", &browser.origin);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let reply = browser.send(request.body(format!("token={token}&sign_in={own}"))).await;
        assert_eq!(reply.state(), "stale", "{}", reply.html);
    }
    user.tenant.browser.visit(&account).await.is(200, "account");
}

#[tokio::test]
async fn users_end_only_their_own_sign_ins() {
    let mut user = SignedIn::start().await;
    let service = &user.tenant.service;
    let stranger = Phone::of(8, &service.clock);
    create_user_at(service, &user.tenant.integrator, "shop.test", &stranger).await;
    let mut browser = Browser::at(service);
    log_in(&user.tenant.integrator, &mut browser, &stranger, "shop.test").await;
    let mut second = Browser::at(service);
    log_in(&user.tenant.integrator, &mut second, &stranger, "shop.test").await;
    let account = user.account();
    let shown = browser.visit(&account).await;
    let own = shown.between("<form id=\"end-", "\"").to_owned();
    assert!(!shown.html.contains("Firefox") && shown.html.contains("Unknown browser"), "{}", shown.html);
    for kind in ["browser", "grant"] {
        let foreign = user.id(kind, "Firefox").await;
        let reply = browser.submit(&shown, &format!("end-{own}"), &format!("&sign_in={foreign}")).await;
        assert!(reply.is(200, "account").html.contains("signed out there before"), "{}", reply.html);
    }
    user.tenant.browser.visit(&account).await.is(200, "account");
    assert_eq!(user.list().await.len(), 2);
}

#[tokio::test]
async fn ended_sign_in_queues_an_event() {
    let mut user = SignedIn::start().await;
    let domain = format!("/domains/{}", text(&user.tenant.domain, "id"));
    user.tenant.integrator.patch(&domain, &json!({ "events": ["user.signed_out"] })).await.with(200);
    let mut other = user.other_browser().await;
    for (kind, browser) in [("grant", "Firefox"), ("browser", "Firefox")] {
        assert_eq!(user.end(&user.id(kind, browser).await).await.status, 204);
        user.tenant.service.advance_clock(SignedDuration::from_secs(1));
    }
    let shown = other.visit(&user.account()).await;
    other.submit(&shown, "sign-out-everywhere", "").await.is(200, "signed-out");
    let events = user.tenant.service.outbox().await.into_iter().map(|queued| queued.body);
    let data: Vec<_> =
        events.filter(|body| body["event"] == "user.signed_out").map(|body| body["data"].clone()).collect();
    let [grant, browser, all] = &*data else { panic!("{data:?}") };
    let owner = user.path.split('/').nth(4).expect("an ID");
    assert_eq!([grant, browser, all].map(|data| text(data, "user_id")), [owner; 3]);
    assert_eq!(grant["client_id"], json!(user.tenant.party.client.id));
    assert_eq!([grant, browser, all].map(|data| &data["everywhere"]), [false, false, true]);
    user.tenant.browser.visit(&user.account()).await.is(200, "signed-out");
}

#[tokio::test]
async fn command_lists_and_ends_sign_ins() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &[]).await;
    let user = SignedIn::at(Tenant::of(service, |settings| settings.is_trusted = true).await).await;
    let owner = user.path.split('/').nth(4).expect("an ID").to_owned();
    let domain = text(&user.tenant.domain, "id");
    let run = async |more: &[&str]| {
        let command = ["users", "sign-ins", &*owner, "--domain", domain, "--json"];
        Program::within(folder.path(), &[&command, more].concat()).run_async().await.json()
    };
    assert_eq!(run(&[]).await["sign_ins"], json!(user.list().await));
    let id = user.id("grant", "Firefox").await;
    assert_eq!(run(&["--end", &id]).await["ended"], json!(id));
    user.assert_tokens_refused().await;
    assert_eq!(run(&["--all"]).await["ended"], "all");
    assert_eq!(user.list().await, [] as [Value; 0]);
    assert_eq!(user.audit().await.iter().filter(|(actor, _)| actor == "operator").count(), 2);
}
