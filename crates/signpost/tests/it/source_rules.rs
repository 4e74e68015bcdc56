//! The invariants of ARCHITECTURE.md that no compiler checks.

use std::collections::BTreeSet;
use std::fs;

use crate::architecture::{assert_none, manifest, packages, root, rust_files};

const MAX_LINES: usize = 400;
/// File and module names without meaning.
const MEANINGLESS_NAMES: &[&str] = &["utils", "util", "common", "helpers", "helper", "manager", "misc", "types"];

/// Returns every Rust file of the workspace, with its path from the root.
fn sources() -> Vec<(String, String)> {
    let found = rust_files(&root().join("crates"));
    assert!(found.len() > 50, "the search for sources is broken");
    found
}

#[test]
fn files_are_short() {
    let long = |(name, text): (String, String)| {
        let lines = text.lines().count();
        (lines > MAX_LINES).then(|| format!("{name}: {lines} lines"))
    };
    assert_none(
        "files over 400 lines: split them by topic",
        &sources().into_iter().filter_map(long).collect::<Vec<_>>(),
    );
}

#[test]
fn file_names_have_a_meaning() {
    let foggy = |(name, _): (String, String)| {
        name.trim_end_matches(".rs").split('/').any(|part| MEANINGLESS_NAMES.contains(&part)).then_some(name)
    };
    assert_none("names that say nothing", &sources().into_iter().filter_map(foggy).collect::<Vec<_>>());
}

#[test]
fn libraries_use_no_clock_socket_or_randomness() {
    let mut seen = Vec::new();
    for library in ["auth", "locator", "mcp", "text"] {
        let manifest = manifest(&root().join("crates").join(library));
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table).expect("dependencies");
        // Time and randomness are arguments of libraries. Optional dependencies are excluded: only the client of the
        // SDK needs them.
        let is_needed = |edge: &&&str| {
            dependencies.get(**edge).is_some_and(|dependency| dependency.get("optional") != Some(&true.into()))
        };
        for edge in ["getrandom", "rand", "reqwest", "rusqlite"].iter().filter(is_needed) {
            seen.push(format!("{library} depends on {edge}"));
        }
    }
    assert_none("libraries that reach outside", &seen);
}

#[test]
fn store_is_independent_of_services() {
    let manifest = fs::read_to_string(root().join("crates/store/Cargo.toml")).unwrap();
    let mut seen: Vec<_> = manifest.lines().filter(|line| line.starts_with("signpost-")).map(str::to_owned).collect();
    for (name, text) in rust_files(&root().join("crates/store/src")) {
        let program = text.split("#[cfg(test)]").next().unwrap();
        for table in ["sessions", "domains", "deliveries", "api_keys", "atms", "catalogue", "deployment"] {
            for verb in ["FROM", "INTO", "UPDATE"] {
                if program.contains(&format!("{verb} {table}")) {
                    seen.push(format!("{name} names the table {table}"));
                }
            }
        }
    }
    assert_none("domain terms in the generic store", &seen);
}

/// The files that may sleep: actors with a fixed pace, and polling loops.
const SLEEPING_FILES: [&str; 6] = [
    "crates/signpost/tests/harness/mod.rs",
    "crates/signpost/tests/harness/program.rs",
    "crates/signpost/tests/harness/proxy.rs",
    "crates/signpost/tests/contract/faults.rs",
    "crates/signpost/tests/contract/rolling.rs",
    "crates/signpost/tests/contract/soak.rs",
];

#[test]
fn tests_wait_without_sleeping() {
    let mut seen = Vec::new();
    for (name, text) in sources().into_iter().filter(|(name, _)| !SLEEPING_FILES.contains(&name.as_str())) {
        // The program may sleep; its unit tests start at this line.
        let first = if name.contains("/tests/") { Some(0) } else { text.find("#[cfg(test)]\nmod tests {") };
        let tests = first.map_or("", |first| &text[first..]);
        // Split, so that this file does not match.
        if tests.contains(concat!("sle", "ep(")) {
            seen.push(name);
        }
    }
    assert_none("tests that sleep: await the condition with the harness' `until`", &seen);
}

#[test]
fn crates_use_the_workspace_lints() {
    for (package, folder) in packages() {
        let lints = manifest(&folder).remove("lints");
        let workspace = toml::Table::from_iter([("workspace".to_owned(), true.into())]);
        assert_eq!(lints, Some(workspace.into()), "{package} overrides the lints of the workspace");
    }
}

#[test]
fn postgres_run_skips_only_listed_modules() {
    let only: BTreeSet<_> = include_str!("../../../../tests/embedded-only.txt").lines().collect();
    let files = rust_files(&root().join("crates/signpost/tests"));
    // Returns the module of a file or folder of either binary.
    let in_binary = |name: &str| {
        let path = name.strip_prefix("crates/signpost/tests/")?;
        let module = path.strip_prefix("contract/").or_else(|| path.strip_prefix("it/"))?;
        Some(module.split(['/', '.']).next()?.to_owned())
    };
    let modules: BTreeSet<_> = files.iter().filter_map(|(name, _)| in_binary(name)).collect();
    let unknown = only.iter().filter(|name| !modules.contains(**name)).map(|name| format!("{name}: no such module"));
    // `--skip` matches its text anywhere in the name of a test.
    let is_skipped = |module: &&String| !only.contains(&***module) && only.iter().any(|name| module.ends_with(name));
    let skipped = modules.iter().filter(is_skipped).map(|module| format!("{module} is skipped too"));
    assert_none("tests/embedded-only.txt: correct these lines", &unknown.chain(skipped).collect::<Vec<_>>());
}
