//! Tests of the dates of imported records (docs/locator.md, Sources and merging).

use signpost_locator::import::{Import, Options, read};
use signpost_locator::{AtmStatus, DataDates, Hours, OpenState, Record, ReportedState, status};

const NOW: &str = "2026-11-20T12:00:00Z";

fn options() -> Options {
    Options { now: NOW.parse().ok(), ..Options::default() }
}

fn import(file: &str) -> Import {
    read(file.as_bytes(), &options()).unwrap_or_else(|broken| panic!("{broken}"))
}

/// Returns the date of each record, without the time of day.
fn days(import: &Import) -> Vec<String> {
    let days = import.rows.iter().map(|row| match row.record.known_at() {
        Some(at) => at.strftime("%Y-%m-%d").to_string(),
        None => "none".to_owned(),
    });
    days.collect()
}

fn doubts(import: &Import) -> Vec<(usize, &str, &str)> {
    import.invalid_cells.first.iter().map(|doubt| (doubt.line, doubt.field.name(), &*doubt.value)).collect()
}

/// Returns the status of an ATM that is always open.
fn status_of(record: &Record) -> AtmStatus {
    assert_eq!(record.hours, Some(Hours::Always));
    status(record, Some(Ok(OpenState::Open)), NOW.parse().unwrap()).status
}

/// Returns the output of an All the Places spider with ATMs that have these additional properties.
fn spider_output(attributes: &str, properties: &[&str]) -> String {
    let features = (1..).zip(properties).map(|(number, more)| {
        format!(
            r#"{{"type": "Feature", "geometry": {{"type": "Point", "coordinates": [-97.7431, 30.2672]}}, "properties": {{
              "ref": "{number}", "@spider": "acme_coins_us", "amenity": "atm", "currency:XBT": "yes",
              "opening_hours": "24/7"{more}}}}}"#
        )
    });
    let features: Vec<_> = features.collect();
    format!(
        r#"{{"type": "FeatureCollection", "dataset_attributes": {{{attributes}}}, "features": [{}]}}"#,
        features.join(",")
    )
}

/// Returns an Overpass reply with nodes that have these members and tags.
fn overpass_reply(osm3s: &str, nodes: &[(&str, &str)]) -> String {
    let nodes = (1..).zip(nodes).map(|(number, (members, tags))| {
        format!(
            r#"{{"type": "node", "id": {number}, "lat": 30.2672, "lon": -97.7431{members}, "tags": {{
              "amenity": "atm", "currency:XBT": "yes", "opening_hours": "24/7"{tags}}}}}"#
        )
    });
    let nodes: Vec<_> = nodes.collect();
    format!(r#"{{"version": 0.6, "osm3s": {{{osm3s}}}, "elements": [{}]}}"#, nodes.join(","))
}

