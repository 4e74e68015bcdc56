//! Fuzz tests with random mutations of texts: cleaning is idempotent, and documents keep their
//! meaning. `make test` runs a few thousand fixed mutations, and `make fuzz` runs random mutations
//! for a minute.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use signpost_text::{clean_line, clean_text, escape_json};

use crate::mutations::{Random, mutated, seed};
use crate::text::{HIDDEN, ORDINARY, is_dangerous};

/// Invisible characters, and characters that affect their spelling.
const TOKENS: &[&str] = &[
    "\u{200d}",
    "\u{200c}",
    "\u{200b}",
    "\u{202e}",
    "\u{fe0f}",
    "\u{fe0e}",
    "\u{20e3}",
    "\u{e0067}",
    "\u{e007f}",
    "\u{180b}",
    "\u{180e}",
    "\u{94d}",
    "\u{1b}[2J",
    "\u{9b}",
    "\u{2028}",
    "\r\n",
    "\t",
    "\u{0}",
    "\"",
    "\\",
    "1",
    "#",
    "a",
    "東",
    "क",
    "ی",
    "ᠠ",
    "👨",
    "🏴",
    "🏽",
    "🇺🇸",
];
/// Number of mutations in `make test`.
const MUTATIONS: u32 = 10_000;

static CORPUS: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| ORDINARY.iter().chain([&HIDDEN]).map(|text| text.as_bytes().to_vec()).collect());

fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for clean in [clean_line, clean_text] {
        let once = clean(&text);
        assert_eq!(clean(&once), once, "cleaned twice: {text:?}");
        assert!(once.len() <= text.len(), "grew: {text:?}");
        let is_left = |letter: char| is_dangerous(letter) && !matches!(letter, '\n' | '\t');
        assert!(!once.contains(is_left), "{text:?} became {once:?}");
    }
    assert!(!clean_line(&text).contains(['\n', '\t']), "{text:?}");
    let document = serde_json::to_string(&text).unwrap();
    let shown = escape_json(&document);
    assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    assert_eq!(clean_text(&shown), shown, "{text:?}");
}

#[test]
fn cleaning_mutated_texts_is_idempotent() {
    let mut random = Random(0x5169_6E70_6F73_7421);
    CORPUS.iter().for_each(|text| check(text));
    for _ in 0..MUTATIONS {
        check(&mutated(&mut random, &CORPUS, TOKENS));
    }
}

#[test]
#[ignore = "it takes a minute: make fuzz"]
fn a_minute_of_cleaning_is_idempotent() {
    let (mut random, begun, mut count) = (Random(seed()), Instant::now(), 0_u64);
    while begun.elapsed() < Duration::from_mins(1) {
        check(&mutated(&mut random, &CORPUS, TOKENS));
        count += 1;
    }
    println!("{count} texts cleaned");
}
