//! The words of `docs/glossary.md`: the help and the docs use no word of its last column.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;
use signpost::cli;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const GLOSSARY: &str = include_str!("../../../../docs/glossary.md");

/// A glossary row with forbidden phrases.
struct Entry {
    word: String,
    /// Phrases as lists of words.
    forbidden: Vec<Vec<String>>,
}

/// A word of a text and its line number. Code counts as a single word that matches no phrase.
type Word = (usize, String);

#[test]
fn docs_and_help_use_the_glossary_terms() {
    let glossary = glossary(GLOSSARY);
    let mut wrong = Vec::new();
    for (name, text) in texts() {
        wrong.extend(violations(&glossary, &text).into_iter().map(|(line, what)| format!("{name}:{line}: {what}")));
    }
    assert!(wrong.is_empty(), "see docs/glossary.md:\n{}", wrong.join("\n"));
}

#[test]
fn phrases_match_across_lines_and_in_the_plural() {
    let glossary =
        glossary("| word | means | not |\n|---|---|---|\n| signing `x` secret | a key | Webhook secret, sealed |\n");
    let found = |text: &str| violations(&glossary, text);
    let expected = "write 'signing `x` secret', not 'webhook secret'".to_owned();
    assert_eq!(found("one\nAll *webhook\n  secrets* are"), [(2, expected.clone())]);
    assert_eq!(found("`the key`s webhook secret"), [(1, expected)]);
    for text in ["a webhook. Secretly", "a `webhook secret` is", "```\nsealed\n```", "webhook `x` secret", "unsealed"] {
        assert_eq!(found(text), [], "{text}");
    }
}

/// Returns the rows of all tables whose last column is named `not`.
fn glossary(page: &str) -> Vec<Entry> {
    let cells = |line: &str| -> Option<[String; 3]> {
        let cells: Vec<_> =
            line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(|cell| cell.trim().to_owned()).collect();
        cells.try_into().ok()
    };
    let mut entries = Vec::new();
    for [word, _, not] in page.lines().filter_map(cells).filter(|[.., not]| not != "not" && !not.starts_with("---")) {
        let phrases = not.split(',').map(|phrase| phrase.split_whitespace().map(str::to_lowercase).collect());
        let forbidden: Vec<Vec<String>> = phrases.filter(|words: &Vec<_>| !words.is_empty()).collect();
        if !forbidden.is_empty() {
            entries.push(Entry { word, forbidden });
        }
    }
    assert!(!entries.is_empty(), "the glossary forbids nothing");
    entries
}

fn violations(glossary: &[Entry], text: &str) -> Vec<(usize, String)> {
    let words = words(text);
    let is_at = |at: usize, phrase: &[String]| {
        let found = words.get(at..at + phrase.len()).unwrap_or_default();
        let (Some((_, last)), Some(end)) = (found.last(), phrase.last()) else { return false };
        let is_last = last == end || last.strip_suffix('s') == Some(end);
        is_last && found.iter().zip(&phrase[..phrase.len() - 1]).all(|((_, word), expected)| word == expected)
    };
    let mut wrong = Vec::new();
    for Entry { word, forbidden } in glossary {
        for phrase in forbidden {
            let found = (0..words.len()).filter(|at| is_at(*at, phrase));
            wrong.extend(found.map(|at| (words[at].0, format!("write '{word}', not '{}'", phrase.join(" ")))));
        }
    }
    wrong
}

fn words(text: &str) -> Vec<Word> {
    let (mut words, mut is_block, mut is_code): (Vec<Word>, bool, bool) = (Vec::new(), false, false);
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim_start().starts_with("```") {
            is_block = !is_block;
        } else if text.trim().is_empty() {
            is_code = false;
        } else if !is_block {
            for (part, text) in text.split('`').enumerate() {
                if part > 0 {
                    is_code = !is_code;
                    words.push((line, "`".to_owned()));
                }
                let is_part = |letter: char| letter.is_alphanumeric() || "'-._".contains(letter);
                let plain = text.split(|letter| !is_part(letter)).filter(|word| !is_code && !word.is_empty());
                words.extend(plain.map(|word| (line, word.trim_end_matches('.').to_lowercase())));
            }
        }
    }
    words
}

/// Returns all texts for readers, by name.
fn texts() -> Vec<(String, String)> {
    let files = ["README.md", "SECURITY.md", "CHANGELOG.md", "openapi.yaml", "crates/signpost/config.default.toml"];
    let mut files: Vec<PathBuf> = files.map(PathBuf::from).to_vec();
    files.extend(["", "typescript", "python", "go", "rust"].map(|sdk| Path::new("sdk").join(sdk).join("README.md")));
    for folder in ["docs", "docs/recipes", "docs/security", "deploy", "deploy/kubernetes"] {
        let entries = fs::read_dir(Path::new(ROOT).join(folder)).expect("a folder");
        let names = entries.map(|entry| Path::new(folder).join(entry.expect("an entry").file_name()));
        let is_read = |file: &PathBuf| Path::new(ROOT).join(file).is_file() && !file.ends_with("glossary.md");
        files.extend(names.filter(is_read));
    }
    let read =
        |file: PathBuf| (file.display().to_string(), fs::read_to_string(Path::new(ROOT).join(&file)).expect("a text"));
    let mut texts: Vec<_> = files.into_iter().map(read).collect();
    let mut root = cli::command();
    root.build();
    help(&mut texts, root);
    texts
}

fn help(texts: &mut Vec<(String, String)>, mut command: Command) {
    let name = command.get_bin_name().unwrap_or("signpost").to_owned();
    texts.push((format!("{name} --help"), command.render_long_help().to_string()));
    for one in command.get_subcommands().filter(|one| one.get_name() != "help") {
        help(texts, one.clone());
    }
}
