//! Tests of resolving location texts with the embedded gazetteer and with small gazetteers.

use std::sync::OnceLock;

use proptest::prelude::*;
use signpost_locator::gazetteer::{
    Gazetteer, MAX_TEXT_CHARS, Place, PlaceArea, PlaceEntry, PlaceSource, PostcodeEntry, encode,
};
use signpost_locator::{Country, Distance, Point, Region};

/// Returns the embedded gazetteer, loaded once for all tests.
fn gazetteer() -> &'static Gazetteer {
    static EMBEDDED: OnceLock<Gazetteer> = OnceLock::new();
    EMBEDDED.get_or_init(Gazetteer::embedded)
}

fn labels(places: &[Place]) -> Vec<String> {
    places.iter().map(Place::label).collect()
}

/// Location texts with the name, the region or country, and the source of the expected result.
#[rustfmt::skip]
const RESOLVED: [(&str, &str, &str, PlaceSource); 94] = [
    ("Miami", "Miami", "FL", PlaceSource::Place),
    ("  miami  ", "Miami", "FL", PlaceSource::Place),
    ("MIAMI, FL", "Miami", "FL", PlaceSource::Place),
    ("miami,fl", "Miami", "FL", PlaceSource::Place),
    ("Miami, OK", "Miami", "OK", PlaceSource::Place),
    ("Miami FL", "Miami", "FL", PlaceSource::Place),
    ("Miami, Florida", "Miami", "FL", PlaceSource::Place),
    ("Miami Florida USA", "Miami", "FL", PlaceSource::Place),
    ("Miami, FL, USA", "Miami", "FL", PlaceSource::Place),
    ("Miami, FL USA", "Miami", "FL", PlaceSource::Place),
    ("Austin, Tx.", "Austin", "TX", PlaceSource::Place),
    ("Austin, TX, United States of America", "Austin", "TX", PlaceSource::Place),
    ("New York", "New York City", "NY", PlaceSource::Place),
    ("NYC", "New York City", "NY", PlaceSource::Place),
    ("New York, NY", "New York City", "NY", PlaceSource::Place),
    ("Washington DC", "Washington", "DC", PlaceSource::Place),
    ("Washington, D.C.", "Washington", "DC", PlaceSource::Place),
    ("LA", "Los Angeles", "CA", PlaceSource::Place),
    ("St Louis", "St. Louis", "MO", PlaceSource::Place),
    ("saint louis, mo", "St. Louis", "MO", PlaceSource::Place),
    ("Ste Genevieve MO", "Sainte Genevieve", "MO", PlaceSource::Place),
    ("Ft. Worth", "Fort Worth", "TX", PlaceSource::Place),
    ("Mt Pleasant, SC", "Mount Pleasant", "SC", PlaceSource::Place),
    ("O Fallon MO", "O'Fallon", "MO", PlaceSource::Place),
    ("Coeur d Alene", "Coeur d'Alene", "ID", PlaceSource::Place),
    ("Winston Salem", "Winston-Salem", "NC", PlaceSource::Place),
    ("N Las Vegas", "North Las Vegas", "NV", PlaceSource::Place),
    ("Charleston West Virginia", "Charleston", "WV", PlaceSource::Place),
    ("West, TX", "West", "TX", PlaceSource::Place),
    ("Kansas City", "Kansas City", "MO", PlaceSource::Place),
    ("Kansas City, KS", "Kansas City", "KS", PlaceSource::Place),
    ("San Juan, PR", "San Juan", "PR", PlaceSource::Place),
    ("San Juan, Puerto Rico", "San Juan", "PR", PlaceSource::Place),
    ("San José, CA", "San Jose", "CA", PlaceSource::Place),
    ("Montreal", "Montréal", "QC", PlaceSource::Place),
    ("Québec", "Québec", "QC", PlaceSource::Place),
    ("Toronto", "Toronto", "ON", PlaceSource::Place),
    ("Toronto, CA", "Toronto", "ON", PlaceSource::Place),
    ("Toronto, Canada", "Toronto", "ON", PlaceSource::Place),
    ("Vancouver, WA", "Vancouver", "WA", PlaceSource::Place),
    ("St. John's, NL", "St. John's", "NL", PlaceSource::Place),
    ("Paris", "Paris", "France", PlaceSource::Place),
    ("Paris, TX", "Paris", "TX", PlaceSource::Place),
    ("Paris Texas", "Paris", "TX", PlaceSource::Place),
    ("Paris, France", "Paris", "France", PlaceSource::Place),
    ("Paris France", "Paris", "France", PlaceSource::Place),
    ("Tbilisi, Georgia", "Tbilisi", "Georgia", PlaceSource::Place),
    ("Atlanta, Georgia", "Atlanta", "GA", PlaceSource::Place),
    ("São Paulo", "São Paulo", "Brazil", PlaceSource::Place),
    ("sao paulo brazil", "São Paulo", "Brazil", PlaceSource::Place),
    ("München", "Munich", "Germany", PlaceSource::Place),
    ("Mexico", "Mexico City", "Mexico", PlaceSource::Place),
    ("Singapore", "Singapore", "Singapore", PlaceSource::Place),
    ("The Bronx", "The Bronx", "NY", PlaceSource::Place),
    ("Bronx, NY", "The Bronx", "NY", PlaceSource::Place),
    ("near Miami", "Miami", "FL", PlaceSource::Place),
    ("in Austin, TX", "Austin", "TX", PlaceSource::Place),
    ("bitcoin atm near Miami", "Miami", "FL", PlaceSource::Place),
    ("Bitcoin ATMs around St. Louis, MO", "St. Louis", "MO", PlaceSource::Place),
    ("find a bitcoin ATM near me in Austin", "Austin", "TX", PlaceSource::Place),
    ("miami area", "Miami", "FL", PlaceSource::Place),
    ("downtown Miami", "Miami", "FL", PlaceSource::Place),
    ("Miami bitcoin atms", "Miami", "FL", PlaceSource::Place),
    ("100 Main St, Austin, TX", "Austin", "TX", PlaceSource::Fallback),
    ("100 Main St, Austin, TX 78701", "78701", "TX", PlaceSource::Postcode),
    ("Austin, TX 78701", "78701", "TX", PlaceSource::Postcode),
    ("austin 78701", "78701", "TX", PlaceSource::Postcode),
    ("78701", "78701", "TX", PlaceSource::Postcode),
    ("near 78701", "78701", "TX", PlaceSource::Postcode),
    ("78701-1234", "78701-1234", "TX", PlaceSource::Postcode),
    ("02142", "02142", "MA", PlaceSource::Postcode),
    ("00901", "00901", "PR", PlaceSource::Postcode),
    ("M5V 2T6", "M5V 2T6", "ON", PlaceSource::Postcode),
    ("m5v2t6", "M5V 2T6", "ON", PlaceSource::Postcode),
    ("near H2X", "H2X", "QC", PlaceSource::Postcode),
    ("100 Queen St W, Toronto, ON M5H 2N2", "M5H 2N2", "ON", PlaceSource::Postcode),
    ("Tarzana, CA", "Tarzana", "CA", PlaceSource::Place),
    ("Mountain Brk, AL", "Mountain Brook", "AL", PlaceSource::Place),
    ("City of Wilkes Barre, PA", "Wilkes-Barre", "PA", PlaceSource::Place),
    ("Town of Brookhaven, NY", "Brookhaven", "NY", PlaceSource::Place),
    ("Philadlephai, PA", "Philadelphia", "PA", PlaceSource::FuzzyMatch),
    ("Alburquerqe", "Albuquerque", "NM", PlaceSource::FuzzyMatch),
    ("minneapolous mn", "Minneapolis", "MN", PlaceSource::FuzzyMatch),
    ("miamy", "Miami", "FL", PlaceSource::FuzzyMatch),
    ("Maimi, FL", "Miami", "FL", PlaceSource::FuzzyMatch),
    ("austn tx", "Austin", "TX", PlaceSource::FuzzyMatch),
    ("tornto", "Toronto", "ON", PlaceSource::FuzzyMatch),
    ("pheonix", "Phoenix", "AZ", PlaceSource::FuzzyMatch),
    ("philadephia", "Philadelphia", "PA", PlaceSource::FuzzyMatch),
    ("los angelse", "Los Angeles", "CA", PlaceSource::FuzzyMatch),
    ("Chicgo IL", "Chicago", "IL", PlaceSource::FuzzyMatch),
    ("bitcoin atms near New Yrok", "New York City", "NY", PlaceSource::FuzzyMatch),
    ("Las Vagas, Nevada", "Las Vegas", "NV", PlaceSource::FuzzyMatch),
    ("Hoston", "Houston", "TX", PlaceSource::FuzzyMatch),
];

