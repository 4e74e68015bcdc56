//! Regression tests for texts that formerly had a wrong result or no result.

use signpost_locator::gazetteer::{PlaceSource, Resolved, UnresolvedKind};
use signpost_locator::{Distance, Region};

use crate::{GAZETTEER, point};

fn resolved(text: &str) -> Resolved {
    GAZETTEER.resolve(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> UnresolvedKind {
    GAZETTEER.resolve(text).expect_err(text).kind
}

fn is_near(found: &Resolved, lat: f64, lon: f64, miles: f64) -> bool {
    found.point.distance(point(lat, lon)) <= Distance::miles(miles)
}

#[test]
fn text_resolves_to_the_expected_place() {
    use PlaceSource::{Airport, Coordinates, County, Landmark, Place, PlusCode, Postcode, Region};
    for (text, lat, lon, sources) in [
        ("Boston, Mass.", 42.36, -71.06, &[Place][..]),
        ("Boston Mass", 42.36, -71.06, &[Place]),
        ("Denver CO, Colorado", 39.74, -104.99, &[Place]),
        ("Dallas TX, Texas", 32.78, -96.80, &[Place]),
        ("Tucson 85701, Arizona", 32.22, -110.97, &[Place, Postcode]),
        ("Concord (USA), NH", 43.21, -71.54, &[Place]),
        ("Seattle (and vicinity), WA", 47.61, -122.33, &[Place]),
        ("Honolulu, Hawaiʻi", 21.31, -157.86, &[Place]),
        ("San Francisco, Kalifornien", 37.77, -122.42, &[Place]),
        ("San Francisco, Californie", 37.77, -122.42, &[Place]),
        ("Pittsburgh, Penna.", 40.44, -79.99, &[Place]),
        ("Charleston, W.Va.", 38.35, -81.63, &[Place]),
        ("Jackson, NJ", 40.10, -74.36, &[Place]),
        ("Mission Hills, CA", 34.26, -118.46, &[Place]),
        // The larger of two candidates; the other has a population of two thousand.
        ("Shelby, MI", 42.67, -83.03, &[Place]),
        ("Shelby Township, MI", 42.67, -83.03, &[Place]),
        ("North Chesterfield, VA", 37.46, -77.48, &[Place]),
        ("Cook County, IL", 41.84, -87.80, &[County]),
        ("Cook County, Illinois", 41.84, -87.80, &[County]),
        ("Miami-Dade County, FL", 25.72, -80.35, &[County]),
        ("LAX", 33.94, -118.41, &[Airport]),
        ("Los Angeles International Airport", 33.94, -118.41, &[Airport]),
        ("KJFK", 40.64, -73.78, &[Airport]),
        ("Times Square", 40.758, -73.985, &[Landmark]),
        ("Chinatown, San Francisco", 37.794, -122.407, &[Landmark, Place]),
        ("Bay Area", 37.77, -122.30, &[Region]),
        ("Twin Cities", 44.96, -93.20, &[Region]),
        ("87G8P27V+8Q", 40.7133, -73.9556, &[PlusCode]),
        ("90210-1234", 34.09, -118.41, &[Postcode]),
        ("40.7, -74.0", 40.7, -74.0, &[Coordinates]),
    ] {
        let found = resolved(text);
        let within = if matches!(found.source, Airport | Landmark | PlusCode | Coordinates) { 3.0 } else { 25.0 };
        assert!(is_near(&found, lat, lon, within) && sources.contains(&found.source), "{text}: {found:?}");
    }
}

#[test]
fn state_abbreviation_may_be_a_name() {
    for text in ["Ore", "Ind", "Miss", "Wash", "Del"] {
        let kind = GAZETTEER.resolve(text).err().map(|error| error.kind);
        assert_ne!(kind, Some(UnresolvedKind::TooLarge), "{text}");
    }
}

#[test]
fn state_is_too_large_and_lists_its_cities() {
    let short = [
        "Ala.",
        "Ariz.",
        "Ark.",
        "Colo.",
        "Ga.",
        "Ill.",
        "Mich.",
        "Minn.",
        "Pa.",
        "Calif.",
        "Conn.",
        "Fla.",
        "Mass.",
        "Nev.",
        "N.J.",
        "N.Y. State",
        "Okla.",
        "Tenn.",
        "Tex.",
        "W.Va.",
        "Wis.",
    ];
    let long = [
        "Alabama",
        "California",
        "florida",
        "TEXAS",
        "the state of Ohio",
        "State of Georgia",
        "Hawaii",
        "Hawaiʻi",
        "New Jersey",
        "West Virginia",
        "Kalifornien",
        "Puerto Rico",
    ];
    let others: Vec<String> = short
        .into_iter()
        .chain(long)
        .filter_map(|text| match GAZETTEER.resolve(text) {
            Ok(found) => Some(format!("{text}: {} at {}", found.name, found.confidence)),
            Err(error) => {
                let first = error.suggestions.first().and_then(|place| place.region);
                let is_one = first.is_some() && error.suggestions.iter().all(|place| place.region == first);
                (error.kind != UnresolvedKind::TooLarge || !is_one).then(|| format!("{text}: {error:?}"))
            }
        })
        .collect();
    assert!(others.is_empty(), "{others:#?}");
    let error = GAZETTEER.resolve("Calif.").expect_err("a state");
    assert_eq!(error.suggestions.first().and_then(|place| place.region), Region::parse("CA"));
}

#[test]
fn partial_match_is_reported_as_partial() {
    for (text, lat, lon) in [
        ("123 Main St, Austin, TX", 30.27, -97.74),
        ("1200 S Lamar Blvd, Austin", 30.27, -97.74),
        ("exit 12 on I-95 in Savannah, GA", 32.08, -81.09),
        ("corner of 5th and Main in Tulsa", 36.15, -95.99),
        ("the Walmart in Bentonville, AR", 36.37, -94.21),
        ("North Dinwiddie, VA", 37.08, -77.59),
    ] {
        let found = resolved(text);
        assert!(is_near(&found, lat, lon, 25.0) && !found.notes.is_empty(), "{text}: {found:?}");
        assert!(found.confidence <= if found.source == PlaceSource::Fallback { 0.5 } else { 0.6 }, "{text}: {found:?}");
    }
    for text in ["100 Main St, Austin, TX 78701", "Autsin", "Autsin, TX", "Cook County, IL"] {
        assert!(!resolved(text).notes.is_empty(), "{text}");
    }
    for text in ["Austin, TX", "Austin", "78701", "30.27, -97.74", "Boston, Mass.", "bitcoin atm near Miami, FL"] {
        assert!(resolved(text).notes.is_empty(), "{text}: {:?}", resolved(text).notes);
    }
}

#[test]
fn misspelt_name_is_reported_with_its_match() {
    let found = resolved("Autsin");
    let notes: Vec<String> = found.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        (found.source, &notes[..]),
        (PlaceSource::FuzzyMatch, &["'Autsin' is not known; it was taken for Austin, TX.".to_owned()][..])
    );
    for text in ["Autsin", "Autsin, TX", "Pheonix AZ", "Philidelphia", "miamy"] {
        assert!(resolved(text).confidence <= 0.67, "{text}");
    }
}

#[test]
fn place_of_the_user_is_requested() {
    for text in [
        "near me",
        "here",
        "nearby",
        "my location",
        "current location",
        "around me",
        "where I am",
        "close to me",
        "my area",
        "bitcoin atm near me",
        "cerca de mí",
        "aquí",
        "mi ubicación",
        "près de moi",
        "ici",
        "ma position",
        "in meiner Nähe",
        "hier",
        "mein Standort",
        "perto de mim",
        "aqui",
        "minha localização",
    ] {
        assert_eq!(refused(text), UnresolvedKind::OwnPlace, "{text}");
    }
    let reason = GAZETTEER.resolve("near me").expect_err("no place").to_string();
    assert!(["ask", "ZIP code", "coordinates"].iter().all(|word| reason.contains(word)), "{reason}");
}

#[test]
fn longitude_first_coordinates_are_rejected() {
    for (text, meant) in [
        ("-74.0, 40.7", "40.7, -74"),
        ("-74.0060, 40.7128", "40.7128, -74.006"),
        ("-118.2437, 34.0522", "34.0522, -118.2437"),
    ] {
        let error = GAZETTEER.resolve(text).expect_err(text);
        assert_eq!(error.kind, UnresolvedKind::Swapped, "{text}: {error}");
        assert!(error.to_string().contains(meant), "{text}: {error}");
    }
}

/// Checks that towns with equal labels in a state are distinguished by their counties.
#[test]
fn places_with_equal_labels_show_their_county() {
    let found = resolved("Wheatland, PA");
    let counties: Vec<Option<&str>> = found
        .alternatives
        .iter()
        .filter(|place| place.name == found.name && place.region == found.region)
        .map(|place| place.county.as_deref())
        .chain([found.county.as_deref()])
        .collect();
    assert!(counties.len() > 1, "{found:?}");
    assert!(counties.iter().all(|county| county.is_some_and(|county| county.ends_with("County"))), "{counties:?}");
    assert!(counties.contains(&Some("Mercer County")), "{counties:?}");
}
