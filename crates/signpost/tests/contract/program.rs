//! The program on a command line: output, exit codes, one-line errors.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use signpost::config::DEFAULT;

use crate::harness::{Program, Service, members, text};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Runs a command and returns its JSON output.
async fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    Program::within(folder, &[arguments, &["--json"]].concat()).run_async().await.json()
}

async fn error_of(folder: &Path, arguments: &[&str]) -> String {
    Program::within(folder, arguments).run_async().await.failed(1).to_owned()
}

#[tokio::test]
async fn keys_are_managed_while_the_server_runs() {
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
    integrator.register_domain("shop.test").await;
    let id = text(&made, "id");
    assert_eq!(find_listed(folder.path(), id, text(&made, "key")).await.get("revoked_at"), None);
    json_of(folder.path(), &["keys", "revoke", id]).await;
    assert!(find_listed(folder.path(), id, text(&made, "key")).await["revoked_at"].is_string());
    service.advance_clock(jiff::SignedDuration::from_secs(5));
    integrator.get("/domains").await.assert_error(401, "invalid_api_key");
    assert!(error_of(folder.path(), &["keys", "revoke", id]).await.contains(id));
    assert!(error_of(folder.path(), &["keys", "revoke", "key_x"]).await.contains("key_x"));
}

/// Returns a listed key, and checks that the list has no secret.
async fn find_listed(folder: &Path, id: &str, key: &str) -> Value {
    let list = json_of(folder, &["keys", "list"]).await;
    assert!(!list.to_string().contains(&key[30..]), "{list}");
    let keys = list["keys"].as_array().expect("a list");
    keys.iter().find(|key| key["id"] == id).unwrap_or_else(|| panic!("{id} is not in {list}")).clone()
}

#[tokio::test]
async fn domains_are_listed_and_secrets_rotated() {
    let folder = folder();
    let service = Service::on(&folder.path().join("signpost-data"), &Service::clock(), &[]).await;
    let domain = service.integrator().await.register_domain("shop.test").await;
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
    assert!(error_of(folder.path(), &["domains", "secret", id, "--activate"]).await.contains("--rotate"));
    let rotated = secret(&["--rotate"]).await;
    assert_eq!((&rotated["domain_id"], &rotated["webhook_secret"]), (&json!(id), &json!(old)));
    let next = text(&rotated, "next_webhook_secret");
    assert!(next.starts_with("whsec_") && next != old);
    assert_eq!(secret(&[]).await, rotated);
    assert_eq!(secret(&["--activate"]).await, json!({ "domain_id": id, "webhook_secret": next }));
    assert!(error_of(folder.path(), &["domains", "secret", id, "--activate"]).await.contains("--rotate"));
    for unknown in ["dom_x", &id.replace("dom_0", "dom_1")] {
        for flags in [&[][..], &["--rotate"], &["--activate"]] {
            let line = error_of(folder.path(), &[&["domains", "secret", unknown], flags].concat()).await;
            assert!(line.contains(unknown), "{line}");
        }
    }
}

#[test]
fn config_prints_the_defaults() {
    let folder = folder();
    let ended = Program::within(folder.path(), &["config"]).run();
    assert_eq!((ended.code, ended.out.as_str(), ended.err.as_str()), (Some(0), DEFAULT, ""));
    assert!(fs::read_dir(folder.path()).expect("a folder").next().is_none(), "printing leaves nothing behind");
}

#[test]
fn config_ignores_an_invalid_configuration() {
    let folder = folder();
    fs::write(folder.path().join("signpost.toml"), "lisen = \"127.0.0.1:1\"\n").expect("a file");
    let ended = Program::within(folder.path(), &["config"]).env("SIGNPOST_LOG", "loud").run();
    assert!(ended.code == Some(0) && ended.out == DEFAULT, "{:?} {}", ended.code, ended.err);
}

