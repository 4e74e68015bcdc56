//! Measures the accuracy of the gazetteer and lists the failures. It uses the questions in `tests/questions.tsv`,
//! grouped by kind, and the `City, ST` texts and ZIP codes of the addresses in a file of ATMs.
//!
//! `make accuracy`, or `cargo run --release --example accuracy -- [FILE [COLUMN=VALUE …]]`

use std::collections::BTreeMap;
use std::error::Error;

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::import::{Options, read};
use signpost_locator::{Distance, Point};

#[path = "../tests/it/question.rs"]
mod question;

/// Maximum distance between an ATM and the centre of the correct place.
const NEAR: Distance = Distance::miles(25.0);
/// Maximum number of failed texts that are listed.
const MAX_NAMED: usize = 200;

/// The results for the texts in a file of ATMs. The result for each row is compared with the location of its ATM.
#[derive(Default)]
struct Tally {
    rows: usize,
    near: usize,
    /// The distinct failed texts, each with its numbers of unresolved rows and of distant results.
    texts: BTreeMap<String, [usize; 2]>,
}

impl Tally {
    fn ask(&mut self, gazetteer: &Gazetteer, text: &str, point: Point) {
        self.rows += 1;
        let [missed, far] = self.texts.entry(text.to_owned()).or_default();
        match gazetteer.resolve(text) {
            Err(_) => *missed += 1,
            Ok(resolved) if resolved.point.distance(point) > NEAR => *far += 1,
            Ok(_) => self.near += 1,
        }
    }

    fn print(&self, name: &str) {
        let (rows, texts, near) = (self.rows, self.texts.len(), self.near);
        println!("{name}: {rows} rows, {texts} texts; {near} within 25 miles: {}", percent(near, rows));
        for (at, label) in ["missed", "far"].into_iter().enumerate() {
            let mut failures: Vec<(&str, usize)> = self
                .texts
                .iter()
                .map(|(text, failures)| (text.as_str(), failures[at]))
                .filter(|(_, rows)| *rows > 0)
                .collect();
            failures.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
            let rows: usize = failures.iter().map(|(_, rows)| rows).sum();
            let named: Vec<_> =
                failures.iter().take(MAX_NAMED).map(|(text, rows)| format!("{text} ({rows})")).collect();
            println!("  {label} {rows}: {}", named.join("; "));
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let gazetteer = Gazetteer::embedded();
    let mut arguments = std::env::args().skip(1);
    if let Some(file) = arguments.next() {
        let pair = |text: String| text.split_once('=').map(|(column, value)| (column.to_owned(), value.to_owned()));
        let only = arguments.map(|text| pair(text).ok_or("COLUMN=VALUE")).collect::<Result<_, _>>()?;
        ask_addresses(&gazetteer, &std::fs::read(file)?, only)?;
    }
    ask_questions(&gazetteer);
    Ok(())
}

fn ask_addresses(gazetteer: &Gazetteer, file: &[u8], only: Vec<(String, String)>) -> Result<(), Box<dyn Error>> {
    let import = read(file, &Options { only, ..Options::default() })?;
    let (mut cities, mut zips) = (Tally::default(), Tally::default());
    for record in import.rows.iter().map(|row| &row.record) {
        let address = &record.address;
        if let (Some(city), Some(region)) = (&address.city, &address.region) {
            cities.ask(gazetteer, &format!("{city}, {region}"), record.point);
        }
        if let Some(postcode) = &address.postcode {
            zips.ask(gazetteer, postcode, record.point);
        }
    }
    cities.print("City, ST");
    zips.print("ZIP");
    Ok(())
}

fn ask_questions(gazetteer: &Gazetteer) {
    let scores = question::scores(gazetteer);
    let (mut asked, mut right, mut confidently_wrong) = (0, 0, 0);
    println!("kind           asked  right             confidently wrong");
    for (kind, score) in &scores {
        let share = percent(score.right, score.asked);
        println!("{kind:<14} {:>5} {:>6}  {share:>8} {:>18}", score.asked, score.right, score.confidently_wrong);
        asked += score.asked;
        right += score.right;
        confidently_wrong += score.confidently_wrong;
    }
    println!("{:<14} {asked:>5} {right:>6}  {:>8} {confidently_wrong:>18}", "all", percent(right, asked));
    for (kind, score) in &scores {
        for failure in &score.failures {
            println!("  {kind}: {failure}");
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn percent(part: usize, whole: usize) -> String {
    format!("{:.2} %", 100.0 * part as f64 / whole.max(1) as f64)
}
