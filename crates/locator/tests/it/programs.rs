//! Files of databases, map servers, spreadsheets and other programs.

use signpost_locator::export::cell;
use signpost_locator::import::{Field, Import, Options, read};

fn import(file: &str) -> Import {
    read(file.as_bytes(), &Options::default()).unwrap_or_else(|error| panic!("{error}: {file}"))
}

fn names(import: &Import) -> Vec<String> {
    import.rows.iter().map(|row| cell(&row.record, Field::Name)).collect()
}

/// Checks for one ATM at 30.25, -97.75 with the name A, and returns it.
fn only(file: &str) -> Import {
    let import = import(file);
    assert_eq!(names(&import), ["A"], "{file}");
    let point = import.rows[0].record.point;
    assert_eq!((point.lat(), point.lon()), (30.25, -97.75), "{file}");
    import
}

#[test]
fn objects_around_the_data_are_opened() {
    for file in [
        r#"{"data": {"atms": {"edges": [{"node": {"id": "1", "name": "A", "lat": 30.25, "lng": -97.75}}]}}}"#,
        r#"{"hits": {"hits": [{"_id": "1", "_source": {"name": "A", "pin": {"location": {"lat": 30.25, "lon": -97.75}}}}]}}"#,
        r#"{"records": [{"id": "1", "fields": {"name": "A", "latitude": 30.25, "longitude": -97.75}}]}"#,
        r#"{"data": [{"type": "atm", "id": "1", "attributes": {"name": "A", "lat": 30.25, "lon": -97.75}}]}"#,
        r#"[{"_id": {"$oid": "1"}, "name": "A", "loc": {"type": "Point", "coordinates": [-97.75, 30.25]}}]"#,
        r#"[{"id": 1.0, "name": "A", "coordinates": [-97.75, 30.25]}]"#,
        r#"[{"uuid": "1", "title": "A", "coords": {"lat": 30.25, "lng": -97.75}}]"#,
    ] {
        assert_eq!(only(file).rows[0].key, "ref:1", "{file}");
    }
    let dated = only(
        r#"[{"name": "A", "lat": 30.25, "lon": -97.75, "updatedAt": {"$date": {"$numberLong": "1795176000000"}}}]"#,
    );
    assert_eq!(cell(&dated.rows[0].record, Field::ReportedAt), "2026-11-20T12:00:00Z");
}

#[test]
fn places_and_contacts_in_objects_are_read() {
    let members = r#""name": "A", "address": {"street": "1 Main St", "city": "Austin", "state": "TX"},
        "contact": {"phone": "+1 512 555 0100", "website": "https://a.test"}, "operator": {"name": "Acme"}"#;
    let feature = format!(
        r#"{{"features": [{{"type": "Feature", "geometry": {{"type": "Point", "coordinates": [-97.75, 30.25]}},
            "properties": {{{members}}}}}]}}"#
    );
    let object = format!(r#"[{{"lat": 30.25, "lon": -97.75, {members}}}]"#);
    for file in [feature, object] {
        let import = only(&file);
        let record = &import.rows[0].record;
        let fields = [Field::Street, Field::City, Field::Region, Field::Phone, Field::Website, Field::Operator];
        let expected = ["1 Main St", "Austin", "TX", "+1 512 555 0100", "https://a.test", "Acme"];
        assert_eq!(fields.map(|field| cell(record, field)), expected, "{file}");
        assert_eq!(import.unused.total, 0, "{:?}", import.unused);
    }
}

#[test]
fn geometries_of_map_servers_are_read() {
    for feature in [
        r#"{"type": "Feature", "geometry": {"type": "Point", "coordinates": ["-97.75", "30.25"]}, "properties": {"name": "A"}}"#,
        r#"{"type": "Feature", "geometry": {"type": "GeometryCollection", "geometries": [{"type": "Point", "coordinates": [-97.75, 30.25]}]}, "properties": {"name": "A"}}"#,
        r#"{"attributes": {"OBJECTID": 1, "Name": "A"}, "geometry": {"x": -97.75, "y": 30.25}}"#,
    ] {
        only(&format!(r#"{{"features": [{feature}]}}"#));
    }
}

#[test]
fn title_above_the_header_is_skipped() {
    let titled = only("Bitcoin ATMs in Austin,,\n,,\nname,lat,lon\nA,30.25,-97.75\n");
    assert_eq!(titled.notices, ["the header is line 3; the lines above it are not read"]);
    assert_eq!(titled.rows[0].line, 4);
    let headless = read(b"A,30.25,-97.75\nB,30.35,-97.75\n", &Options::default()).unwrap_err().to_string();
    assert!(headless.contains("the columns are: A, 30.25, -97.75"), "{headless}");
}

#[test]
fn most_frequent_separator_is_used() {
    only("name,lat,lon,note\t\nA,30.25,-97.75,n\n");
    only("name\tlat\tlon\tnote, with a comma\nA\t30.25\t-97.75\t\n");
}

#[test]
fn quoted_cell_of_tabs_goes_on_to_the_next_line() {
    let file =
        "name\tlat\tlon\thours\nA\t30.25\t-97.75\t\"Mo-Fr 09:00-17:00\r\nSa 10:00-12:00\"\r\nB\t30.35\t-97.75\t24/7\n";
    let import = import(file);
    assert_eq!(names(&import), ["A", "B"]);
    assert_eq!(cell(&import.rows[0].record, Field::Hours), "Mo-Fr 09:00-17:00; Sa 10:00-12:00");
    assert_eq!((import.rows[0].line, import.rows[1].line), (2, 4));
    // A stray quote does not join rows.
    let stray = "lat\tlon\tname\n30.25\t-97.75\t\"A\n30.35\t-97.75\t5\" pipe\n30.45\t-97.75\t\"C\n";
    assert_eq!(self::import(stray).rows.len(), 3);
}
