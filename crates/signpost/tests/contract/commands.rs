//! Operator commands next to a running server: keys, domains, and the start-up log.

use std::path::Path;

use serde_json::{Value, json};
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::{self, AuditEntry};

use crate::harness::{Program, Service, embedded_database, members, text};

async fn start_server() -> (tempfile::TempDir, Service) {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &[]).await;
    (folder, service)
}

async fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    Program::within(folder, &[arguments, &["--json"]].concat()).run_async().await.json()
}

async fn audit_entries(service: &Service, action: &str) -> Vec<AuditEntry> {
    let all = audit::sql::list(&service.app.store, None, jiff::Timestamp::UNIX_EPOCH, "", "", 1000)
        .await
        .expect("a database");
    all.into_iter().filter(|entry| entry.action == action).collect()
}

#[tokio::test]
async fn adding_a_domain_twice_is_idempotent() {
    let (folder, service) = start_server().await;
    let add = ["domains", "add", "shop.test", "--sandbox", "--account", "acme", "--event-url", "https://shop.test/e"];
    let made = json_of(folder.path(), &add).await;
    assert!(text(&made, "webhook_secret").starts_with("whsec_"));
    assert_eq!(
        (&made["webhook_url"], &made["event_url"], &made["handler"]),
        (&json!("https://shop.test/webhooks/login"), &json!("https://shop.test/e"), &json!("direct"))
    );
    for _ in 0..2 {
        let again = json_of(folder.path(), &add).await;
        assert_eq!((&again["id"], again.get("webhook_secret")), (&made["id"], None));
    }
    assert_eq!(
        (
            audit_entries(&service, "domain.registered").await.len(),
            audit_entries(&service, "domain.changed").await.len()
        ),
        (1, 0)
    );
    // Only the new option is changed.
    let hosted = json_of(folder.path(), &[&add[..], &["--handler", "hosted"]].concat()).await;
    assert_eq!((&hosted["id"], &hosted["handler"]), (&made["id"], &json!("hosted")));
    let [changed] = &audit_entries(&service, "domain.changed").await[..] else { panic!("one entry") };
    assert_eq!((changed.actor.as_str(), &changed.details["handler"]), ("operator", &json!("hosted")));
    let short = ["domains", "add", "SHOP.test", "--sandbox", "--account", "acme"];
    assert_eq!(json_of(folder.path(), &short).await, hosted);
    // The running server accepts the domain as if it had been registered through the API.
    let integrator = service.integrator().await;
    let shown = integrator.get(&format!("/domains/{}", text(&made, "id"))).await.with(200);
    assert_eq!(shown, hosted);
    integrator.create_session("shop.test").await;
    let secret = json_of(folder.path(), &["domains", "secret", "shop.test"]).await;
    assert_eq!((&secret["domain_id"], &secret["webhook_secret"]), (&made["id"], &made["webhook_secret"]));
}

#[tokio::test]
async fn domain_commands_and_api_agree() {
    let (folder, service) = start_server().await;
    let integrator = service.integrator_of("default", Environment::Sandbox).await;
    let registered = integrator.register_domain("shop.test").await;
    let found = json_of(folder.path(), &["domains", "add", "shop.test", "--sandbox"]).await;
    assert_eq!((&found["id"], &found["webhook_url"]), (&registered["id"], &registered["webhook_url"]));
    for (arguments, expected) in [
        (&["co.uk"][..], "NAME: 'co.uk' is a public suffix"),
        (&["localhost"], "NAME: localhost is allowed in the sandbox only"),
        (&["a.test", "--webhook-url", "http://a.test/"], "--webhook-url:"),
        (&["a.test", "--event-url", "nowhere"], "--event-url:"),
        (&["a.test", "--account", ""], "--account"),
    ] {
        let ended = Program::within(folder.path(), &[&["domains", "add"], arguments].concat()).run_async().await;
        assert!(ended.failed(2).contains(expected), "{}", ended.err);
    }
    let live = json_of(folder.path(), &["domains", "add", "shop.test"]).await;
    assert_ne!(live["id"], registered["id"]);
    let secret = async |arguments: &[&str]| {
        Program::within(folder.path(), &[&["domains", "secret", "shop.test"], arguments].concat()).run_async().await
    };
    assert!(secret(&[]).await.failed(1).contains("--sandbox, --live"));
    assert_eq!(secret(&["--live"]).await.out.trim(), text(&live, "webhook_secret"));
    assert_eq!(secret(&["--sandbox"]).await.out.trim(), text(&registered, "webhook_secret"));
    assert!(secret(&["--account", "nobody"]).await.failed(1).contains("no domain"));
}

