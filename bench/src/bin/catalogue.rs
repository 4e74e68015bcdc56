//! Measures the catalogue with 40,000 ATMs in this process: searches with and without filters, an
//! import compared with parsing the file, and searches with and without a concurrent replacement of
//! the catalogue.

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use signpost::server::schema::SCHEMA;
use signpost_atm::catalogue::{
    AtmFilter, Catalogue, Coverage, FileContents, ImportRules, Snapshot, Source, StoredCatalogue, TradeSide, apply,
    load,
};
use signpost_bench::report;
use signpost_locator::import::{self, Options};
use signpost_locator::{Atm, AtmId, Coin, Distance, Hours, Point, Record, ReportedState, Schedule, Tri};
use signpost_platform::clock::Clock;
use signpost_store::Store;

const ATMS: u64 = 40_000;
const ROUNDS: usize = 7;
const QUERIES: u64 = 5_000;
const RADIUS: Distance = Distance::miles(25.0);
const HOURS: [&str; 5] = ["24/7", "Mo-Su 06:00-22:00", "Mo-Fr 09:00-17:00; Sa 10:00-14:00", "Mo-Sa 08:00-20:00", ""];
const ZONES: [&str; 3] = ["America/New_York", "America/Chicago", "America/Los_Angeles"];

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let now: Timestamp = "2026-11-20T18:30:00Z".parse()?;
    let begun = Instant::now();
    let snapshot = Snapshot::build(stored()?);
    println!("{ATMS} machines of two sources, made ready in {:.0} ms", begun.elapsed().as_secs_f64() * 1e3);
    filters(&snapshot, now)?;
    hours(now)?;
    let folder = tempfile::tempdir()?;
    let store = Store::open(&format!("sqlite:{}", folder.path().join("bench.sqlite").display()), &SCHEMA)?;
    let catalogue = Catalogue::open(&store, &Clock::System, folder.path(), None, None).await?;
    measure_import(&store, &catalogue, now).await?;
    measure_replacement(&store, &catalogue, now)
}

/// Creates an ATM near a town.
fn sample_record(number: u64) -> Option<Record> {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let (town, turn) = ((number % 400) as f64, number as f64 * 2.399_963);
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let away = 0.003 * ((number / 400) as f64).sqrt();
    let (lat, lon) = (26.0 + (town * 7.7) % 22.0, -122.0 + (town * 13.3) % 48.0);
    let mut record = Record::at(Point::new(lat + away * turn.sin(), lon + away * turn.cos())?);
    let pick = |texts: &'static [&str]| texts[usize::try_from(number).unwrap_or_default() % texts.len()];
    record.source_ref = Some(number.to_string().into());
    record.name = Some(format!("Machine {number}").into());
    record.hours = Hours::parse(pick(&HOURS));
    record.time_zone = Some(pick(&ZONES).into());
    record.reported = ReportedState::InService;
    record.reported_at = "2026-11-01T00:00:00Z".parse().ok();
    record.buy = Tri::Yes;
    record.sell = if number.is_multiple_of(3) { Tri::Yes } else { Tri::Unknown };
    record.coins = Arc::new([(Coin::bitcoin(), Tri::Yes)].into());
    Some(record)
}

fn stored() -> Result<StoredCatalogue> {
    let atm = |number: u64| {
        let source = if number.is_multiple_of(2) { "one" } else { "two" };
        Some(Atm { id: AtmId::new(number)?, source: source.into(), record: sample_record(number)?.into() })
    };
    let atms = (1..=ATMS).map(atm).collect::<Option<_>>().context("points on the earth")?;
    Ok(StoredCatalogue { version: 1, atms, ..StoredCatalogue::default() })
}

fn places() -> impl Iterator<Item = Point> {
    (1..=QUERIES).filter_map(|number| sample_record(number * 7)).map(|record| record.point)
}

fn filters(snapshot: &Snapshot, now: Timestamp) -> Result<()> {
    let all = AtmFilter::default();
    let some = AtmFilter { open_now: true, service: Some(TradeSide::Sell), coin: Some(Coin::bitcoin()) };
    let places: Vec<Point> = places().collect();
    let search = |wanted: &AtmFilter| {
        let begun = Instant::now();
        for from in &places {
            black_box(snapshot.at(now).nearest(*from, RADIUS, 10, wanted));
        }
        per_query(begun.elapsed(), QUERIES)
    };
    let mut fastest = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        fastest = [fastest[0].min(search(&all)), fastest[1].min(search(&some))];
    }
    let [all, some] = fastest;
    println!("  10 nearest within 25 miles {all:.0} ns; of those open now that sell BTC {some:.0} ns");
    report("filters", some / all, None)
}

