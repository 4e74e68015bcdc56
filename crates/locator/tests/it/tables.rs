//! Tables in the forms of spreadsheets and other programs: separators, encodings, escaped quotes, and coordinates.

use signpost_locator::import::{Field, Import, Options, read};

fn import(file: &[u8]) -> Import {
    read(file, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn reason(file: &[u8]) -> String {
    read(file, &Options::default()).expect_err("is rejected").to_string()
}

fn points(import: &Import) -> Vec<(f64, f64)> {
    let round = |degrees: f64| (degrees * 1e6).round() / 1e6;
    import.rows.iter().map(|row| (round(row.record.point.lat()), round(row.record.point.lon()))).collect()
}

fn names(import: &Import) -> Vec<&str> {
    import.rows.iter().map(|row| row.record.name.as_deref().unwrap_or_default()).collect()
}

#[test]
fn first_line_may_define_the_separator() {
    let excel = import(include_bytes!("../cases/excel-sep.csv"));
    assert_eq!((names(&excel), points(&excel), excel.rows[0].line), (vec!["A"], vec![(30.2, -97.7)], 3));
    for (separator, line_break) in [(";", "\n"), ("\t", "\r\n"), ("|", "\n"), (",", "\r\n"), ("^", "\n")] {
        let row = |cells: [&str; 3]| cells.join(separator);
        let lines =
            [format!("sep={separator}"), row(["name", "lat", "lon"]), row(["\"A, B\"", "1", "2"]), row(["", "x", "2"])];
        let import = import(lines.join(line_break).as_bytes());
        assert_eq!(
            (names(&import), import.rows[0].line, import.skipped.first[0].line),
            (vec!["A, B"], 3, 4),
            "{separator:?}"
        );
    }
    let quoted = import(b"\"SEP=;\"\nname;lat;lon\nA;1;2\n");
    assert_eq!(names(&quoted), ["A"]);
    assert_eq!(names(&import(b"name|lat|lon\nA, B|1|2\n")), ["A, B"]);
    assert!(reason(b"sep=;").contains("the file is empty"));
    assert!(reason(b"sep=;;\nname;lat;lon\n").contains("a header but no rows"));
    assert!(reason(b"sep=;\nname,lat,lon\nA,1,2\n").contains("the columns are: name,lat,lon"));
}

#[test]
fn quotes_after_a_backslash_are_read_with_a_notice() {
    let import = import(include_bytes!("../cases/backslash-quotes.csv"));
    assert_eq!(names(&import), ["Acme ATM", "The \"Big\" Corner", "Plain"]);
    assert_eq!((import.skipped.total, import.rows[1].line), (0, 3));
    let cities = import.rows.iter().map(|row| row.record.address.city.as_deref());
    assert_eq!(cities.collect::<Vec<_>>(), [Some("Austin"); 3]);
    assert_eq!(import.notices, ["2 lines have quotes after a backslash (\\\"), which are read as quotes"]);
    let both =
        self::import(b"name,lat,lon\n\"a \\\"b\\\"\",1,2\nc \\\"d\\\",1,2\n\"e \"\"f\"\"\",1,2\n\"two\nlines\",1,2\n");
    assert_eq!(names(&both)[..3], ["a \"b\"", "c \"d\"", "e \"f\""]);
    assert_eq!(both.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [2, 3, 4, 5]);
    // In CSV by the RFC a backslash is a letter.
    let plain = self::import(b"name,lat,lon\n\"C:\\dir\\\",1,2\n\"a\\\"\"b\",1,2\n");
    assert_eq!((names(&plain), &plain.notices[..]), (vec!["C:\\dir\\", "a\\\"b"], &[][..]));
}

#[test]
fn one_column_may_have_both_coordinates() {
    for header in ["coordinates", "Coordinates", "latlng", "Lat/Long", "WKT", "the_geom", "geo_point_2d", "Location"] {
        for cell in
            ["POINT(-97.7431 30.2672)", "(30.2672, -97.7431)", "30.2672,-97.7431", "30°16'1.92\"N 97°44'35.16\"W"]
        {
            let file = format!("name\t{header}\nA\t{cell}\n");
            let import = import(file.as_bytes());
            assert_eq!(points(&import), [(30.2672, -97.7431)], "{file}");
            assert_eq!(import.columns[0], (Field::Coordinates, header.to_owned()));
        }
    }
    let csv = import(b"name,geom\nA,\"POINT (13.405 52.52)\"\nB,nowhere\nC,\nD,\"NaN, NaN\"\nE,\"0, 0\"\n");
    assert_eq!(points(&csv), [(52.52, 13.405)]);
    let skipped: Vec<_> = csv.skipped.first.iter().map(|row| (row.line, row.reason.as_str())).collect();
    let notation = "no coordinates in a known notation, such as 52.52, 13.405 or POINT(13.405 52.52): ";
    let expected = [
        (3, format!("{notation}nowhere")),
        (4, "no coordinates".to_owned()),
        (5, format!("{notation}NaN, NaN")),
        (6, "coordinates are 0, 0".to_owned()),
    ];
    assert_eq!(skipped, expected.each_ref().map(|(line, reason)| (*line, reason.as_str())));
}

#[test]
fn separate_columns_take_precedence_over_a_column_with_both() {
    let file = b"name,lat,lon,geo,Where\nA,1,2,\"5, 6\",\"3, 4\"\nB,1,2,x,\n";
    assert_eq!(points(&import(file)), [(1.0, 2.0), (1.0, 2.0)]);
    let map = vec![(Field::Coordinates, "where".to_owned())];
    let mapped = read(file, &Options { map, ..Options::default() }).unwrap();
    assert_eq!(points(&mapped), [(3.0, 4.0), (1.0, 2.0)]);
    let reason = reason(b"name,Where\nA,\"3, 4\"\n");
    assert!(
        reason.contains("map it (lat=COLUMN), or a column with latitude and longitude (coordinates=COLUMN)"),
        "{reason}"
    );
}

#[test]
fn cells_may_have_degrees_minutes_and_seconds() {
    let file = "name\tlat\tlon\n\
                A\t52°31'12\"N\t13°24'18\"E\n\
                B\t52.52 N\t13.405 E\n\
                C\t30° 16.032′ N\t97° 44.586′ W\n\
                D\t13.405 E\t52.52 N\n\
                E\tNaN\tNaN\n";
    let import = import(file.as_bytes());
    assert_eq!(points(&import), [(52.52, 13.405), (52.52, 13.405), (30.2672, -97.7431)]);
    assert_eq!(import.skipped.first.iter().map(|row| row.line).collect::<Vec<_>>(), [5, 6]);
}

#[test]
fn utf_16_with_a_byte_order_mark_is_read() {
    for (mark, to_bytes) in [([0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]), ([0xfe, 0xff], u16::to_be_bytes)] {
        for text in ["name\tlat\tlon\r\nCafé 東京\t1\t2\r\n", r#"[{"name": "Café 東京", "lat": 1, "lon": 2}]"#] {
            let file = [mark.to_vec(), text.encode_utf16().flat_map(to_bytes).collect()].concat();
            assert_eq!(names(&import(&file)), ["Café 東京"]);
            assert!(reason(&file[..file.len() - 1]).contains("(it is truncated UTF-16); save the file as UTF-8"));
        }
    }
}

#[test]
fn unsupported_formats_are_named_with_a_remedy() {
    for (file, expected) in [
        (
            &b"<?xml version=\"1.0\"?>\n<kml xmlns=\"http://www.opengis.net/kml/2.2\">"[..],
            "KML, which is not supported: export CSV",
        ),
        (b"<?xml version=\"1.0\"?><gpx version=\"1.1\">", "GPX, which is not supported: convert it to GeoJSON"),
        (b"<?xml version=\"1.0\"?><osm version=\"0.6\">", "OSM XML, which is not supported: use an extract (.osm.pbf)"),
        (b"<osmChange version=\"0.6\">", "OSM XML"),
        (b"\n<!DOCTYPE html>\n<html lang=en>", "an HTML page, which is not supported: it may be a login or error page"),
        (b"<HTML><BODY>Sign in", "an HTML page"),
        (b"<?xml version=\"1.0\"?><rss>", "XML, which is not supported: export the ATMs as CSV or GeoJSON"),
        (b"%PDF-1.7 ...", "a PDF document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Office file"),
        (b"\0\0\x27\x0a\0\0", "a shapefile"),
        (b"SQLite format 3\0", "an SQLite database or GeoPackage"),
        (b"PAR1\x15", "Parquet"),
        (b"BZh91AY&SY", "compressed with bzip2, which is not supported: decompress it"),
        (b"\xfd7zXZ\0", "compressed with xz"),
        (b"\x28\xb5\x2f\xfd", "compressed with Zstandard"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"Rar!\x1a\x07", "a RAR archive"),
    ] {
        for format in ["auto", "csv", "geojson"] {
            let options = Options { format: format.parse().unwrap(), ..Options::default() };
            let reason = read(file, &options).expect_err("is rejected").to_string();
            assert!(reason.starts_with(&format!("the file is {expected}")), "{reason}");
        }
    }
    let mut tar = vec![b'x'; 512];
    tar[257..262].copy_from_slice(b"ustar");
    assert!(reason(&tar).starts_with("the file is a tar archive, which is not supported: extract it"));
    let utf16: Vec<u8> = "\u{feff}<html>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(reason(&utf16).starts_with("the file is an HTML page"));
}

#[test]
fn long_line_is_skipped_in_bounded_time() {
    let file = [b"name,lat,lon\n1,2,\"", &vec![b'x'; 100 << 20][..], b"\",\nok,1,2\n"].concat();
    let import = import(&file);
    assert_eq!((names(&import), import.skipped.total), (vec!["ok"], 1));
    assert_eq!(import.skipped.first[0].reason, "the row is longer than 64 KiB");
}
