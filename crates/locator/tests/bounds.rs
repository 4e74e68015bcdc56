//! Tests of the limits of imports, and of their cancellation.

mod pbf;

use signpost_locator::import::{Bounds, Field, FormatChoice, ImportError, Options, read};

#[test]
fn overlong_names_are_ignored() {
    let many = (0..20_000).map(|n| format!("\"n{n}\": 1")).collect::<Vec<_>>().join(",");
    let file = format!(r#"{{"locations": [{{"latitude": 1, "longitude": 2, {many}, "zz": "x"}}]}}"#);
    let map = vec![(Field::Note, "ZZ".to_owned())];
    let import = read(file.as_bytes(), &Options { map, ..Options::default() }).unwrap();
    assert_eq!((import.unused.total, import.columns.len()), (9_998, 1));
}

fn format(name: &str) -> FormatChoice {
    name.parse().unwrap()
}

/// Returns a document with two ATMs in each format.
fn two_atms_per_format() -> Vec<(FormatChoice, String)> {
    let feature = |properties: &str| {
        let point = r#""geometry": {"type": "Point", "coordinates": [1, 2]}"#;
        format!(r#"{{"features": [{{{point}, "properties": {properties}}}, {{{point}, "properties": {properties}}}"#)
    };
    let node = r#"{"type": "node", "id": 1, "lat": 1, "lon": 2, "tags": {"amenity": "atm", "currency:XBT": "yes"}}"#;
    let place = r#"{"id": 1, "lat": 1, "lon": 2, "icon": "local_atm"}"#;
    let location = r#"{"latitude": 1, "longitude": 2}"#;
    vec![
        (format("geojson"), feature("{}")),
        (format("atp"), feature(r#"{"@spider": "coins", "amenity": "atm"}"#)),
        (format("overpass"), format!(r#"{{"elements": [{node}, {node}"#)),
        (format("btcmap"), format!("[{place}, {place}")),
        (format("submission"), format!(r#"{{"locations": [{location}, {location}"#)),
    ]
}

#[test]
fn import_ends_at_the_item_limit() {
    let first = |file: &[u8], format: FormatChoice, items| {
        let bounds = Bounds { items, ..Bounds::default() };
        read(file, &Options { format, bounds, ..Options::default() })
    };
    for (choice, two) in two_atms_per_format() {
        let name = choice.name();
        let end = if choice == format("btcmap") { "]" } else { "]}" };
        let both = first(format!("{two}{end}").as_bytes(), choice, 2).unwrap();
        assert_eq!(both.rows.len() + both.skipped.total, 2, "{name}");
        // Input beyond the limit is not even JSON, to show that it is never parsed.
        for choice in [choice, FormatChoice::Auto] {
            let error = first(format!("{two}, {{}} and so on for ever").as_bytes(), choice, 2).unwrap_err();
            assert_eq!(error, ImportError::TooManyItems { max: 2 }, "{name}");
        }
    }
    for choice in [format("csv"), format("tsv")] {
        let table =
            |rows| format!("lat{0}lon\n{1}", if choice == format("csv") { "," } else { "\t" }, "1,2\n".repeat(rows));
        let error = first((table(3) + "\"never closed").as_bytes(), choice, 2).unwrap_err();
        assert_eq!(error, ImportError::TooManyItems { max: 2 }, "{}", choice.name());
    }
    assert_eq!(first(&pbf::extract(), format("osm-pbf"), 1).unwrap_err(), ImportError::TooManyItems { max: 1 });
}

#[test]
fn overlong_item_is_not_an_atm() {
    let bounds = Bounds { item_bytes: 100, ..Bounds::default() };
    let file = format!(r#"{{"locations": [{{"latitude": 1, "longitude": 2}}, {{"note": "{}"}}]}}"#, "x".repeat(100));
    let error = read(file.as_bytes(), &Options { bounds, ..Options::default() }).unwrap_err();
    assert_eq!(error.to_string(), "item 2 is longer than 100 bytes");
}

#[test]
fn cancelled_import_ends() {
    let options = Options::default();
    options.cancel.cancel();
    for (_, two) in two_atms_per_format() {
        let end = if two.starts_with('[') { "]" } else { "]}" };
        assert_eq!(read(format!("{two}{end}").as_bytes(), &options).unwrap_err(), ImportError::Cancelled);
    }
    for file in [&b"lat,lon\n1,2\n"[..], &pbf::extract()] {
        assert_eq!(read(file, &options).unwrap_err(), ImportError::Cancelled);
    }
}
