//! Tests of places outside the United States: divisions, postcodes, contradictions, and places with the same name.

use signpost_locator::gazetteer::{Gazetteer, PlacePreference, PlaceSource, Resolved, Unresolved, UnresolvedKind};
use signpost_locator::{Country, Distance, Point};

use std::sync::LazyLock;

static GAZETTEER: LazyLock<Gazetteer> = LazyLock::new(Gazetteer::embedded);

fn resolve(text: &str) -> Resolved {
    GAZETTEER.resolve(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn assert_near(text: &str, lat: f64, lon: f64) -> Resolved {
    let found = resolve(text);
    let expected = Point::new(lat, lon).unwrap();
    assert!(found.point.distance(expected) <= Distance::miles(25.0), "{text}: {found:?}");
    found
}

fn too_large(text: &str) -> Unresolved {
    let error = GAZETTEER.resolve(text).expect_err(text);
    assert_eq!(error.kind, UnresolvedKind::TooLarge, "{text}: {error}");
    error
}

#[test]
fn city_is_found_in_its_division() {
    for (text, lat, lon) in [
        ("Guadalajara, Jalisco, Mexico", 20.67, -103.35),
        ("Sydney, NSW, Australia", -33.87, 151.21),
        ("Munich, Bavaria", 48.14, 11.58),
        ("São Paulo, SP", -23.55, -46.63),
        ("Glasgow, Scotland, UK", 55.86, -4.25),
        ("Scarborough, ON", 43.77, -79.26),
        ("Medellín, Antioquia", 6.24, -75.58),
        ("Florence, Tuscany", 43.77, 11.25),
        ("Leeds, West Yorkshire, England, UK", 53.8, -1.55),
        ("Perth, WA, Australia", -31.95, 115.86),
        ("200 George St, Sydney NSW 2000, Australia", -33.87, 151.21),
        ("Palermo, Sicily", 38.12, 13.36),
        ("Torino, TO", 45.07, 7.69),
        ("Cebu City, Cebu, Philippines", 10.31, 123.9),
    ] {
        let found = assert_near(text, lat, lon);
        assert!(found.confidence > 0.5 || text.starts_with("200"), "{text}: {found:?}");
    }
    let found = resolve("Guadalajara, Jalisco, Mexico");
    assert_eq!(found.division.map(signpost_locator::Division::name), Some("Jalisco"));
}

#[test]
fn large_division_is_rejected_with_its_cities() {
    for (text, city) in [
        ("Tuscany", "Florence"),
        ("Bali", "Denpasar"),
        ("Kerala", "Kochi"),
        ("Scotland", "Glasgow"),
        ("Kent", "Maidstone"),
        ("Bavaria", "Munich"),
        ("Rio Grande do Sul", "Porto Alegre"),
        ("Bali, Indonesia", "Denpasar"),
        ("Scotland UK", "Glasgow"),
    ] {
        let suggestions = too_large(text).suggestions;
        assert!(suggestions.iter().any(|place| place.name == city), "{text}: {suggestions:?}");
    }
}

#[test]
fn small_division_is_answered_with_its_middle() {
    let found = assert_near("Isle of Wight", 50.69, -1.30);
    assert!(matches!(found.source, PlaceSource::Division | PlaceSource::Region), "{found:?}");
    assert_near("Orkney", 58.98, -2.96);
    assert_near("Elba", 42.78, 10.28);
}

#[test]
fn namesake_of_a_division_is_no_division_if_it_is_a_city() {
    for (text, lat, lon) in
        [("San Juan", 18.47, -66.1), ("Cork", 51.9, -8.47), ("Osaka", 34.69, 135.5), ("Porter, IN", 41.6, -87.1)]
    {
        assert_near(text, lat, lon);
    }
}

#[test]
fn postcode_abroad_belongs_to_its_city() {
    for (text, lat, lon) in [
        ("10115 Berlin", 52.53, 13.38),
        ("Berlin, Germany 10115", 52.53, 13.38),
        ("75008 Paris", 48.87, 2.31),
        ("Praha 110 00", 50.08, 14.42),
        ("1010 Wien", 48.21, 16.37),
        ("M1 1AE Manchester", 53.48, -2.23),
        ("1012 AB Amsterdam", 52.37, 4.9),
        ("Warszawa 00-001", 52.23, 21.0),
        ("Melbourne VIC 3000 Australia", -37.81, 144.96),
        ("San José 10101 Costa Rica", 9.93, -84.08),
        ("San Jose, Costa Rica 95112", 9.93, -84.08),
        ("Naples, Italy 34102", 40.85, 14.27),
        ("C1002 Buenos Aires", -34.6, -58.38),
        ("Kolkata-700001", 22.57, 88.36),
        ("Tel Aviv 6100000", 32.08, 34.78),
        ("Dublin 2", 53.34, -6.25),
    ] {
        let found = assert_near(text, lat, lon);
        assert_eq!(found.dropped.len(), 1, "{text}: {found:?}");
        assert!(!found.notes.is_empty(), "{text}");
    }
    assert_near("SW1A 1AA", 51.5, -0.14);
}

#[test]
fn postcode_elsewhere_loses_against_the_place() {
    for (text, lat, lon, code) in [
        ("Portland ME 97201", 43.66, -70.26, "97201"),
        ("Austin, TX 10001", 30.27, -97.74, "10001"),
        ("10001, Austin, TX", 30.27, -97.74, "10001"),
        ("Dallas TX, 10001", 32.78, -96.8, "10001"),
        ("Vienna, Austria 22180", 48.21, 16.37, "22180"),
        ("London, UK N6A 3N7", 51.51, -0.13, "N6A 3N7"),
        ("London, Ontario SW1A 1AA", 42.98, -81.25, "SW1A 1AA"),
        ("SW1A 1AA Paris", 48.86, 2.35, "SW1A 1AA"),
        ("Birmingham, AL B33 8TH", 33.52, -86.8, "B33 8TH"),
        ("Newcastle, WA 2300", 47.54, -122.16, "2300"),
        ("Leeds SW1A 1AA", 53.8, -1.55, "SW1A 1AA"),
    ] {
        let found = assert_near(text, lat, lon);
        assert!(found.confidence <= 0.5, "{text}: {found:?}");
        assert_eq!(found.dropped, [code], "{text}");
        assert!(found.notes.iter().any(|note| note.to_string().contains(code)), "{text}: {:?}", found.notes);
    }
}

#[test]
fn postcode_chooses_among_namesakes() {
    for (text, lat, lon) in [
        ("Valencia 46001", 39.47, -0.38),
        ("Córdoba 14001", 37.88, -4.78),
        ("Perth PH1 5TJ", 56.4, -3.43),
        ("Boston PE21 6NH", 52.98, -0.03),
        ("Newcastle NE1 4ST", 54.98, -1.61),
        ("Newcastle 2300", -32.93, 151.78),
    ] {
        let found = assert_near(text, lat, lon);
        assert!(found.confidence <= 0.5, "{text}: {found:?}");
        assert_eq!(found.dropped.len(), 1, "{text}: {found:?}");
    }
}

#[test]
fn country_of_the_kingdom_is_a_division() {
    assert_near("Bangor, Wales", 53.23, -4.13);
    assert_near("Bangor, Northern Ireland", 54.66, -5.67);
    assert_near("Heathrow, England", 51.47, -0.45);
    assert_near("Utrecht, Holland", 52.09, 5.12);
    for text in ["Glasgow, England", "Cardiff, Scotland"] {
        assert!(GAZETTEER.resolve(text).is_err(), "{text}");
    }
}

#[test]
fn city_before_an_unknown_part_is_found() {
    for (text, lat, lon, dropped) in [
        ("Brno, South Moravia, Czech Republic", 49.2, 16.61, "South Moravia"),
        ("Kazan, Tatarstan", 55.79, 49.12, "Tatarstan"),
        ("Uppsala, Uppsala län", 59.86, 17.64, "Uppsala län"),
        ("Toronto, Ohio, Canada", 43.7, -79.4, "Ohio"),
    ] {
        let found = assert_near(text, lat, lon);
        assert!(found.confidence <= 0.5, "{text}: {found:?}");
        assert_eq!(found.dropped, [dropped], "{text}: {found:?}");
    }
    assert!(GAZETTEER.resolve("Berlin, France").is_err());
    assert_near("Brasília, DF", -15.78, -47.93);
}

#[test]
fn name_with_a_larger_namesake_is_uncertain() {
    for text in ["Odessa", "Petersburg", "Paraná", "Durham"] {
        let found = resolve(text);
        assert!(found.confidence <= 0.5, "{text}: {found:?}");
    }
}

#[test]
fn postcode_beside_its_town_is_used() {
    for (text, lat, lon) in [
        ("Chicago 60614", 41.92, -87.65),
        ("02139-4307 Cambridge MA", 42.36, -71.10),
        ("MIDLAND, MI, 48642, US", 43.62, -84.25),
        ("Springfield 62701", 39.80, -89.65),
        ("zip: 02139", 42.36, -71.10),
        ("Texas 78701", 30.27, -97.74),
    ] {
        let found = assert_near(text, lat, lon);
        assert_eq!(found.source, PlaceSource::Postcode, "{text}: {found:?}");
        assert_eq!(found.dropped, [""; 0], "{text}");
    }
}

#[test]
fn text_with_two_places_names_the_dropped_place() {
    let found = resolve("Chicago, Boise");
    assert_eq!((found.name.as_str(), found.dropped.as_slice()), ("Chicago", &["Boise".to_owned()][..]));
    assert!(found.confidence <= 0.5);
    assert!(found.notes.iter().all(|note| !note.to_string().contains("not known")), "{:?}", found.notes);
}

#[test]
fn place_in_another_state_is_suggested() {
    let error = GAZETTEER.resolve("Seattle, OR").expect_err("another state");
    assert!(error.reason.contains("Seattle, WA") && error.reason.contains("Oregon"), "{error}");
    assert!(error.suggestions.iter().any(|place| place.label() == "Seattle, WA"));
    assert!(error.suggestions.iter().any(|place| place.label().ends_with(", OR")));
}

#[test]
fn middle_between_two_places_is_uncertain() {
    for (text, lat, lon) in [
        ("halfway between Tampa and Orlando", 28.2, -81.9),
        ("between Dallas and Fort Worth", 32.75, -97.05),
        ("on I-5 between Portland and Salem", 45.2, -122.8),
        ("entre Madrid y Toledo", 40.14, -3.86),
        ("zwischen Köln und Bonn", 50.83, 7.03),
        ("half way from Rome to Naples", 41.4, 13.4),
    ] {
        let found = assert_near(text, lat, lon);
        assert!(found.confidence <= 0.5, "{text}: {found:?}");
        assert!(found.notes.iter().any(|note| note.to_string().contains("between")), "{text}: {:?}", found.notes);
    }
}

#[test]
fn part_of_a_city_is_the_city() {
    for (text, lat, lon) in [
        ("north side of Chicago", 41.88, -87.63),
        ("South Side, Pittsburgh", 40.43, -79.98),
        ("NE Portland", 45.52, -122.68),
        ("Camden, London", 51.54, -0.14),
        ("Condesa, Mexico City", 19.41, -99.17),
        ("Le Marais, Paris", 48.86, 2.36),
        ("Av. Paulista, São Paulo", -23.56, -46.65),
        ("centro de São Paulo", -23.55, -46.63),
        ("north London", 51.51, -0.13),
        ("South Manchester", 53.48, -2.24),
        ("city centre Glasgow", 55.86, -4.25),
        ("Sydney CBD", -33.87, 151.21),
        ("norte de Bogotá", 4.71, -74.07),
        ("Paris suburbs", 48.86, 2.35),
        ("Providencia, Santiago", -33.43, -70.61),
    ] {
        assert_near(text, lat, lon);
    }
}

#[test]
fn foreign_spellings_are_known() {
    for (text, lat, lon) in [
        ("Nueva Orleans", 29.95, -90.07),
        ("Miami, Florida, EE.UU.", 25.77, -80.19),
        ("Miami, Florida, Estados Unidos", 25.77, -80.19),
        ("Charlotte, Carolina del Norte", 35.23, -80.84),
    ] {
        assert_near(text, lat, lon);
    }
}

#[test]
fn preference_chooses_among_namesakes() {
    let no_atms = |_: Point| false;
    let everywhere = PlacePreference { country: None, likely_country: None, has_atms_near: &no_atms };
    let likeliest = GAZETTEER.resolve_preferring("Birmingham", &everywhere).unwrap();
    assert_eq!(likeliest.country, Country::parse("GB"));

    let in_states = PlacePreference { country: Some(Country::UNITED_STATES), ..everywhere };
    let named = GAZETTEER.resolve_preferring("Birmingham", &in_states).unwrap();
    assert_eq!(named.region.map(signpost_locator::Region::code), Some("AL"));
    assert!(named.alternatives.iter().any(|place| place.country.code() == "GB"), "{named:?}");

    let alabama = named.point;
    let near_alabama = |point: Point| point.distance(alabama) < Distance::miles(50.0);
    let served = PlacePreference { has_atms_near: &near_alabama, ..everywhere };
    let found = GAZETTEER.resolve_preferring("Birmingham", &served).unwrap();
    assert_eq!(found.region.map(signpost_locator::Region::code), Some("AL"));
    assert!(found.confidence <= 0.6 && !found.notes.is_empty(), "{found:?}");

    let british = PlacePreference { likely_country: Country::parse("GB"), ..served };
    assert_eq!(GAZETTEER.resolve_preferring("Birmingham", &british).unwrap().country, Country::parse("GB"));

    // The preference is ignored, because Paris, Texas, is much smaller.
    let american = PlacePreference { likely_country: Some(Country::UNITED_STATES), ..everywhere };
    assert_eq!(GAZETTEER.resolve_preferring("Paris", &american).unwrap().country, Country::parse("FR"));
    let near_texas = |point: Point| point.distance(Point::new(33.66, -95.56).unwrap()) < Distance::miles(50.0);
    let served = PlacePreference { has_atms_near: &near_texas, ..american };
    assert_eq!(GAZETTEER.resolve_preferring("Paris", &served).unwrap().country, Some(Country::UNITED_STATES));

    // The preference is ignored, because the text names a country.
    let named = GAZETTEER.resolve_preferring("Birmingham, UK", &in_states).unwrap();
    assert_eq!(named.country, Country::parse("GB"));
}
