//! Imports of fictional documents in the formats of the supported sources.

mod pbf;

use proptest::prelude::*;
use signpost_locator::import::{FORMATS, Field, Format, FormatChoice, Import, ImportedRow, Options, read};
use signpost_locator::{Coin, Decimal, Hours, Kyc, MoreFields, Point, Record, ReportedState, Tri};

const NOW: &str = "2026-11-20T12:00:00Z";

const OVERPASS: &str = r#"{"version": 0.6, "osm3s": {"copyright": "ODbL"}, "elements": [
  {"type": "node", "id": 1, "lat": 30.2671, "lon": -97.7431, "timestamp": "2026-05-01T10:00:00Z", "tags": {
    "amenity": "atm", "currency:XBT": "yes", "currency:LTC": "yes", "currency:ETH": "no", "currency:USD": "yes",
    "operator": "Example Coins", "brand": "ExampleBTM", "brand:wikidata": "Q42", "opening_hours": "Mo-Fr 09:00-17:00",
    "cash_in": "yes", "addr:housenumber": "12", "addr:street": "Main Street", "addr:city": "Austin", "addr:state": "TX",
    "addr:postcode": "78701", "addr:country": "US", "contact:phone": "+1 512 555 0100", "website": "https://example.com",
    "check_date": "2026-10-01", "indoor": "yes", "level": "1", "ref": "A-17", "payment:lightning": "yes",
    "charge": "12%", "wheelchair": "no", "located_in": "Example Mart"}},
  {"type": "way", "id": 2, "center": {"lat": 30.3, "lon": -97.7}, "tags": {"amenity": "atm", "currency:XBT": "yes"}},
  {"type": "way", "id": 3, "nodes": [11, 12], "tags": {"amenity": "atm", "name": "Bitcoin ATM"}},
  {"type": "way", "id": 4, "bounds": {"minlat": 1, "minlon": 2, "maxlat": 3, "maxlon": 4}, "tags": {"amenity": "atm", "brand": "CoinFlip"}},
  {"type": "way", "id": 5, "geometry": [{"lat": 5, "lon": 6}, {"lat": 7, "lon": 8}], "tags": {"amenity": "atm", "currency:BTC": "yes"}},
  {"type": "node", "id": 6, "lat": 30.4, "lon": -97.7, "tags": {"amenity": "atm", "operator": "A Bank", "currency:USD": "yes"}},
  {"type": "node", "id": 7, "lat": 30.4, "lon": -97.7, "tags": {"amenity": "atm", "currency:XBT": "no", "brand": "CoinFlip"}},
  {"type": "node", "id": 8, "lat": 30.4, "lon": -97.7, "tags": {"shop": "coffee", "currency:XBT": "yes"}},
  {"type": "node", "id": 9, "lat": 30.5, "lon": -97.7, "tags": {"disused:amenity": "atm", "currency:XBT": "yes"}},
  {"type": "node", "id": 10, "lat": 30.6, "lon": -97.7, "tags": {"removed:amenity": "atm", "currency:XBT": "yes"}},
  {"type": "node", "id": 11, "lat": 10, "lon": 20}, {"type": "node", "id": 12, "lat": 12, "lon": 22},
  {"type": "relation", "id": 13, "tags": {"amenity": "atm", "currency:XBT": "yes"}}]}"#;

fn import(file: &str) -> Import {
    read(file.as_bytes(), &options()).unwrap_or_else(|broken| panic!("{broken}"))
}

fn options() -> Options {
    Options { now: Some(NOW.parse().unwrap()), ..Options::default() }
}

fn keys(import: &Import) -> Vec<&str> {
    import.rows.iter().map(|row| row.key.as_str()).collect()
}

fn more(record: &Record) -> MoreFields {
    record.more.as_deref().cloned().unwrap_or_default()
}

