//! Tests of the counties of places, and of gazetteer files in another version.

use std::io::{Read as _, Write as _};
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use signpost_locator::gazetteer::{
    CountyEntry, Gazetteer, GeoName, GeonamesLine, PlaceArea, PlaceEntry, Postcode, PostcodeEntry, build, encode,
    read_line,
};
use signpost_locator::{Point, Region};

/// Returns the embedded gazetteer, loaded once for all tests.
fn gazetteer() -> &'static Gazetteer {
    static EMBEDDED: OnceLock<Gazetteer> = OnceLock::new();
    EMBEDDED.get_or_init(Gazetteer::embedded)
}

fn point(lat: f64, lon: f64) -> Point {
    Point::new(lat, lon).unwrap()
}

fn region(code: &str) -> Region {
    Region::parse(code).unwrap()
}

#[test]
fn places_of_the_united_states_have_a_county() {
    for (state, name, expected) in [
        ("TX", "Austin", Some("Travis County")),
        ("LA", "New Orleans", Some("Orleans Parish")),
        ("AK", "Wasilla", Some("Matanuska-Susitna Borough")),
        ("AK", "Anchorage", Some("Anchorage Municipality")),
        ("VA", "Alexandria", Some("Alexandria")),
        ("MD", "Baltimore", Some("Baltimore")),
        ("NV", "Carson City", Some("Carson City")),
        ("CA", "San Francisco", Some("San Francisco County")),
        ("DC", "Washington", Some("District of Columbia")),
        ("ON", "Toronto", None),
    ] {
        let place = gazetteer().city(region(state), name).unwrap();
        assert_eq!(place.county.as_deref(), expected, "{name}, {state}");
    }
    let paris = gazetteer().nearest_place(point(48.8534, 2.3488)).unwrap().0;
    assert_eq!((paris.country.code(), paris.county), ("FR", None));
}

/// Returns a gazetteer with postcodes in two counties and a place with this county code between them. The place is
/// closer to the postcode of the wrong county.
fn gazetteer_with_border_place(code: Option<u16>) -> Gazetteer {
    let zip = |code: &str, county: &str, number: &str, lat: f64| {
        let line = format!("US\t{code}\tX\tNew Jersey\tNJ\t{county}\t{number}\t\t\t{lat}\t-74.7\t4");
        let Some(GeonamesLine::Postcode(postcode)) = read_line(&line) else { panic!("a postcode") };
        postcode
    };
    let place = GeoName {
        id: 1,
        name: "Border".to_owned(),
        alternates: Vec::new(),
        point: point(40.1, -74.7),
        country: "US".to_owned(),
        division: "NJ".to_owned(),
        second_division: String::new(),
        county: code,
        population: 100,
        time_zone: "America/New_York".to_owned(),
    };
    let postcodes: Vec<Postcode> = vec![zip("08601", "Mercer", "021", 40.0), zip("08701", "Ocean", "029", 40.5)];
    Gazetteer::from_bytes(&build(vec![place], &[], &postcodes, 0).unwrap()).unwrap()
}

#[test]
fn county_comes_from_code_or_nearest_postcode() {
    for (code, expected) in
        [(Some(29), "Ocean County"), (Some(21), "Mercer County"), (None, "Mercer County"), (Some(999), "Mercer County")]
    {
        let place = gazetteer_with_border_place(code).city(region("NJ"), "Border").unwrap();
        assert_eq!(place.county.as_deref(), Some(expected), "{code:?}");
    }
}

fn encode_with_county(county: Option<usize>) -> Result<Vec<u8>, signpost_locator::gazetteer::GazetteerError> {
    let area = PlaceArea::of_region(Region::parse("ME").unwrap());
    let place = PlaceEntry {
        name: "Oldtown".to_owned(),
        alternates: Vec::new(),
        area,
        point: point(44.0, -68.0),
        population: 7_000,
        time_zone: "America/New_York".to_owned(),
        county,
        has_post_office: true,
    };
    let entry = CountyEntry {
        name: "Penobscot County".to_owned(),
        bare_name: "Penobscot".to_owned(),
        region: region("ME"),
        code: 19,
        point: point(45.0, -68.6),
    };
    encode(vec![place], vec![PostcodeEntry { code: 4468, point: point(44.0, -68.7), area, county }], &[entry])
}

#[test]
fn unlisted_county_cannot_be_written() {
    assert!(encode_with_county(Some(1)).is_err());
    let gazetteer = Gazetteer::from_bytes(&encode_with_county(Some(0)).unwrap()).unwrap();
    assert_eq!(gazetteer.city(region("ME"), "oldtown").unwrap().county.as_deref(), Some("Penobscot County"));
}

/// Splits a gazetteer file into its version and its sections.
fn unpack(bytes: &[u8]) -> (u32, Vec<Vec<u8>>) {
    let mut unpacked = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut unpacked).unwrap();
    let number = |at: usize| u32::from_le_bytes(unpacked[at..at + 4].try_into().unwrap());
    let (mut at, mut sections) = (12, Vec::new());
    while at < unpacked.len() {
        let end = at + 4 + number(at) as usize;
        sections.push(unpacked[at + 4..end].to_vec());
        at = end;
    }
    (number(8), sections)
}

fn pack(version: u32, sections: &[Vec<u8>]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"SIGNPOST").unwrap();
    packed.write_all(&version.to_le_bytes()).unwrap();
    for section in sections {
        packed.write_all(&u32::try_from(section.len()).unwrap().to_le_bytes()).unwrap();
        packed.write_all(section).unwrap();
    }
    packed.finish().unwrap()
}

#[test]
fn file_of_another_version_is_rejected() {
    let good = encode_with_county(Some(0)).unwrap();
    let (version, sections) = unpack(&good);
    assert!(Gazetteer::from_bytes(&pack(version, &sections)).is_ok());
    for version in [0, 1, 2, 4, u32::MAX] {
        let error = Gazetteer::from_bytes(&pack(version, &sections)).unwrap_err();
        assert_eq!(error.to_string(), "this is not a gazetteer of format version 3");
    }
    assert!(Gazetteer::from_bytes(&pack(version, &sections[..9])).is_err());
    let county_of_place = |number: u32| {
        let mut sections = sections.clone();
        sections[3][5 * 4..6 * 4].copy_from_slice(&number.to_le_bytes());
        Gazetteer::from_bytes(&pack(version, &sections))
    };
    assert!(county_of_place(1).is_ok() && county_of_place(2).is_err() && county_of_place(u32::MAX).is_err());
    for (section, bytes) in [(6, &b""[..]), (6, b"One\nTwo\n"), (7, b""), (7, b"\xff\n"), (8, b"")] {
        let mut sections = sections.clone();
        sections[section] = bytes.to_vec();
        assert!(Gazetteer::from_bytes(&pack(version, &sections)).is_err(), "section {section}: {bytes:?}");
    }
}
