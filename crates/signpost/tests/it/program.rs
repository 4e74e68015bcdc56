//! The program as its operator meets it: commands, documents, exit codes, one clear line where something is wrong.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

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
    wrong.env("SIGNPOST_DATABASE_URL", "mysql://localhost/x");
    assert!(failure(wrong, 2).contains("sqlite:"));
    let mut away = command(folder.path(), &["serve"]);
    away.env("SIGNPOST_DATABASE_URL", "postgres://nobody@127.0.0.1:1/x");
    assert!(failure(away, 1).contains("cannot connect to the database"));
}