fn coins(record: &Record) -> String {
    record.coins.iter().map(|(coin, truth)| format!("{coin}={truth:?}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn overpass_tags_are_imported() {
    let import = import(OVERPASS);
    assert_eq!(
        keys(&import),
        ["ref:node/1", "ref:way/2", "ref:way/3", "ref:way/4", "ref:way/5", "ref:node/9", "ref:node/10"]
    );
    assert_eq!((import.filtered, import.counted), (5, "item"));
    assert_eq!((import.skipped.total, import.skipped.first[0].line), (1, 13));
    let record = &import.rows[0].record;
    assert_eq!(record.operator.as_deref(), Some("Example Coins"));
    assert_eq!(record.title(), "ExampleBTM");
    assert_eq!(record.address.one_line().as_deref(), Some("12 Main Street, Austin, TX 78701"));
    assert_eq!(record.hours, Some(Hours::Text("Mo-Fr 09:00-17:00".into())));
    assert_eq!((record.buy, record.sell), (Tri::Yes, Tri::Unknown));
    assert_eq!(coins(record), "BTC=Yes ETH=No LTC=Yes");
    assert_eq!((record.reported, record.reported_at), (ReportedState::InService, "2026-10-01T00:00:00Z".parse().ok()));
    assert_eq!(record.verified_at, record.reported_at);
    let more = more(record);
    assert_eq!((more.indoor, more.wheelchair, more.level.as_deref()), (Tri::Yes, Tri::No, Some("1")));
    assert_eq!((more.brand_wikidata.as_deref(), more.machine_ref.as_deref()), (Some("Q42"), Some("A-17")));
    assert_eq!((more.located_in.as_deref(), more.fees.buy_percent), (Some("Example Mart"), Decimal::parse("12")));
    assert_eq!((more.fiat.len(), more.source_url.as_deref()), (1, Some("https://www.openstreetmap.org/node/1")));
    assert_eq!(record.trades(&Coin::bitcoin()).lightning, Tri::Yes);
}

#[test]
fn ways_use_their_centre_and_disused_is_closed() {
    let import = import(OVERPASS);
    let points: Vec<_> = import.rows.iter().map(|row| (row.record.point.lat(), row.record.point.lon())).collect();
    assert_eq!(points[1..5], [(30.3, -97.7), (11.0, 21.0), (2.0, 3.0), (6.0, 7.0)]);
    let states: Vec<_> = import.rows.iter().map(|row| row.record.reported).collect();
    assert_eq!(states[5..], [ReportedState::OutOfService, ReportedState::PermanentlyClosed]);
    // The report has no date.
    assert_eq!((states[1], import.rows[1].record.reported_at), (ReportedState::InService, None));
}

#[test]
fn geojson_properties_are_read_by_name() {
    let import = import(
        r#"{"type": "FeatureCollection", "features": [
        {"type": "Feature", "id": "x1", "geometry": {"type": "Point", "coordinates": [-97.74, 30.26, 150]},
         "properties": {"Name": "Corner Shop", "city": "Austin", "state": "TX", "hours": "24/7", "status": "active",
           "cryptos": ["BTC", "Litecoin"], "buyFee": 9.5, "type": null, "nested": {"a": 1}}},
        {"type": "Feature", "id": 2, "geometry": {"type": "Polygon", "coordinates": [[[0, 10], [2, 10], [2, 12], [0, 10]]]}, "properties": null},
        {"type": "Feature", "id": 3, "geometry": null, "properties": {"name": "Nowhere"}},
        {"type": "Feature", "id": 4, "geometry": {"type": "Point", "coordinates": [200, 95]}, "properties": {}}]}"#,
    );
    assert_eq!(keys(&import), ["ref:x1", "ref:2"]);
    let skipped: Vec<_> = import.skipped.first.iter().map(|skipped| (skipped.line, &skipped.reason[..14])).collect();
    assert_eq!(skipped, [(3, "no coordinates"), (4, "coordinates ou")]);
    let record = &import.rows[0].record;
    assert_eq!((record.title(), record.address.city.as_deref()), ("Corner Shop", Some("Austin")));
    assert_eq!((record.reported, coins(record).as_str()), (ReportedState::InService, "BTC=Yes LTC=Yes"));
    assert_eq!(more(record).fees.buy_percent, Decimal::parse("9.5"));
    assert_eq!(Some(import.rows[1].record.point), Point::new(11.0, 1.0));
    assert!(import.columns.contains(&(Field::City, "city".to_owned())), "{:?}", import.columns);
}

