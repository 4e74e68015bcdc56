//! The program at a command line: its output, its exit codes, its one line where something is wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use signpost::config::DEFAULT;

use crate::harness::{Program, Service, members, text};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Runs a command that prints JSON.
async fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    Program::within(folder, &[arguments, &["--json"]].concat()).runs().await.json()
}

async fn fails(folder: &Path, arguments: &[&str]) -> String {
    Program::within(folder, arguments).runs().await.failed(1).to_owned()
}

#[tokio::test]
async fn keys_are_made_listed_and_revoked_beside_a_running_server() {
    let folder = folder();
    let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &[]).await;
    let made = json_of(folder.path(), &["keys", "create", "--environment", "sandbox", "--name", "my shop"]).await;
    assert_eq!(members(&made), ["id", "key", "environment", "name", "account"].into());
    assert_eq!(
        (&made["environment"], &made["name"], &made["account"]),
        (&json!("sandbox"), &json!("my shop"), &json!("default"))
    );
    assert!(text(&made, "key").starts_with("svc_test_"));
    let other = ["keys", "create", "--environment", "live", "--name", "x", "--account", "acme"];
    let other = json_of(folder.path(), &other).await;
    assert!(text(&other, "key").starts_with("svc_live_") && other["account"] == "acme");
    let integrator = service.integrator().await.with_key(Some(text(&made, "key")));
    integrator.registers("shop.test").await;
    let id = text(&made, "id");
    assert_eq!(listed(folder.path(), id, text(&made, "key")).await.get("revoked_at"), None);
    json_of(folder.path(), &["keys", "revoke", id]).await;
    assert!(listed(folder.path(), id, text(&made, "key")).await["revoked_at"].is_string());
    service.passes(jiff::SignedDuration::from_secs(5));
    integrator.get("/domains").await.refused(401, "invalid_api_key");
    assert!(fails(folder.path(), &["keys", "revoke", id]).await.contains(id));
    assert!(fails(folder.path(), &["keys", "revoke", "key_x"]).await.contains("key_x"));
}

/// A key as it is listed, without anything that would open.
async fn listed(folder: &Path, id: &str, key: &str) -> Value {
    let list = json_of(folder, &["keys", "list"]).await;
    assert!(!list.to_string().contains(&key[30..]), "{list}");
    let keys = list["keys"].as_array().expect("a list");
    keys.iter().find(|key| key["id"] == id).unwrap_or_else(|| panic!("{id} is not in {list}")).clone()
}

#[tokio::test]
async fn domains_are_listed_and_their_secrets_rotated() {
    let folder = folder();
    let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &[]).await;
    let domain = service.integrator().await.registers("shop.test").await;
    let (id, old) = (text(&domain, "id"), text(&domain, "webhook_secret"));
    let list = json_of(folder.path(), &["domains", "list"]).await;
    assert!(!list.to_string().contains("whsec_"), "{list}");
    let [listed] = &list["domains"].as_array().expect("a list")[..] else { panic!("{list}") };
    assert_eq!(
        (&listed["id"], &listed["domain"], &listed["verified"]),
        (&json!(id), &json!("shop.test"), &json!(false))
    );
    let secret = async |flags: &[&str]| json_of(folder.path(), &[&["domains", "secret", id], flags].concat()).await;
    assert_eq!(secret(&[]).await, json!({ "domain_id": id, "webhook_secret": old }));
    assert!(fails(folder.path(), &["domains", "secret", id, "--activate"]).await.contains("--rotate"));
    let rotated = secret(&["--rotate"]).await;
    assert_eq!((&rotated["domain_id"], &rotated["webhook_secret"]), (&json!(id), &json!(old)));
    let next = text(&rotated, "next_webhook_secret");
    assert!(next.starts_with("whsec_") && next != old);
    assert_eq!(secret(&[]).await, rotated);
    assert_eq!(secret(&["--activate"]).await, json!({ "domain_id": id, "webhook_secret": next }));
    assert!(fails(folder.path(), &["domains", "secret", id, "--activate"]).await.contains("--rotate"));
    for unknown in ["dom_x", &id.replace("dom_0", "dom_1")] {
        for flags in [&[][..], &["--rotate"], &["--activate"]] {
            let line = fails(folder.path(), &[&["domains", "secret", unknown], flags].concat()).await;
            assert!(line.contains(unknown), "{line}");
        }
    }
}

