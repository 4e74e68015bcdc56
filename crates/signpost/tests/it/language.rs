//! The language of comments, documents and test names: limits for words that are rare in technical English.
//!
//! The limits are just above the highest figure of six well-known Rust projects. STYLE.md has the rules; a synonym that
//! evades a limit is worse than the word.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::architecture::{assert_none, root};

/// A phrase: for each position the alternative words.
type Phrase = &'static [&'static [&'static str]];

/// A row of the table of limits.
struct Row {
    name: &'static str,
    phrases: &'static [Phrase],
    /// Maximum number per 1,000 comment lines.
    comments: f64,
    /// Maximum number per 1,000 words of Markdown.
    prose: f64,
}

const ROWS: &[Row] = &[
    row("what", &[&[&["what"]]], 10.0, 3.0),
    row("where", &[&[&["where"]]], 12.0, 2.5),
    row("say, tell", &[&[&["say", "says", "said", "saying", "tell", "tells", "told", "telling"]]], 6.0, 1.5),
    row("nobody, somebody", &[&[&["nobody", "whoever", "whomever", "whosever", "somebody", "anybody"]]], 2.0, 0.5),
    row("whose, whatever", &[&[&["whatever", "wherever", "whichever", "whose"]]], 5.0, 1.0),
    row("those who", &[&[&["those", "that", "one", "ones"], &["who", "which", "of", "whose"]]], 4.0, 1.0),
    row("which", &[&[&["which"]]], 26.0, 5.0),
    row("one, ones", &[&[&["one", "ones"]]], 25.0, 4.0),
    row("alone", &[&[&["alone"]]], 2.0, 0.5),
    row("whether", &[&[&["whether"]]], 15.0, 2.0),
    row(
        "archaic",
        &[&[&["anew", "meanwhile", "beside", "hitherto", "thereof", "whereof", "shall", "alike"]]],
        4.0,
        1.0,
    ),
    row("stands", &[&[&["stand", "stands", "stood"]]], 2.0, 0.5),
    row("holds, keeps", &[&[&["hold", "holds", "keep", "keeps", "kept"]]], 12.0, 2.0),
    row("takes, gives", &[&[&["take", "takes", "took", "give", "gives", "gave"]]], 8.0, 2.5),
    row("the same", &[&[&["the"], &["same"]]], 14.0, 2.0),
    row("of ours", &[&[&["of"], &["ours", "theirs"]], &[&["of"], &["its"], &["own"]]], 1.0, 0.5),
];

/// Words that test names do not contain, and their maximum number per 1,000 names.
const NAME_WORDS: &[&str] =
    &["what", "say", "says", "said", "tell", "tells", "told", "nobody", "somebody", "whoever", "anybody", "where"];
const NAME_LIMIT: f64 = 5.0;
/// Maximum mean length of test names, in characters.
const MEAN_NAME_LENGTH: usize = 40;
/// Number of hits below which no row fails.
const MIN_HITS: usize = 5;
/// Maximum number of hits per ten comment lines of a file, for files with at least ten.
const MAX_HITS_PER_TEN_LINES: usize = 3;
/// Folders with third-party or generated files.
const SKIPPED_FOLDERS: &[&str] =
    &["vendor", "node_modules", "data", "vectors", "target", "dist", "build", "__pycache__", "site-packages"];
/// Third-party documents, generated documents, and the changelog, which is a record.
const SKIPPED_FILES: &[&str] = &["CHANGELOG.md", "LICENSE", "NOTICE", "reference.html", "cli.md"];

const fn row(name: &'static str, phrases: &'static [Phrase], comments: f64, prose: f64) -> Row {
    Row { name, phrases, comments, prose }
}

/// The text of the repository, by the limits that apply.
#[derive(Default)]
struct Corpus {
    /// The comment lines of each file.
    comments: BTreeMap<String, Vec<String>>,
    prose: Vec<String>,
    test_names: Vec<String>,
}

#[test]
fn comments_and_documents_use_plain_english() {
    let corpus = Corpus::read();
    let comment_lines: usize = corpus.comments.values().map(Vec::len).sum();
    let prose_words: usize = corpus.prose.iter().map(|line| line.split_whitespace().count()).sum();
    assert!(comment_lines > 10_000 && prose_words > 40_000, "the search for text is broken");
    let mut over = Vec::new();
    for row in ROWS {
        let comments = corpus.comments.values().flatten().map(|line| row.count(line)).sum();
        let prose = corpus.prose.iter().map(|line| row.count(line)).sum();
        over.extend(excess(row.name, "comment lines", comments, comment_lines, row.comments));
        over.extend(excess(row.name, "words of Markdown", prose, prose_words, row.prose));
    }
    assert_none("see STYLE.md, Language", &over);
}

#[test]
fn no_file_is_far_above_the_limits() {
    let mut over = Vec::new();
    for (file, lines) in Corpus::read().comments {
        let hits: usize = lines.iter().map(|line| ROWS.iter().map(|row| row.count(line)).sum::<usize>()).sum();
        if lines.len() >= 10 && hits * 10 > lines.len() * MAX_HITS_PER_TEN_LINES {
            over.push(format!("{file}: {hits} rare words in {} comment lines", lines.len()));
        }
    }
    assert_none("see STYLE.md, Language", &over);
}

#[test]
fn test_names_are_short_statements() {
    let names = Corpus::read().test_names;
    assert!(names.len() > 1000, "the search for tests is broken");
    let mut over = Vec::new();
    for word in NAME_WORDS {
        let hits = names.iter().filter(|name| name.split('_').any(|part| part == *word)).count();
        over.extend(excess(word, "test names", hits, names.len(), NAME_LIMIT));
    }
    let mean = names.iter().map(String::len).sum::<usize>() / names.len();
    if mean > MEAN_NAME_LENGTH {
        over.push(format!("test names have {mean} characters on average, at most {MEAN_NAME_LENGTH} are allowed"));
    }
    assert_none("see STYLE.md, rule 16", &over);
}

#[test]
fn phrases_are_counted_by_words_outside_of_code() {
    let count = |name: &str, line: &str| ROWS.iter().find(|row| row.name == name).unwrap().count(&without_code(line));
    assert_eq!(count("what", "What `what` is, whatever what_is"), 1);
    assert_eq!(count("of ours", "a name of its own, of ours, of its"), 2);
    assert_eq!(count("those who", "one of those who"), 2);
    assert_eq!(
        comments("a.rs", "let a = 1; // what\n/// what\n/* what\n what */\nlet b;"),
        ["/// what", "/* what", " what */"]
    );
    assert_eq!(comments("a.py", "#!what\n# one\n\"\"\"two\nthree\"\"\"\nx"), ["# one", "\"\"\"two", "three\"\"\""]);
    assert_eq!(
        comments("a.yaml", "# one\na: b # two\ndescription: three\n  four\nb: c"),
        ["# one", "description: three", "  four"]
    );
    assert_eq!(
        test_names("#[test]\nfn a() {}\n#[tokio::test(start_paused = true)]\nasync fn b() {}\nfn c() {}"),
        ["a", "b"]
    );
}

impl Row {
    /// Returns the number of phrases of this row in a line.
    fn count(&self, line: &str) -> usize {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let lower = line.to_lowercase();
        let words: Vec<&str> = lower.split(|letter| !is_part(letter)).filter(|word| !word.is_empty()).collect();
        let count_phrase = |phrase: &Phrase| {
            words
                .windows(phrase.len())
                .filter(|found| found.iter().zip(*phrase).all(|(word, allowed)| allowed.contains(word)))
                .count()
        };
        self.phrases.iter().map(count_phrase).sum()
    }
}

impl Corpus {
    fn read() -> Self {
        let mut corpus = Self::default();
        let mut folders = vec![root()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder of the repository") {
                let path = entry.expect("an entry of the folder").path();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if name.starts_with('.') || SKIPPED_FILES.contains(&name.as_str()) {
                    continue;
                }
                if path.is_dir() && !path.is_symlink() {
                    if !SKIPPED_FOLDERS.contains(&name.as_str()) {
                        folders.push(path);
                    }
                } else {
                    corpus.add(&path, &name);
                }
            }
        }
        corpus
    }

    fn add(&mut self, path: &Path, name: &str) {
        let Some((_, extension)) = name.rsplit_once('.') else { return };
        if !["rs", "ts", "mjs", "js", "go", "py", "yaml", "toml", "md"].contains(&extension) {
            return;
        }
        let Ok(text) = fs::read_to_string(path) else { return };
        if extension == "md" {
            self.prose.extend(prose(&text));
            return;
        }
        if extension == "rs" {
            self.test_names.extend(test_names(&text));
        }
        self.comments.insert(path.display().to_string(), comments(name, &text));
    }
}