#[test]
fn properties_can_be_mapped_and_filtered() {
    let file = r#"{"type": "FeatureCollection", "features": [
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": {"titel": "A", "kind": "btm"}},
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [3, 4]}, "properties": {"titel": "B", "kind": "shop"}}]}"#;
    let with = |map: &str, only: &str| {
        let map = vec![(Field::Name, map.to_owned())];
        let only = vec![(only.to_owned(), "btm".to_owned())];
        read(file.as_bytes(), &Options { map, only, ..options() })
    };
    let import = with("titel", "kind").unwrap();
    assert_eq!((import.rows.len(), import.filtered, import.rows[0].record.title()), (1, 1, "A"));
    for (map, only) in [("title", "kind"), ("titel", "sort")] {
        let error = with(map, only).unwrap_err().to_string();
        assert!(error.starts_with("there is no column") && error.contains("kind, titel"), "{error}");
    }
}

#[test]
fn spider_output_is_filtered_by_coins() {
    let feature = |spider: &str, reference: &str, more: &str| {
        format!(
            r#"{{"type": "Feature", "geometry": {{"type": "Point", "coordinates": [-80.1, 25.7]}}, "properties": {{
              "ref": "{reference}", "@spider": "{spider}", "amenity": "atm", "addr:street_address": "1 Main St",
              "addr:city": "Miami", "addr:state": "FL", "opening_hours": "Mo-Su 06:00-24:00", "cash_out": "no"{more}}}}}"#
        )
    };
    let collection = |features: &[String]| {
        let time = r#""dataset_attributes": {"@timestamp": "2026-11-14T00:00:00Z"}"#;
        format!(r#"{{"type": "FeatureCollection", {time}, "features": [{}]}}"#, features.join(","))
    };
    let one =
        import(&collection(&[feature("acme_us", "7", ""), feature("acme_us", "8", r#", "end_date": "2026-01-01""#)]));
    assert_eq!(keys(&one), ["ref:acme_us:7", "ref:acme_us:8"]);
    let record = &one.rows[0].record;
    assert_eq!(record.address.one_line().as_deref(), Some("1 Main St, Miami, FL"));
    assert_eq!((record.sell, record.reported_at), (Tri::No, "2026-11-14T00:00:00Z".parse().ok()));
    assert_eq!(more(record).machine_ref.as_deref(), Some("7"));
    assert_eq!(more(&one.rows[1].record).end_date, "2026-01-01".parse().ok());
    let all = import(&collection(&[
        feature("a_bank", "1", ""),
        feature("acme_us", "7", r#", "currency:XBT": "yes""#),
        feature("bitcoin_depot", "8", ""),
    ]));
    assert_eq!((keys(&all), all.filtered), (vec!["ref:acme_us:7", "ref:bitcoin_depot:8"], 1));
}

#[test]
fn all_btc_map_versions_are_imported() {
    let v4 = import(
        r#"[{"id": 5, "lat": 48.1, "lon": 11.5, "icon": "local_atm", "name": "BTM", "address": "Weg 1, München",
            "opening_hours": "Mo-Sa 09:00-20:00", "verified_at": "2026-09-01", "updated_at": "2026-09-02T10:00:00Z",
            "osm:operator": "Kurant", "osm:cash_in": "yes", "osm:currency:EUR": "yes"},
           {"id": 6, "lat": 48.1, "lon": 11.5, "icon": "local_cafe", "name": "Café"},
           {"id": 7, "deleted_at": "2026-10-01T00:00:00Z"},
           {"id": 8, "lat": 1, "lon": 1, "icon": "local_atm", "deleted_at": "", "updated_at": "2026-09-02T10:00:00Z"}]"#,
    );
    assert_eq!(
        (keys(&v4), &v4.gone[..], v4.filtered),
        (vec!["ref:5", "ref:8"], &["ref:6".to_owned(), "ref:7".to_owned()][..], 1)
    );
    let record = &v4.rows[0].record;
    assert_eq!(
        (record.title(), record.operator.as_deref(), coins(record).as_str()),
        ("BTM", Some("Kurant"), "BTC=Yes")
    );
    assert_eq!(
        (record.reported_at, v4.rows[1].record.reported_at),
        ("2026-09-01T00:00:00Z".parse().ok(), "2026-09-02T10:00:00Z".parse().ok())
    );
    let v2 = import(
        r#"[{"id": "node:9", "osm_json": {"type": "node", "id": 9, "lat": 3.5, "lon": 4.5, "timestamp": "2026-01-01T00:00:00Z",
             "tags": {"amenity": "atm", "currency:XBT": "yes", "operator": "X"}}, "tags": {"icon:android": "local_atm"}, "deleted_at": ""},
           {"id": "way:3", "osm_json": {"type": "way", "id": 3, "bounds": {"minlat": 1, "minlon": 2, "maxlat": 3, "maxlon": 4},
             "tags": {"amenity": "atm", "currency:XBT": "yes"}}, "tags": {}}]"#,
    );
    assert_eq!(keys(&v2), ["ref:node:9", "ref:way:3"]);
    assert_eq!(Some(v2.rows[1].record.point), Point::new(2.0, 3.0));
}

