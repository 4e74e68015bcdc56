//! What ARCHITECTURE.md calls invariants and no compiler checks.

use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 400;
const MOST_FUNCTION_LINES: usize = 60;
/// Names that say nothing about what is inside.
const FOGGY: &[&str] = &["utils", "util", "common", "helpers", "helper", "manager", "misc", "types"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Rust file of the workspace, with its path from the root.
fn sources() -> Vec<(String, String)> {
    let found = rust_files(&root().join("crates"));
    assert!(found.len() > 50, "the search for sources is broken");
    found
}

/// Every Rust file in a folder, likewise.
fn rust_files(folder: &Path) -> Vec<(String, String)> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
                found.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

#[test]
fn files_are_short() {
    let long = |(name, text): (String, String)| {
        let lines = text.lines().count();
        (lines > MOST_LINES).then(|| format!("{name}: {lines} lines"))
    };
    none(
        "files over 400 lines: split them by what they are about",
        &sources().into_iter().filter_map(long).collect::<Vec<_>>(),
    );
}

#[test]
fn functions_are_short() {
    let mut long = Vec::new();
    for (name, text) in sources() {
        let lines: Vec<_> = text.lines().collect();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| is_function(line)) {
            let indent = &line[..line.len() - line.trim_start().len()];
            // Formatted code ends a signature with a brace or, without a body, with a semicolon, and closes a function
            // at its own depth.
            let rest = &lines[at..];
            let signature = rest.iter().position(|line| line.ends_with(['{', ';', '}'])).unwrap_or(0);
            if !rest[signature].ends_with('{') {
                continue;
            }
            let end = format!("{indent}}}");
            let length = rest.iter().position(|line| *line == end).map_or(1, |last| last + 1);
            if length > MOST_FUNCTION_LINES {
                long.push(format!("{name}:{}: {length} lines", at + 1));
            }
        }
    }
    none("functions over 60 lines: name their parts", &long);
}

fn is_function(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let before_name = ["pub", "pub(crate)", "pub(super)", "const", "async"];
    words.find(|word| !before_name.contains(word)) == Some("fn")
}

#[test]
fn names_say_what_is_inside() {
    let foggy = |(name, _): (String, String)| {
        name.trim_end_matches(".rs").split('/').any(|part| FOGGY.contains(&part)).then_some(name)
    };
    none("names that say nothing", &sources().into_iter().filter_map(foggy).collect::<Vec<_>>());
}

#[test]
fn rules_know_neither_http_nor_a_database() {
    let mut seen = Vec::new();
    for feature in [
        "login/sessions",
        "login/domains",
        "login/users",
        "login/events",
        "platform/accounts",
        "platform/accounts/keys",
        "platform/limits",
        "atm/catalogue",
    ] {
        let name = format!("crates/signpost/src/{feature}/mod.rs");
        let text = fs::read_to_string(root().join(&name)).unwrap();
        for driver in ["rusqlite", "tokio_postgres", "axum::Router", "axum::extract", "axum::Json", "reqwest"] {
            if text.contains(driver) {
                seen.push(format!("{name} names {driver}"));
            }
        }
    }
    none("rules that reach outside", &seen);
}

#[test]
fn the_libraries_do_not_know_each_other() {
    let mut seen = Vec::new();
    for library in ["auth", "locator", "mcp", "text"] {
        let manifest = fs::read_to_string(root().join(format!("crates/{library}/Cargo.toml"))).unwrap();
        for other in ["auth", "locator", "mcp"].iter().filter(|other| **other != library) {
            if manifest.contains(&format!("signpost-{other}")) {
                seen.push(format!("{library} knows {other}"));
            }
        }
        // Time and randomness are arguments there: nothing may bring a clock, a socket or dice.
        for edge in ["getrandom", "rand", "reqwest", "rusqlite"] {
            let dependencies = manifest.split("[dev-dependencies]").next().unwrap();
            if dependencies
                .lines()
                .any(|line| line.starts_with(&format!("{edge}.")) || line.starts_with(&format!("{edge} ")))
            {
                seen.push(format!("{library} depends on {edge}"));
            }
        }
    }
    none("libraries that know too much", &seen);
}

/// Where a test may sleep: actors at a pace of their own, and those who look again and again.
const SLEEPERS: [&str; 5] = [
    "crates/signpost/tests/harness/mod.rs",
    "crates/signpost/tests/harness/program.rs",
    "crates/signpost/tests/harness/proxy.rs",
    "crates/signpost/tests/contract/faults.rs",
    "crates/signpost/tests/contract/soak.rs",
];

#[test]
fn no_test_waits_a_fixed_time() {
    let mut seen = Vec::new();
    for (name, text) in sources().into_iter().filter(|(name, _)| !SLEEPERS.contains(&name.as_str())) {
        // In the program it is what it does; its own tests stand behind this line.
        let first = if name.contains("/tests/") { Some(0) } else { text.find("#[cfg(test)]\nmod tests {") };
        let tests = first.map_or("", |first| &text[first..]);
        // Written apart, so that this file does not find itself.
        if tests.contains(concat!("sle", "ep(")) {
            seen.push(name);
        }
    }
    none("tests that sleep: await what must happen, with the harness' `until`", &seen);
}

#[test]
fn every_crate_obeys_the_lints() {
    for library in ["auth", "locator", "mcp", "signpost", "text"] {
        let manifest = fs::read_to_string(root().join(format!("crates/{library}/Cargo.toml"))).unwrap();
        assert!(manifest.contains("[lints]\nworkspace = true"), "{library} has lints of its own");
    }
}

#[test]
fn every_dependency_is_used() {
    let mut seen = Vec::new();
    for member in ["crates/auth", "crates/locator", "crates/mcp", "crates/signpost", "bench"] {
        let manifest = fs::read_to_string(root().join(member).join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let texts: Vec<_> = rust_files(&root().join(member)).into_iter().map(|(_, text)| text).collect();
        for table in ["dependencies", "dev-dependencies"] {
            for name in manifest.get(table).and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys) {
                let path = format!("{}::", name.replace('-', "_"));
                if !texts.iter().any(|text| names(text, &path)) {
                    seen.push(format!("{member} depends on {name}"));
                }
            }
        }
    }
    none("dependencies that no source names", &seen);
}

/// Whether a text holds a path, and not only as the end of a longer one.
fn names(text: &str, path: &str) -> bool {
    let is_longer = |before: char| before.is_alphanumeric() || matches!(before, '_' | ':');
    text.match_indices(path).any(|(at, _)| !text[..at].ends_with(is_longer))
}

#[test]
fn what_contributing_names_is_there() {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let quoted = text.split('`').skip(1).step_by(2).filter_map(|name| name.split_once("::"));
    let mut missing = Vec::new();
    let mut found = 0;
    for (module, function) in quoted {
        let place = format!("crates/signpost/src/{module}");
        let declares =
            |(name, text): &(String, String)| name.starts_with(&place) && text.contains(&format!("fn {function}("));
        found += 1;
        if !sources().iter().any(declares) {
            missing.push(format!("{module}::{function}"));
        }
    }
    assert!(found > 0, "the search for names is broken");
    none("functions that CONTRIBUTING.md names and nobody declares", &missing);
}
