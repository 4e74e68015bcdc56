//! Secrets are encrypted with the recorded key; without it, nothing is written.

use std::path::Path;

use serde_json::{Value, json};
use signpost::server::HttpServer;
use signpost::server::schema::SCHEMA;
use signpost_store::{Statement, Store, params};

use crate::harness::{CommandOutput, Program, Service, config, embedded_database, open_separately, text};

const KEY: &str = "0101010101010101010101010101010101010101010101010101010101010101";
const OTHER: &str = "0202020202020202020202020202020202020202020202020202020202020202";

/// Selects the secrets of domains and the signing keys.
const SECRETS: &str = "
    SELECT webhook_secret FROM domains WHERE account <> 'server'
    UNION ALL SELECT next_webhook_secret FROM domains WHERE next_webhook_secret IS NOT NULL
    UNION ALL SELECT private_key FROM signing_keys";

fn run(folder: &Path, key: &str, old: &str, arguments: &[&str]) -> CommandOutput {
    let data_dir = folder.to_str().expect("a path");
    let program = Program::within(folder, &[arguments, &["--data-dir", data_dir, "--json"]].concat());
    program.env("SIGNPOST_SEAL_KEY", key).env("SIGNPOST_SEAL_KEY_OLD", old).run()
}

/// Returns the number of encrypted and of unencrypted secrets.
async fn count(store: &Store) -> (usize, usize) {
    let rows = store.read(SECRETS, params![]).await.expect("a database");
    let (sealed, plain): (Vec<_>, Vec<_>) =
        rows.iter().map(|row| row.text(0).expect("a text")).partition(|secret| secret.starts_with("sealed1:"));
    (sealed.len(), plain.len())
}

async fn write(store: &Store, sql: &'static str, values: Vec<signpost_store::Value>) {
    assert!(store.write([Statement::new(sql, values)]).await.expect("a database").is_committed());
}

#[tokio::test]
async fn commands_require_the_recorded_key() {
    let folder = tempfile::tempdir().expect("a folder");
    Service::on(folder.path(), &Service::clock(), &[("seal_key", KEY)]).await.stop().await;
    let store = open_separately(folder.path());
    let added = run(folder.path(), KEY, "", &["domains", "add", "shop.test"]).json();
    let id = text(&added, "id");
    assert_eq!(count(&store).await, (1, 0));
    let commands: [&[&str]; 6] = [
        &["domains", "add", "other.test"],
        &["domains", "add", "localhost", "--sandbox", "--handler", "hosted"],
        &["domains", "secret", id, "--rotate"],
        &["signing-keys", "rotate"],
        &["signing-keys", "rotate", "--sandbox", "--alg", "ES256", "--compromised"],
        &["domains", "seal"],
    ];
    for (key, old) in [("", ""), ("", KEY), (OTHER, "")] {
        for arguments in commands {
            let ended = run(folder.path(), key, old, arguments);
            let reason = ended.failed(1);
            assert!(reason.contains("SIGNPOST_SEAL_KEY") && !reason.contains("openssl"), "{arguments:?}: {reason}");
        }
        assert_eq!(count(&store).await, (1, 0), "{key} {old}");
    }
    for arguments in &commands[..5] {
        run(folder.path(), KEY, "", arguments).json();
    }
    assert_eq!(count(&store).await, (6, 0));
}

#[tokio::test]
async fn servers_require_the_key_of_encrypted_secrets() {
    let (folder, clock) = (tempfile::tempdir().expect("a folder"), Service::clock());
    Service::on(folder.path(), &clock, &[("seal_key", KEY)]).await.stop().await;
    run(folder.path(), KEY, "", &["domains", "add", "shop.test"]).json();
    let data_dir = folder.path().to_str().expect("a path");
    for key in ["", OTHER] {
        let settings = [("data_dir", data_dir), ("seal_key", key)];
        let error = HttpServer::open(config(&settings), clock.clone()).await.expect_err("a refusal");
        assert!(format!("{error:#}").contains("SIGNPOST_SEAL_KEY"), "{error:#}");
    }
    // The demo ignores the operator's settings.
    let demo = Program::within(folder.path(), &["demo", "--data-dir", data_dir, "--listen", "127.0.0.1:0"]);
    assert!(demo.run().failed(1).contains("SIGNPOST_SEAL_KEY"));
    let replaced = [("seal_key", OTHER), ("seal_key_old", KEY)];
    Service::on(folder.path(), &clock, &replaced).await.stop().await;
}

