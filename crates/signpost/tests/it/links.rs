//! Links between documentation pages lead to an existing file and heading, and files that a page names exist.

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn links_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a text");
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        for target in targets.filter(|target| !target.contains("://")) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { page.clone() } else { page.parent().expect("a folder").join(file) };
            let is_there = file.exists() && (heading.is_empty() || headings(&file).iter().any(|one| one == heading));
            if !is_there {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn anchors_match_the_headings() {
    assert_eq!(anchor("Read: `GET /sessions/{id}`"), "read-get-sessionsid");
    assert_eq!(anchor("The `through` rendering"), "the-through-rendering");
    assert_eq!(anchor("`signpost keys create`"), "signpost-keys-create");
}

#[test]
fn files_named_by_security_pages_exist() {
    let paths = paths(Path::new(ROOT));
    let mut missing = Vec::new();
    for page in ["SECURITY.md", "docs/security/rfc10027.md", "docs/security/rfc9700.md"] {
        let text = fs::read_to_string(Path::new(ROOT).join(page)).expect("a text");
        // The last column names files.
        let cells = text.lines().filter_map(|line| line.strip_suffix('|')?.rsplit('|').next());
        for name in cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)) {
            if !paths.iter().any(|path| path.ends_with(name)) {
                missing.push(format!("{page}: {name}"));
            }
        }
    }
    assert!(missing.is_empty(), "there is no such file:\n{}", missing.join("\n"));
}

#[test]
fn tests_named_by_the_rfc_9700_page_exist() {
    let paths = paths(&Path::new(ROOT).join("crates"));
    let text = fs::read_to_string(Path::new(ROOT).join("docs/security/rfc9700.md")).expect("a text");
    let has = |file: &str, test: &str| {
        let name = format!("fn {test}(");
        let files = paths.iter().filter(|path| path.ends_with(file));
        files.map(|path| fs::read_to_string(path).expect("a text")).any(|code| code.contains(&name))
    };
    let (mut missing, mut count) = (Vec::new(), 0);
    for cell in text.lines().filter_map(|line| line.strip_suffix('|')?.rsplit('|').next()) {
        let parts: Vec<_> = cell.split('`').skip(1).collect();
        for (file, behind) in parts.chunks(2).map(|pair| (pair[0], pair.get(1).copied().unwrap_or_default())) {
            let named = behind.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')'));
            for test in named.map(|(names, _)| names.split(", ")).into_iter().flatten() {
                count += 1;
                if !has(file, test) {
                    missing.push(format!("{file}: {test}"));
                }
            }
        }
    }
    assert!(missing.is_empty() && count > 40, "of {count} tests these are not there:\n{}", missing.join("\n"));
}

/// Returns all files and folders that are not generated.
fn paths(folder: &Path) -> Vec<PathBuf> {
    let mut paths = vec![folder.to_owned()];
    for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && !["target", "node_modules", "venv"].contains(&name.as_str()) {
            paths.extend(self::paths(&path));
        } else {
            paths.push(path);
        }
    }
    paths
}

fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for folder in [
        "",
        "docs",
        "docs/security",
        "bench",
        "data",
        "crates/mcp",
        "docs/recipes",
        "sdk",
        "sdk/typescript",
        "sdk/python",
        "sdk/go",
        "sdk/rust",
    ] {
        let entries = fs::read_dir(Path::new(ROOT).join(folder)).expect("a folder");
        let files = entries.map(|entry| entry.expect("an entry").path());
        pages.extend(files.filter(|file| file.extension().is_some_and(|kind| kind == "md")));
    }
    pages
}

fn headings(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).expect("a text");
    let titles = text.lines().filter(|line| line.starts_with('#'));
    titles.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

/// Returns the fragment of a heading, as GitHub creates it.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}
