//! Tests of townships and New England towns from the tables of the Census and of `GeoNames`.

use proptest::prelude::*;
use signpost_locator::gazetteer::{
    CensusLineError, CensusTable, Gazetteer, GeoName, GeonamesLine, Postcode, Subdivision, build, read_line,
};
use signpost_locator::{Distance, Point, Region};

/// A Census table in the format that is used since 2025.
const WITH_BARS: &str = "\
USPS|GEOID|GEOIDFQ|ANSICODE|NAME|FUNCSTAT|ALAND|AWATER|ALAND_SQMI|AWATER_SQMI|INTPTLAT|INTPTLONG
CT|0918033900|0600000US0918033900|00213437|Griswold town|A|90000000|5000000|34.7|1.9|41.58|-71.92
NJ|3400129280|0600000US3400129280|00882049|Hamilton township|A|287000000|6000000|110.8|2.3|39.47|-74.75
NJ|3402129310|0600000US3402129310|00882126|Hamilton township|A|102000000|2000000|39.4|0.8|40.20|-74.67
MI|2609972820|0600000US2609972820|01627064|Shelby charter township|A|89000000|1000000|34.4|0.4|42.67|-83.03
TX|4845390110|0600000US4845390110|01939071|Austin CCD|S|900000000|9000000|347.4|3.4|30.30|-97.75
";

/// Returns the table in the format that was used until 2024, with fewer columns and with cells padded with blanks.
fn with_tabs() -> String {
    let mut lines = Vec::new();
    for line in WITH_BARS.lines() {
        let cells = line.split('|').enumerate().filter(|(at, _)| *at != 2).map(|(_, cell)| format!("{cell:<12}"));
        lines.push(cells.collect::<Vec<_>>().join("\t"));
    }
    lines.join("\n")
}

fn read(table: &str) -> Result<Vec<Subdivision>, CensusLineError> {
    let (header, rows) = table.split_once('\n').unwrap();
    let table = CensusTable::read_header(header).expect("a header of the Census")?;
    rows.lines().filter_map(|row| table.read_row(row).transpose()).collect()
}

fn region(code: &str) -> Region {
    Region::parse(code).unwrap()
}

fn point(lat: f64, lon: f64) -> Point {
    Point::new(lat, lon).unwrap()
}

fn town(name: &str, state: &str, county: Option<u16>, population: u32, at: Point) -> GeoName {
    GeoName {
        id: 1,
        name: name.to_owned(),
        alternates: Vec::new(),
        point: at,
        country: "US".to_owned(),
        division: state.to_owned(),
        second_division: String::new(),
        county,
        population,
        time_zone: "America/New_York".to_owned(),
    }
}

fn township(name: &str, county: Option<u16>, at: Point) -> Subdivision {
    let alternates = vec![format!("{name} Township")];
    Subdivision { name: name.to_owned(), alternates, region: region("NJ"), county, point: at, population: 0 }
}

fn zip(code: &str, county: &str, number: &str, at: Point) -> Postcode {
    let line = format!("US\t{code}\t\tNew Jersey\tNJ\t{county}\t{number}\t\t\t{}\t{}\t4", at.lat(), at.lon());
    let Some(GeonamesLine::Postcode(postcode)) = read_line(&line) else { panic!("a postcode: {line}") };
    postcode
}

fn gazetteer(names: Vec<GeoName>, subdivisions: &[Subdivision]) -> Gazetteer {
    let postcodes =
        [zip("08601", "Mercer", "021", point(40.2, -74.7)), zip("08330", "Atlantic", "001", point(39.5, -74.7))];
    Gazetteer::from_bytes(&build(names, subdivisions, &postcodes, 0).unwrap()).unwrap()
}

#[test]
fn both_table_generations_are_read_equally() {
    let subdivisions = read(WITH_BARS).unwrap();
    assert_eq!(subdivisions, read(&with_tabs()).unwrap());
    assert_eq!(subdivisions, read(&format!("\u{feff}{WITH_BARS}")).unwrap());
    let names: Vec<&str> = subdivisions.iter().map(|of| of.name.as_str()).collect();
    assert_eq!(names, ["Griswold", "Hamilton", "Hamilton", "Shelby"]);
    assert_eq!(subdivisions[3].alternates, ["Shelby Charter Township", "Shelby Township"]);
    assert_eq!((subdivisions[1].region, subdivisions[1].county), (region("NJ"), Some(1)));
}

#[test]
fn columns_are_found_by_their_names() {
    let table = "NAME\tUSPS\tINTPTLONG\tINTPTLAT\tFUNCSTAT\tGEOID\nEdison township\tNJ\t-74.4\t40.5\tA\t3402320230\n";
    let subdivisions = read(table).unwrap();
    assert_eq!((subdivisions[0].name.as_str(), subdivisions[0].point), ("Edison", point(40.5, -74.4)));
}