#[test]
fn spider_output_has_the_date_of_its_collection() {
    let time = r#""@spider": "acme_coins_us", "spider:collection_time": "2023-01-05T03:04:05.123456""#;
    let old = import(&spider_output(time, &["", r#", "check_date": "2026-11-01""#]));
    assert_eq!(old.rows[0].record.reported_at, "2023-01-05T03:04:05.123456Z".parse().ok());
    assert_eq!(days(&old), ["2023-01-05", "2026-11-01"]);
    assert_eq!(
        old.rows.iter().map(|row| status_of(&row.record)).collect::<Vec<_>>(),
        [AtmStatus::Unknown, AtmStatus::Open]
    );
    let other_name = import(&spider_output(r#""spider:collection_time": "soon", "@timestamp": "2026-11-14""#, &[""]));
    assert_eq!(days(&other_name), ["2026-11-14"]);
}

#[test]
fn overpass_element_without_a_date_has_that_of_the_database() {
    let nodes = [
        ("", ""),
        (r#", "timestamp": "2018-05-01T00:00:00Z""#, ""),
        (r#", "timestamp": "2018-05-01T00:00:00Z""#, r#", "check_date": "2024""#),
        ("", r#", "survey:date": "2025-12""#),
    ];
    let import = import(&overpass_reply(r#""timestamp_osm_base": "2019-03-01T00:00:00Z""#, &nodes));
    assert_eq!(days(&import), ["2019-03-01", "2018-05-01", "2024-01-01", "2025-12-01"]);
    assert_eq!(status_of(&import.rows[0].record), AtmStatus::Unknown);
    let expected = DataDates {
        newest: "2025-12-01T00:00:00Z".parse().ok(),
        oldest: "2018-05-01T00:00:00Z".parse().ok(),
        undated: 0,
    };
    assert_eq!((import.dates, import.dates.oldest_if_distant()), (expected, expected.oldest));
}

#[test]
fn first_readable_date_of_several_is_used() {
    let edited = r#", "timestamp": "2018-05-01T00:00:00Z""#;
    let unreadable = r#", "check_date": "spring 2026""#;
    let both = r#", "check_date": "spring 2026", "check_date:currency:XBT": "2026-10-01""#;
    let first = r#", "check_date": "2026-09-01", "survey:date": "2026-10-01""#;
    let import =
        import(&overpass_reply("", &[(edited, unreadable), (edited, both), (edited, first), ("", unreadable)]));
    assert_eq!(days(&import), ["2018-05-01", "2026-10-01", "2026-09-01", "none"]);
    assert_eq!(import.rows[0].record.verified_at, None);
    let named = (1, "verified_at", "spring 2026");
    assert_eq!(doubts(&import), [named, (2, named.1, named.2), (4, named.1, named.2)]);
    assert!(
        import.invalid_cells.first[0].reason.starts_with("not a time, such as"),
        "{:?}",
        import.invalid_cells.first[0]
    );
    assert_eq!(import.dates.undated, 1);
}

#[test]
fn date_in_the_future_is_not_used() {
    let edited = r#", "timestamp": "2018-05-01T00:00:00Z""#;
    let import = import(&overpass_reply("", &[(edited, r#", "check_date": "2027""#)]));
    assert_eq!(
        (days(&import), &doubts(&import)[..]),
        (vec!["2018-05-01".to_owned()], &[(1, "verified_at", "2027")][..])
    );
}

#[test]
fn table_columns_with_dates_are_found_by_name() {
    let file = "lat,lon,name,created_on,Last Updated,check date\n\
                30,-97,seconds,1386794770,,\n\
                31,-97,milliseconds,1386794770000,,\n\
                32,-97,updated,1386794770,2021-05-01,\n\
                33,-97,checked,1386794770,2021-05-01,2024-02\n\
                34,-97,unreadable,1386794770,last week,\n\
                35,-97,none,,,\n";
    let import = import(file);
    assert_eq!(days(&import), ["2013-12-11", "2013-12-11", "2021-05-01", "2024-02-01", "2013-12-11", "none"]);
    assert_eq!(doubts(&import), [(6, "updated_at", "last week")]);
    assert_eq!(import.unused.total, 0, "{:?}", import.unused);
}

#[test]
fn record_without_a_date_is_not_in_service() {
    let file = "lat,lon,hours,status\n30,-97,24/7,active\n";
    let undated = import(file);
    assert_eq!(undated.rows[0].record.reported, ReportedState::InService);
    assert_eq!(status_of(&undated.rows[0].record), AtmStatus::Unknown);
    let element = import(&overpass_reply("", &[("", "")]));
    assert_eq!(status_of(&element.rows[0].record), AtmStatus::Unknown);
}

#[test]
fn date_of_the_import_is_for_records_without_one() {
    let as_of = "2026-11-01T00:00:00Z".parse().ok();
    let file = "lat,lon,hours,status,updated\n30,-97,24/7,active,\n31,-97,24/7,active,2021-05-01\n";
    let import = read(file.as_bytes(), &Options { as_of, ..options() }).unwrap();
    assert_eq!(days(&import), ["2026-11-01", "2021-05-01"]);
    assert_eq!(
        import.rows.iter().map(|row| status_of(&row.record)).collect::<Vec<_>>(),
        [AtmStatus::Open, AtmStatus::Unknown]
    );
}

#[test]
fn end_date_closes_on_its_day() {
    let ends = ["2027-06-30", "2027-06", "yes", "no", "2025", "some day"];
    let ends: Vec<String> = ends.iter().map(|end| format!(r#", "end_date": "{end}""#)).collect();
    let ends: Vec<&str> = ends.iter().map(String::as_str).collect();
    let import = import(&spider_output(r#""spider:collection_time": "2026-11-14""#, &ends));
    let on = |now: &str| -> Vec<bool> {
        let closed = import.rows.iter().map(|row| {
            let mut record = row.record.clone();
            record.close_if_ended(now.parse().unwrap());
            record.reported == ReportedState::PermanentlyClosed
        });
        closed.collect()
    };
    assert_eq!(on(NOW), [false, false, true, false, true, false]);
    assert_eq!(on("2027-06-01T00:00:00Z"), [false, true, true, false, true, false]);
    assert_eq!(on("2027-06-29T23:59:59Z"), [false, true, true, false, true, false]);
    assert_eq!(on("2027-06-30T00:00:00Z"), [true, true, true, false, true, false]);
    assert_eq!(doubts(&import), [(6, "end_date", "some day")]);
    assert_eq!(status_of(&import.rows[0].record), AtmStatus::Open);
}

#[test]
fn atm_ends_at_midnight_in_its_time_zone() {
    let file = "lat,lon,end_date,timezone\n30,-97,2027-06-30,America/Chicago\n";
    let end = import(file).rows[0].record.ends_at();
    assert_eq!(end, "2027-06-30T05:00:00Z".parse().ok());
}