#[test]
fn texts_resolve_as_people_expect() {
    for (text, name, area, source) in RESOLVED {
        let resolved = gazetteer().resolve(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let in_area = resolved.region.map_or_else(|| resolved.country.map_or("", Country::name), Region::code);
        assert_eq!((resolved.name.as_str(), in_area, resolved.source), (name, area, source), "{text}");
        assert!(resolved.confidence > 0.3 && resolved.confidence < 1.0, "{text}: {}", resolved.confidence);
        assert!(resolved.alternatives.len() <= 5, "{text}");
    }
}

#[test]
fn coordinates_resolve_to_themselves() {
    for text in ["25.7617,-80.1918", "near 25.7617 -80.1918", "25°45'42.1\"N 80°11'30.5\"W", "geo:25.7617,-80.1918"] {
        let resolved = gazetteer().resolve(text).unwrap();
        assert!(resolved.point.distance(Point::new(25.7617, -80.1918).unwrap()) < Distance::metres(2.0), "{text}");
        assert_eq!((resolved.source, resolved.region, resolved.country), (PlaceSource::Coordinates, None, None));
        assert!(resolved.confidence >= 1.0 && resolved.alternatives.is_empty());
    }
    assert_eq!(gazetteer().resolve("25.7617,-80.1918").unwrap().name, "25.76170, -80.19180");
}

/// Location texts without a result, with a part of the reason and the first suggestion.
#[rustfmt::skip]
const UNRESOLVED: [(&str, &str, &str); 17] = [
    ("", "1 to 200 characters", ""),
    ("   ", "1 to 200 characters", ""),
    ("Xyzzyplugh", "no place is known as \"Xyzzyplugh\"", ""),
    ("Springfield, ZZ", "no place is known", "Springfield, MO"),
    ("Orlando, TX", "is not known in Texas", "Orlando, FL"),
    ("Xanadu, TX", "no place is known", "Houston, TX"),
    ("Philadelphi, WY", "no place is known", "Philadelphia, PA"),
    ("Sacramentoburg", "no place is known", "Sacramento, CA"),
    ("Texas", "too large an area", "Houston, TX"),
    ("tx", "too large an area", "Houston, TX"),
    ("Florida", "too large an area", "Jacksonville, FL"),
    ("USA", "too large an area", "New York City, NY"),
    ("Germany", "too large an area", "Berlin, Germany"),
    ("00000", "the ZIP code 00000 is not known", ""),
    ("B9Z 9Z9", "the postal code B9Z 9Z9 is not known", ""),
    ("95, 200", "neither a ZIP code nor coordinates", ""),
    ("bitcoin atm", "does not say where", ""),
];

#[test]
fn unknown_texts_are_not_guessed() {
    for (text, reason, suggestion) in UNRESOLVED {
        let error = gazetteer().resolve(text).expect_err(text);
        assert!(error.to_string().contains(reason), "{text}: {error}");
        assert!(error.suggestions.len() <= 5, "{text}");
        assert_eq!(labels(&error.suggestions).first().map_or("", String::as_str), suggestion, "{text}");
    }
    assert!(gazetteer().resolve(&"x".repeat(MAX_TEXT_CHARS + 1)).is_err());
}

#[test]
fn bare_name_is_the_largest_place() {
    let springfield = gazetteer().resolve("Springfield").unwrap();
    assert_eq!(springfield.region.map(Region::code), Some("MO"));
    assert_eq!(labels(&springfield.alternatives)[..2], ["Springfield, MA", "Springfield, IL"]);
    let with_state = gazetteer().resolve("Springfield, IL").unwrap();
    assert!(with_state.confidence > springfield.confidence && with_state.alternatives.is_empty());
}

#[test]
fn city_is_found_only_in_its_region() {
    let city =
        |region: &str, name: &str| gazetteer().city(Region::parse(region).unwrap(), name).map(|place| place.label());
    for (region, name, expected) in [
        ("FL", "miami", Some("Miami, FL")),
        ("MO", "SAINT LOUIS", Some("St. Louis, MO")),
        ("NY", "new york", Some("New York City, NY")),
        ("QC", "montreal", Some("Montréal, QC")),
        ("PR", "San Juan", Some("San Juan, PR")),
        ("TX", "Miami Beach", None),
        ("FL", "Miamy", None),
        ("FL", "", None),
        ("FL", "!", None),
    ] {
        assert_eq!(city(region, name).as_deref(), expected, "{name}, {region}");
    }
}

#[test]
fn place_has_a_position_and_a_time_zone() {
    let phoenix = gazetteer().city(Region::parse("AZ").unwrap(), "Phoenix").unwrap();
    assert_eq!((phoenix.time_zone.as_str(), phoenix.country), ("America/Phoenix", Country::UNITED_STATES));
    assert!(phoenix.population > 1_000_000);
    let (nearest, distance) = gazetteer().nearest_place(phoenix.point).unwrap();
    assert!(distance < Distance::metres(2.0), "{nearest:?}");
    assert_eq!(nearest, phoenix);
}

#[test]
fn sample_cities_match_the_gazetteer() {
    for record in signpost_locator::sample::records() {
        let (city, region) = (record.address.city.unwrap(), record.address.region.unwrap());
        let resolved = gazetteer().resolve(&format!("{city}, {region}")).unwrap();
        assert!(resolved.point.distance(record.point) < Distance::miles(10.0), "{city}");
    }
}

fn small() -> Vec<u8> {
    let place = |name: &str, alternates: &[&str], country: &str, region: Option<&str>, population| PlaceEntry {
        name: name.to_owned(),
        alternates: alternates.iter().map(|name| (*name).to_owned()).collect(),
        area: PlaceArea {
            country: Country::parse(country).unwrap(),
            region: region.and_then(Region::parse),
            division: None,
        },
        point: Point::new(-33.868_45, f64::from(population % 100)).unwrap(),
        population,
        time_zone: format!("Zone/{name}"),
        county: None,
        has_post_office: false,
    };
    let places = vec![
        place("Oldtown", &["Vieux", "OLDTOWN", "!"], "US", Some("ME"), 7_000),
        place("Vieux", &[], "FR", None, 600),
        place("Grand", &["Vieux"], "FR", None, 20_000),
        place("???", &["Nameless"], "FR", None, 9),
    ];
    let area = PlaceArea::of_region(Region::parse("ME").unwrap());
    let zip = |code, lon| PostcodeEntry { code, point: Point::new(44.0, lon).unwrap(), area, county: None };
    encode(places, vec![zip(4468, -68.7), zip(4401, -68.8), zip(4700, -68.0), zip(4799, -60.0)], &[]).unwrap()
}

#[test]
fn gazetteer_round_trips() {
    let bytes = small();
    assert_eq!(bytes, small());
    let gazetteer = Gazetteer::from_bytes(&bytes).unwrap();
    assert_eq!((gazetteer.len(), gazetteer.is_empty()), (3, false));
    let old_town = gazetteer.city(Region::parse("ME").unwrap(), "oldtown").unwrap();
    assert_eq!((old_town.population, old_town.time_zone.as_str()), (7_000, "Zone/Oldtown"));
    assert!(old_town.point.distance(Point::new(-33.868_45, 0.0).unwrap()) < Distance::metres(1.0));
    // The small place precedes two places with the text as an alternate name, although they are at least twenty times
    // as large.
    let vieux = gazetteer.resolve("Vieux").unwrap();
    assert_eq!(
        (vieux.name.as_str(), labels(&vieux.alternatives)),
        ("Grand", vec!["Vieux, France".to_owned(), "Oldtown, ME".to_owned()])
    );
}

#[test]
fn po_box_code_is_placed_among_close_neighbours() {
    let gazetteer = Gazetteer::from_bytes(&small()).unwrap();
    let resolve = |text: &str| gazetteer.resolve(text).map(|resolved| (resolved.point, resolved.confidence < 0.7));
    assert_eq!(resolve("04401"), Ok((Point::new(44.0, -68.8).unwrap(), false)));
    let (middle, unsure) = resolve("04402").unwrap();
    assert!(unsure && middle.distance(Point::new(44.0, -68.75).unwrap()) < Distance::metres(10.0));
    assert!(resolve("04701").is_err() && resolve("05000").is_err());
}

#[test]
fn empty_gazetteer_resolves_nothing() {
    let gazetteer = Gazetteer::from_bytes(&encode(vec![], vec![], &[]).unwrap()).unwrap();
    assert!(gazetteer.is_empty() && gazetteer.nearest_place(Point::new(0.0, 0.0).unwrap()).is_none());
    assert_eq!(gazetteer.resolve("Miami").unwrap_err().suggestions, []);
    assert!(gazetteer.resolve("78701").is_err() && gazetteer.resolve("Texas").is_err());
}

#[test]
fn other_bytes_are_not_a_gazetteer() {
    let good = small();
    for bytes in [&b""[..], b"\x1f\x8b", b"not packed", &good[..good.len() / 2], &good[..good.len() - 1]] {
        assert!(Gazetteer::from_bytes(bytes).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_gazetteer_is_rejected_without_a_panic(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let mut bytes = small();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(gazetteer) = Gazetteer::from_bytes(&bytes) {
            // Only the gzip header can change without being noticed; the decompressed content is then equal.
            let whole = Gazetteer::from_bytes(&small()).unwrap();
            for text in ["Oldtown", "Vieux", "Grand, France", "Nameless", "04468", "Maine"] {
                prop_assert_eq!(gazetteer.resolve(text), whole.resolve(text));
            }
            prop_assert_eq!(gazetteer.len(), 3);
        }
    }

    #[test]
    fn any_text_is_resolved_or_rejected(text in "\\PC{0,60}") {
        check(&text)?;
    }

    #[test]
    fn typical_texts_are_resolved_or_rejected(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "Miami", "St.", " ", ",", "TX", "near ", "78701", "40.7", "-74", "°", "'", "\"", "N", "W", "USA", "New York", "é",
            "georgia", "\u{0}", "geo:", "lat", "-", "1 Main St", "CA", "M5V 2T6", "\u{301}", "ß", "ﬁ", "İ", "東京",
        ]), 0..12),
    ) {
        check(&pieces.concat())?;
    }
}

/// Checks that the result for a text is valid.
fn check(text: &str) -> Result<(), TestCaseError> {
    match gazetteer().resolve(text) {
        Ok(resolved) => {
            prop_assert!(resolved.confidence > 0.0 && resolved.confidence <= 1.0);
            prop_assert!(!resolved.name.is_empty() && resolved.alternatives.len() <= 5);
        }
        Err(error) => prop_assert!(!error.reason.is_empty() && error.suggestions.len() <= 5),
    }
    Ok(())
}
