//! Microseconds for a place by its exact name, and by one with a typing mistake, against what one would write without an
//! index: a hash table of the names, and a walk through all of them.
//!
//! `cargo bench -p signpost-locator --bench places`. The variants take turns and the fastest round of each counts.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Point, fold, sample};

const ROUNDS: usize = 7;
/// How often each text is looked up in a round.
const TIMES: u32 = 20;

fn main() {
    // `cargo test --benches` runs this too; there it only checks that the answers agree.
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
    let mut fastest = [Duration::MAX; 4];
    for _ in 0..rounds {
        fastest[0] = fastest[0].min(time(&names, table));
        fastest[1] = fastest[1].min(time(&names, index));
        fastest[2] = fastest[2].min(time(&misspelt, index));
        fastest[3] = fastest[3].min(time(&misspelt, walk));
    }
    if rounds > 0 {
        let [table, exact, misspelt, walk] = fastest.map(|all| all.as_secs_f64() * 1e6);
        // The walk looks at the names of the samples only; there are thousands of times as many.
        #[expect(clippy::cast_precision_loss, reason = "a few digits are enough to read")]
        let walk = walk * gazetteer.len() as f64 / folded.len() as f64;
        println!("  exact {exact:.2} µs (goal 1), {:.1} x a hash table of {} names", exact / table, known.len());
        println!("  one mistake {misspelt:.0} µs (goal 250), {:.4} x a walk through all names", misspelt / walk);
    }
}

fn without_its_middle(name: &str) -> String {
    let middle = name.len() / 2;
    name.chars().enumerate().filter(|(at, _)| *at != middle).map(|(_, letter)| letter).collect()
}

/// How many letters have to be put in, left out or changed.
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

/// The time of one look-up.
fn time<T>(texts: &[&str], look_up: impl Fn(&str) -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..TIMES {
        for text in texts {
            black_box(look_up(black_box(text)));
        }
    }
    start.elapsed() / TIMES / u32::try_from(texts.len()).unwrap_or(u32::MAX)
}
