//! Regression tests with the towns of several thousand American addresses, each with the point that it resolved to in
//! November 2026.

use signpost_locator::{Distance, Point, Region};

use crate::{GAZETTEER, point};

const ANSWERS: &str = include_str!("../answers.tsv");
/// Maximum distance between the recorded and the current result for a town.
const NEAR: Distance = Distance::miles(25.0);

/// Towns that were formerly confused with another place of their name in the state, with their correct location.
#[rustfmt::skip]
const CORRECTED: [(&str, f64, f64); 13] = [
    ("Belmont, OH", 40.03, -81.04),
    ("Centerville, IA", 40.73, -92.87),
    ("Chatham, IL", 39.68, -89.70),
    ("Cottonwood, CA", 40.39, -122.28),
    ("Elgin, SC", 34.17, -80.79),
    ("Genoa, OH", 41.52, -83.36),
    ("Holly Springs, MS", 34.77, -89.45),
    ("Morehead, KY", 38.18, -83.43),
    ("Mount Pleasant, PA", 40.15, -79.54),
    ("Northwood, OH", 41.61, -83.48),
    ("Oak Grove, KY", 36.67, -87.44),
    ("Weber City, VA", 36.62, -82.56),
    ("Whitehall, PA", 40.65, -75.50),
];

fn answers() -> impl Iterator<Item = (&'static str, Point)> {
    ANSWERS.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [text, lat, lon] = fields[..] else { panic!("not three fields: {line}") };
        (text, point(lat.parse().expect(line), lon.parse().expect(line)))
    })
}

/// Patterns of texts with a town and its state. All texts refer to the town.
const WHOLE: [&str; 13] = [
    "{city} {st}",
    "{city}, {state}",
    "{city} {state}",
    "{city}, {st}, USA",
    "{city} {st}, {state}",
    "{city} (USA), {st}",
    "City of {city}, {st}",
    "downtown {city}, {st}",
    "greater {city}, {st} area",
    "just outside {city}, {st}",
    "bitcoin atm near {city}, {st} please",
    "where can I buy bitcoin in {city}, {st}?",
    "cajero bitcoin cerca de {city}, {st}",
];
/// Patterns with a town, its state and unknown text.
const PARTLY_UNKNOWN: [&str; 5] = [
    "123 Oak St, {city}, {st}",
    "123 Oak St {city} {st}",
    "corner of 1st and Elm in {city} {st}",
    "exit 5 off I-80 near {city}, {state}",
    "the Walmart in {city}, {st}",
];

/// Returns a description of the wrong result for a text, or `None` if it is correct.
fn fault(text: &str, meant: Point) -> Option<String> {
    match GAZETTEER.resolve(text) {
        Err(error) => Some(format!("{text}: {error}")),
        Ok(found) if found.point.distance(meant) <= NEAR => None,
        Ok(found) => Some(format!("{text}: {:.2}, {:.2}", found.point.lat(), found.point.lon())),
    }
}

#[test]
fn resolved_questions_stay_resolved() {
    let lost: Vec<String> = answers()
        .filter_map(|(text, before)| {
            let corrected = CORRECTED.iter().find(|(of, ..)| *of == text).map(|(_, lat, lon)| point(*lat, *lon));
            fault(text, corrected.unwrap_or(before))
        })
        .collect();
    assert!(answers().count() > 3_700);
    assert!(lost.is_empty(), "{lost:#?}");
}

/// Texts that resemble the name of a better-known place. That place is the result, with half confidence.
const BETTER_KNOWN: [&str; 3] = ["Newton IA", "greater Philadelphia, MS area", "greater Washington, PA area"];

/// Step between the patterns that are tested for a town.
const PATTERN_STEP: usize = 4;

/// Returns the texts with a result that is distant or has a confidence above `surest`, and the number of texts without
/// a result.
fn find_failures(patterns: &[&str], surest: f64) -> (Vec<String>, usize) {
    let (mut distant, mut unresolved) = (Vec::new(), 0);
    for (at, (text, before)) in answers().enumerate() {
        let meant = CORRECTED.iter().find(|(of, ..)| *of == text).map_or(before, |(_, lat, lon)| point(*lat, *lon));
        let (city, st) = text.split_once(", ").expect("a town and its state");
        let state = Region::parse(st).expect("a state").name();
        for pattern in patterns.iter().skip(at % PATTERN_STEP).step_by(PATTERN_STEP) {
            let asked = pattern.replace("{city}", city).replace("{state}", state).replace("{st}", st);
            match GAZETTEER.resolve(&asked) {
                Err(_) => unresolved += 1,
                Ok(found) if BETTER_KNOWN.contains(&&*asked) && found.confidence <= 0.5 => {}
                Ok(found) if found.point.distance(meant) <= NEAR && found.confidence <= surest => {}
                Ok(found) => distant.push(format!("{asked}: {}, {:?}, {}", found.name, found.region, found.confidence)),
            }
        }
    }
    (distant, unresolved)
}

#[test]
fn words_around_a_town_are_ignored() {
    for (patterns, surest) in [(&WHOLE[..], 1.0), (&PARTLY_UNKNOWN, 0.5)] {
        let (distant, unresolved) = find_failures(patterns, surest);
        assert!(distant.is_empty(), "{} go distant: {:#?}", distant.len(), &distant[..distant.len().min(30)]);
        assert!(
            unresolved * PATTERN_STEP * 1_000 <= answers().count() * patterns.len(),
            "{unresolved} of {patterns:?} mean nothing"
        );
    }
}