#[tokio::test]
async fn a_start_replaces_an_unused_recorded_key() {
    let (folder, clock) = (tempfile::tempdir().expect("a folder"), Service::clock());
    let add = |key: &str, name: &str| run(folder.path(), key, "", &["domains", "add", name]);
    for key in [KEY, OTHER, "", OTHER] {
        Service::on(folder.path(), &clock, &[("seal_key", key)]).await.stop().await;
    }
    // A command replaces no key, since it may run without the server's settings.
    for key in ["", KEY] {
        add(key, "shop.test").failed(1);
    }
    add(OTHER, "shop.test").json();
    assert_eq!(count(&open_separately(folder.path())).await, (1, 0));
    // The secret of a deleted domain is needed for its last events.
    run(folder.path(), "", "", &["domains", "remove", "shop.test", "--yes"]).json();
    let settings = [("data_dir", folder.path().to_str().expect("a path")), ("seal_key", "")];
    let error = HttpServer::open(config(&settings), clock).await.expect_err("a refusal");
    assert!(format!("{error:#}").contains("SIGNPOST_SEAL_KEY"), "{error:#}");
}

#[tokio::test]
async fn a_running_keyless_server_blocks_new_keys() {
    let (folder, clock) = (tempfile::tempdir().expect("a folder"), Service::clock());
    let url = place(folder.path()).await;
    let run = |key: &str, old: &str, arguments: &[&str]| {
        let program = Program::within(folder.path(), &[arguments, &["--json"]].concat());
        let program = program.env("SIGNPOST_SEAL_KEY", key).env("SIGNPOST_SEAL_KEY_OLD", old);
        program.env("SIGNPOST_DATABASE_URL", &url).run_async()
    };
    let counted = async || count(&Store::open_existing(&url, &SCHEMA).expect("a database")).await;
    let plain = Service::open(&[("database_url", &url)], clock.clone()).await;
    let integrator = plain.shop().await;
    let added = run("", "", &["domains", "add", "second.test"]).await.json();
    let commands: [&[&str]; 4] = [
        &["domains", "add", "other.test"],
        &["domains", "secret", text(&added, "id"), "--rotate"],
        &["signing-keys", "rotate", "--alg", "ES256"],
        &["signing-keys", "rotate", "--alg", "ES256", "--compromised"],
    ];
    for arguments in commands {
        let refused = run(KEY, "", arguments).await;
        let reason = refused.failed(1);
        assert!(reason.contains("a server without this encryption key is running"), "{arguments:?}: {reason}");
    }
    assert_eq!(counted().await, (0, 2));
    integrator.register_domain("third.test").await;
    plain.stop().await;
    let plain = Service::open(&[("database_url", &url)], clock.clone()).await;
    plain.stop().await;
    for arguments in commands {
        run(KEY, "", arguments).await.json();
    }
    let server = Service::open(&[("database_url", &url), ("seal_key", KEY)], clock).await;
    // The server could not decrypt a secret that only the new key decrypts.
    for arguments in commands {
        run(OTHER, KEY, arguments).await.failed(1);
    }
    server.stop().await;
}

#[tokio::test]
async fn commands_record_no_key_in_a_locked_database() {
    let folder = tempfile::tempdir().expect("a folder");
    embedded_database(folder.path());
    let other = signpost_store::lock(&folder.path().join("signpost.sqlite")).expect("the lock");
    let add = |key: &str, name: &str| run(folder.path(), key, "", &["domains", "add", name]);
    let refused = add(KEY, "shop.test");
    assert!(refused.failed(1).contains("another command is using this database"), "{}", refused.err);
    add("", "shop.test").json();
    drop(other);
    add(KEY, "other.test").json();
}