#[test]
fn submission_sets_the_operating_status() {
    use ReportedState::{InService, OutOfService, Unknown};
    let import = import(
        r#"{"providerId": "acme", "apiTimestamp": "2026-11-20T11:58:00Z", "locations": [
        {"operatorId": "Acme", "locationId": "M1", "lastReportedTime": 1795175820, "manufacturer": "GB", "model": "Batm3",
         "address": {"street": "1 Main St", "city": "Miami", "region": "FL", "postalCode": "33101", "country": "US", "latitude": 25.77, "longitude": -80.19},
         "business": {"name": "Corner Shop", "url": "https://shop.example", "phone": "+1 305 555 0100", "hours": "Mon-Fri 9am-5pm"},
         "status": {"isEnabled": true, "cashInEnabled": true, "cashOutEnabled": false},
         "coins": ["BTC", "LTC"], "fees": {"buyPercent": 12.5, "currency": "USD"}, "limits": {"maxDay": 900, "currency": "USD"}, "kyc": "phone"},
        {"locationId": "M2", "address": {"latitude": 25.8, "longitude": -80.2}, "status": {"isEnabled": false}},
        {"locationId": "M3", "address": {"latitude": 25.9, "longitude": -80.3}, "status": {"isEnabled": true, "cashInEnabled": false, "cashOutEnabled": false}},
        {"locationId": "M4", "address": {"latitude": 26.0, "longitude": -80.3}},
        {"locationId": "M5", "lastReportedTime": "2036-01-01T00:00:00Z", "address": {"latitude": 26.1, "longitude": -80.3}, "status": {"isEnabled": true}},
        {"locationId": "M6", "address": {"latitude": "x", "longitude": 1}}]}"#,
    );
    let states: Vec<_> = import.rows.iter().map(|row| row.record.reported).collect();
    assert_eq!(states, [InService, OutOfService, OutOfService, Unknown, InService]);
    let record = &import.rows[0].record;
    assert_eq!(record.reported_at, "2026-11-20T11:57:00Z".parse().ok());
    assert_eq!((record.buy, record.sell), (Tri::Yes, Tri::No));
    assert_eq!(record.hours, Some(Hours::Text("Mo-Fr 09:00-17:00".into())));
    let more = more(record);
    assert_eq!(
        (more.kyc, more.limits.max_day, more.model.as_deref()),
        (Kyc::Phone, Decimal::parse("900"), Some("Batm3"))
    );
    assert_eq!(import.rows[1].record.reported_at, "2026-11-20T11:58:00Z".parse().ok());
    // A report from the future would never age: the date of the document takes its place.
    assert_eq!(import.rows[4].record.reported_at, "2026-11-20T11:58:00Z".parse().ok());
    assert_eq!((import.invalid_cells.total, import.invalid_cells.first[0].reason), (1, "in the future"));
    assert_eq!((import.skipped.total, import.skipped.first[0].line), (1, 6));
}