#[test]
fn the_configuration_is_printed_as_it_is_built_in() {
    let folder = folder();
    let ended = Program::within(folder.path(), &["config"]).run();
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (Some(0), DEFAULT, ""));
    assert!(fs::read_dir(folder.path()).expect("a folder").next().is_none(), "printing leaves nothing behind");
}

#[test]
fn the_reference_can_be_read_beside_a_broken_configuration() {
    let folder = folder();
    fs::write(folder.path().join("signpost.toml"), "lisen = \"127.0.0.1:1\"\n").expect("a file");
    let ended = Program::within(folder.path(), &["config"]).env("SIGNPOST_LOG", "loud").run();
    assert!(ended.code == Some(0) && ended.out == DEFAULT, "{:?} {}", ended.code, ended.err);
}

#[test]
fn a_command_that_is_used_wrongly_ends_with_2() {
    let folder = folder();
    for arguments in [
        &[][..],
        &["unknown"],
        &["serve", "--unknown"],
        &["keys"],
        &["keys", "create", "--name", "x"],
        &["keys", "create", "--environment", "sandbox"],
        &["keys", "create", "--environment", "moon", "--name", "x"],
        &["keys", "create", "--environment", "sandbox", "--name", ""],
        &["keys", "create", "--environment", "sandbox", "--name", "a\nb"],
        &["keys", "revoke"],
        &["domains", "secret", "dom_x", "--rotate", "--activate"],
        &["wallet", "scan", "not a code"],
        &["keys", "list", "--config", "missing.toml"],
    ] {
        let ended = Program::within(folder.path(), arguments).run();
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""), "{arguments:?}: {}", ended.err);
        assert!(!ended.err.is_empty(), "{arguments:?}");
    }
    for arguments in [&["--help"][..], &["--version"], &["serve", "--help"]] {
        assert_eq!(Program::within(folder.path(), arguments).run().code, Some(0), "{arguments:?}");
    }
}

#[test]
fn a_value_that_is_not_allowed_is_one_line_with_key_value_and_what_is() {
    for (name, value, allowed) in [
        ("SIGNPOST_LISTEN", "8080", "127.0.0.1:8080"),
        ("SIGNPOST_SESSION_TTL", "2h", "1h"),
        ("SIGNPOST_RATE_LIMIT_VERIFY", "fast", "100/m"),
        ("SIGNPOST_REQUIRE_VERIFIED_DOMAINS", "maybe", "true or false"),
        ("SIGNPOST_ALLOW_PRIVATE_WEBHOOKS", "yes", "auto"),
        ("SIGNPOST_WEBHOOK_RETRY_SCHEDULE", "soon", "2s"),
        ("SIGNPOST_DNS_SERVER", "dns", "port"),
        ("SIGNPOST_TRUSTED_PROXIES", "10.0.0.0/40", "10.0.0.0/8"),
        ("SIGNPOST_DATABASE_URL", "mysql://x", "sqlite:"),
        ("SIGNPOST_SERVICES", "web", "atm"),
        ("SIGNPOST_PUBLIC_URL", "ftp://x", "https"),
        ("SIGNPOST_LOG", "loud", "debug"),
    ] {
        let (folder, key) = (folder(), name.strip_prefix("SIGNPOST_").expect("a prefix").to_lowercase());
        let ended = Program::within(folder.path(), &["serve"]).env(name, value).run();
        let line = ended.failed(2);
        assert!(line.contains(&key) && line.contains(&format!("'{value}'")) && line.contains(allowed), "{line}");
        fs::write(folder.path().join("signpost.toml"), format!("{key} = \"{value}\"\n")).expect("a file");
        let ended = Program::within(folder.path(), &["serve"]).run();
        let line = ended.failed(2);
        assert!(line.contains("signpost.toml") && line.contains(&key) && line.contains(allowed), "{line}");
        assert!(!folder.path().join("signpost-data").exists(), "nothing is made before all is understood");
    }
}