#[test]
fn only_governed_subdivisions_count() {
    let header = "USPS|GEOID|NAME|FUNCSTAT|INTPTLAT|INTPTLONG\n";
    for (name, status, counts) in [
        ("Edison township", "A", true),
        ("Edison township", "B", true),
        ("Edison township", "C", true),
        ("Edison township", "F", false),
        ("Edison township", "N", false),
        ("Edison township", "", false),
        ("Edison CCD", "A", false),
        ("County subdivisions not defined", "A", false),
    ] {
        let found = read(&format!("{header}NJ|3402320230|{name}|{status}|40.5|-74.4\n")).unwrap();
        assert_eq!(found.len() == 1, counts, "{name} {status}");
    }
}

#[test]
fn invalid_tables_are_rejected_with_a_reason() {
    for line in ["", "just words", "1\tAustin\tAustin\t", "|||", "geoid|usps"] {
        assert_eq!(CensusTable::read_header(line), None, "{line}");
    }
    let header = "USPS|GEOID|NAME|FUNCSTAT|INTPTLAT|INTPTLONG\n";
    for (table, reason) in [
        ("USPS|GEOID|NAME|INTPTLAT|INTPTLONG\n".to_owned(), "the header has no column FUNCSTAT"),
        (format!("{header}NJ|3402320230\n"), "there are 2 columns, but 6 in the header"),
        (format!("{header}NJ|3402320230|Edison township|A|40.5|-74.4|more\n"), "there are 7 columns"),
        (format!("{header}NJ|3420230|Edison CDP|S|40.5|-74.4\n"), "GEOID is \"3420230\", which is not the ten digits"),
        (format!("{header}NJ|34é2320230|Edison township|A|40.5|-74.4\n"), "GEOID"),
        (format!("{header}ZZ|3402320230|Edison township|A|40.5|-74.4\n"), "USPS is \"ZZ\""),
        (format!("{header}NJ|3402320230||A|40.5|-74.4\n"), "NAME is \"\""),
        (format!("{header}NJ|3402320230|Edison township|A|95|-74.4\n"), "INTPTLAT is \"95\""),
        (format!("{header}NJ|3402320230|Edison township|A|NaN|-74.4\n"), "INTPTLAT is \"NaN\""),
    ] {
        let error = read(&table).expect_err(reason).to_string();
        assert!(error.contains(reason), "{reason}: {error}");
    }
}

#[test]
fn added_townships_are_found() {
    let embedded = Gazetteer::embedded();
    assert!(embedded.city(region("CT"), "Griswold").is_none());
    let bytes = embedded.with_subdivisions(&read(WITH_BARS).unwrap()).unwrap();
    let gazetteer = Gazetteer::from_bytes(&bytes).unwrap();
    let griswold = gazetteer.city(region("CT"), "Griswold").unwrap();
    assert_eq!(griswold.county.as_deref(), Some("Southeastern Connecticut Planning Region"));
    assert_eq!(griswold.time_zone, "America/New_York");
    let hamilton = gazetteer.resolve("Hamilton Township, NJ").unwrap();
    let mut counties: Vec<Option<String>> = hamilton.alternatives.iter().map(|place| place.county.clone()).collect();
    counties.push(hamilton.county.clone());
    counties.sort();
    assert_eq!(counties, [Some("Atlantic County".to_owned()), Some("Mercer County".to_owned())]);
    // The township is the large place with this name.
    let shelby = gazetteer.resolve("Shelby Township, MI").unwrap();
    assert!(shelby.point.distance(point(42.67, -83.03)) < Distance::miles(5.0), "{shelby:?}");
    assert_eq!(gazetteer.len(), embedded.len() + 3);
    assert_eq!(gazetteer.postcodes(), embedded.postcodes());
    // Adding the townships again changes nothing.
    assert!(gazetteer.with_subdivisions(&read(WITH_BARS).unwrap()).unwrap() == bytes);
}

#[test]
fn place_and_nearby_township_are_merged() {
    let edison = vec![town("Edison", "NJ", None, 100_000, point(40.2, -74.7))];
    let near = gazetteer(edison.clone(), &[township("Edison", Some(21), point(40.25, -74.7))]);
    let found = near.city(region("NJ"), "Edison Township").unwrap();
    assert_eq!((near.len(), found.name.as_str(), found.population), (1, "Edison", 100_000));
    assert_eq!(found.point, point(40.2, -74.7));
    let far = gazetteer(edison, &[township("Edison", Some(21), point(40.4, -74.7))]);
    assert_eq!(far.len(), 2);
    assert_eq!(far.city(region("NJ"), "Edison").unwrap().population, 100_000);
    assert_eq!(far.city(region("NJ"), "Edison Township").unwrap().point, point(40.4, -74.7));
}

