//! Location texts, as people write them, against the places that ship with the crate.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use signpost_locator::gazetteer::{Broken, Entry, encode};
use signpost_locator::{Country, Distance, Gazetteer, Place, Point, Region, Source, sample};

static GAZETTEER: LazyLock<Gazetteer> = LazyLock::new(Gazetteer::embedded);

/// `Miami, FL` for a place in a region, `Paris, FR` elsewhere, nothing where the text was not understood.
fn resolved(text: &str) -> String {
    let Ok(found) = GAZETTEER.resolve(text) else { return String::new() };
    let behind = found.region.map(|region| region.code().to_owned());
    let behind = behind.or_else(|| found.country.map(|country| country.code().to_owned()));
    format!("{}, {}", found.name, behind.unwrap_or_default())
}

#[test]
fn places_are_understood_as_people_write_them() {
    for (text, expected) in [
        ("Miami, FL", "Miami, FL"),
        ("miami,fl", "Miami, FL"),
        ("Austin TX", "Austin, TX"),
        ("Austin, Texas", "Austin, TX"),
        ("austin texas usa", "Austin, TX"),
        ("Los Angeles, California, United States", "Los Angeles, CA"),
        ("Denver CO", "Denver, CO"),
        ("St Louis MO", "St. Louis, MO"),
        ("Saint Louis, Missouri", "St. Louis, MO"),
        ("O Fallon, MO", "O'Fallon, MO"),
        ("Washington DC", "Washington, DC"),
        ("Washington, D.C.", "Washington, DC"),
        ("New York", "New York City, NY"),
        ("San Juan, PR", "San Juan, PR"),
        ("London, Ontario", "London, ON"),
        ("Toronto, CA", "Toronto, ON"),
        ("Montreal", "Montréal, QC"),
        ("Paris", "Paris, FR"),
        ("paris texas", "Paris, TX"),
        ("Paris, France", "Paris, FR"),
        ("München", "Munich, DE"),
        ("Москва", "Moscow, RU"),
        ("San Jose Costa Rica", "San José, CR"),
        ("Nashville, Davidson County, TN", "Nashville-Davidson, TN"),
        ("bitcoin atms near Miami Beach, Florida", "Miami Beach, FL"),
        ("nearest bitcoin ATM in Houston?", "Houston, TX"),
        ("78701", "78701, TX"),
        ("78701-1234", "78701, TX"),
        ("1 Main St, Austin, TX 78701", "78701, TX"),
    ] {
        let found = resolved(text);
        // GeoNames renames a place now and then; which one it is counts.
        let (name, behind) = expected.split_once(", ").unwrap();
        assert!(found.ends_with(&format!(", {behind}")) && found.starts_with(&name[..4]), "{text}: {found}");
    }
}

#[test]
fn one_typo_is_forgiven_and_an_explicit_region_is_kept() {
    for (text, expected) in [
        ("miamy", "Miami, FL"),
        ("tornto", "Toronto, ON"),
        ("austn", "Austin, TX"),
        ("sao paolo", "São Paulo, BR"),
        ("los angelse", "Los Angeles, CA"),
        ("pheonix", "Phoenix, AZ"),
        ("philadephia", "Philadelphia, PA"),
        ("san fransisco", "San Francisco, CA"),
        ("Austn, TX", "Austin, TX"),
        ("Huston TX", "Houston, TX"),
    ] {
        assert_eq!(resolved(text), expected, "{text}");
        assert!(GAZETTEER.resolve(text).unwrap().confidence < 0.9, "{text}");
    }
}

#[test]
fn what_is_not_known_is_never_guessed() {
    for text in [
        "",
        " ",
        "?",
        "me",
        "near me",
        "Xyzzyville",
        "Xyzzyville, TX",
        "Miami, WY",
        "Springfield, Bavaria",
        "00000",
        "99999-9999",
        "91, 0",
        "123456789",
        "Atlantis, Narnia",
    ] {
        assert_eq!(resolved(text), "", "{text}");
    }
    for (text, largest) in [("Texas", "Houston"), ("Georgia", "Atlanta"), ("Florida", "Jacksonville")] {
        assert_eq!(GAZETTEER.resolve(text).unwrap_err().suggestions[0].name, largest, "{text}");
    }
    let elsewhere = GAZETTEER.resolve("Miami, WY").unwrap_err().suggestions;
    assert!(elsewhere.iter().any(|place| place.region == Region::parse("FL")), "{elsewhere:?}");
}