#[test]
fn flags_win_over_variables_over_the_file() {
    let folder = folder();
    fs::write(folder.path().join("signpost.toml"), "listen = \"file\"\n").expect("a file");
    let serve = |flags: &[&str]| Program::within(folder.path(), &[&["serve"], flags].concat());
    assert!(serve(&[]).run().failed(2).contains("'file'"));
    assert!(serve(&[]).env("SIGNPOST_LISTEN", "variable").run().failed(2).contains("'variable'"));
    let flagged = serve(&["--listen", "flag"]).env("SIGNPOST_LISTEN", "variable").run();
    assert!(flagged.failed(2).contains("'flag'"));
}

#[test]
fn a_configuration_that_cannot_be_read_is_one_line() {
    for (text, said) in [
        ("lisen = \"127.0.0.1:1\"\n", "lisen"),
        ("listen = 1.5\n", "listen"),
        ("[server]\nlisten = \"127.0.0.1:1\"\n", "server"),
    ] {
        let folder = folder();
        fs::write(folder.path().join("signpost.toml"), text).expect("a file");
        let ended = Program::within(folder.path(), &["serve"]).run();
        let line = ended.failed(2);
        assert!(line.contains("signpost.toml") && line.contains(said), "{line}");
    }
}

#[test]
fn a_configuration_that_is_no_toml_is_one_line() {
    let folder = folder();
    fs::write(folder.path().join("signpost.toml"), "log = \"off\"\nlisten = \n").expect("a file");
    let ended = Program::within(folder.path(), &["serve"]).run();
    let line = ended.failed(2);
    assert!(line.contains("signpost.toml") && line.contains("TOML") && line.contains("line 2"), "{line}");
}

#[test]
fn whatever_hinders_a_server_is_one_line() {
    let folder = folder();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = taken.local_addr().expect("an address").to_string();
    let ended = Program::within(folder.path(), &["serve", "--listen", &taken]).run();
    assert!(ended.failed(1).contains(&taken), "{}", ended.err);
    fs::write(folder.path().join("file"), "").expect("a file");
    for data_dir in ["file", "file/below"] {
        let ended = Program::within(folder.path(), &["serve", "--data-dir", data_dir, "--listen", "127.0.0.1:0"]).run();
        assert!(ended.failed(1).contains(data_dir) && ended.err.contains("--data-dir"), "{}", ended.err);
        let ended = Program::within(folder.path(), &["keys", "list", "--data-dir", data_dir]).run();
        assert!(ended.failed(1).contains(data_dir), "{}", ended.err);
    }
    let ended = Program::within(folder.path(), &["keys", "list", "--database-url", "sqlite:/nowhere/at/all"]).run();
    assert!(ended.failed(1).contains("/nowhere/at/all"), "{}", ended.err);
    fs::write(folder.path().join("letter"), "no database at all, only words ".repeat(50)).expect("a file");
    let ended = Program::within(folder.path(), &["keys", "list", "--database-url", "sqlite:letter"]).run();
    ended.failed(1);
}

#[test]
fn a_reader_that_went_away_is_no_crash() {
    let folder = folder();
    for arguments in [&["config"][..], &["keys", "list"], &["keys", "list", "--json"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let ended = Program::within(folder.path(), arguments).stdout(writer).run();
        assert!(!ended.err.contains("panicked"), "{arguments:?}: {}", ended.err);
        assert!(matches!(ended.code, Some(0 | 1)), "{arguments:?}: {:?}", ended.code);
    }
}

#[test]
fn many_commands_may_begin_a_new_folder_at_once() {
    let folder = folder();
    let arguments = ["keys", "create", "--environment", "live", "--name", "one of many", "--json"];
    let path = folder.path().to_owned();
    let making: Vec<_> = (0..6)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || Program::within(&path, &arguments).run().json())
        })
        .collect();
    for made in making {
        assert!(text(&made.join().expect("no panic"), "key").starts_with("svc_live_"));
    }
    let list = Program::within(folder.path(), &["keys", "list", "--json"]).run().json();
    assert_eq!(list["keys"].as_array().expect("a list").len(), 6);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("signpost-data")), 0o700);
}