fn hours(now: Timestamp) -> Result<()> {
    let hours = Hours::parse(HOURS[2]).context("hours")?;
    let schedule = Schedule::new(&hours, Some(ZONES[1]), None)?;
    let begun = Instant::now();
    for _ in 0..QUERIES {
        black_box(schedule.at(black_box(now)));
    }
    println!("  hours asked once {:.0} ns; searches read the answer instead", per_query(begun.elapsed(), QUERIES));
    Ok(())
}

async fn measure_import(store: &Store, catalogue: &Catalogue, now: Timestamp) -> Result<()> {
    let mut text = "ref,lat,lon,name,hours,status,coins\n".to_owned();
    for record in (1..=ATMS).filter_map(sample_record) {
        let (name, hours) = (record.title(), record.hours.as_ref().map(Hours::text).unwrap_or_default());
        let (reference, point) = (record.source_ref.as_deref().unwrap_or_default(), record.point);
        writeln!(text, "{reference},{},{},{name},\"{hours}\",online,BTC", point.lat(), point.lon())?;
    }
    let begun = Instant::now();
    let options = Options { now: Some(now), ..Options::default() };
    black_box(import::read(text.as_bytes(), &options)?);
    let read = begun.elapsed();
    let begun = Instant::now();
    let contents = FileContents::from_bytes(text.as_bytes(), &options, &catalogue.places.now())?;
    let source = Source { name: "bench".to_owned(), attribution: "bench".to_owned(), imported_at: now };
    let rules = ImportRules { extent: Coverage::Full, force: false, dry_run: false, max_atms: usize::MAX };
    let changes = apply(store, &source, &contents, rules).await?;
    let all = begun.elapsed();
    println!(
        "import of {} machines {:.2} s, {:.1} x reading them",
        changes.added,
        all.as_secs_f64(),
        all.as_secs_f64() / read.as_secs_f64()
    );
    report("import", all.as_secs_f64(), None)?;
    catalogue.replace(load(store, now).await?);
    Ok(())
}

/// Measures the searches of a thread with and without another thread that replaces the catalogue.
fn measure_replacement(store: &Store, catalogue: &Catalogue, now: Timestamp) -> Result<()> {
    const ROUND: Duration = Duration::from_secs(2);
    let mut halves = Vec::new();
    for (name, replaces) in [("left alone", false), ("replaced all the time", true)] {
        let ended = AtomicBool::new(false);
        let (mut times, mut replacements) = (Vec::new(), 0);
        std::thread::scope(|scope| -> Result<()> {
            let searcher = scope.spawn(|| {
                let mut times = Vec::new();
                for from in places().collect::<Vec<_>>().into_iter().cycle() {
                    let begun = Instant::now();
                    black_box(catalogue.snapshot().at(now).nearest(from, RADIUS, 10, &AtmFilter::default()));
                    times.push(begun.elapsed());
                    if ended.load(Ordering::Relaxed) {
                        return times;
                    }
                }
                times
            });
            let begun = Instant::now();
            while begun.elapsed() < ROUND {
                if replaces {
                    let loaded =
                        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(load(store, now)));
                    catalogue.replace(loaded?);
                    replacements += 1;
                } else {
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
            ended.store(true, Ordering::Relaxed);
            times = searcher.join().map_err(|_| anyhow::anyhow!("the searcher failed"))?;
            Ok(())
        })?;
        times.sort_unstable();
        let (middle, rare) = (times[times.len() / 2], times[times.len() - 1 - times.len() / 1_000]);
        halves.push(middle.as_secs_f64());
        println!("  {name} ({replacements}): {} searches, p50 {middle:?}, p99.9 {rare:?}", times.len());
    }
    report("replaced", halves[1] / halves[0], None)
}

#[expect(clippy::cast_precision_loss, reason = "a few digits are enough to read")]
fn per_query(all: Duration, count: u64) -> f64 {
    all.as_nanos() as f64 / count as f64
}