#[test]
fn a_bare_name_is_its_largest_place_and_names_the_others() {
    let paris = GAZETTEER.resolve("Paris").unwrap();
    assert_eq!(paris.country.unwrap().code(), "FR");
    assert!(
        paris.alternatives.len() == 5 && paris.alternatives.iter().any(|other| other.region == Region::parse("TX"))
    );
    assert!(paris.alternatives.iter().all(|other| other.name == "Paris" && other.point != paris.point));
    let springfield = GAZETTEER.resolve("Springfield").unwrap();
    assert!(springfield.confidence < paris.confidence && !springfield.alternatives.is_empty());
    assert!(GAZETTEER.resolve("Paris, TX").unwrap().alternatives.is_empty());
}

#[test]
fn coordinates_and_postcodes_say_what_they_are() {
    let found = GAZETTEER.resolve("40.7, -74.0").unwrap();
    assert_eq!((found.source, found.point), (Source::Coordinates, Point::new(40.7, -74.0).unwrap()));
    let found = GAZETTEER.resolve("33101").unwrap();
    assert_eq!((found.source, found.region), (Source::Postcode, Region::parse("FL")));
}

#[test]
fn every_city_of_the_sample_is_understood_where_its_machines_are() {
    let records = sample::records();
    assert!(records.len() >= 150);
    for record in records {
        let (city, region) = (record.address.city.unwrap(), record.address.region.unwrap());
        let found = GAZETTEER.resolve(&format!("{city}, {region}")).unwrap_or_else(|_| panic!("{city}, {region}"));
        assert!(found.point.distance(record.point) < Distance::miles(10.0), "{city}, {region}");
        assert!(GAZETTEER.city(Region::parse(&region).unwrap(), &city).is_some());
    }
}

fn entry(name: &str, population: u32) -> Entry {
    let place = Place {
        name: name.to_owned(),
        region: Region::parse("TX"),
        country: Country::UNITED_STATES,
        point: Point::new(30.267_153, -97.743_061).unwrap(),
        population,
        time_zone: "America/Chicago".to_owned(),
    };
    Entry { place, other_names: vec!["Live Music Capital".to_owned()] }
}

#[test]
fn a_gazetteer_reads_back_what_was_packed_and_packs_the_same_bytes() {
    let entries = [entry("Austin", 900_000), entry("Waterloo", 12)];
    let postcodes = BTreeMap::from([(78_701, (entries[0].place.point, Region::parse("TX")))]);
    let packed = encode(&entries, &postcodes);
    assert_eq!(packed, encode(&entries, &postcodes));
    let gazetteer = Gazetteer::from_bytes(&packed).unwrap();
    assert_eq!(gazetteer.len(), 2);
    let texas = Region::parse("TX").unwrap();
    assert_eq!(gazetteer.city(texas, "waterloo"), Some(entries[1].place.clone()));
    assert_eq!(gazetteer.city(texas, "live-music capital"), Some(entries[0].place.clone()));
    assert_eq!(gazetteer.resolve("78701").unwrap().point, entries[0].place.point);
}

#[test]
fn damaged_bytes_are_refused() {
    let packed = encode(&[entry("Austin", 1)], &BTreeMap::new());
    assert_eq!(Gazetteer::from_bytes(&[]).err(), Some(Broken));
    for length in 0..packed.len() {
        assert_eq!(Gazetteer::from_bytes(&packed[..length]).err(), Some(Broken), "cut at {length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_gets_an_answer(text in "\\PC{0,40}") {
        drop(GAZETTEER.resolve(&text));
    }

    #[test]
    fn any_numbers_get_an_answer(text in "[-+0-9NSEW .,°'\"]{0,30}") {
        if let Ok(found) = GAZETTEER.resolve(&text) {
            prop_assert!((0.0..=1.0).contains(&found.confidence));
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(Gazetteer::from_bytes(&bytes).err(), Some(Broken));
    }
}
