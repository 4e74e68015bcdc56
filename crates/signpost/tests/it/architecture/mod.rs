//! The module structure, which no compiler checks: permitted imports, no cycles, unique type names, and documents that
//! name existing files. ARCHITECTURE.md draws it.

mod cycles;
mod documents;
mod imports;
mod io_boundary;
mod layers;
mod profiles;
mod type_names;

use std::fs;
use std::path::{Path, PathBuf};

/// The remedy for a forbidden import.
const REMEDY: &str = ": move the shared part down, or pass it as an argument";

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the crates of the product by package name.
pub(crate) fn packages() -> Vec<(String, PathBuf)> {
    let folders = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let mut packages: Vec<_> = folders.map(|folder| (package(&folder), folder)).collect();
    packages.sort();
    packages
}

fn package(folder: &Path) -> String {
    manifest(folder)["package"]["name"].as_str().expect("a name").to_owned()
}

pub(crate) fn manifest(folder: &Path) -> toml::Table {
    fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap()
}

/// Returns every Rust file in a folder, with its path from the root.
pub(crate) fn rust_files(folder: &Path) -> Vec<(String, String)> {
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

pub(crate) fn assert_none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}
