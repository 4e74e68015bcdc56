//! Tests of the names and positions of airports, landmarks, regions and nicknames.

use std::sync::OnceLock;

use signpost_locator::gazetteer::{Gazetteer, Landmark, LandmarkKind, Landmarks, PlaceSource};
use signpost_locator::{Distance, Region, fold};

/// Returns the embedded landmarks, loaded once for all tests.
fn landmarks() -> &'static Landmarks {
    static EMBEDDED: OnceLock<Landmarks> = OnceLock::new();
    EMBEDDED.get_or_init(Landmarks::embedded)
}

/// Returns the embedded gazetteer, loaded once for all tests.
fn gazetteer() -> &'static Gazetteer {
    static EMBEDDED: OnceLock<Gazetteer> = OnceLock::new();
    EMBEDDED.get_or_init(Gazetteer::embedded)
}

/// Returns the code of each airport and the name of each other landmark that a text matches.
fn named(text: &str) -> Vec<&'static str> {
    landmarks().named(&fold(text)).map(|found| found.codes.map_or(found.name, |codes| codes.iata)).collect()
}

#[test]
fn airports_are_found_by_their_usual_names() {
    for (text, codes) in [
        ("Los Angeles International Airport", &["LAX"][..]),
        ("Los Angeles International", &["LAX"]),
        ("Los Angeles Airport", &["LAX"]),
        ("los angeles intl airport", &["LAX"]),
        ("Los Angeles Int'l", &["LAX"]),
        ("LAX airport", &["LAX"]),
        ("lax", &["LAX"]),
        ("O'Hare", &["ORD"]),
        ("Ohare Airport", &["ORD"]),
        ("Chicago O'Hare International Airport", &["ORD"]),
        ("Midway Airport", &["MDW"]),
        ("JFK", &["JFK"]),
        ("John F Kennedy International Airport", &["JFK"]),
        ("La Guardia", &["LGA"]),
        ("Newark airport", &["EWR"]),
        ("Logan Airport", &["BOS"]),
        ("Sea-Tac", &["SEA"]),
        ("DFW Airport", &["DFW"]),
        ("Love Field", &["DAL"]),
        ("Bush Intercontinental", &["IAH"]),
        ("Hobby Airport", &["HOU"]),
        ("Reagan National", &["DCA"]),
        ("Dulles", &["IAD"]),
        ("BWI", &["BWI"]),
        ("Sky Harbor", &["PHX"]),
        ("Harry Reid airport", &["LAS"]),
        ("McCarran", &["LAS"]),
        ("Hartsfield", &["ATL"]),
        ("Hartsfield-Jackson Atlanta International", &["ATL"]),
        ("John Wayne Airport", &["SNA"]),
        ("Burbank airport", &["BUR"]),
        ("London Heathrow", &["LHR"]),
        ("Gatwick Airport", &["LGW"]),
        ("Charles de Gaulle", &["CDG"]),
        ("Orly", &["ORY"]),
        ("Schiphol", &["AMS"]),
        ("Pearson Airport", &["YYZ"]),
        ("Montreal Trudeau", &["YUL"]),
        ("aéroport Charles de Gaulle", &["CDG"]),
        ("aeropuerto de Miami", &["MIA"]),
        ("Flughafen Frankfurt", &["FRA"]),
        ("Haneda", &["HND"]),
        ("Tokyo Haneda", &["HND"]),
        ("JFK New York", &["JFK"]),
        ("Houston IAH", &["IAH"]),
        ("Narita Airport", &["NRT"]),
        ("Tri-Cities Airport", &["TRI", "PSC"]),
        ("Portland airport", &["PDX", "PWM"]),
        ("New York airport", &["JFK", "LGA", "EWR"]),
        ("Chicago airports", &["ORD", "MDW"]),
        ("Houston airport", &["IAH", "HOU"]),
        ("London airport", &["LHR", "LGW"]),
        ("Washington airport", &["DCA", "IAD", "BWI"]),
    ] {
        let found = named(text);
        assert_eq!(found.get(..codes.len()), Some(codes), "{text}: {found:?}");
    }
}

#[test]
fn city_name_is_not_an_airport() {
    for text in
        ["Los Angeles", "Chicago", "Orlando", "Logan", "Bradley", "Midway", "Reagan", "Newark", "airport", "the", ""]
    {
        assert_eq!(named(text), [""; 0], "{text}");
    }
}

#[test]
fn airport_codes_are_found_in_any_case() {
    for (code, name) in [
        ("LAX", "Los Angeles International Airport"),
        ("klax", "Los Angeles International Airport"),
        ("EGLL", "London Heathrow Airport"),
        ("DAL", "Dallas Love Field"),
    ] {
        assert_eq!(landmarks().by_code(code).map(|airport| airport.name), Some(name), "{code}");
    }
    for code in ["", "ATM", "BTC", "LA", "XXXX", "LAXX", "L\u{e4}X"] {
        assert_eq!(landmarks().by_code(code), None, "{code}");
    }
}

#[test]
fn landmarks_are_found_despite_filler_words() {
    for (text, name) in [
        ("the Empire State Building", "Empire State Building"),
        ("Statue of Liberty", "Statue of Liberty"),
        ("THE BAY AREA", "San Francisco Bay Area"),
        ("tour eiffel", "Eiffel Tower"),
        ("Wall St", "Wall Street"),
        ("bourbon st.", "Bourbon Street"),
        ("UCLA campus", "University of California Los Angeles"),
        ("Mass General", "Massachusetts General Hospital"),
        ("Kent State Univ", "Kent State University"),
        ("Pine Ridge Indian Reservation", "Pine Ridge Reservation"),
        ("Yonge & Bloor", "Yonge and Bloor"),
        ("Palermo Soho, Buenos Aires", "Palermo Soho"),
        ("Nueva Orleans", "New Orleans"),
        ("Victoria", "Victoria"),
        ("St Croix", "St. Croix"),
        ("Guernsey", "Guernsey"),
        ("Heathrow Terminal 5", "LHR"),
        ("O'Hare Airport Terminal 1", "ORD"),
    ] {
        assert_eq!(named(text), [name], "{text}");
    }
}

