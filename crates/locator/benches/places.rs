//! Benchmark of place lookups by exact and by misspelt name, in microseconds, compared with a hash table of the names
//! and with a linear search. Also measures streets, landmarks and nonsense relative to an exact name, and the slowest
//! texts that `make fuzz` found.
//!
//! `cargo bench -p signpost-locator --bench places`. The variants alternate, and the fastest round of each counts.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Point, fold, sample};

const ROUNDS: usize = 7;
/// Number of lookups of each text in a round.
const TIMES: u32 = 20;
/// Maximum time of any lookup, in milliseconds.
const LONGEST: f64 = 5.0;

const STREETS: [&str; 4] = [
    "1200 S Lamar Blvd, Austin, TX",
    "corner of 5th and Main in Tulsa",
    "exit 12 on I-95 in Savannah, GA",
    "bitcoin atm at 501 E 4th St in Long Beach, CA please",
];
const LANDMARKS: [&str; 4] = ["LAX", "Times Square", "bitcoin atm near Disney World", "the Galleria Houston"];
const NONSENSE: [&str; 4] = ["asdfghjkl", "I don't know", "Xyzzyplugh, TX", "Lorem ipsum dolor sit amet"];
/// Slow texts in several scripts, with suffixes, commas and brackets that cause many attempts.
const SLOWEST: [&str; 4] = [
    "กｽ\u{fffd}kﾹ\u{ffff}踗\u{fffd}n Tk\u{fffd}\u{fffd}kﾹ\u{fff8}\u{fffd}뻀踗kwhn CountyeNorth ab me\u{fffd}",
    "กฃ뻀踗\u{fffd}n TkwhneNorth ab me\u{fffd}",
    " near ］条���New`rj ton��, , Geo��\u{fb37} ton�near me�� in ���\u{effd}��İ��条,�New`rk ton\u{f7fd}ﬁ�����, , Georgia��翽����Newarj to~\u{fff5}\u{7f}arj ton�htt��翽�, GeorgiF5+VR\u{301}��翽���뿽Newa����Street��Newarj ton�w ton�htt����, Georgia�(���",
    " near ］条�?���New`rj ton��, , Geo��\u{fb37} ton�near me�� in ���\u{effd}��İ��条,�New`rk ton�ﬁ�����, , Georgia��翽����Newarj to~\u{fff5}\u{7f}arj ton�htt��绽�, GeorgiF5+VR\u{301}��翽���뿽Newa����Street��Newarj ton�w ton�htt����, Georgia�(�",
];

fn main() {
    // `cargo test --benches` also runs this function. It then compares the results without measuring.
    let rounds = if std::env::args().any(|arg| arg == "--bench") { ROUNDS } else { 0 };
    let start = Instant::now();
    let gazetteer = Gazetteer::embedded();
    println!("{} places, read in {:.0} ms", gazetteer.len(), start.elapsed().as_secs_f64() * 1e3);
    let cities = sample::records().into_iter().filter_map(|record| Some((record.address.city?, record.point)));
    let known: HashMap<String, Point> = cities.map(|(city, point)| (fold(&city), point)).collect();
    let names: Vec<&str> = known.keys().map(String::as_str).filter(|name| name.len() > 4).collect();
    let misspelt: Vec<String> = names.iter().map(|name| without_its_middle(name)).collect();
    let misspelt: Vec<&str> = misspelt.iter().map(String::as_str).collect();
    let folded: Vec<String> = known.keys().cloned().collect();

    for (name, text) in names.iter().zip(&misspelt) {
        assert!(gazetteer.resolve(name).is_ok() && gazetteer.resolve(text).is_ok(), "{name}, {text}");
    }
    let table = |text: &str| known.get(&fold(text)).copied();
    let index = |text: &str| gazetteer.resolve(text).ok();
    let walk = |text: &str| folded.iter().min_by_key(|name| distance(text, name)).cloned();
    let kinds: [&[&str]; 5] = [&names, &misspelt, &STREETS, &LANDMARKS, &NONSENSE];
    let mut fastest = [Duration::MAX; 5];
    let (mut by_table, mut by_walk, mut slow) = (Duration::MAX, Duration::MAX, [Duration::MAX; SLOWEST.len()]);
    for _ in 0..rounds {
        by_table = by_table.min(time(&names, table));
        by_walk = by_walk.min(time(&misspelt, walk));
        for (fastest, texts) in fastest.iter_mut().zip(kinds) {
            *fastest = (*fastest).min(time(texts, index));
        }
        for (fastest, text) in slow.iter_mut().zip(SLOWEST) {
            *fastest = (*fastest).min(time(&[text], index));
        }
    }
    if rounds > 0 {
        let micros = |took: Duration| took.as_secs_f64() * 1e6;
        let (table, [exact, misspelt, street, landmark, nonsense]) = (micros(by_table), fastest.map(micros));
        // The linear search covers only the names of the samples. The gazetteer has thousands of times as many names.
        #[expect(clippy::cast_precision_loss, reason = "a few digits are enough to read")]
        let walk = micros(by_walk) * gazetteer.len() as f64 / folded.len() as f64;
        println!("  exact {exact:.2} µs (goal 1), {:.1} x a hash table of {} names", exact / table, known.len());
        println!("  one typo {misspelt:.0} µs (goal 250), {:.4} x a scan of all names", misspelt / walk);
        for (kind, took) in [("street", street), ("landmark", landmark), ("nonsense", nonsense)] {
            println!("  {kind} {took:.1} µs, {:.1} x an exact name", took / exact);
        }
        let slowest = slow.map(micros).into_iter().fold(0.0, f64::max) / 1e3;
        println!("  the slowest {slowest:.2} ms (goal {LONGEST}), {:.4} x a scan of all names", slowest * 1e3 / walk);
        // `make bench` parses these lines.
        for (key, took) in [("exact", exact), ("mistake", misspelt), ("slowest", slowest)] {
            println!("RESULT\tplace_{key}\t{took}");
        }
    }
}

fn without_its_middle(name: &str) -> String {
    let middle = name.len() / 2;
    name.chars().enumerate().filter(|(at, _)| *at != middle).map(|(_, letter)| letter).collect()
}

/// Returns the edit distance: the number of inserted, deleted or replaced letters.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (to, known) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *known);
            let cheapest = changed.min(row[to] + 1).min(row[to + 1] + 1);
            diagonal = std::mem::replace(&mut row[to + 1], cheapest);
        }
    }
    row[other.len()]
}

/// Returns the mean time of a lookup.
fn time<T>(texts: &[&str], look_up: impl Fn(&str) -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..TIMES {
        for text in texts {
            black_box(look_up(black_box(text)));
        }
    }
    start.elapsed() / TIMES / u32::try_from(texts.len()).unwrap_or(u32::MAX)
}
