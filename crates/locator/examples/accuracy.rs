//! How well the gazetteer understands the addresses of a file of machines: `City, ST` and ZIP codes.
//!
//! `cargo run --release --example accuracy -- FILE [COLUMN=VALUE …]`

use std::collections::BTreeMap;
use std::error::Error;

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::import::{Options, read};
use signpost_locator::{Distance, Point};

/// A place is the right one where the machine is at most this far from its centre.
const NEAR: Distance = Distance::miles(25.0);

#[derive(Default)]
struct Tally {
    asked: usize,
    understood: usize,
    near: usize,
    missed: BTreeMap<String, usize>,
    far: BTreeMap<String, usize>,
}

impl Tally {
    fn ask(&mut self, gazetteer: &Gazetteer, text: &str, point: Point) {
        self.asked += 1;
        match gazetteer.resolve(text) {
            Err(_) => *self.missed.entry(text.to_owned()).or_default() += 1,
            Ok(resolved) => {
                self.understood += 1;
                if resolved.point.distance(point) <= NEAR {
                    self.near += 1;
                } else {
                    *self.far.entry(text.to_owned()).or_default() += 1;
                }
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn print(&self, name: &str) {
        let share = |part: usize, whole: usize| 100.0 * part as f64 / (whole.max(1)) as f64;
        let (understood, near) = (share(self.understood, self.asked), share(self.near, self.understood));
        println!("{name}: {} asked, {understood:.2} % understood, {near:.2} % of them within 25 miles", self.asked);
        for (what, texts) in [("missed", &self.missed), ("far", &self.far)] {
            let mut texts: Vec<_> = texts.iter().collect();
            texts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let listed: Vec<_> = texts.iter().take(200).map(|(text, count)| format!("{text} ({count})")).collect();
            println!("  {what}: {}", listed.join("; "));
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = std::fs::read(arguments.next().ok_or("a file, please")?)?;
    let pair = |text: String| text.split_once('=').map(|(column, value)| (column.to_owned(), value.to_owned()));
    let only = arguments.map(|text| pair(text).ok_or("COLUMN=VALUE")).collect::<Result<_, _>>()?;
    let import = read(&file, &Options { only, ..Options::default() })?;
    let gazetteer = Gazetteer::embedded();
    let (mut cities, mut zips) = (Tally::default(), Tally::default());
    for record in import.rows.iter().map(|row| &row.record) {
        let address = &record.address;
        if let (Some(city), Some(region)) = (&address.city, &address.region) {
            cities.ask(&gazetteer, &format!("{city}, {region}"), record.point);
        }
        if let Some(postcode) = &address.postcode {
            zips.ask(&gazetteer, postcode, record.point);
        }
    }
    cities.print("City, ST");
    zips.print("ZIP");
    Ok(())
}
