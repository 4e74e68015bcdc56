//! `signpost mcp` without a database.

use std::fs::{self, File};
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{CommandOutput, Program};

const NOTICE: &str = "fictional";

/// Searches with `signpost mcp` in a folder.
fn search(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> CommandOutput {
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        },
    });
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "find_nearest_bitcoin_atm", "arguments": { "location": "Austin, TX", "limit": 1 } },
    });
    let input = tempfile::NamedTempFile::new().unwrap();
    fs::write(input.path(), format!("{initialize}\n{call}\n")).unwrap();
    let mut program = Program::within(folder, &[&["mcp"], arguments].concat());
    for (name, value) in environment {
        program = program.env(name, value);
    }
    program.stdin(File::open(input.path()).unwrap()).run()
}

/// Returns the result of the search.
fn result(ended: &CommandOutput) -> Value {
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let line = ended.out.lines().last().unwrap_or_default();
    let reply: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {}", ended.out));
    assert_eq!(reply["id"], 2, "{reply}");
    reply["result"]["structuredContent"].clone()
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn first_start_serves_fictional_atms() {
    let folder = tempfile::tempdir().unwrap();
    let ended = search(folder.path(), &[], &[]);
    let found = result(&ended);
    assert!(found["notice"].as_str().unwrap().contains(NOTICE), "{found}");
    assert!(!found["atms"].as_array().unwrap().is_empty(), "{found}");
    assert!(ended.err.contains("--data-dir") && ended.err.contains("signpost-data"), "{}", ended.err);
    assert!(is_empty(folder.path()), "the command created a file");

    // The folder without a database, and settings that do not choose a database.
    fs::create_dir(folder.path().join("signpost-data")).unwrap();
    fs::write(folder.path().join("signpost.toml"), "log = \"off\"\n").unwrap();
    let ended = search(folder.path(), &[], &[("SIGNPOST_DATABASE_URL", "")]);
    assert!(result(&ended)["notice"].as_str().unwrap().contains(NOTICE));
    assert!(is_empty(&folder.path().join("signpost-data")), "the command created a file");
}

#[test]
fn chosen_database_must_exist() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("my.toml"), "log = \"off\"\n").unwrap();
    fs::write(folder.join("dir.toml"), "data_dir = \"elsewhere\"\n").unwrap();
    for (arguments, environment) in [
        (&["--data-dir", "signpost-dato"][..], &[][..]),
        (&["--data-dir", "./signpost-data"], &[]),
        (&["--database-url", "sqlite:other"], &[]),
        (&["--config", "my.toml"], &[]),
        (&["--config", "dir.toml"], &[]),
        (&[], &[("SIGNPOST_DATA_DIR", "signpost-dato")]),
        (&[], &[("SIGNPOST_DATABASE_URL", "sqlite:other")]),
    ] {
        let ended = search(folder, arguments, environment);
        assert!(ended.failed(1).contains("database"), "{arguments:?} {environment:?}: {}", ended.err);
    }
    fs::write(folder.join("signpost.toml"), "data_dir = \"elsewhere\"\n").unwrap();
    assert!(search(folder, &[], &[]).failed(1).contains("elsewhere"));
    let names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn default_database_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("machines.csv"), "ref,name,lat,lon\n1,Mine,30.2672,-97.7431\n").unwrap();
    Program::within(folder, &["atms", "import", "machines.csv", "--json"]).run().json();
    let found = result(&search(folder, &[], &[]));
    assert_eq!(found["atms"][0]["name"], "Mine");
    assert!(!found.to_string().contains(NOTICE), "{found}");
    // A database that cannot be opened is not replaced.
    fs::write(folder.join("signpost-data/signpost.sqlite"), "not a database, although it has this name").unwrap();
    assert_eq!(search(folder, &[], &[]).code, Some(1));
}

#[test]
fn installed_entry_starts_without_data() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let arguments = ["mcp", "install", "cursor", "--data-dir", "new", "--print", "--json"];
    let printed = Program::within(folder, &arguments).env("HOME", folder.to_str().unwrap()).run().json();
    let entry: Value = serde_json::from_str(printed[0]["text"].as_str().unwrap()).unwrap();
    let arguments = entry["mcpServers"]["signpost"]["args"].clone();
    let arguments: Vec<String> = serde_json::from_value(arguments).unwrap();
    let arguments: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    let found = result(&search(folder, &arguments, &[]));
    assert!(found["notice"].as_str().unwrap().contains(NOTICE), "{found}");
    assert!(is_empty(folder), "the command created a file");

    // The ATMs of the folder are served as soon as there are any.
    fs::write(folder.join("machines.csv"), "ref,name,lat,lon\n1,Mine,30.2672,-97.7431\n").unwrap();
    Program::within(folder, &["atms", "import", "machines.csv", "--data-dir", "new", "--json"]).run().json();
    let found = result(&search(folder, &arguments, &[]));
    assert_eq!(found["atms"][0]["name"], "Mine");
    assert!(!found.to_string().contains(NOTICE), "{found}");
    fs::write(folder.join("new/signpost.sqlite"), "not a database, although it has this name").unwrap();
    assert_eq!(search(folder, &arguments, &[]).code, Some(1));
}
