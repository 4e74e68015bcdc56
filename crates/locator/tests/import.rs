//! Files of machines: good, odd, broken and hostile.

use proptest::prelude::*;
use signpost_locator::import::{Broken, Field, Import, Options, read};
use signpost_locator::{Hours, Reported};

fn import(text: &str) -> Import {
    read(text.as_bytes(), &Options::default()).unwrap()
}

fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs.iter().map(|(left, right)| ((*left).to_owned(), (*right).to_owned())).collect()
}

#[test]
fn columns_are_guessed_from_the_header_and_may_be_mapped() {
    for header in ["id,name,latitude,longitude,zip", "ID,Name,LAT,Lng,Postal Code", "ref;name;y;x;postcode"] {
        let separator = if header.contains(';') { ';' } else { ',' };
        let row = "7,Corner Shop,25.76,-80.19,33130".replace(',', &separator.to_string());
        let import = import(&format!("{header}\n{row}\n"));
        let record = &import.rows[0].record;
        assert_eq!(
            (record.source_ref.as_deref(), record.name.as_deref()),
            (Some("7"), Some("Corner Shop")),
            "{header}"
        );
        assert_eq!((record.point.lat(), record.point.lon()), (25.76, -80.19));
        assert_eq!(record.address.postcode.as_deref(), Some("33130"));
    }
    let map =
        vec![(Field::Name, "label".to_owned()), (Field::Lat, "north".to_owned()), (Field::Lon, "east".to_owned())];
    let options = Options { map, ..Options::default() };
    let import = read(b"label,name,north,east\nA,B,1,2\n", &options).unwrap();
    assert_eq!(import.rows[0].record.name.as_deref(), Some("A"));
}

#[test]
fn only_the_wanted_rows_are_read() {
    let options = Options { only: pairs([("category", "atm")]), ..Options::default() };
    let import = read(b"category\tlat\tlon\n\"atm\"\t1\t2\nshop\t3\t4\n", &options).unwrap();
    assert_eq!((import.rows.len(), import.filtered), (1, 1));
}

#[test]
fn a_row_is_skipped_only_without_usable_coordinates_and_by_its_line() {
    let text =
        "lat,lon,name,website\n1,2,A,\n,2,B,\n91,0,C,\n0,0,D,\nx,2,E,\n\n3,4,F,not a url\n5,6\n1,2,G,,too,many\n";
    let import = import(text);
    let skipped: Vec<_> = import.skipped.first.iter().map(|row| row.line).collect();
    assert_eq!(skipped, [3, 4, 5, 6, 10]);
    let names: Vec<_> = import.rows.iter().map(|row| (row.line, row.record.name.as_deref())).collect();
    assert_eq!(names, [(2, Some("A")), (8, Some("F")), (9, None)]);
    let doubts: Vec<_> = import.doubts.first.iter().map(|doubt| (doubt.line, doubt.field)).collect();
    assert_eq!(doubts, [(8, Field::Website), (9, Field::Name), (9, Field::Website)]);
}

#[test]
fn rows_are_merged_only_where_they_share_a_ref() {
    let same = import("ref,lat,lon,name\n1,1,2,Old\n2,1,2,Other\n1,1,2,New\n");
    let names: Vec<_> = same.rows.iter().map(|row| (row.key.as_str(), row.record.name.as_deref())).collect();
    assert_eq!(names.len(), 2);
    assert!(names.contains(&("ref:1", Some("New"))) && names.contains(&("ref:2", Some("Other"))));
    let twins = import("lat,lon,name\n1,2,Twin\n1,2,Twin\n1,2,Twin\n");
    let mut keys: Vec<_> = twins.rows.iter().map(|row| row.key.clone()).collect();
    keys.dedup();
    assert_eq!(keys.len(), 3, "{keys:?}");
}

#[test]
fn the_same_file_gives_the_same_rows() {
    let text = "lat,lon,name\n1,2,Twin\n3,4,B\n1,2,Twin\n";
    assert_eq!(import(text).rows, import(text).rows);
    let keys = |text: &str| import(text).rows.into_iter().map(|row| row.key).collect::<Vec<_>>();
    let moved = keys("lat,lon,name\n3,4,B\n1,2,Twin\n1,2,Twin\n");
    assert!(keys(text).iter().all(|key| moved.contains(key)), "the order of rows is no part of their identity");
}