#[test]
fn usage_errors_exit_with_2() {
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
fn invalid_value_error_lists_allowed_values() {
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
fn flags_override_variables_and_the_file() {
    let folder = folder();
    fs::write(folder.path().join("signpost.toml"), "listen = \"file\"\n").expect("a file");
    let serve = |flags: &[&str]| Program::within(folder.path(), &[&["serve"], flags].concat());
    assert!(serve(&[]).run().failed(2).contains("'file'"));
    assert!(serve(&[]).env("SIGNPOST_LISTEN", "variable").run().failed(2).contains("'variable'"));
    let flagged = serve(&["--listen", "flag"]).env("SIGNPOST_LISTEN", "variable").run();
    assert!(flagged.failed(2).contains("'flag'"));
}

#[test]
fn invalid_configuration_error_is_one_line() {
    for (text, expected) in [
        ("lisen = \"127.0.0.1:1\"\n", "lisen"),
        ("listen = 1.5\n", "listen"),
        ("[server]\nlisten = \"127.0.0.1:1\"\n", "server"),
    ] {
        let folder = folder();
        fs::write(folder.path().join("signpost.toml"), text).expect("a file");
        let ended = Program::within(folder.path(), &["serve"]).run();
        let line = ended.failed(2);
        assert!(line.contains("signpost.toml") && line.contains(expected), "{line}");
    }
}

#[test]
fn toml_syntax_error_is_one_line() {
    let folder = folder();
    fs::write(folder.path().join("signpost.toml"), "log = \"off\"\nlisten = \n").expect("a file");
    let ended = Program::within(folder.path(), &["serve"]).run();
    let line = ended.failed(2);
    assert!(line.contains("signpost.toml") && line.contains("TOML") && line.contains("line 2"), "{line}");
}

#[test]
fn startup_errors_are_one_line() {
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
    assert!(ended.failed(1).contains("letter is corrupt"), "{}", ended.err);
}

#[test]
fn closed_output_pipe_is_no_crash() {
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
fn concurrent_commands_share_a_new_folder() {
    let folder = folder();
    let path = folder.path().to_owned();
    let machines = "name,address,city,state,lat,lon\nOne,1 Main St,Austin,TX,30.27,-97.74\n";
    fs::write(path.join("machines.csv"), machines).expect("a file");
    let making: Vec<_> = (0..6)
        .map(|number| {
            let (path, source) = (path.clone(), number.to_string());
            let arguments = ["atms", "import", "machines.csv", "--source", &source, "--json"].map(str::to_owned);
            std::thread::spawn(move || {
                let arguments = arguments.each_ref().map(String::as_str);
                Program::within(&path, &arguments).run()
            })
        })
        .collect();
    let mut done = 0;
    for made in making {
        let ended = made.join().expect("no panic");
        // Concurrent imports conflict with an error about the other import, not about a locked database.
        match ended.code {
            Some(0) => done += 1,
            _ => assert!(ended.failed(1).contains("another import ran at the same time"), "{}", ended.err),
        }
    }
    let stats = Program::within(folder.path(), &["atms", "stats", "--json"]).run().json();
    assert_eq!((done > 0, stats["sources"].as_array().expect("a list").len()), (true, done));
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("signpost-data")), 0o700);
}

#[test]
fn missing_database_error_names_its_path() {
    let folder = folder();
    for arguments in [
        &["keys", "create", "--environment", "live", "--name", "x"][..],
        &["keys", "list"],
        &["keys", "rotate", "key_x"],
        &["keys", "revoke", "key_aaaaaaaaaaaaaaaa"],
        &["domains", "list"],
        &["domains", "secret", "dom_x"],
        &["deliveries", "list"],
        &["audit", "list"],
        &["backup", "copy"],
        &["migrate"],
        &["atms", "stats"],
        &["atms", "near", "Austin, TX"],
        &["atms", "sync"],
    ] {
        let ended = Program::within(folder.path(), arguments).run();
        let line = ended.failed(1);
        let looked = folder.path().canonicalize().expect("a folder").join("signpost-data");
        assert!(line.contains(&looked.display().to_string()) && line.contains("--data-dir"), "{arguments:?}: {line}");
        let ended = Program::within(folder.path(), &[arguments, &["--database-url", "sqlite:other"]].concat()).run();
        let line = ended.failed(1);
        assert!(line.contains("at other") && line.contains("--database-url"), "{arguments:?}: {line}");
    }
    assert!(fs::read_dir(folder.path()).expect("a folder").next().is_none(), "something was made");
    fs::write(folder.path().join("machines.csv"), "name,lat,lon\nOne,30.27,-97.74\n").expect("a file");
    Program::within(folder.path(), &["atms", "import", "machines.csv", "--dry-run", "--json"]).run().json();
    assert!(!folder.path().join("signpost-data").exists(), "a dry run made a database");
    fs::write(folder.path().join("letter.csv"), "Dear all,\nall is well\n").expect("a file");
    for file in ["nowhere.csv", "letter.csv"] {
        let ended = Program::within(folder.path(), &["atms", "import", file]).run();
        assert!(ended.failed(1).contains(file), "{}", ended.err);
        assert!(!folder.path().join("signpost-data").exists(), "a failed import created a database");
    }
}

#[test]
fn foreign_database_is_left_unchanged() {
    let folder = folder();
    let path = folder.path().join("other");
    let other = rusqlite::Connection::open(&path).expect("a database");
    other.execute_batch("CREATE TABLE bookmarks (n); INSERT INTO bookmarks VALUES (1)").expect("a table");
    other.close().expect("closed");
    let before = fs::read(&path).expect("a file");
    let ended = Program::within(folder.path(), &["keys", "list", "--database-url", "sqlite:other"]).run();
    assert!(ended.failed(1).contains("no signpost database at other"), "{}", ended.err);
    assert!(fs::read(&path).expect("a file") == before, "the file was changed");
}

/// Each case: a database, its damage, and the error of every command.
#[test]
fn every_command_reports_a_broken_database() {
    let folder = folder();
    fs::write(folder.path().join("machines.csv"), "name,lat,lon\nOne,30.27,-97.74\n").expect("a file");
    Program::within(folder.path(), &["atms", "import", "machines.csv", "--json"]).run().json();
    let file = folder.path().join("signpost-data/signpost.sqlite");
    let by_hand = rusqlite::Connection::open(&file).expect("a database");
    by_hand.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("a checkpoint");
    let whole = fs::read(&file).expect("a file");
    let path = folder.path().join("broken.sqlite");
    let mut torn = whole.clone();
    torn[4096..].fill(0x5a);
    for bytes in
        [&b"a letter, and no database at all. ".repeat(200)[..], &torn, &whole[..whole.len() / 2], &whole[..4000]]
    {
        fs::write(&path, bytes).expect("a file");
        for arguments in [
            &["keys", "list"][..],
            &["atms", "near", "30.27,-97.74"],
            &["atms", "import", "machines.csv"],
            &["migrate"],
            &["backup", "copy"],
            &["serve", "--listen", "127.0.0.1:0"],
            &["move", "--from", "sqlite:broken.sqlite", "--to", "sqlite:new"],
        ] {
            let arguments = [arguments, &["--database-url", "sqlite:broken.sqlite"]].concat();
            let ended = Program::within(folder.path(), &arguments).run();
            assert!(ended.failed(1).contains("broken.sqlite"), "{arguments:?}: {}", ended.err);
        }
    }
}

#[test]
fn symbolic_link_names_the_same_database() {
    let folder = folder();
    let settings = [("SIGNPOST_DATABASE_URL", "sqlite:real.sqlite")];
    let server = Program::serve(folder.path(), &settings);
    std::os::unix::fs::symlink("real.sqlite", folder.path().join("link.sqlite")).expect("a link");
    let second = ["serve", "--listen", "127.0.0.1:0", "--database-url", "sqlite:link.sqlite"];
    let ended = Program::within(folder.path(), &second).run();
    assert!(ended.failed(1).contains("another server is using the database"), "{}", ended.err);
    let moving = ["move", "--from", "sqlite:link.sqlite", "--to", "sqlite:new"];
    assert!(Program::within(folder.path(), &moving).run().failed(1).contains("another server"));
    drop(server);
}

#[test]
fn unknown_variables_are_rejected() {
    let folder = folder();
    for (name, value, nearest) in
        [("SIGNPOST_SEALKEY", "x", "SIGNPOST_SEAL_KEY"), ("SIGNPOST_PORT", "9000", "SIGNPOST_LISTEN")]
    {
        for arguments in [&["serve"][..], &["keys", "list"]] {
            let ended = Program::within(folder.path(), arguments).env(name, value).run();
            let line = ended.failed(2);
            assert!(line.contains(name) && line.contains(nearest), "{line}");
        }
    }
    assert!(fs::read_dir(folder.path()).expect("a folder").next().is_none(), "something was made");
    let links = [("SIGNPOST_PORT", "tcp://10.96.0.7:80"), ("SIGNPOST_SERVICE_HOST", "10.96.0.7")];
    drop(Program::serve(folder.path(), &links));
}