#[test]
fn townships_in_several_counties_are_distinct() {
    let places = vec![town("Washington", "NJ", Some(21), 900, point(40.2, -74.7))];
    let townships = [
        township("Washington", Some(1), point(40.21, -74.7)),
        township("Washington", Some(21), point(40.25, -74.7)),
        township("Washington", Some(1), point(40.22, -74.7)),
    ];
    // The nearer township is not in the county of the place.
    let found = gazetteer(places, &townships);
    assert_eq!(found.len(), 2);
    let resolved = found.resolve("Washington Township, NJ").unwrap();
    let mut counties: Vec<Option<&str>> = resolved.alternatives.iter().map(|place| place.county.as_deref()).collect();
    counties.push(resolved.county.as_deref());
    counties.sort_unstable();
    assert_eq!(counties, [Some("Atlantic County"), Some("Mercer County")]);
}

#[test]
fn connecticut_planning_regions_match_counties() {
    let town_of = |code, lat| {
        let alternates = vec!["Griswold Town".to_owned()];
        let (name, region, county) = ("Griswold".to_owned(), region("CT"), Some(code));
        Subdivision { name, alternates, region, county, point: point(lat, -71.92), population: 0 }
    };
    let place = || vec![town("Griswold", "CT", Some(11), 900, point(41.58, -71.92))];
    assert_eq!(gazetteer(place(), &[town_of(180, 41.6), town_of(11, 41.59)]).len(), 1);
    assert_eq!(gazetteer(place(), &[town_of(13, 41.6)]).len(), 2);
}

#[test]
fn township_county_precedes_postcode_county() {
    let places = vec![town("Border", "NJ", None, 900, point(40.19, -74.7))];
    let found = gazetteer(places, &[township("Border", Some(1), point(40.19, -74.7))]);
    assert_eq!(found.city(region("NJ"), "Border").unwrap().county.as_deref(), Some("Atlantic County"));
}

#[test]
fn geonames_townships_have_order_three_or_four() {
    let line = |name: &str, kind: &str, country: &str| {
        format!(
            "5\t{name}\t{name}\t\t40.5\t-74.4\tA\t{kind}\t{country}\t\tNJ\t023\t20230\t\t107588\t\t30\tAmerica/New_York\t2024-01-01"
        )
    };
    let Some(GeonamesLine::Subdivision(edison)) = read_line(&line("Township of Edison", "ADM3", "US")) else {
        panic!("a subdivision")
    };
    assert_eq!((edison.name.as_str(), &edison.alternates[..]), ("Edison", &["Edison Township".to_owned()][..]));
    assert_eq!((edison.county, edison.population), (Some(23), 107_588));
    assert!(matches!(read_line(&line("Village of Spring Valley", "ADM4", "US")), Some(GeonamesLine::Subdivision(_))));
    for (name, kind, country) in [
        ("Middlesex County", "ADM2", "US"),
        ("Township of Edison", "ADM3H", "US"),
        ("Edison", "ADM3", "DE"),
        ("Precinct 3", "ADM3", "US"),
        ("Magisterial District Bristol", "ADM3", "US"),
    ] {
        assert_eq!(read_line(&line(name, kind, country)), Some(GeonamesLine::Other), "{name} {kind} {country}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_row_is_read_or_rejected(
        header in "(USPS|GEOID|NAME|FUNCSTAT|INTPTLAT|INTPTLONG|[|\t ]){0,20}",
        row in "([0-9]{10}|NJ|A|[a-zé]{1,9} (township|UT)|-?[0-9]{1,3}\\.[0-9]|\\PC|[|\t]){0,20}",
    ) {
        if let Some(Ok(table)) = CensusTable::read_header(&header) {
            let _ = table.read_row(&row);
        }
        let known = CensusTable::read_header("USPS|GEOID|NAME|FUNCSTAT|INTPTLAT|INTPTLONG").unwrap().unwrap();
        if let Ok(Some(found)) = known.read_row(&row) {
            prop_assert!(!found.name.is_empty() && found.population == 0);
        }
        if let Ok(Some(found)) = known.read_row(&format!("NJ|3402320230|{}|A|40.5|-74.4", row.replace('|', ""))) {
            prop_assert!(!found.name.is_empty() && found.alternates.iter().all(|name| name.starts_with(&found.name)));
        }
    }
}
