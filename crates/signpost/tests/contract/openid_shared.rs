//! Standard login at three servers on one PostgreSQL database: what one of them is told counts at all of them.

use reqwest::Method;
use serde_json::json;
use signpost_login::ids::DomainId;
use signpost_store::{params, step};

use crate::forward_flow::{App, is_out, path_of, realm, user};
use crate::harness::{Integrator, Service, database, text, until};
use crate::page_flow::hosts;

async fn three_servers() -> [Service; 3] {
    let (url, clock) = (database().await, Service::clock());
    assert!(url.starts_with("postgres"), "SIGNPOST_TEST_POSTGRES names the server: tests/postgres.sh starts one");
    let settings = [("database_url", url.as_str())];
    // One after another: the first brings the tables up to date.
    let first = Service::open(&settings, clock.clone()).await;
    let second = Service::open(&settings, clock.clone()).await;
    [first, second, Service::open(&settings, clock).await]
}

fn moved(integrator: &Integrator, service: &Service) -> Integrator {
    Integrator { api: service.url("/sandbox/v1"), ..integrator.clone() }
}

/// The same application and browser, whose proxy asks another server.
fn asking<'a>(app: &App<'_>, service: &'a Service) -> App<'a> {
    App { service, client: app.client.clone(), origin: app.origin.clone(), cookies: app.cookies.clone() }
}

/// In at every server, so that each has it in memory.
async fn is_in_everywhere(app: &App<'_>, all: &[Service; 3]) {
    for service in all {
        for _ in 0..2 {
            assert!(asking(app, service).is_let_in().await);
        }
    }
}

async fn is_out_everywhere(app: &App<'_>, all: &[Service; 3], what: &str) {
    for service in all.iter().rev() {
        is_out(&asking(app, service), what).await;
    }
}

#[tokio::test]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn a_login_to_an_application_counts_at_three_servers_and_ends_at_all_of_them() {
    let all = three_servers().await;
    let [first, second, third] = &all;
    let (integrator, mut browser, domain) = realm(first).await;
    let at_second = moved(&integrator, second);
    let path = path_of(&domain, &user(&integrator, &domain).await);
    let groups = async |names: &[&str]| {
        at_second.patch(&path, &json!({ "groups": names })).await.with(200);
    };
    groups(&["staff"]).await;
    let mut app = App::of(first, &domain, Some(&["group:staff"])).await;
    app.logs_in(&mut browser).await;
    is_in_everywhere(&app, &all).await;
    groups(&["guests"]).await;
    is_out_everywhere(&app, &all, "the group").await;
    groups(&["staff"]).await;
    // Who stays outside is read anew each time.
    is_in_everywhere(&app, &all).await;
    let revoke = step("UPDATE openid_grants SET revoked_at = 1", params![]);
    second.app.store.write([revoke]).await.expect("a database");
    is_out_everywhere(&app, &all, "the grant").await;
    app.logs_in(&mut browser).await;
    is_in_everywhere(&app, &all).await;
    let mut there = asking(&app, second);
    let page = there.goes_to("/.signpost/logout").await;
    let (action, token) = page.is(200, "log-out").form("logout");
    let press = there.own(Method::POST, &action).header("origin", &app.origin);
    let press = press.header("content-type", "application/x-www-form-urlencoded").body(format!("token={token}"));
    there.sends(press).await.is(200, "logged-out");
    is_out(&asking(&app, third), "the session").await;
    is_out_everywhere(&app, &all, "the session").await;
}

#[tokio::test]
#[ignore = "it needs PostgreSQL: tests/postgres.sh, which make test runs"]
async fn what_an_issuer_publishes_is_answered_from_memory_until_another_server_changes_it() {
    let all = three_servers().await;
    let integrator = all[0].integrator().await;
    let id = DomainId::parse(text(&hosts(&integrator, "shop.test").await, "id")).expect("an id");
    let (visitor, realms) = (all[2].visitor(), all[2].app.openid.realms.clone());
    let paths = ["jwks", ".well-known/openid-configuration"].map(|name| format!("/sandbox/{id}/{name}"));
    until("it is kept", async || {
        for path in &paths {
            visitor.get(path).await.with(200);
        }
        realms.get(&id)
    })
    .await;
    let store = &all[1].app.store;
    store.write([step("ALTER TABLE domains RENAME TO gone", params![])]).await.expect("a database");
    for path in &paths {
        visitor.get(path).await.with(200);
    }
    store.write([step("ALTER TABLE gone RENAME TO domains", params![])]).await.expect("a database");
    moved(&integrator, &all[1]).patch(&format!("/domains/{id}"), &json!({ "handler": "direct" })).await.with(200);
    for path in &paths {
        until("it is no issuer", async || (visitor.get(path).await.status == 404).then_some(())).await;
    }
}