#[tokio::test]
async fn a_replaced_key_stops_writes_of_secrets() {
    for key in ["", KEY] {
        let service = Service::with(&[("seal_key", key)]).await;
        let integrator = service.shop().await;
        let before = count(&service.app.store).await;
        write(&service.app.store, "UPDATE encryption_key SET fingerprint = 'another'", params![]).await;
        let body = json!({ "domain": "other.test", "webhook_url": "https://other.test/hook" });
        integrator.post("/domains", &body).await.assert_error(503, "unavailable");
        assert!(service.app.openid.find_key_set(signpost_platform::accounts::Environment::Live).await.is_err());
        assert_eq!(count(&service.app.store).await, before);
    }
}

/// Returns the URL of a database that survives a restart of its server.
async fn place(folder: &Path) -> String {
    match crate::harness::database().await {
        memory if memory.starts_with("sqlite") => format!("sqlite:{}", folder.join("store.sqlite").display()),
        server => server,
    }
}

#[tokio::test]
async fn seal_requires_servers_with_this_key() {
    let (folder, clock) = (tempfile::tempdir().expect("a folder"), Service::clock());
    let url = place(folder.path()).await;
    let run = |key: &str, old: &str, arguments: &[&str]| {
        let program = Program::within(folder.path(), &[arguments, &["--json"]].concat());
        let program = program.env("SIGNPOST_SEAL_KEY", key).env("SIGNPOST_SEAL_KEY_OLD", old);
        program.env("SIGNPOST_DATABASE_URL", &url).run_async()
    };
    let server = async |key: &str, old: &str| {
        let settings = [("database_url", &*url), ("seal_key", key), ("seal_key_old", old)];
        Service::open(&settings, clock.clone()).await
    };
    let counted = async || count(&Store::open_existing(&url, &SCHEMA).expect("a database")).await;
    let plain = server("", "").await;
    plain.shop().await;
    let refused = run(KEY, "", &["domains", "seal"]).await;
    assert!(refused.failed(1).contains("a server without this encryption key is running"), "{}", refused.err);
    assert_eq!(counted().await, (0, 1));
    plain.integrator().await.register_domain("second.test").await;
    plain.stop().await;
    assert_eq!(run(KEY, "", &["domains", "seal"]).await.json()["sealed"], 2);
    let rotating = server(OTHER, KEY).await;
    rotating.integrator().await.register_domain("third.test").await;
    // Until all secrets are encrypted with the new key, the old key is accepted.
    for key in [KEY, OTHER] {
        run(key, "", &["domains", "add", "fourth.test", "--account", &key[..2]]).await.json();
    }
    run(KEY, OTHER, &["domains", "seal"]).await.failed(1);
    assert_eq!(run(OTHER, KEY, &["domains", "seal"]).await.json()["sealed"], 3);
    run(KEY, "", &["domains", "add", "fifth.test"]).await.failed(1);
    assert_eq!(counted().await, (5, 0));
    rotating.stop().await;
}

#[tokio::test]
async fn a_running_server_announces_its_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let url = place(folder.path()).await;
    let service = Service::open(&[("database_url", &url), ("seal_key", KEY)], Service::clock()).await;
    let announced = service.app.store.read("SELECT key_fingerprint FROM servers", params![]).await.expect("rows");
    let fingerprint = service.app.login.seal.fingerprint().expect("a key").as_str().to_owned();
    assert_eq!(announced.iter().map(|row| row.text(0).expect("a text")).collect::<Vec<_>>(), [fingerprint]);
    service.stop().await;
    let store = Store::open_existing(&url, &SCHEMA).expect("a database");
    assert!(store.read("SELECT id FROM servers", params![]).await.expect("rows").is_empty());
}