#[tokio::test]
async fn stdout_contains_only_the_key() {
    let (folder, service) = start_server().await;
    let create = ["keys", "create", "--environment", "sandbox", "--name", "shop"];
    let ended = Program::within(folder.path(), &create).run_async().await;
    assert_eq!(ended.code, Some(0));
    let [key] = ended.out.lines().collect::<Vec<_>>()[..] else { panic!("more than the key: {}", ended.out) };
    service.integrator().await.with_key(Some(key)).get("/domains").await.with(200);
    let here = format!("http://localhost:{}/sandbox/v1", service.app.listen.port());
    assert!(ended.err.contains(&here) && !ended.err.contains(key), "{}", ended.err);
    let id = text(&json_of(folder.path(), &["keys", "list"]).await["keys"][0], "id").to_owned();
    let ended = Program::within(folder.path(), &["keys", "rotate", &id]).run_async().await;
    assert!(ended.out.starts_with("svc_test_") && ended.out.lines().count() == 1, "{}", ended.out);
}

/// Starts and stops a server; returns its log.
fn log(folder: &Path, environment: &[(&str, &str)]) -> String {
    let mut server = Program::serve(folder, environment);
    server.terminate();
    let (status, log) = server.wait_for_exit();
    assert!(status.success(), "{log}");
    log
}

#[test]
fn server_logs_its_data_path_and_address() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Program::serve(folder.path(), &[]);
    let port = server.address("listen").rsplit_once(':').expect("a port").1.to_owned();
    let file = folder.path().canonicalize().expect("a folder").join("signpost-data/signpost.sqlite");
    assert_eq!(server.address("data"), file.display().to_string());
    assert_eq!(server.address("public_address"), format!("http://localhost:{port}"));
}

#[test]
fn server_warns_of_unsafe_settings() {
    const SECRETS: &str = "webhook secrets are stored unencrypted";
    const CLEAR: &str = "the public URL is http";
    let key = "01".repeat(32);
    for (settings, is_said, level) in [
        (&[][..], &[SECRETS][..], "INFO"),
        (&[("SIGNPOST_PUBLIC_URL", "https://a.test")], &[SECRETS], "WARN"),
        (&[("SIGNPOST_SEAL_KEY", key.as_str())], &[], ""),
        (&[("SIGNPOST_PUBLIC_URL", "http://a.test"), ("SIGNPOST_SEAL_KEY", &key)], &[CLEAR], "WARN"),
        (&[("SIGNPOST_PUBLIC_URL", "http://localhost:80"), ("SIGNPOST_SEAL_KEY", &key)], &[], ""),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let log = log(folder.path(), settings);
        for text in [SECRETS, CLEAR] {
            let line = log.lines().find(|line| line.contains(text));
            assert_eq!(line.is_some(), is_said.contains(&text), "{settings:?}: {log}");
            assert!(line.is_none_or(|line| line.contains(level)), "{settings:?}: {log}");
        }
    }
}

#[test]
fn changed_public_address_warns_once() {
    const CHANGED: &str = "the public address changed";
    let folder = tempfile::tempdir().expect("a folder");
    let log = |url: &str| log(folder.path(), &[("SIGNPOST_PUBLIC_URL", url)]);
    assert!(!log("https://a.test").contains(CHANGED));
    assert!(!log("https://a.test/").contains(CHANGED));
    let changed = log("https://b.test");
    assert!(changed.contains(CHANGED) && changed.contains("https://a.test") && changed.contains("https://b.test"));
    assert!(!log("https://b.test").contains(CHANGED));
    let key = Program::within(folder.path(), &["keys", "create", "--environment", "live", "--name", "x"]).run();
    assert!(key.err.contains("https://b.test/v1"), "{}", key.err);
}

#[test]
fn commands_before_the_first_start_name_the_path() {
    let folder = tempfile::tempdir().expect("a folder");
    embedded_database(&folder.path().join("signpost-data"));
    let key = Program::within(folder.path(), &["keys", "create", "--environment", "live", "--name", "x"]).run();
    assert!(key.err.contains("to /v1."), "{}", key.err);
    let added = Program::within(folder.path(), &["domains", "add", "shop.test"]).run();
    assert_eq!(added.code, Some(0), "{}", added.err);
    assert!(added.out.contains("dom_") && added.out.contains("whsec_") && added.out.contains("svc-verify="));
    let hosted = Program::within(folder.path(), &["domains", "add", "hosted.test", "--handler", "hosted"]).run();
    assert!(hosted.out.contains("an https --public-url") && !added.out.contains("--public-url"), "{}", hosted.out);
    let listed = Program::within(folder.path(), &["domains", "list", "--json"]).run().json();
    assert!(members(&listed["domains"][0]).contains("id") && added.out.contains(text(&listed["domains"][0], "id")));
}
