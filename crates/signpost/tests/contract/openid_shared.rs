//! OpenID Connect at three servers with a shared PostgreSQL database: changes take effect at each of them.

use reqwest::Method;
use serde_json::json;
use signpost_login::ids::DomainId;
use signpost_store::{Statement, params};

use crate::forward_flow::{App, is_out, path_of, tenant, user};
use crate::harness::{Integrator, Service, database, text, until};
use crate::page_flow::register_hosted_domain;

async fn three_servers() -> [Service; 3] {
    let (url, clock) = (database().await, Service::clock());
    assert!(url.starts_with("postgres"), "SIGNPOST_TEST_POSTGRES names the server: tests/postgres.sh starts one");
    let settings = [("database_url", url.as_str())];
    // Sequentially: the first server migrates the database.
    let first = Service::open(&settings, clock.clone()).await;
    let second = Service::open(&settings, clock.clone()).await;
    [first, second, Service::open(&settings, clock).await]
}

fn at_server(integrator: &Integrator, service: &Service) -> Integrator {
    Integrator { api: service.url("/sandbox/v1"), ..integrator.clone() }
}

/// Returns an application and browser whose proxy calls this server.
fn through_server<'a>(app: &App<'_>, service: &'a Service) -> App<'a> {
    App { service, client: app.client.clone(), origin: app.origin.clone(), cookies: app.cookies.clone() }
}

/// Checks access at every server, so that each caches it.
async fn assert_allowed_everywhere(app: &App<'_>, all: &[Service; 3]) {
    for service in all {
        for _ in 0..2 {
            assert!(through_server(app, service).is_let_in().await);
        }
    }
}

async fn assert_denied_everywhere(app: &App<'_>, all: &[Service; 3], what: &str) {
    for service in all.iter().rev() {
        is_out(&through_server(app, service), what).await;
    }
}

#[tokio::test]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn login_starts_and_ends_at_three_servers() {
    let all = three_servers().await;
    let [first, second, third] = &all;
    let (integrator, mut browser, domain) = tenant(first).await;
    let at_second = at_server(&integrator, second);
    let path = path_of(&domain, &user(&integrator, &domain).await);
    let groups = async |names: &[&str]| {
        at_second.patch(&path, &json!({ "groups": names })).await.with(200);
    };
    groups(&["staff"]).await;
    let mut app = App::of(first, &domain, Some(&["group:staff"])).await;
    app.log_in(&mut browser).await;
    assert_allowed_everywhere(&app, &all).await;
    groups(&["guests"]).await;
    assert_denied_everywhere(&app, &all, "the group").await;
    groups(&["staff"]).await;
    // Denied users are not cached.
    assert_allowed_everywhere(&app, &all).await;
    let revoke = Statement::new("UPDATE openid_grants SET revoked_at = 1", params![]);
    second.app.store.write([revoke]).await.expect("a database");
    assert_denied_everywhere(&app, &all, "the grant").await;
    app.log_in(&mut browser).await;
    assert_allowed_everywhere(&app, &all).await;
    let mut there = through_server(&app, second);
    let page = there.visit("/.signpost/logout").await;
    let (action, token) = page.is(200, "log-out").form("logout");
    let press = there.own(Method::POST, &action).header("origin", &app.origin);
    let press = press.header("content-type", "application/x-www-form-urlencoded").body(format!("token={token}"));
    there.send(press).await.is(200, "logged-out");
    is_out(&through_server(&app, third), "the session").await;
    assert_denied_everywhere(&app, &all, "the session").await;
}

#[tokio::test]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn issuer_metadata_is_cached_until_a_change() {
    let all = three_servers().await;
    let integrator = all[0].integrator().await;
    let id = DomainId::parse(text(&register_hosted_domain(&integrator, "shop.test").await, "id")).expect("an id");
    let (visitor, tenants) = (all[2].visitor(), all[2].app.openid.tenants.clone());
    let paths = ["jwks", ".well-known/openid-configuration"].map(|name| format!("/sandbox/{id}/{name}"));
    until("it is stored", async || {
        for path in &paths {
            visitor.get(path).await.with(200);
        }
        tenants.get(&id)
    })
    .await;
    let store = &all[1].app.store;
    store.write([Statement::new("ALTER TABLE domains RENAME TO gone", params![])]).await.expect("a database");
    for path in &paths {
        visitor.get(path).await.with(200);
    }
    store.write([Statement::new("ALTER TABLE gone RENAME TO domains", params![])]).await.expect("a database");
    at_server(&integrator, &all[1]).patch(&format!("/domains/{id}"), &json!({ "handler": "direct" })).await.with(200);
    for path in &paths {
        until("it is no issuer", async || (visitor.get(path).await.status == 404).then_some(())).await;
    }
}
