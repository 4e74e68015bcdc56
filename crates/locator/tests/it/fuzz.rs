//! Fuzz tests: random mutations of typical texts have a valid result. `make test` tries a fixed set of a few thousand
//! mutations; `make fuzz` tries other mutations for a minute and prints the slowest.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use signpost_locator::gazetteer::MAX_TEXT_CHARS;

use crate::GAZETTEER;
use crate::mutations::{Random, mutated, seed};
use crate::question::questions;

/// Number of mutations in `make test`.
const MUTATIONS: u32 = 3_000;
/// Number of the slowest texts that are printed.
const PRINTED: usize = 10;

/// Parts of texts that are significant for the resolver or slow.
const TOKENS: &[&str] = &[
    ",",
    ", ",
    " ",
    " in ",
    " near ",
    "near me",
    " and ",
    " County",
    "TX",
    ", CA",
    ", Georgia",
    "Mass.",
    "St. ",
    "North ",
    " Township",
    " Airport",
    "Street",
    "(",
    ")",
    "1",
    "90210",
    "-1234",
    "77F5+VR",
    "+",
    "-74.0",
    "40.7",
    "°",
    "'",
    "\"",
    "https://maps.google.com/?q=",
    "geo:",
    "é",
    "\u{301}",
    "\u{200b}",
    "\u{0}",
    "ʻ",
    "ß",
    "İ",
    "ﬁ",
    "東京",
    "กรุงเทพ",
    "अ",
    "Llanfairpwllgwyngyll",
    "saskatchewan",
];

static CORPUS: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| questions().map(|question| question.text.as_bytes().to_vec()).collect());

/// Converts bytes to a text of at most the maximum length.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(MAX_TEXT_CHARS).collect()
}

fn check(text: &str) {
    let answer = GAZETTEER.resolve(text);
    match &answer {
        Ok(found) => {
            assert!(found.confidence > 0.0 && found.confidence <= 1.0, "{text:?}: {found:?}");
            assert!(!found.name.is_empty() && found.alternatives.len() <= 5, "{text:?}: {found:?}");
            assert!(found.notes.iter().all(|note| is_sentence(&note.to_string())), "{text:?}: {:?}", found.notes);
        }
        Err(error) => {
            assert!(!error.reason.is_empty() && error.suggestions.len() <= 5, "{text:?}: {error:?}");
        }
    }
    assert_eq!(GAZETTEER.explain(text).answer, answer, "{text:?}");
}

/// Checks whether a note is a complete sentence, because tools join several notes.
fn is_sentence(note: &str) -> bool {
    note.ends_with(['.', '?']) && note.chars().count() <= 2 * MAX_TEXT_CHARS
}

#[test]
fn mutated_questions_are_resolved_or_rejected() {
    let mut random = Random(0x5169_6E70_6F73_7421);
    CORPUS.iter().for_each(|bytes| check(&text(bytes)));
    for _ in 0..MUTATIONS {
        check(&text(&mutated(&mut random, &CORPUS, TOKENS)));
    }
}

/// Mutates random texts for a minute, preferring the slowest, to find slow texts.
#[test]
#[ignore = "it takes a minute: make fuzz"]
fn a_minute_of_texts_is_resolved_or_rejected() {
    let (mut random, begun, mut count) = (Random(seed()), Instant::now(), 0_u64);
    let mut slowest: Vec<(Duration, Vec<u8>)> = Vec::new();
    while begun.elapsed() < Duration::from_mins(1) {
        let slow: Vec<Vec<u8>> = slowest.iter().map(|(_, text)| text.clone()).collect();
        let corpus = if slow.is_empty() || random.below(2) == 0 { &*CORPUS } else { &slow };
        let text = text(&mutated(&mut random, corpus, TOKENS));
        check(&text);
        // The minimum is used, because other load on the machine can only increase the time.
        let took = (0..3).map(|_| time(&text)).min().expect("three times");
        if !slow.iter().any(|known| known == text.as_bytes()) {
            slowest.push((took, text.into_bytes()));
        }
        slowest.sort_by_key(|(took, _)| std::cmp::Reverse(*took));
        slowest.truncate(PRINTED);
        count += 1;
    }
    println!("{count} texts answered; the slowest:");
    for (took, text) in &slowest {
        println!("  {took:?} {:?}", String::from_utf8_lossy(text));
    }
}

fn time(text: &str) -> Duration {
    let start = Instant::now();
    drop(black_box(GAZETTEER.resolve(text)));
    start.elapsed()
}
