//! The cost of many rows with an equal point or an equal name, compared with as many different rows.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use signpost_locator::gazetteer::{GeoName, Postcode, Subdivision, build};
use signpost_locator::quality::duplicate_suspects;
use signpost_locator::{Atm, AtmId, MergedAtm, Point, Record, Region, merge};

/// Maximum ratio of the costs. A quadratic step would multiply the cost by several hundred.
const MAX_RATIO: u32 = 20;
const ROWS: u32 = 50_000;
const NAMES: u32 = 20_000;

/// Returns the duration of the work.
fn cost<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    drop(work());
    started.elapsed()
}

#[track_caller]
fn assert_similar(of_equal: Duration, of_others: Duration) {
    assert!(of_equal < of_others * MAX_RATIO, "{of_equal:?} for equal rows, {of_others:?} for others");
}

/// Returns a point in Texas, different for each number.
fn point(number: u32) -> Point {
    let (row, column) = (number / 300, number % 300);
    Point::new(28.0 + f64::from(row) / 50.0, -102.0 + f64::from(column) / 50.0).unwrap()
}

/// Returns rows of two sources, `at_one_point` of them at each point.
fn rows(at_one_point: u32) -> Vec<Atm> {
    let mut rows = Vec::new();
    for number in 0..ROWS {
        let record = Record { name: Some("Corner Shop".into()), ..Record::at(point(number / at_one_point)) };
        let source = if number % 2 == 0 { "a" } else { "b" };
        let id = AtmId::new(u64::from(number) + 1).unwrap();
        rows.push(Atm { id, source: source.into(), record: record.into() });
    }
    rows
}

#[test]
fn rows_at_one_point_merge_fast() {
    let (others, equal) = (rows(40), rows(ROWS));
    let of_others = cost(|| merge(others, &BTreeSet::new()));
    assert_similar(cost(|| merge(equal, &BTreeSet::new())), of_others);
}

#[test]
fn duplicates_at_one_point_are_found_fast() {
    let machines = |at_one_point| {
        let mut rows = rows(at_one_point);
        for row in &mut rows {
            row.source = "a".into();
        }
        merge(rows, &BTreeSet::new())
    };
    let (others, equal) = (machines(2), machines(ROWS));
    let find = |machines: &[MergedAtm]| duplicate_suspects(&machines.iter().collect::<Vec<_>>());
    let of_others = cost(|| find(&others));
    assert_similar(cost(|| assert_eq!(find(&equal).len(), ROWS as usize)), of_others);
}

/// Builds place names from equal numbers of places, post offices and subdivisions.
fn build_places(name: impl Fn(u32) -> String, place: impl Fn(u32) -> Point) -> Vec<u8> {
    let region = Region::parse("TX").unwrap();
    let (mut names, mut subdivisions, mut postcodes) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..NAMES {
        let (name, point) = (name(number), place(number));
        names.push(GeoName {
            id: u64::from(number),
            name: name.clone(),
            alternates: Vec::new(),
            point,
            country: "US".to_owned(),
            division: "TX".to_owned(),
            second_division: String::new(),
            county: Some(453),
            population: 1_000,
            time_zone: "America/Chicago".to_owned(),
        });
        let code = format!("{:05}", 70_000 + number);
        postcodes.push(Postcode { code, name: Some(name.clone()), region: Some(region), county: None, point });
        let alternates = vec![format!("{name} Township")];
        subdivisions.push(Subdivision { name, alternates, region, county: Some(453), point, population: 10 });
    }
    build(names, &subdivisions, &postcodes, 0).unwrap()
}

#[test]
fn places_of_one_name_or_point_build_fast() {
    let other_name = |number: u32| format!("Place {number}");
    let one_name = |_| "Springfield".to_owned();
    let of_others = cost(|| build_places(other_name, point));
    assert_similar(cost(|| build_places(one_name, |_| point(0))), of_others);
    assert_similar(cost(|| build_places(one_name, point)), of_others);
    assert_similar(cost(|| build_places(other_name, |_| point(0))), of_others);
}