#[tokio::test]
async fn concurrent_commands_leave_no_plain_text() {
    let folder = tempfile::tempdir().expect("a folder");
    embedded_database(folder.path());
    let path = folder.path().to_owned();
    let adding: Vec<_> = (0..6)
        .map(|number| {
            let path = path.clone();
            std::thread::spawn(move || {
                let name = format!("shop-{number}.test");
                run(&path, "", "", &["domains", "add", &name])
            })
        })
        .collect();
    run(folder.path(), KEY, "", &["domains", "seal"]).json();
    let mut added = 0;
    for command in adding {
        let ended = command.join().expect("no panic");
        match ended.code {
            Some(0) => added += 1,
            _ => assert!(ended.failed(1).contains("SIGNPOST_SEAL_KEY"), "{}", ended.err),
        }
    }
    assert_eq!(count(&open_separately(folder.path())).await, (added, 0));
}

fn doctor(folder: &Path, key: &str) -> Value {
    let ended = run(folder, key, "", &["doctor"]);
    let document: Value = serde_json::from_str(&ended.out).expect("JSON");
    let checks = document["checks"].as_array().expect("a list");
    checks.iter().find(|check| check["check"] == "signing secrets").expect("the check").clone()
}

#[tokio::test]
async fn the_doctor_counts_secrets_in_plain_text() {
    let (folder, clock) = (tempfile::tempdir().expect("a folder"), Service::clock());
    let public = ("public_url", "https://login.test");
    let settings = [("seal_key", KEY), public, ("console", "off"), ("allow_private_webhooks", "true")];
    let service = Service::on(folder.path(), &clock, &settings).await;
    for key in ["", KEY] {
        let found = doctor(folder.path(), key);
        assert_eq!((text(&found, "grade"), found["found"].to_string().contains("encrypted at rest")), ("pass", true));
    }
    assert_eq!(text(&doctor(folder.path(), OTHER), "grade"), "fail");
    service.shop().await;
    let plain = signpost_auth::WebhookSecret::from_bytes(&[7; 32]);
    let change = "UPDATE domains SET next_webhook_secret = $1 WHERE account <> 'server'";
    write(&service.app.store, change, params![plain.reveal()]).await;
    for key in ["", KEY] {
        let found = doctor(folder.path(), key);
        assert_eq!(text(&found, "grade"), "fail");
        assert!(text(&found, "found").contains("domains 1, signing keys 0"), "{found}");
        assert!(text(&found, "mend").contains("domains seal") && !found.to_string().contains("openssl"), "{found}");
    }
    service.stop().await;
}

#[tokio::test]
async fn a_moved_database_has_the_recorded_key() {
    let (folder, target) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    Service::on(folder.path(), &Service::clock(), &[("seal_key", KEY)]).await.stop().await;
    let [from, to] =
        [&folder, &target].map(|folder| format!("sqlite:{}", folder.path().join("signpost.sqlite").display()));
    run(folder.path(), "", "", &["move", "--from", &from, "--to", &to]).json();
    run(target.path(), "", "", &["domains", "add", "shop.test"]).failed(1);
    run(target.path(), KEY, "", &["domains", "add", "shop.test"]).json();
}

#[tokio::test]
async fn a_lost_encryption_key_allows_key_replacement() {
    let folder = tempfile::tempdir().expect("a folder");
    embedded_database(folder.path());
    run(folder.path(), KEY, "", &["signing-keys", "rotate", "--alg", "ES256"]).json();
    run(folder.path(), OTHER, "", &["signing-keys", "rotate", "--alg", "ES256"]).failed(1);
    let replaced = run(folder.path(), OTHER, "", &["signing-keys", "rotate", "--alg", "ES256", "--compromised"]);
    assert_eq!(replaced.json()["state"], "signing");
    run(folder.path(), KEY, "", &["signing-keys", "rotate", "--alg", "ES256"]).failed(1);
    run(folder.path(), OTHER, "", &["signing-keys", "rotate", "--alg", "ES256"]).json();
}