#[test]
fn every_landmark_is_near_its_city() {
    let mut wrong = Vec::new();
    for landmark in landmarks().all() {
        let Landmark { name, kind, city, region, country, point, radius, .. } = *landmark;
        let middle = match region {
            Some(region) => gazetteer().city(region, city).map(|place| (place.name, place.point)),
            None => gazetteer().resolve(&format!("{city}, {country}")).ok().map(|found| (found.name, found.point)),
        };
        let reach = match kind {
            LandmarkKind::Airport => 40.0,
            LandmarkKind::Landmark => 15f64.max(radius.in_miles() + 15.0),
            // The town nearest to a small island may be on the next island.
            LandmarkKind::Region => radius.in_miles() + 50.0,
            LandmarkKind::TooLarge => radius.in_miles(),
            LandmarkKind::Nickname => 1.0,
        };
        let Some((found, middle)) = middle else {
            wrong.push(format!("{name}: {city}, {region:?} {country} is not known"));
            continue;
        };
        let away = middle.distance(point).in_miles();
        if fold(&found) != fold(city) || away > reach {
            wrong.push(format!(
                "{name}: {away:.0} miles from {city} ({found}, {:.4}, {:.4})",
                middle.lat(),
                middle.lon()
            ));
        }
        let near = if kind == LandmarkKind::Region { reach } else { reach.min(25.0).max(radius.in_miles()) };
        if !gazetteer().is_near(point, Distance::miles(near), country, region) {
            wrong.push(format!("{name}: far from every place of {region:?} {country}"));
        }
        let nearest = gazetteer().nearest_place(point).map(|(place, _)| (place.country, place.region));
        let is_at_border = gazetteer().is_near(point, Distance::miles(10.0), country, region);
        if nearest != Some((country, region)) && !is_at_border {
            wrong.push(format!("{name}: in {nearest:?}, not in {region:?} {country}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_name_in_the_table_finds_its_row() {
    for (at, line) in include_str!("../data/landmarks.tsv").lines().skip(1).enumerate() {
        let row = &landmarks().all()[at];
        for name in line.split('\t').next().unwrap_or_default().split('|') {
            assert!(landmarks().named(&fold(name)).any(|found| found == row), "{name}");
            assert!(landmarks().named(&fold(&format!("the {name}"))).next().is_some(), "the {name}");
        }
    }
}

#[test]
fn airport_precedes_a_distant_namesake() {
    for (text, name, region) in [
        ("LaGuardia", "LaGuardia Airport", "NY"),
        ("dulles", "Washington Dulles International Airport", "VA"),
        ("Heathrow, FL", "Heathrow", "FL"),
        ("SeaTac", "SeaTac", "WA"),
    ] {
        let found = gazetteer().resolve(text).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
        assert_eq!((found.name.as_str(), found.region), (name, Region::parse(region)), "{text}");
    }
    let found = gazetteer().resolve("LaGuardia").unwrap();
    assert!(found.confidence <= 0.6 && !found.alternatives.is_empty(), "{found:?}");
}

#[test]
fn misspelt_name_finds_its_landmark() {
    for (text, name) in [
        ("Heathrw", Some("London Heathrow Airport")),
        ("Disneylnd", Some("Disneyland")),
        ("Tiimes Square", Some("Times Square")),
        ("Empire State Bulding", Some("Empire State Building")),
        ("Golden Gate Brigde", Some("Golden Gate Bridge")),
        ("Heathrw Airport", Some("London Heathrow Airport")),
        ("Yosemitee", Some("Yosemite")),
        // Ambiguous.
        ("Chinatwn", None),
        ("Union Staton", None),
        // Too short.
        ("Orlyy", None),
        ("Heathrow", None),
        ("Springfield", None),
    ] {
        let found = landmarks().find_similar(&fold(text), |_| true);
        assert_eq!(found.map(|found| found.name), name, "{text}");
    }
    let in_california = |landmark: &Landmark| landmark.region == Region::parse("CA");
    let found = landmarks().find_similar("unionstaton", in_california);
    assert_eq!(found.map(|found| found.city), Some("Los Angeles"));
}

#[test]
fn misspelt_landmark_is_corrected_and_reported() {
    for (text, name, sure) in [
        ("Disneylnd", "Disneyland", 0.5),
        ("atm near the Golden Gate Brigde", "Golden Gate Bridge", 0.5),
        ("Heathrw", "London Heathrow Airport", 0.5),
        ("Disneylnd, CA", "Disneyland", 0.65),
        ("Empire State Bulding, New York", "Empire State Building", 0.65),
    ] {
        let found = gazetteer().resolve(text).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
        assert_eq!(
            (found.name.as_str(), found.source, found.confidence),
            (name, PlaceSource::FuzzyMatch, sure),
            "{text}"
        );
        assert!(found.notes.iter().any(|note| note.to_string().contains(name)), "{text}: {:?}", found.notes);
    }
    // No other state has a landmark with this name.
    assert!(gazetteer().resolve("Disneylnd, TX").is_err());
}