#[test]
fn extract_is_imported_with_its_ways() {
    let extract = pbf::extract();
    let import = read(&extract, &options()).unwrap();
    assert_eq!(keys(&import), ["ref:node/1", "ref:way/7"]);
    let points: Vec<_> = import.rows.iter().map(|row| (row.record.point.lat(), row.record.point.lon())).collect();
    assert_eq!(points, [(30.25, -97.75), (11.0, 21.0)]);
    assert_eq!(import.rows[0].record.operator.as_deref(), Some("Example Coins"));
    for end in (0..extract.len()).step_by(7) {
        assert!(read(&extract[..end], &Options { format: format("osm-pbf"), ..options() }).is_err(), "{end}");
    }
}

#[test]
fn unreadable_document_is_rejected_with_a_reason() {
    for (file, expected) in [
        ("{\"elements\": [", "line 1 is not JSON: it ends too early"),
        ("{\n\"elements\": [,]}", "line 2 is not JSON: expected value"),
        ("[1, 2, 3]", "the file is JSON in no known format; known formats: Overpass"),
        ("{}", "the file is JSON in no known format"),
        ("{\"elements\": []}", "the file contains no ATMs (of 0 items"),
        (
            r#"{"elements": [{"type": "node", "id": 1, "lat": 1, "lon": 1, "tags": {"amenity": "bank"}}]}"#,
            "the file contains no ATMs (of 1 items",
        ),
        (r#"{"type": "FeatureCollection", "features": []}"#, "the file contains no ATMs"),
        ("[]", "the file contains no ATMs"),
    ] {
        let error = read(file.as_bytes(), &options()).expect_err(file).to_string();
        assert!(error.starts_with(expected), "{file}: {error}");
    }
    for (name, expected) in [
        ("overpass", "the file is not overpass: it does not have a list 'elements' at its top"),
        ("btcmap", "the file is not btcmap: it does not have a list of objects at its top"),
    ] {
        let error = read(b"{}", &Options { format: format(name), ..options() }).unwrap_err().to_string();
        assert_eq!(error, expected);
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(read(deep.as_bytes(), &options()).unwrap_err().to_string().contains("recursion limit"));
    assert!(read(b"\x00\x00\x00\x0dOSMHeader and then nothing", &options()).is_err());
}

#[test]
fn unused_properties_are_listed() {
    let unused = |file: &str| import(file).unused.first.join(" ");
    let point = r#""geometry": {"type": "Point", "coordinates": [1, 2]}"#;
    let feature = |properties: &str| format!(r#"{{"features": [{{{point}, "properties": {properties}}}]}}"#);
    assert_eq!(unused(&feature(r#"{"name": "A", "ref": "1", "charge": "5%", "rating": 5}"#)), "charge rating");
    let tagged = r#"{"amenity": "atm", "currency:XBT": "yes", "charge": "5%", "ref": "1", "drive_through": "yes"}"#;
    assert_eq!(unused(&feature(tagged)), "drive_through");
    assert_eq!(unused(OVERPASS), "");
    let location = r#"{"locationId": 1, "address": {"latitude": 1, "longitude": 2, "planet": "Earth"},
        "status": {"isEnabled": true}, "isDeleted": false, "lastReportedTime": 1795175820, "screen": "big"}"#;
    assert_eq!(unused(&format!(r#"{{"locations": [{location}]}}"#)), "address.planet screen");
}

#[test]
fn invalid_item_is_named_by_its_line() {
    let error = read(b"{\"elements\": [\n{},\n{\"id\": \"\\ud800\"}]}", &options()).unwrap_err().to_string();
    assert!(error.starts_with("line 3 is not JSON: "), "{error}");
}

fn format(name: &str) -> FormatChoice {
    name.parse().unwrap()
}

/// Returns a file of each format, with one ATM.
fn one_of_each() -> Vec<(&'static str, Vec<u8>)> {
    let point = r#""geometry": {"type": "Point", "coordinates": [2, 1]}"#;
    let node = r#"{"type": "node", "id": 1, "lat": 1, "lon": 2, "tags": {"amenity": "atm", "currency:XBT": "yes"}}"#;
    let text = [
        ("overpass", format!(r#"{{"elements": [{node}]}}"#)),
        ("submission", r#"{"locations": [{"latitude": 1, "longitude": 2}]}"#.to_owned()),
        ("atp", format!(r#"{{"features": [{{{point}, "properties": {{"@spider": "coins", "amenity": "atm"}}}}]}}"#)),
        ("geojson", format!(r#"{{"features": [{{{point}, "properties": {{}}}}]}}"#)),
        ("btcmap", r#"[{"id": 1, "lat": 1, "lon": 2, "icon": "local_atm"}]"#.to_owned()),
        ("coinmap", r#"{"venues": [{"id": 1, "lat": 1, "lon": 2, "category": "atm"}]}"#.to_owned()),
        ("json", r#"{"data": [{"id": 1, "lat": 1, "lon": 2}]}"#.to_owned()),
        ("tsv", "lat\tlon\n1\t2\n".to_owned()),
        ("csv", "lat,lon\n1,2\n".to_owned()),
    ];
    let mut files: Vec<_> = text.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
    files.push(("osm-pbf", pbf::extract()));
    files
}

#[test]
fn every_format_is_recognized_and_read() {
    let files = one_of_each();
    for Format { name, .. } in FORMATS {
        let (_, file) = files.iter().find(|(of, _)| of == name).expect(name);
        let named = read(file, &Options { format: format(name), ..options() }).expect(name);
        let recognised = read(file, &options()).expect(name);
        assert!(!named.rows.is_empty(), "{name}");
        assert_eq!((named.rows, named.unused), (recognised.rows, recognised.unused), "{name}");
        assert_eq!(FormatChoice::all().filter(|choice| choice.name() == *name).count(), 1, "{name}");
    }
    assert_eq!(files.len(), FORMATS.len());
}

#[test]
fn unknown_format_error_lists_all_formats() {
    for name in ["", "xml", "GeoJSON", "yaml"] {
        let error = name.parse::<FormatChoice>().unwrap_err().to_string();
        for choice in FormatChoice::all() {
            assert!(error.contains(choice.name()), "{error}");
        }
    }
    let unknown = read(b"[1, 2, 3]", &options()).unwrap_err().to_string();
    for title in ["GeoJSON", "Overpass", "BTC Map", "AllThePlaces", "submissions"] {
        assert!(unknown.contains(title), "{unknown}");
    }
}

fn damaged(file: &str, at: usize, with: &[u8]) -> Vec<u8> {
    let at = at % file.len();
    let end = (at + with.len()).min(file.len());
    [&file.as_bytes()[..at], with, &file.as_bytes()[end..]].concat()
}

/// Checks the invariants of an import: a file always has equal rows, and keys are unique.
fn check(bytes: &[u8], format: FormatChoice) {
    let options = Options { format, ..options() };
    let (Ok(one), Ok(other)) = (read(bytes, &options), read(bytes, &options)) else { return };
    assert_eq!(one.rows, other.rows);
    let mut keys: Vec<&String> = one.rows.iter().map(|ImportedRow { key, .. }| key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), one.rows.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_documents_are_read_or_rejected(at in 0_usize..10_000, with in prop::collection::vec(any::<u8>(), 0..4)) {
        check(&damaged(OVERPASS, at, &with), FormatChoice::Auto);
        check(&damaged(OVERPASS, at, &with), format("geojson"));
        check(&OVERPASS.as_bytes()[..at % OVERPASS.len()], format("overpass"));
    }

    #[test]
    fn damaged_extracts_are_read_or_rejected(at in 0_usize..10_000, with in prop::collection::vec(any::<u8>(), 1..4)) {
        let mut extract = pbf::extract();
        let at = at % extract.len();
        let end = (at + with.len()).min(extract.len());
        extract[at..end].copy_from_slice(&with[..end - at]);
        check(&extract, format("osm-pbf"));
    }

    #[test]
    fn any_bytes_are_read_or_rejected_in_every_format(bytes in prop::collection::vec(any::<u8>(), 0..200), which in 0..=FORMATS.len()) {
        check(&bytes, FormatChoice::all().nth(which).unwrap());
    }
}