fn excess(what: &str, unit: &str, hits: usize, total: usize, limit: f64) -> Option<String> {
    let figure = 1000.0 * f64::from(u32::try_from(hits).ok()?) / f64::from(u32::try_from(total).ok()?);
    (hits >= MIN_HITS && figure > limit).then(|| format!("'{what}': {figure:.1} per 1,000 {unit}, at most {limit}"))
}

/// Returns the lines outside of code blocks, without code and link targets.
fn prose(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push(without_targets(&without_code(line)));
        }
    }
    lines
}

/// Returns the comment lines of a file, without code.
fn comments(name: &str, text: &str) -> Vec<String> {
    let extension = name.rsplit('.').next().unwrap_or_default();
    let mut found = Vec::new();
    let mut is_inside = false;
    // The indentation of the description that the line continues.
    let mut description = None;
    for line in text.lines() {
        let trimmed = line.trim();
        let is_comment = match extension {
            "py" => {
                let quotes = trimmed.matches("\"\"\"").count();
                let was_inside = is_inside;
                is_inside ^= quotes % 2 == 1;
                was_inside || quotes > 0 || trimmed.starts_with('#') && !trimmed.starts_with("#!")
            }
            "yaml" => {
                let indent = line.len() - line.trim_start().len();
                if description.is_some_and(|description| !trimmed.is_empty() && indent <= description) {
                    description = None;
                }
                if description.is_none() && trimmed.starts_with("description:") {
                    description = Some(indent);
                }
                trimmed.starts_with('#') || description.is_some()
            }
            "toml" => trimmed.starts_with('#'),
            _ => {
                let was_inside = is_inside;
                if was_inside || trimmed.starts_with("/*") {
                    is_inside = !trimmed.contains("*/");
                }
                was_inside || trimmed.starts_with("/*") || trimmed.starts_with("//")
            }
        };
        if is_comment {
            found.push(without_code(line));
        }
    }
    found
}

/// Returns the names of the functions that follow a test attribute.
fn test_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if is_test && let Some((_, rest)) = line.split_once("fn ") {
            names.extend(rest.split('(').next().map(str::to_owned));
            is_test = false;
        }
    }
    names
}

/// Returns a line without the code in backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// Returns a line without the targets of links.
fn without_targets(line: &str) -> String {
    let mut parts = line.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    text
}
