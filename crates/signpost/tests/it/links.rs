//! Links between the pages of the documentation: each leads to a file, and to a heading where it names one.

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
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
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn a_heading_is_named_as_its_page_shows_it() {
    assert_eq!(anchor("Read: `GET /sessions/{id}`"), "read-get-sessionsid");
    assert_eq!(anchor("The `through` rendering"), "the-through-rendering");
    assert_eq!(anchor("`signpost keys create`"), "signpost-keys-create");
}

fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for folder in ["", "docs", "docs/security", "bench", "data", "crates/mcp"] {
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

/// What follows `#` in a link to a heading, as GitHub makes it.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}
