//! JSON of other programs: sequences, arrays and nested lists of objects, incomplete replies, and tokens that are no
//! JSON.

use signpost_locator::import::{Bounds, FormatChoice, Import, ImportError, Options, read};
use signpost_locator::{Coin, Tri};

const FEATURES: [&str; 2] = [
    r#"{"type": "Feature", "id": 1, "geometry": {"type": "Point", "coordinates": [-97.7, 30.2]}, "properties": {"name": "A"}}"#,
    r#"{"type": "Feature", "id": 2, "geometry": {"type": "Point", "coordinates": [-97.6, 30.3]}, "properties": {"name": "B"}}"#,
];
const OBJECTS: [&str; 2] = [
    r#"{"id": 1, "name": "A", "lat": 30.2, "lon": -97.7, "address": {"city": "Austin", "state": "TX"}}"#,
    r#"{"id": 2, "name": "B", "lat": 30.3, "lon": -97.6, "address": {"city": "Austin", "state": "TX"}}"#,
];

fn try_import(file: &[u8]) -> Result<Import, ImportError> {
    read(file, &Options::default())
}

fn import(file: &str) -> Import {
    try_import(file.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{file}"))
}

fn reason(file: &str) -> String {
    try_import(file.as_bytes()).expect_err(file).to_string()
}

fn rows(import: &Import) -> Vec<(&str, f64, f64)> {
    import.rows.iter().map(|row| (row.key.as_str(), row.record.point.lat(), row.record.point.lon())).collect()
}

const EXPECTED: [(&str, f64, f64); 2] = [("ref:1", 30.2, -97.7), ("ref:2", 30.3, -97.6)];

#[test]
fn each_line_may_be_a_feature_or_an_object() {
    for [first, second] in [FEATURES, OBJECTS] {
        let pretty = first.replace(", ", ",\n  ");
        for file in [
            format!("{first}\n{second}\n"),
            format!("\u{feff}{first}\r\n\r\n{second}"),
            format!("\u{1e}{first}\n\u{1e}{second}\n"),
            format!("{pretty}\n{second}\n"),
            format!("\u{1e}{pretty}\n\u{1e}{second}"),
            format!("[{first}, {second}]"),
        ] {
            assert_eq!(rows(&import(&file)), EXPECTED, "{file}");
        }
        assert_eq!(rows(&import(first)), EXPECTED[..1]);
        assert_eq!(rows(&import(&format!("\u{1e}{first}\n"))), EXPECTED[..1]);
        let error = reason(&format!("{first}\n{second}\n{{\"type\": "));
        assert_eq!(error, "line 3 is not JSON: it ends too early");
        assert_eq!(reason(&format!("{first}\n{second}\n]")), "line 3 is not JSON: expected value");
    }
    let spider = r#"{"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": {"@spider": "coins", "ref": "7"}}"#;
    assert_eq!(rows(&import(&format!("{spider}\n{spider}\n"))), [("ref:coins:7", 2.0, 1.0)]);
}

#[test]
fn lists_of_objects_are_found_below_members() {
    let list = format!("[{}]", OBJECTS.join(", "));
    for name in ["data", "results", "atms", "venues", "Machines"] {
        for file in [
            format!(r#"{{"{name}": {list}}}"#),
            format!(r#"{{"status": "ok", "count": 2, "errors": [], "{name}": {list}, "links": {{"next": null}}}}"#),
            format!(r#"{{"response": {{"page": {{"{name}": {list}}}}}}}"#),
        ] {
            let import = import(&file);
            assert_eq!(rows(&import), EXPECTED, "{file}");
            let address = &import.rows[0].record.address;
            assert_eq!((address.city.as_deref(), address.region.as_deref()), (Some("Austin"), Some("TX")));
        }
    }
    let two = reason(&format!(r#"{{"atms": {list}, "old": {{"atms": {list}}}}}"#));
    assert_eq!(
        two,
        "the file contains several lists of objects with coordinates (atms, old.atms); import a file with one of them"
    );
    // The coordinates next to the list are those of the map's centre, not of an ATM.
    assert_eq!(rows(&import(&format!(r#"{{"lat": 40, "lon": -100, "zoom": 4, "atms": {list}}}"#))), EXPECTED);
    for file in ["{}", r#"{"error": "rate limited"}"#, r#"{"data": []}"#, r#"{"data": [{"name": "A"}]}"#, "[1, 2]"] {
        assert!(reason(file).starts_with("the file is JSON in no known format; known formats: Overpass"), "{file}");
    }
    let named = Options { format: "json".parse().unwrap(), ..Options::default() };
    let error = read(b"{\"data\": [{}]}", &named).unwrap_err().to_string();
    assert!(
        error.starts_with("the file is not json: it does not have a list of objects with members such as"),
        "{error}"
    );
}

#[test]
fn dictionaries_of_objects_are_lists() {
    for file in [
        format!(r#"{{"atm_1": {}, "atm_2": {}}}"#, OBJECTS[0], OBJECTS[1]),
        format!(r#"{{"status": "ok", "atms": {{"atm_1": {}, "atm_2": {}}}}}"#, OBJECTS[0], OBJECTS[1]),
    ] {
        assert_eq!(rows(&import(&file)), EXPECTED, "{file}");
    }
    let many: Vec<String> = (0..100).map(|id| format!(r#""a{id}": {{"id": {id}, "lat": 1, "lng": 2}}"#)).collect();
    assert_eq!(import(&format!("{{{}}}", many.join(","))).rows.len(), 100);
    // The coordinates of a part are not those of an ATM.
    for file in [
        r#"{"a": {"x": {"lat": 1, "lng": 2}}, "b": {"y": 1}}"#,
        r#"{"map": {"bounds": {"north": {"lat": 1, "lng": 2}}}}"#,
    ] {
        assert!(reason(file).starts_with("the file is JSON in no known format"), "{file}");
    }
}

#[test]
fn coordinates_are_read_in_the_forms_of_other_programs() {
    for object in [
        r#"{"id": 1, "latitude": "30.2", "longitude": "-97.7"}"#,
        r#"{"id": 1, "location": {"lat": 30.2, "lng": -97.7}}"#,
        r#"{"id": 1, "position": {"coords": {"latitude": 30.2, "longitude": -97.7}}}"#,
        r#"{"id": 1, "geometry": {"type": "Point", "coordinates": [-97.7, 30.2]}}"#,
        r#"{"id": 1, "loc": {"type": "Point", "coordinates": [-97.7, 30.2]}}"#,
        r#"{"id": 1, "coordinates": "30.2, -97.7"}"#,
        r#"{"id": 1, "geo": "POINT(-97.7 30.2)"}"#,
        r#"{"id": 1, "icon": "https://a.example/atm.png", "geometry": {"a": {"b": {"lat": 5}}, "location": {"lat": 30.2, "lng": -97.7}}}"#,
    ] {
        assert_eq!(rows(&import(&format!("[{object}]"))), EXPECTED[..1], "{object}");
    }
    // In an array, the order of latitude and longitude may be unknown.
    assert!(
        reason(r#"[{"id": 1, "coordinates": [-80.1, 25.7]}]"#).contains("the latitude or the longitude comes first")
    );
    let operator =
        import(r#"[{"id": 1, "lat": 30.2, "lon": -97.7, "operator": {"city": "Denver"}, "site": {"zip": "78701"}}]"#);
    let address = &operator.rows[0].record.address;
    assert_eq!((address.city.as_deref(), address.postcode.as_deref()), (None, Some("78701")));
    // The first object lacks coordinates, and the second has them elsewhere.
    let mixed =
        import(r#"[{"id": 9}, {"id": 1, "lat": 30.2, "lon": -97.7}, {"id": 2, "at": {"lat": 30.3, "lon": -97.6}}]"#);
    assert_eq!((rows(&mixed), mixed.skipped.first[0].line), (EXPECTED.to_vec(), 1));
    let tagged = import(
        r#"[{"id": 1, "lat": 30.2, "lon": -97.7, "amenity": "atm"}, {"id": 3, "lat": 1, "lon": 1, "amenity": "bank"}]"#,
    );
    assert_eq!((rows(&tagged), tagged.filtered), (EXPECTED[..1].to_vec(), 1));
}

#[test]
fn python_tokens_skip_only_their_rows() {
    let list = format!(r#"[{}, {{"id": 3, "lat": NaN, "lon": -Infinity}}, {}]"#, OBJECTS[0], OBJECTS[1]);
    let import = import(&list);
    assert_eq!((rows(&import), import.skipped.total, import.skipped.first[0].line), (EXPECTED.to_vec(), 1, 2));
    let feature = r#"{"type": "Feature", "geometry": {"type": "Point", "coordinates": [NaN, NaN]}, "properties": {"name": "NaN"}}"#;
    let collection = format!(r#"{{"type": "FeatureCollection", "features": [{}, {feature}]}}"#, FEATURES[0]);
    let import = self::import(&collection);
    assert_eq!((rows(&import), import.skipped.first[0].reason.as_str()), (EXPECTED[..1].to_vec(), "no coordinates"));
    let strict = Options { strict: true, ..Options::default() };
    assert!(read(list.as_bytes(), &strict).unwrap_err().to_string().starts_with("line 1 is not JSON: "));
}

#[test]
fn coinmap_venues_are_filtered_by_category() {
    let import = import(
        r#"{"venues": [
          {"id": 1, "lat": 30.2, "lon": -97.7, "category": "atm", "name": "A", "created_on": 1385398484,
           "geolocation_degrees": "30° 12' 0\" N 97° 42' 0\" W"},
          {"id": 5, "lat": 30.2, "lon": -97.7, "category": "food", "name": "Cafe", "created_on": 1385398484},
          {"id": 2, "lat": 30.3, "lon": -97.6, "category": "ATM", "name": "B", "created_on": 1385398484}]}"#,
    );
    assert_eq!((rows(&import), import.filtered), (EXPECTED.to_vec(), 1));
    let record = &import.rows[0].record;
    assert_eq!((record.name.as_deref(), record.coins.get(&Coin::bitcoin())), (Some("A"), Some(&Tri::Yes)));
    assert_eq!(record.reported_at, "2013-11-25T16:54:44Z".parse().ok());
    assert!(import.unused.first.is_empty(), "{:?}", import.unused);
}

#[test]
fn incomplete_overpass_response_is_rejected() {
    let case = include_str!("../cases/overpass-dates-remark.json");
    let error = reason(case);
    assert!(
        error.starts_with("the Overpass response is incomplete, its remark is \"runtime error: Query timed out"),
        "{error}"
    );
    assert!(error.ends_with("send the query again later, for a smaller area, or with a longer [timeout:…]"), "{error}");
    let with = |remark: &str| {
        case.replace(r#"runtime error: Query timed out in \"query\" at line 3 after 26 seconds."#, remark)
    };
    for remark in [
        "runtime error: Query run out of memory in \\\"query\\\" at line 2 using about 1024 MB of RAM.",
        "runtime error: open64: 0 Success /osm3s_osm_base Dispatcher_Client::request_read_and_idx::timeout.",
        "Runtime Error: Query timed out",
        "encoding error: Your input contains only whitespace.",
    ] {
        assert!(reason(&with(remark)).contains("the Overpass response is incomplete"), "{remark}");
        for partial in [false, true] {
            let options = Options { partial, format: "overpass".parse().unwrap(), ..Options::default() };
            let error = read(with(remark).as_bytes(), &options).unwrap_err();
            assert!(matches!(error, ImportError::IncompleteResponse { .. }), "{error}");
        }
    }
    for remark in ["", "runtime remark: Timeout is 180 and maxsize is 536870912.", "Data of the planet"] {
        assert_eq!(import(&with(remark)).rows.len(), 4, "{remark}");
    }
    let long = with(&format!("runtime error: {}", "x".repeat(10_000)));
    assert!(reason(&long).len() < 500);
}

#[test]
fn line_breaks_in_geojson_do_not_end_a_feature() {
    assert_eq!(import(include_str!("../cases/line-breaks.geojson")).rows.len(), 2);
}

#[test]
fn extract_with_deleted_elements_is_rejected() {
    let error = try_import(include_bytes!("../cases/deleted-node.osh.pbf")).unwrap_err().to_string();
    assert!(error.starts_with("the OpenStreetMap extract requires the feature \"HistoricalInformation\""), "{error}");
}

#[test]
fn sequences_are_bounded() {
    let first = |items, file: &str| {
        let bounds = Bounds { items, item_bytes: 200, ..Bounds::default() };
        read(file.as_bytes(), &Options { bounds, ..Options::default() })
    };
    let file = format!("{}\n{}\n", OBJECTS[0], OBJECTS[1]);
    assert_eq!(first(2, &file).unwrap().rows.len(), 2);
    assert_eq!(first(1, &file).unwrap_err(), ImportError::TooManyItems { max: 1 });
    let nested = format!(r#"{{"data": [{}, {}, and so on"#, OBJECTS[0], OBJECTS[1]);
    assert!(first(1, &nested).is_err());
    let long = format!("{}\n{{\"name\": \"{}\"}}\n", OBJECTS[0], "x".repeat(300));
    assert_eq!(first(2, &long).unwrap_err(), ImportError::ItemTooLong { item: 2, max: 200 });
}

#[test]
fn crafted_documents_are_rejected() {
    let depth = 1 << 17;
    let wide = (0..20_000).map(|n| format!("\"m{n}\": {{\"l\": [{{\"x\": 1}}]}}")).collect::<Vec<_>>().join(",");
    for file in [
        "[".repeat(depth),
        "{\"a\":".repeat(depth),
        format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)),
        format!("[{{\"lat\": 1, \"lon\": {}1{}}}]", "[".repeat(depth), "]".repeat(depth)),
        format!("{{\"data\": [{{\"lat\": 1, \"lon\": {}1{}}}]}}", "[".repeat(depth), "]".repeat(depth)),
        format!("{{{wide}}}"),
        format!("{{\"data\": {{{wide}}}}}"),
        "\u{1e}".repeat(depth),
        "{}\n".repeat(depth),
    ] {
        for format in ["auto", "json", "geojson"] {
            let options = Options { format: format.parse::<FormatChoice>().unwrap(), ..Options::default() };
            match read(file.as_bytes(), &options) {
                Ok(import) => assert_eq!(import.rows.len(), 0),
                Err(error) => assert!(error.to_string().len() < 1_000),
            }
        }
    }
    let line = format!("{}\n{{\"name\": \"{}\"}}\n", OBJECTS[0], "x".repeat(100 << 20));
    assert_eq!(try_import(line.as_bytes()).unwrap_err(), ImportError::ItemTooLong { item: 2, max: 16 << 20 });
}
