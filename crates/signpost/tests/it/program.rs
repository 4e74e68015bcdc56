//! The command line for operators: commands, documents, exit codes, and one error line.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Program, embedded_database};

/// Prepares a command on a data folder.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Program {
    let data = folder.join("data");
    Program::within(folder, &[&["--data-dir", data.to_str().unwrap()], arguments].concat())
}

/// Returns the JSON document of a command that succeeds.
#[track_caller]
pub(crate) fn document(folder: &Path, arguments: &[&str]) -> Value {
    command(folder, &[arguments, &["--json"]].concat()).run().json()
}

#[test]
fn configuration_round_trips() {
    let folder = tempfile::tempdir().unwrap();
    let printed = command(folder.path(), &["config"]).run();
    fs::write(folder.path().join("signpost.toml"), &printed.out).unwrap();
    embedded_database(&folder.path().join("data"));
    assert_eq!(command(folder.path(), &["keys", "list"]).run().code, Some(0));
    fs::write(folder.path().join("signpost.toml"), "lisen = \"x\"").unwrap();
    assert!(command(folder.path(), &["keys", "list"]).run().failed(2).contains("lisen"));
    fs::write(folder.path().join("signpost.toml"), "session_ttl = \"1s\"").unwrap();
    let wrong = command(folder.path(), &["serve"]).env("SIGNPOST_SESSION_TTL", "soon").run();
    let response = wrong.failed(2);
    assert!(
        ["session_ttl", "environment", "'soon'", "1s to 1h"].iter().all(|part| response.contains(part)),
        "{response}"
    );
    let wrong = command(folder.path(), &["serve"]).env("SIGNPOST_DATABASE_URL", "mysql://localhost/x").run();
    assert!(wrong.failed(2).contains("sqlite:"));
    let away = command(folder.path(), &["serve", "--wait-for-database", "0"]);
    let away = away.env("SIGNPOST_DATABASE_URL", "postgres://nobody@127.0.0.1:1/x");
    assert!(away.run().failed(1).contains("cannot connect to the database"));
}
