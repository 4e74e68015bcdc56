//! docs/api.md, Login settings: login methods and registration.

use serde_json::{Value, json};
use signpost_platform::accounts::Environment;
use signpost_store::{Statement, params};

use crate::harness::{Integrator, Program, Service, text};

fn path(domain: &Value) -> String {
    format!("/domains/{}", text(domain, "id"))
}

/// Registers a domain of a live account.
async fn live(service: &Service, account: &str, name: &str) -> (Integrator, Value) {
    let integrator = service.integrator_of(account, Environment::Live).await;
    let domain = integrator.register_domain_at(name, "https://shop.test/hook").await;
    (integrator, domain)
}

#[tokio::test]
async fn login_settings_are_stored() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    assert_eq!(domain["methods"], json!(["scan", "browser", "lightning", "passkey"]));
    assert_eq!((&domain["registration"], domain.get("display_name")), (&json!("open"), None));
    let (_, live) = live(&service, "acme", "shop.test").await;
    assert_eq!(live["methods"], json!(["scan", "passkey"]));
    let change =
        json!({ "methods": ["passkey", "scan"], "registration": "closed", "display_name": " Ann's\u{202e} shop " });
    let changed = integrator.patch(&path(&domain), &change).await.with(200);
    assert_eq!(changed["methods"], json!(["passkey", "scan"]));
    assert_eq!((&changed["registration"], &changed["display_name"]), (&json!("closed"), &json!("Ann's shop")));
    assert_eq!(integrator.get(&path(&domain)).await.with(200), changed);
    let cleared = integrator.patch(&path(&domain), &json!({ "display_name": null })).await.with(200);
    assert_eq!((cleared.get("display_name"), &cleared["registration"]), (None, &json!("closed")));
    assert_eq!(cleared["methods"], json!(["passkey", "scan"]));
}

#[tokio::test]
async fn invalid_settings_change_nothing() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let listed = integrator.get("/domains").await.with(200);
    let domain = integrator.get(&path(&listed["domains"][0])).await.with(200);
    for (field, value) in [
        ("methods", json!([])),
        ("methods", json!(["scan", "scan"])),
        ("methods", json!(["Scan"])),
        ("methods", json!(["sms"])),
        ("methods", json!([1])),
        ("methods", json!("scan")),
        ("methods", json!(null)),
        ("registration", json!("Open")),
        ("registration", json!(true)),
        ("registration", json!(null)),
        ("display_name", json!("")),
        ("display_name", json!("\u{200b}")),
        ("display_name", json!("x".repeat(61))),
        ("display_name", json!(1)),
    ] {
        let change = json!({ "event_url": "http://127.0.0.1:1/event", field: value });
        integrator.patch(&path(&domain), &change).await.assert_invalid_field(field);
    }
    assert_eq!(integrator.get(&path(&domain)).await.with(200), domain);
}

#[tokio::test]
async fn unreadable_settings_are_an_error() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let domain = integrator.register_domain("shop.test").await;
    for broken in ["methods = ''", "methods = 'scan,scan'", "methods = 'sms'", "display_name = ''"] {
        let sql = format!("UPDATE domains SET methods = NULL, display_name = NULL, {broken}");
        let sql = if broken.starts_with("methods") {
            sql.replace("methods = NULL, ", "")
        } else {
            sql.replace("display_name = NULL, ", "")
        };
        assert!(
            service.app.store.write([Statement::new(sql.leak(), params![])]).await.expect("a database").is_committed()
        );
        integrator.get(&path(&domain)).await.assert_error(500, "internal_error");
        integrator.post("/sessions", &json!({ "domain": "shop.test" })).await.assert_error(500, "internal_error");
    }
}

#[tokio::test]
async fn a_shared_login_host_excludes_lightning() {
    let service = Service::start().await;
    let (one, first) = live(&service, "one", "one.test").await;
    let (two, second) = live(&service, "two", "two.test").await;
    let (hosted, direct) = (json!({ "handler": "hosted" }), json!({ "handler": "direct" }));
    let lightning = json!({ "methods": ["scan", "lightning"] });
    let both = json!({ "handler": "hosted", "methods": ["lightning"] });
    let ok = async |integrator: &Integrator, domain: &Value, change: &Value| {
        integrator.patch(&path(domain), change).await.with(200);
    };
    let refused = async |integrator: &Integrator, domain: &Value, change: &Value| {
        let before = integrator.get(&path(domain)).await.with(200);
        integrator.patch(&path(domain), change).await.assert_error(422, "shared_login_host");
        assert_eq!(integrator.get(&path(domain)).await.with(200), before);
    };
    // With no other account on the login origin it is accepted.
    ok(&one, &first, &both).await;
    let other = one.register_domain_at("other.test", "https://other.test/hook").await;
    ok(&one, &other, &both).await;
    ok(&two, &second, &lightning).await;
    refused(&two, &second, &hosted).await;
    ok(&two, &second, &json!({ "methods": ["scan"] })).await;
    refused(&two, &second, &hosted).await;
    ok(&two, &second, &json!({ "display_name": "Two" })).await;
    // Domains that are direct or in the sandbox do not conflict.
    ok(&one, &first, &direct).await;
    ok(&one, &other, &json!({ "methods": ["scan"] })).await;
    ok(&two, &second, &hosted).await;
    refused(&two, &second, &lightning).await;
    refused(&one, &first, &hosted).await;
    ok(&one, &first, &json!({ "handler": "hosted", "methods": ["scan"] })).await;
    refused(&one, &first, &lightning).await;
    let sandbox = service.integrator_of("two", Environment::Sandbox).await;
    let tried = sandbox.register_domain("two.test").await;
    ok(&sandbox, &tried, &both).await;
}

#[tokio::test]
async fn one_of_two_concurrent_accounts_gets_the_host() {
    let service = Service::start().await;
    for round in 0..4 {
        let (one, first) = live(&service, "one", &format!("one{round}.test")).await;
        let (two, second) = live(&service, "two", &format!("two{round}.test")).await;
        let change = json!({ "handler": "hosted", "methods": ["lightning"] });
        let (first, second) = (path(&first), path(&second));
        let (a, b) = tokio::join!(one.patch(&first, &change), two.patch(&second, &change));
        let mut statuses = [a.status, b.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 422]);
        for (integrator, domain) in [(&one, &first), (&two, &second)] {
            integrator.patch(domain, &json!({ "handler": "direct" })).await.with(200);
        }
    }
}

#[tokio::test]
async fn the_command_line_checks_the_shared_login_host() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &[]).await;
    let (one, first) = live(&service, "one", "one.test").await;
    one.patch(&path(&first), &json!({ "handler": "hosted", "methods": ["lightning"] })).await.with(200);
    let add = ["domains", "add", "two.test", "--account", "two", "--handler", "hosted"];
    let ended = Program::within(folder.path(), &add).run();
    let response = ended.failed(1);
    assert!(response.contains("Lightning wallet"), "{response}");
    let list = Program::within(folder.path(), &["domains", "list", "--json"]).run_async().await.json();
    assert_eq!(list["domains"].as_array().map(Vec::len), Some(1));
}
