//! ARCHITECTURE.md and CONTRIBUTING.md name all existing parts, and no others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::imports::imports;
use super::layers::{CRATE_DEPENDENCIES, module_path};
use super::{assert_none, root};

/// Maximum number of modules that a request passes.
const MAX_MODULE_CHANGES: usize = 12;

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// Returns the text below a heading, up to the next heading.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no '{heading}'"));
    rest.split("\n## ").next().unwrap_or(rest)
}

/// Returns the paths of the tree: the first name of each line, below its parent folder.
fn tree() -> Vec<String> {
    let text = read("ARCHITECTURE.md");
    let drawn = section(&text, "The tree").split("```\n").nth(1).expect("a tree").lines();
    let (mut paths, mut folder) = (Vec::new(), "");
    for line in drawn.filter(|line| !line.starts_with("   ")) {
        let names = line.trim_start().split("  ").next().unwrap_or_default();
        for name in names.split(' ').filter(|name| !name.is_empty()) {
            if line.starts_with(' ') {
                paths.push(format!("{folder}{name}"));
            } else {
                folder = name;
                paths.push(name.to_owned());
            }
        }
    }
    assert!(paths.len() > 100, "the search for the tree is broken: {paths:?}");
    paths
}

#[test]
fn tree_names_existing_paths() {
    let is_missing = |path: &String| !root().join(path).exists();
    assert_none(
        "ARCHITECTURE.md names paths that do not exist",
        &tree().into_iter().filter(is_missing).collect::<Vec<_>>(),
    );
}

#[test]
fn tree_names_every_module() {
    let drawn: BTreeSet<_> = tree().into_iter().map(|path| path.trim_end_matches('/').to_owned()).collect();
    let mut missing = Vec::new();
    for folder in CRATE_DEPENDENCIES.iter().map(|(package, _)| format!("crates/{package}/src")) {
        let entries = fs::read_dir(root().join(&folder)).unwrap();
        for name in entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
            let path = format!("{folder}/{name}");
            let is_tested = name.ends_with("tests.rs");
            if !["lib.rs", "main.rs", "mod.rs"].contains(&&*name)
                && !is_tested
                && !drawn.iter().any(|drawn| drawn.starts_with(&path))
            {
                missing.push(path);
            }
        }
    }
    assert_none("modules that ARCHITECTURE.md does not name", &missing);
}

/// Returns the files of a request's path: the first name of each step.
fn request_path(heading: &str) -> Vec<String> {
    let text = read("ARCHITECTURE.md");
    let steps = section(&text, heading).lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    let files: Vec<_> = steps.map(|step| step.split('`').nth(1).expect("a file").to_owned()).collect();
    assert!(files.len() > 5, "the search for steps is broken");
    files
}

#[test]
fn requests_pass_few_modules_downwards() {
    let mut below: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for import in imports() {
        below.entry(import.from).or_default().push(import.to);
    }
    for heading in [
        "A walk: `POST /v1/sessions`",
        "A walk: a hosted login",
        "A walk: an OpenID Connect login",
        "A walk: `tools/call`",
    ] {
        let files = request_path(heading);
        let mut reached = BTreeSet::from([files[0].clone()]);
        for file in &files {
            assert!(root().join(file).is_file(), "{heading}: {file} does not exist");
            assert!(reached.contains(file), "{heading}: no earlier file imports {file}, directly or indirectly");
            let mut next = vec![file.clone()];
            while let Some(file) = next.pop() {
                next.extend(below.get(&file).into_iter().flatten().filter(|to| reached.insert((*to).clone())).cloned());
            }
        }
        let modules = files.iter().map(|file| {
            let path = module_path(file);
            let is_library = ["auth", "locator", "mcp", "text"].contains(&&*path.package);
            if is_library { path.package } else { path.to_string() }
        });
        let modules: Vec<_> = modules.collect();
        let changes = modules.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes <= MAX_MODULE_CHANGES, "{heading}: {changes} changes of module, {modules:?}");
    }
}

#[test]
fn contributing_names_existing_files() {
    let text = read("CONTRIBUTING.md");
    let parts: Vec<_> = section(&text, "Where things go").split('`').collect();
    // Every second part is code between backticks; NAME is a placeholder.
    let is_path = |name: &str| name.contains('/') && !name.contains(' ') && !name.starts_with('/');
    let (mut missing, mut found) = (Vec::new(), 0);
    for at in (1..parts.len()).step_by(2).filter(|at| is_path(parts[*at])) {
        let path = parts[at].split("NAME").next().unwrap_or_default();
        found += 1;
        if !root().join(path).exists() {
            missing.push(parts[at].to_owned());
        } else if at > 1 && parts[at - 1] == " in " && !read(path).contains(parts[at - 2]) {
            missing.push(format!("{} in {path}", parts[at - 2]));
        }
    }
    assert!(found > 20, "the search for names is broken");
    assert_none("CONTRIBUTING.md names files that do not exist", &missing);
}
