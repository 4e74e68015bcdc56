//! Measures the accuracy of the gazetteer outside the United States and lists the failures. It uses the questions in
//! `tests/questions-world.tsv`, grouped by kind.
//!
//! `make accuracy`, or `cargo run --release --example world`; with other questions: `-- FILE` with the same columns.

use std::collections::BTreeMap;
use std::time::Instant;

use signpost_locator::gazetteer::{Gazetteer, MAX_TEXT_CHARS, Unresolved, UnresolvedKind};
use signpost_locator::{Distance, Point};

const QUESTIONS: &str = include_str!("../tests/questions-world.tsv");
/// Maximum distance between a result and the correct point.
const NEAR: Distance = Distance::miles(25.0);
/// Maximum distance between a suggested city of a division and the middle of the division.
const IN_DIVISION: Distance = Distance::miles(500.0);
/// Minimum confidence of a wrong result that counts as confidently wrong.
const CONFIDENT: f64 = 0.5;

/// The results for one kind of question.
#[derive(Default)]
struct Score {
    asked: usize,
    right: usize,
    wrong: usize,
    confidently_wrong: usize,
    unresolved: usize,
}

fn main() {
    let gazetteer = Gazetteer::embedded();
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    let mut failures = Vec::new();
    let file = std::env::args().nth(1).map(|path| std::fs::read_to_string(path).expect("a readable file"));
    for line in file.as_deref().unwrap_or(QUESTIONS).lines().filter(|line| !line.starts_with('#')) {
        let [kind, text, lat, lon] = line.split('\t').collect::<Vec<_>>().try_into().expect("four columns");
        let point = Point::new(lat.parse().expect("a latitude"), lon.parse().expect("a longitude")).expect("a point");
        if point.lat() == 0.0 && point.lon() == 0.0 {
            continue;
        }
        let score = scores.entry(kind).or_default();
        score.asked += 1;
        match gazetteer.resolve(text) {
            Ok(found) if found.point.distance(point) <= NEAR => score.right += 1,
            Ok(found) => {
                score.wrong += 1;
                let is_confident = found.confidence > CONFIDENT;
                score.confidently_wrong += usize::from(is_confident);
                let mark = if is_confident { "CONFIDENTLY " } else { "" };
                failures.push(format!("{mark}wrong {kind}: {text}: {} {}", found.label(), found.confidence));
            }
            Err(Unresolved { kind: UnresolvedKind::TooLarge, suggestions, .. })
                if suggestions.iter().any(|city| city.point.distance(point) <= IN_DIVISION) =>
            {
                score.right += 1;
            }
            Err(unresolved) => {
                score.unresolved += 1;
                failures.push(format!("unresolved {kind}: {text}: {unresolved}"));
            }
        }
    }
    println!("kind       asked  right  wrong  confidently wrong  unresolved");
    let mut all = Score::default();
    for (kind, score) in &scores {
        print(kind, score);
        all.asked += score.asked;
        all.right += score.right;
        all.wrong += score.wrong;
        all.confidently_wrong += score.confidently_wrong;
        all.unresolved += score.unresolved;
    }
    print("all", &all);
    println!("slowest text: {} µs", slowest(&gazetteer));
    failures.sort();
    for failure in failures {
        println!("  {failure}");
    }
}

/// Returns the time of the slowest of several complex texts, in microseconds.
fn slowest(gazetteer: &Gazetteer) -> u128 {
    let parts = [
        "10115 Berlin ",
        "10001, Austin, TX, ",
        "between A and B and ",
        "north side of the ",
        "Leeds, West Yorkshire, England, ",
        "SW1A 1AA ",
        "Springfild, Ilinois, ",
        "Orange County ",
        "ZZ 12345 ",
    ];
    let times = parts.map(|part| {
        let text: String = part.chars().cycle().take(MAX_TEXT_CHARS).collect();
        let start = Instant::now();
        let _ = gazetteer.resolve(&text);
        start.elapsed().as_micros()
    });
    times.into_iter().max().unwrap_or_default()
}

fn print(kind: &str, score: &Score) {
    let Score { asked, right, wrong, confidently_wrong, unresolved } = score;
    println!("{kind:<10} {asked:>5}  {right:>5}  {wrong:>5}  {confidently_wrong:>17}  {unresolved:>10}");
}
