//! Random mutations of extracts: each is imported or rejected. The content of blocks is also mutated before it is
//! wrapped; otherwise nearly all faults would be wrong lengths.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use signpost_locator::import::ImportError;

use super::{DATA, MACHINE, columns, compressed, dense, import, way};
use crate::mutations::{Random, mutated, seed};
use crate::pbf::{blob, extract, field, integer, packed};

/// Number of mutations in `make test`.
const MUTATIONS: u32 = 5_000;
/// Lengths, field keys, and unterminated numbers.
const TOKENS: &[&str] = &[
    "\u{0}",
    "\u{1}",
    "\u{2}",
    "\u{4}",
    "\u{8}",
    "\n",
    "\u{10}",
    "\u{12}",
    "\u{1a}",
    "*",
    "@",
    "B",
    "H",
    "R",
    "\u{7f}",
    "é",
    "ÿÿÿÿÿ",
    "\u{0}\u{0}\u{0}\u{0}",
    "OSMData",
    "amenity",
    "atm",
];

/// Files, and the content of blocks.
struct ExtractCorpus {
    files: Vec<Vec<u8>>,
    contents: Vec<Vec<u8>>,
}

static CORPUS: LazyLock<ExtractCorpus> = LazyLock::new(|| {
    let [keys, values] = [0, 1].map(|first| MACHINE[first..4].iter().step_by(2).copied().collect::<Vec<_>>());
    let way = way(&[integer(1, 7), field(2, &packed(&keys)), field(3, &packed(&values)), field(8, &packed(&[200, 9]))]);
    let contents = vec![dense(&columns()), way];
    let files = vec![extract(), blob(DATA, &contents[0]), compressed(&contents[0]), compressed(&contents[1])];
    ExtractCorpus { files, contents }
});

fn check(file: &[u8]) {
    match import(file) {
        Ok(import) => assert!(import.rows.len() + import.skipped.total + import.gone.len() > 0, "{file:?}"),
        Err(ImportError::NotPbf(reason)) => assert!(reason.contains("byte "), "{reason}"),
        Err(ImportError::NoMachines { .. } | ImportError::UnsupportedFeature { .. }) => {}
        Err(other) => panic!("{other}: {file:?}"),
    }
}

fn check_mutation(random: &mut Random) {
    check(&mutated(random, &CORPUS.files, TOKENS));
    let content = mutated(random, &CORPUS.contents, TOKENS);
    check(&blob(DATA, &content));
    check(&compressed(&content));
}

#[test]
fn mutated_extracts_are_read_or_rejected() {
    CORPUS.files.iter().for_each(|file| assert!(import(file).is_ok()));
    let mut random = Random(0x4f53_4d44_6174_6121);
    for _ in 0..MUTATIONS {
        check_mutation(&mut random);
    }
}

#[test]
fn truncated_extracts_are_read_or_rejected() {
    for file in &CORPUS.files {
        (0..file.len()).for_each(|end| check(&file[..end]));
    }
    for content in &CORPUS.contents {
        (0..content.len()).for_each(|end| check(&blob(DATA, &content[..end])));
    }
}

#[test]
#[ignore = "it takes a minute: make fuzz"]
fn a_minute_of_extracts_is_read_or_rejected() {
    let (mut random, begun) = (Random(seed()), Instant::now());
    while begun.elapsed() < Duration::from_mins(1) {
        check_mutation(&mut random);
    }
}