#[test]
fn tabs_separate_whatever_the_quotes_say() {
    let text = "lat\tlon\tname\taddress\n1\t2\t\"Joe's \\\"Best\\\" Shop\"\t\"100 Main St, Austin, TX 78701\"\n\
                3\t4\t\"never closed\t\"121\u{b0}0'59.64\\\"W\"\n";
    let import = import(text);
    assert_eq!(import.rows[0].record.name.as_deref(), Some("Joe's \"Best\" Shop"));
    let address = &import.rows[0].record.address;
    let parts = [&address.street, &address.city, &address.region, &address.postcode].map(|part| part.as_deref());
    assert_eq!(parts, [Some("100 Main St"), Some("Austin"), Some("TX"), Some("78701")]);
    assert_eq!(import.rows.len(), 2);
}

#[test]
fn what_a_source_reports_is_read_and_what_it_does_not_is_unknown() {
    let text = "lat,lon,status,hours\n1,2,online,24/7\n1,3,broken,Mo-Fr 09:00-17:00\n1,4,whatever,\n1,5,,\n";
    let reported: Vec<_> = import(text).rows.iter().map(|row| row.record.reported).collect();
    assert_eq!(reported, [Reported::InService, Reported::OutOfService, Reported::Unknown, Reported::Unknown]);
    assert_eq!(import(text).rows[0].record.hours, Some(Hours::Always));
    assert_eq!(import(text).doubts.first[0].field, Field::Status);
}

#[test]
fn a_broken_file_is_one_clear_error() {
    let options = Options::default();
    let broken = |bytes: &[u8]| read(bytes, &options).unwrap_err();
    assert_eq!(broken(b""), Broken::Empty);
    assert_eq!(broken(b" \n\n"), Broken::Empty);
    assert_eq!(broken(b"lat,lon\n"), Broken::NoRows);
    assert!(matches!(broken(b"name,place\nA,B\n"), Broken::NoCoordinates { field: Field::Lat, .. }));
    assert!(matches!(broken(b"lat,lon,name\n1,2,A\n1,2,caf\xe9\n"), Broken::NotUtf8 { line: 3, .. }));
    assert!(matches!(broken(b"\xff\xfel\0a\0t\0"), Broken::NotUtf8 { line: 1, .. }));
    assert!(matches!(broken(b"lat,lon,name\n1,2,\"A\n3,4,B\n"), Broken::OpenQuote { line: 2 }));
    let missing = Options { only: pairs([("kind", "atm")]), ..Options::default() };
    let told = read(b"lat,lon\n1,2\n", &missing).unwrap_err().to_string();
    assert!(told.contains("kind") && told.contains("lat") && !told.contains('\n'), "{told}");
}

#[test]
fn reports_are_bounded_and_counted() {
    let rows = "x,y,\n".repeat(5_000);
    let import = import(&format!("lat,lon,name\n1,2,A\n{rows}"));
    assert_eq!((import.rows.len(), import.skipped.total, import.skipped.first.len()), (1, 5_000, 1_000));
    let long = format!("lat,lon,name\n1,2,{}\n", "x".repeat(100_000));
    assert!(read(long.as_bytes(), &Options::default()).is_ok_and(|import| import.rows.len() <= 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        drop(read(&bytes, &Options::default()));
    }

    #[test]
    fn any_rows_are_accounted_for(rows in proptest::collection::vec("[-0-9.,\"a-z\t ]{0,30}", 1..20)) {
        let text = format!("lat\tlon\tname\n{}\n", rows.join("\n"));
        if let Ok(import) = read(text.as_bytes(), &Options::default()) {
            let lines = rows.iter().filter(|row| !row.trim_matches(' ').is_empty()).count();
            prop_assert_eq!(import.rows.len() + import.skipped.total, lines);
        }
    }
}
