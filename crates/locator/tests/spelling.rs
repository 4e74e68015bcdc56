//! Tests of misspelt names, names in the local language, and names that several places share.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use signpost_locator::gazetteer::{Gazetteer, Place};
use signpost_locator::{Address, Distance, sample};

/// Returns the embedded gazetteer, loaded once for all tests.
fn gazetteer() -> &'static Gazetteer {
    static EMBEDDED: OnceLock<Gazetteer> = OnceLock::new();
    EMBEDDED.get_or_init(Gazetteer::embedded)
}

/// Large cities of the world, tested in addition to the sample cities.
const WORLD: [&str; 24] = [
    "Amsterdam",
    "Barcelona",
    "Berlin",
    "Brisbane",
    "Buenos Aires",
    "Calgary",
    "Copenhagen",
    "Edmonton",
    "Frankfurt",
    "Hamburg",
    "Helsinki",
    "Istanbul",
    "Johannesburg",
    "Lisbon",
    "Melbourne",
    "Montreal",
    "Ottawa",
    "Prague",
    "Singapore",
    "Stockholm",
    "Toronto",
    "Vancouver",
    "Winnipeg",
    "Zurich",
];

/// Pairs of adjacent letters on a keyboard.
const ADJACENT_KEYS: [(char, char); 12] = [
    ('a', 's'),
    ('e', 'r'),
    ('i', 'u'),
    ('o', 'i'),
    ('n', 'b'),
    ('t', 'y'),
    ('r', 't'),
    ('l', 'k'),
    ('s', 'd'),
    ('d', 'f'),
    ('h', 'g'),
    ('c', 'v'),
];

/// Returns misspellings of a name, each with one mistake. The positions of mistakes are deterministic, never at the
/// first letter (people rarely get it wrong), and never next to a space.
fn misspell(name: &str) -> BTreeSet<String> {
    let letters: Vec<char> = name.chars().collect();
    let text = |letters: &[char]| letters.iter().collect::<String>();
    let inside = |at: usize| at > 0 && at < letters.len() && letters[at].is_alphabetic();
    let mut found = BTreeSet::new();
    for at in [letters.len() / 3, letters.len() / 2, 2 * letters.len() / 3].into_iter().filter(|at| inside(*at)) {
        let mut dropped = letters.clone();
        dropped.remove(at);
        let mut doubled = letters.clone();
        doubled.insert(at, letters[at]);
        found.extend([text(&dropped), text(&doubled)]);
        if inside(at + 1) {
            let mut swapped = letters.clone();
            swapped.swap(at, at + 1);
            found.insert(text(&swapped));
        }
        if let Some((_, beside)) = ADJACENT_KEYS.iter().find(|(letter, _)| *letter == letters[at]) {
            let mut slipped = letters.clone();
            slipped[at] = *beside;
            found.insert(text(&slipped));
        }
    }
    found.remove(name);
    found
}

fn is_found(text: &str, name: &str) -> bool {
    let meant = gazetteer().resolve(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    gazetteer().resolve(text).is_ok_and(|found| found.point.distance(meant.point) <= Distance::miles(25.0))
}

#[test]
fn nine_of_ten_misspelt_names_are_resolved() {
    let cities = sample::records().into_iter().filter_map(|record| Some(record.address.city?.to_string()));
    let cities: BTreeSet<String> = cities.chain(WORLD.map(str::to_owned)).filter(|name| name.len() > 4).collect();
    let all: Vec<(String, &String)> =
        cities.iter().flat_map(|name| misspell(name).into_iter().map(move |text| (text, name))).collect();
    let missed: Vec<&String> = all.iter().filter(|(text, name)| !is_found(text, name)).map(|(text, _)| text).collect();
    assert!(all.len() >= 200, "{}", all.len());
    assert!(missed.len() * 10 <= all.len(), "{} of {}: {missed:?}", missed.len(), all.len());
}

#[test]
fn nearly_all_are_resolved_with_the_state() {
    let records = sample::records();
    let named = |address: Address| Some((address.city?.to_string(), address.region?.to_string()));
    let cities: BTreeSet<(String, String)> = records.into_iter().filter_map(|record| named(record.address)).collect();
    let all: Vec<(String, String)> = cities
        .iter()
        .flat_map(|(name, region)| {
            misspell(name).into_iter().map(move |text| (format!("{text}, {region}"), format!("{name}, {region}")))
        })
        .collect();
    let missed: Vec<&String> = all.iter().filter(|(text, name)| !is_found(text, name)).map(|(text, _)| text).collect();
    assert!(missed.len() * 33 <= all.len(), "{} of {}: {missed:?}", missed.len(), all.len());
}

#[test]
fn cities_are_found_by_local_and_english_names() {
    for (own, english) in [
        ("München", "Munich"),
        ("Köln", "Cologne"),
        ("Wien", "Vienna"),
        ("Praha", "Prague"),
        ("Roma", "Rome"),
        ("Firenze", "Florence"),
        ("Lisboa", "Lisbon"),
        ("København", "Copenhagen"),
        ("Göteborg", "Gothenburg"),
        ("Warszawa", "Warsaw"),
        ("Москва", "Moscow"),
        ("Санкт-Петербург", "Saint Petersburg, Russia"),
        ("Київ", "Kyiv"),
        ("Αθήνα", "Athens, Greece"),
        ("София", "Sofia"),
        ("İstanbul", "Istanbul"),
        ("القاهرة", "Cairo, Egypt"),
        ("دبي", "Dubai"),
        ("תל אביב", "Tel Aviv"),
        ("東京", "Tokyo"),
        ("大阪", "Osaka"),
        ("北京", "Beijing"),
        ("上海", "Shanghai"),
        ("香港", "Hong Kong"),
        ("서울", "Seoul"),
        ("กรุงเทพมหานคร", "Bangkok"),
        ("मुंबई", "Mumbai"),
        ("Bogotá", "Bogota"),
        ("São Paulo", "Sao Paulo"),
        ("Ciudad de México", "Mexico City"),
        ("Genève", "Geneva, Switzerland"),
        ("Bruxelles", "Brussels"),
        ("Den Haag", "The Hague"),
        ("Hà Nội", "Hanoi"),
        ("Reykjavík", "Reykjavik"),
        ("თბილისი", "Tbilisi"),
        ("Երևան", "Yerevan"),
    ] {
        assert!(is_found(own, english), "{own} is {english}");
    }
}

#[test]
fn likeliest_place_wins_and_others_are_listed() {
    for (text, taken, others) in [
        ("Paris", "Paris, France", &["Paris, TX"][..]),
        ("Springfield", "Springfield, MO", &["Springfield, MA", "Springfield, IL"]),
        ("Portland", "Portland, OR", &["Portland, ME"]),
        ("Birmingham", "Birmingham, United Kingdom", &["Birmingham, AL"]),
        ("Vancouver", "Vancouver, BC", &["Vancouver, WA"]),
        ("London", "London, United Kingdom", &["London, ON"]),
        ("Columbus", "Columbus, OH", &["Columbus, GA"]),
        ("Arlington", "Arlington, TX", &["Arlington, VA"]),
    ] {
        let found = gazetteer().resolve(text).unwrap();
        let label = found.region.map_or(found.country.map_or("", |country| country.name()), |region| region.code());
        assert_eq!(format!("{}, {label}", found.name), taken);
        let named: Vec<String> = found.alternatives.iter().map(Place::label).collect();
        assert!(others.iter().all(|other| named.iter().any(|name| name == other)), "{text}: {named:?}");
    }
}
