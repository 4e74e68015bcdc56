//! The program as its operator meets it: commands, documents, exit codes, one clear line where something is wrong.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::endpoint::{Answer, Endpoint};
use crate::harness::server_in;

/// A command of the program on a data folder, with none of this machine's settings.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_signpost"));
    command.current_dir(folder).arg("--data-dir").arg(folder.join("data")).args(arguments);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SIGNPOST_") {
            command.env_remove(name);
        }
    }
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

/// The one JSON document of a command that succeeds.
#[track_caller]
pub(crate) fn document(folder: &Path, arguments: &[&str]) -> Value {
    let output = run(folder, &[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The one line of a command that fails.
#[track_caller]
fn failure(mut command: Command, code: i32) -> String {
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{told}");
    assert_eq!(told.trim_end().lines().count(), 1, "{told}");
    assert!(output.stdout.is_empty());
    told
}

/// A running server; ended with the test.
pub(crate) struct Serving {
    pub(crate) child: Child,
    pub(crate) addresses: Value,
}

impl Serving {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Self { child, addresses: serde_json::from_str(&line).unwrap() }
    }

    pub(crate) fn address(&self, name: &str) -> &str {
        self.addresses[name].as_str().unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn serve(folder: &Path) -> Command {
    let mut command = command(folder, &["serve", "--json", "--listen", "127.0.0.1:0"]);
    for limit in ["MCP", "SSE", "CREATE_SESSION", "GET_SESSION", "VERIFY", "DOMAINS", "ANSWER"] {
        command.env(format!("SIGNPOST_RATE_LIMIT_{limit}"), "off");
    }
    command.env("SIGNPOST_LOG", "off");
    command
}

#[test]
fn keys_are_made_listed_and_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let made =
        document(folder.path(), &["keys", "create", "--environment", "live", "--name", "shop", "--account", "a"]);
    assert!(made["key"].as_str().unwrap().starts_with("svc_live_"));
    assert_eq!(
        (made["environment"].as_str(), made["name"].as_str(), made["account"].as_str()),
        (Some("live"), Some("shop"), Some("a"))
    );
    let listed = document(folder.path(), &["keys", "list"]);
    assert_eq!(listed["keys"][0]["id"], made["id"]);
    assert!(!listed.to_string().contains(made["key"].as_str().unwrap()));
    let id = made["id"].as_str().unwrap();
    assert_eq!(document(folder.path(), &["keys", "revoke", id])["revoked"], true);
    let told = failure(command(folder.path(), &["keys", "revoke", id]), 1);
    assert!(told.contains("keys list"), "{told}");
    failure(command(folder.path(), &["keys", "create", "--environment", "live", "--name", " "]), 2);
    assert_eq!(run(folder.path(), &["keys", "create", "--environment", "test", "--name", "x"]).status.code(), Some(2));
}

#[tokio::test]
async fn a_domains_secret_is_shown_rotated_and_activated() {
    let folder = tempfile::tempdir().unwrap();
    let server = server_in(&folder.path().join("data"), &[]).await;
    let created = server.integrator().await.register("example.com", "https://example.com/x").await;
    let id = created["id"].as_str().unwrap();
    assert_eq!(document(folder.path(), &["domains", "list"])["domains"][0]["id"], id);
    let shown = document(folder.path(), &["domains", "secret", id]);
    assert_eq!(shown, json!({ "domain_id": id, "webhook_secret": created["webhook_secret"] }));
    let rotated = document(folder.path(), &["domains", "secret", id, "--rotate"]);
    assert_eq!(rotated["webhook_secret"], created["webhook_secret"]);
    let activated = document(folder.path(), &["domains", "secret", id, "--activate"]);
    assert_eq!(activated, json!({ "domain_id": id, "webhook_secret": rotated["next_webhook_secret"] }));
    failure(command(folder.path(), &["domains", "secret", id, "--activate"]), 1);
    failure(command(folder.path(), &["domains", "secret", "dom_x"]), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_logs_in_by_the_codes_text() {
    let (folder, endpoint) = (tempfile::tempdir().unwrap(), Endpoint::start().await);
    let server = server_in(&folder.path().join("data"), &[]).await;
    // The wallet's clock is the machine's, not the test's.
    let now = signpost::clock::Clock::System.now().as_second();
    server.pass(now - server.now());
    let integrator = server.integrator().await;
    integrator.register("localhost", &endpoint.url("/login")).await;
    let session = integrator.post("/sessions", json!({ "domain": "localhost" })).await.expect(201);
    let (folder, qr) = (folder.path(), session["qr_data"].as_str().unwrap());
    assert!(failure(command(folder, &["wallet", "show"]), 1).contains("wallet new"));
    let made = document(folder, &["wallet", "new"]);
    failure(command(folder, &["wallet", "new"]), 1);
    assert_eq!(document(folder, &["wallet", "show"]), made);
    let signed = document(folder, &["wallet", "sign", "abc"]);
    let verify = json!({ "public_key": made["public_key"], "signature": signed["signature"], "message": "abc" });
    assert_eq!(integrator.post("/verify", verify).await.expect(200)["valid"], true);
    assert!(failure(command(folder, &["wallet", "scan", qr]), 2).contains("--yes"));
    let scanned = document(folder, &["wallet", "scan", qr, "--yes"]);
    assert_eq!((scanned["status"].as_u64(), &scanned["public_key"]), (Some(200), &made["public_key"]));
    let answer = endpoint.wait_for(1).await[0].json();
    let path = format!("/sessions/{}/authenticate", session["id"].as_str().unwrap());
    integrator.post(&path, answer).await.expect(200);
    endpoint.answer(Answer::Status(404));
    assert_eq!(run(folder, &["wallet", "scan", qr, "--yes"]).status.code(), Some(1));
    assert!(failure(command(folder, &["wallet", "scan", "https://example.com", "--yes"]), 2).contains("svc://"));
}

#[test]
fn the_configuration_prints_itself_and_reads_itself() {
    let folder = tempfile::tempdir().unwrap();
    let printed = run(folder.path(), &["config"]);
    fs::write(folder.path().join("signpost.toml"), &printed.stdout).unwrap();
    assert_eq!(run(folder.path(), &["keys", "list"]).status.code(), Some(0));
    fs::write(folder.path().join("signpost.toml"), "lisen = \"x\"").unwrap();
    assert!(failure(command(folder.path(), &["keys", "list"]), 2).contains("lisen"));
    fs::write(folder.path().join("signpost.toml"), "session_ttl = \"1s\"").unwrap();
    let mut wrong = command(folder.path(), &["serve"]);
    wrong.env("SIGNPOST_SESSION_TTL", "soon");
    let told = failure(wrong, 2);
    assert!(["session_ttl", "environment", "'soon'", "1s to 1h"].iter().all(|part| told.contains(part)), "{told}");
    let mut wrong = command(folder.path(), &["serve"]);
    wrong.env("SIGNPOST_DATABASE_URL", "postgres://localhost/x");
    assert!(failure(wrong, 2).contains("sqlite:"));
}

#[test]
fn what_keeps_a_server_from_starting_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let running = Serving::start(serve(folder.path()));
    let told = failure(command(folder.path(), &["serve", "--listen", "127.0.0.1:0"]), 1);
    assert!(told.contains("another server") && told.contains("--data-dir"), "{told}");
    let other = tempfile::tempdir().unwrap();
    let told = failure(command(other.path(), &["serve", "--listen", running.address("listen")]), 1);
    assert!(told.contains(running.address("listen")) && told.contains("--listen"), "{told}");
    fs::write(other.path().join("file"), "").unwrap();
    let mut blocked = Command::new(env!("CARGO_BIN_EXE_signpost"));
    blocked.arg("serve").arg("--data-dir").arg(other.path().join("file/data"));
    let told = failure(blocked, 1);
    assert!(told.contains("file/data") && told.contains("--data-dir"), "{told}");
    fs::create_dir_all(other.path().join("data2")).unwrap();
    fs::write(other.path().join("data2/signpost.sqlite"), "this is no database at all, but long enough to be read")
        .unwrap();
    let mut broken = Command::new(env!("CARGO_BIN_EXE_signpost"));
    broken.args(["serve", "--listen", "127.0.0.1:0"]).arg("--data-dir").arg(other.path().join("data2"));
    assert!(failure(broken, 1).contains("not a database"));
}

#[cfg(unix)]
#[test]
fn a_server_that_is_asked_to_stop_ends_well() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Serving::start(serve(folder.path()));
    let ended = Command::new("kill").arg("-TERM").arg(running.child.id().to_string()).status().unwrap();
    assert!(ended.success());
    assert_eq!(running.child.wait().unwrap().code(), Some(0));
}
