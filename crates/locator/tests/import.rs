//! Imports of tables.

use proptest::prelude::*;
use signpost_locator::import::{Field, FormatChoice, Import, ImportError, MAX_LISTED, Options, read};
use signpost_locator::{Country, Hours, Point, ReportedState};

fn import(file: &str) -> Import {
    read(file.as_bytes(), &Options::default()).unwrap_or_else(|broken| panic!("{broken}"))
}

fn broken(file: &[u8]) -> String {
    read(file, &Options::default()).expect_err("is broken").to_string()
}

fn lines(import: &Import) -> Vec<usize> {
    import.rows.iter().map(|row| row.line).collect()
}

#[test]
fn fields_are_read_from_the_named_columns() {
    let import = import(
        "ID,Name,Latitude,Longitude,Street Address,City,State,Zip_Code,Country,Operator,Status,Opening Hours,Phone,URL\n\
         7,Corner Shop,25.7617,-80.1918,1 Main St,Miami,fl,33101,USA,Coins Inc,Out of service,24/7,+1 305 555 0100,example.com/7\n",
    );
    assert_eq!(import.invalid_cells.first, []);
    let record = &import.rows[0].record;
    let texts = [&record.source_ref, &record.name, &record.operator, &record.phone, &record.website];
    let expected = ["7", "Corner Shop", "Coins Inc", "+1 305 555 0100", "https://example.com/7"];
    assert_eq!(texts.map(|text| text.as_deref().unwrap_or_default()), expected);
    let address = &record.address;
    let texts = [&address.street, &address.city, &address.region, &address.postcode];
    assert_eq!(texts.map(|text| text.as_deref().unwrap_or_default()), ["1 Main St", "Miami", "FL", "33101"]);
    assert_eq!(address.country, Some(Country::UNITED_STATES));
    assert_eq!((&record.hours, record.reported), (&Some(Hours::Always), ReportedState::OutOfService));
    assert_eq!(Some(record.point), Point::new(25.7617, -80.1918));
    assert_eq!(import.columns.len(), 14);
}

#[test]
fn column_is_guessed_for_one_field_only() {
    let header = |text: &str, map: &[(Field, &str)]| {
        let map = map.iter().map(|(field, column)| (*field, (*column).to_owned())).collect();
        let options = Options { map, ..Options::default() };
        let row = text.split(',').map(|_| "1").collect::<Vec<_>>().join(",");
        let import = read(format!("{text}\n{row}\n").as_bytes(), &options).unwrap();
        import.columns.into_iter().map(|(field, column)| format!("{field}={column}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(header("y,x,id,ref", &[]), "lat=y lon=x ref=ref");
    assert_eq!(header("LAT , long,postal-code", &[]), "lat=LAT lon=long postcode=postal-code");
    assert_eq!(header("lat,lon,name", &[(Field::Operator, "name")]), "lat=lat lon=lon operator=name");
    assert_eq!(header("lat,lon,id", &[(Field::Ref, "")]), "lat=lat lon=lon");
    assert_eq!(header("lat,lon,lat2", &[(Field::Lat, "LAT2")]), "lat=lat2 lon=lon");
}

#[test]
fn only_rows_without_usable_coordinates_are_skipped() {
    let import = import(
        "lat,lon,name\n,,a\n1,,b\n0,0,c\n91,0,d\n0,181,e\nx,1,f\nNaN,1,g\n1,2\n1,2,h,,\n1,2,i,more\n0,1,j\n\"48,5\",1,k\n",
    );
    assert_eq!(lines(&import), [9, 10, 12, 13]);
    let skipped: Vec<_> = import.skipped.first.iter().map(|skipped| (skipped.line, skipped.reason.as_str())).collect();
    let out = "coordinates out of range (latitude -90 to 90, longitude -180 to 180): ";
    assert_eq!(
        skipped,
        [
            (2, "no coordinates"),
            (3, "no coordinates"),
            (4, "coordinates are 0, 0"),
            (5, &format!("{out}91, 0; are they swapped?")),
            (6, &format!("{out}0, 181")),
            (7, "coordinates are not numbers: x, 1"),
            (8, "no coordinates"),
            (11, "the row has 4 cells and the header 3"),
        ]
    );
    assert_eq!(Some(import.rows[3].record.point), Point::new(48.5, 1.0));
    let invalid: Vec<_> = import.invalid_cells.first.iter().map(|cell| (cell.line, cell.field)).collect();
    assert_eq!(invalid, [(9, Field::Name)]);
}

#[test]
fn invalid_field_is_unknown_and_reported() {
    let long = "x".repeat(501);
    let import = import(&format!(
        "lat,lon,name,state,zip,country,status,phone,website\n\
         1,2,{long},TX,787,US,closed,call me,javascript:alert(1)\n\
         1,2,b,ZZ,K1A 0B1,Canada,,,\n\
         1,2,c,TX,,Canada,,,\n\
         1,2,d,Bavaria,80331,Germany,,,\n\
         1,2,e,TX,,Atlantis,,,\n",
    ));
    assert_eq!(import.rows.len(), 5);
    let invalid: Vec<_> = import.invalid_cells.first.iter().map(|cell| (cell.line, cell.field)).collect();
    let first = [Field::Name, Field::Postcode, Field::Status, Field::Phone, Field::Website].map(|field| (2, field));
    assert_eq!(invalid, [&first[..], &[(3, Field::Region), (4, Field::Region), (6, Field::Country)]].concat());
    assert_eq!(import.invalid_cells.first[0].value.len(), 80);
    let record = &import.rows[0].record;
    assert_eq!(
        (&record.name, &record.phone, &record.website, record.reported),
        (&None, &None, &None, ReportedState::Unknown)
    );
    let regions = import.rows.iter().map(|row| row.record.address.region.as_deref());
    assert_eq!(regions.collect::<Vec<_>>(), [Some("TX"), None, None, Some("Bavaria"), Some("TX")]);
    assert_eq!(import.rows[1].record.address.postcode.as_deref(), Some("K1A 0B1"));
}

#[test]
fn address_line_fills_missing_columns() {
    let import = import(
        "lat,lon,address,city\n\
         1,2,\"1 Main St, Austin, TX 78701\",\n\
         1,2,\"1 Main St, Austin, TX 78701\",West Lake\n\
         1,2,Unter den Linden 1,\n",
    );
    let addresses: Vec<_> = import.rows.iter().map(|row| row.record.address.clone()).collect();
    let cities: Vec<_> = addresses.iter().map(|address| address.city.as_deref()).collect();
    assert_eq!(cities, [Some("Austin"), Some("West Lake"), None]);
    assert_eq!(addresses[0].formatted.as_deref(), Some("1 Main St, Austin, TX 78701"));
    assert_eq!((addresses[2].formatted.as_deref(), addresses[2].country), (Some("Unter den Linden 1"), None));
}

#[test]
fn default_country_applies_to_rows_without_one() {
    let options = Options { country: Country::parse("CA"), ..Options::default() };
    let import = read(b"lat,lon,region,country\n1,2,ON,\n1,2,TX,\n1,2,TX,US\n1,2,PR,PR\n", &options).unwrap();
    let read: Vec<_> = import
        .rows
        .iter()
        .map(|row| {
            (
                row.record.address.country.unwrap().code().to_owned(),
                row.record.address.region.as_deref().unwrap_or_default().to_owned(),
            )
        })
        .collect();
    let expected = [("CA", "ON"), ("CA", ""), ("US", "TX"), ("US", "PR")].map(|(c, r)| (c.to_owned(), r.to_owned()));
    assert_eq!(read, expected);
    assert_eq!(import.invalid_cells.total, 1);
}

#[test]
fn rows_are_filtered_by_the_value_of_a_column() {
    let file = "category\tlat\tlon\n\"atm\"\t1\t2\n\"shop\"\t1\t2\natm\t0\t0\nATM\t1\t2\n";
    let only = vec![("Category".to_owned(), "atm".to_owned())];
    let options = Options { only, ..Options::default() };
    let import = read(file.as_bytes(), &options).unwrap();
    assert_eq!((lines(&import), import.filtered, import.skipped.total), (vec![2, 5], 1, 1));
}

#[test]
fn rows_with_one_ref_are_merged_and_the_later_wins() {
    let import = import("lat,lon,id,name\n1,2,a,old\n3,4,,same\n1,2,b,\n3,4,,same\n5,6,a,new\n0,0,b,bad\n");
    assert_eq!(lines(&import), [3, 4, 5, 6]);
    assert_eq!(import.rows[3].record.name.as_deref(), Some("new"));
    let skipped: Vec<_> = import.skipped.first.iter().map(|skipped| (skipped.line, skipped.reason.as_str())).collect();
    assert_eq!(skipped, [(2, "line 6 has the same ref \"a\""), (7, "coordinates are 0, 0")]);
}

#[test]
fn keys_are_stable_between_imports() {
    let keys = |file: &str| import(file).rows.into_iter().map(|row| row.key).collect::<Vec<_>>();
    let first = keys("lat,lon,id,name,phone\n1,2,a,x,\n3,4,,y,555 0100\n3,4,,y,\n3,4,,z,\n");
    assert_eq!(first[0], "ref:a");
    assert!(first[1].starts_with("row:") && first[1].ends_with(":1"), "{first:?}");
    assert_eq!(first[2], format!("{}2", first[1].strip_suffix('1').unwrap()));
    assert_ne!(first[3], first[1]);
    // Other columns, another order of columns and rows, another format.
    let second = keys("name\tlon\tlat\tid\tnote\nz\t4\t3\t\t!\ny\t4.0\t3.0\t\t\n\"y\"\t4\t3\t\t?\nx\t2\t1\ta\t\n");
    assert_eq!(second, [&first[3], &first[1], &first[2], &first[0]].map(Clone::clone));
}

#[test]
fn tabs_always_separate_and_escapes_are_decoded() {
    let import = import(
        "lat\tlon\tname\tid\r\n\
         1\t2\t\"121°0'59.64\\\"W, 39°\"\t8\r\n\
         1\t2\t\"say \"\"hi\"\" \\\\ there\"\t9\r\n\
         1\t2\tthe \"old\" shop\t10\r\n\
         1\t2\t\"open\t11\r\n\
         1\t2\t\"Kwick Stop\\t\"\t12\r\n\
         1\t2\t\"two\\nlines\\r\"\t13\r\n\
         1\t2\tplain \\t\t14\r\n\
         \t\t\r\n",
    );
    let names: Vec<_> = import.rows.iter().map(|row| row.record.name.as_deref().unwrap_or_default()).collect();
    assert_eq!(names[..4], ["121°0'59.64\"W, 39°", "say \"hi\" \\ there", "the \"old\" shop", "\"open"]);
    assert_eq!(names[4..], ["Kwick Stop", "two lines", "plain \\t"]);
    assert_eq!((import.skipped.total, import.skipped.first[0].line), (1, 9));
}

#[test]
fn quoted_cells_may_contain_line_breaks() {
    for line_break in ["\n", "\r\n"] {
        let file = [
            "\u{feff}",
            "name;lat;lon",
            "\"a;\n\"\"b\"\"\";1;2",
            "",
            "",
            "c;\"1,5\";2",
            "bad;;",
            "\"d\ne\";0;0",
            "f;1;2",
        ]
        .map(|line| line.replace('\n', line_break))
        .join(line_break);
        let import = import(&file);
        assert_eq!(lines(&import), [3, 7, 11], "{file:?}");
        assert_eq!(import.rows[0].record.name.as_deref(), Some("a; \"b\""));
        assert_eq!(import.skipped.first.iter().map(|skipped| skipped.line).collect::<Vec<_>>(), [8, 9]);
    }
}

#[test]
fn stray_quote_skips_only_its_rows() {
    let import = import("name,lat,lon\n\"a,1,2\n\"b\",1,2\n5\" pipe,1,2\n");
    assert_eq!(lines(&import), [4]);
    assert_eq!(import.rows[0].record.name.as_deref(), Some("5\" pipe"));
    let reason = &import.skipped.first[0].reason;
    assert_eq!(reason, "the row goes on to line 3: a quote in it is never closed, or not doubled");
}

/// A file, and a part of its error.
#[rustfmt::skip]
const BROKEN: [(&[u8], &str); 13] = [
    (b"", "empty"),
    (b"\xef\xbb\xbf \r\n\n", "empty"),
    (b"lat,lon,name\n", "no rows"),
    (b"\xff\xfel\0a\0t\0", "no column found for lon; map it (lon=COLUMN), or a column with latitude and longitude"),
    (b"l\0a\0t\0,\0", "line 1 is not UTF-8 (it contains a zero byte"),
    (b"lat,lon,name\n1,2,ok\r\n1,2,caf\xe9\n", "line 3 is not UTF-8 (it looks like Latin-1); save the file as UTF-8"),
    (b"name,address\na,b\n", "latitude and longitude (coordinates=COLUMN). the columns are: name, address"),
    (b"name,lat\na,1\n", "no column found for lon; map it (lon=COLUMN)"),
    (b"25.7,-80.2,Shop\n25.8,-80.2,Shop\n", "the columns are: 25.7, -80.2, Shop"),
    (b"lat,lon,name\n1,2,a\n1,2,\"b\n1,2,c\n1,2,d\n", "the quote in line 3 is never closed"),
    (b"lat,lon,name\n1,2,\"b", "the quote in line 2 is never closed"),
    (b"lat,lon,name\n1,2,\"b\"\"", "the quote in line 2 is never closed"),
    (b"\"lat,lon\n1,2", "the quote in line 1 is never closed"),
];

#[test]
fn broken_file_is_one_clear_error() {
    for (file, expected) in BROKEN {
        let error = broken(file);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn missing_column_error_lists_the_columns() {
    let only = Options { only: vec![("kind".to_owned(), "atm".to_owned())], ..Options::default() };
    let map = Options { map: vec![(Field::Name, "title2".to_owned())], ..Options::default() };
    for (options, column) in [(only, "kind"), (map, "title2")] {
        let broken = read(b"lat,lon,title\n1,2,a\n", &options).unwrap_err();
        assert_eq!(broken.to_string(), format!("there is no column {column:?}. the columns are: lat, lon, title"));
    }
    let error = broken(format!("{}\n1\n", vec!["x".repeat(100); 60].join(",")).as_bytes());
    assert!(error.len() < 3_500 && error.ends_with("and 10 more"), "{error}");
}

#[test]
fn fields_are_read_by_name() {
    for field in Field::all() {
        assert_eq!(format!(" {} ", field.name().to_uppercase()).parse(), Ok(field));
    }
    let error = "latitude".parse::<Field>().unwrap_err().to_string();
    assert!(error.starts_with("\"latitude\" is not a field; the fields are: lat, lon, ref, name,"), "{error}");
    assert!(Field::all().all(|field| error.contains(field.name())), "{error}");
}

#[test]
fn unused_columns_are_listed() {
    let file = "id,lat,lon,category,Rating,,Owner\u{200b}'s note\n1,1,2,atm,5,,x\n2,1,2,shop,5,,x\n";
    let unused = |options: &Options| read(file.as_bytes(), options).unwrap().unused;
    let names = |listed: &[&str]| listed.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(unused(&Options::default()).first, names(&["category", "Rating", "Owner's note"]));
    let only = vec![("category".to_owned(), "atm".to_owned())];
    let map = vec![(Field::Note, "Rating".to_owned())];
    assert_eq!(unused(&Options { only, map, ..Options::default() }).first, names(&["Owner's note"]));
    let wide = format!("lat,lon,{}\n1,2\n", (0..MAX_LISTED + 5).map(|n| format!("c{n}")).collect::<Vec<_>>().join(","));
    let unused = import(&wide).unused;
    assert_eq!((unused.first.len(), unused.total), (MAX_LISTED, MAX_LISTED + 5));
}

#[test]
fn hidden_characters_are_not_stored() {
    let hide = |text: &str| format!("\u{feff}{text}\u{200b}\u{202e}\u{e0041}\u{9b}\u{ad}");
    let [name, street, hours, reference] = ["Corner 👩\u{200d}💻", "1 Main St", "ask inside", "A-1"].map(hide);
    let import = import(&format!(
        "re\u{200b}f,lat,lon,name,street,hours,phone\n{reference},1,2,{name},{street},{hours},{name}\n"
    ));
    let record = &import.rows[0].record;
    assert_eq!((record.title(), record.address.street.as_deref()), ("Corner 👩\u{200d}💻", Some("1 Main St")));
    assert_eq!((&record.hours, import.rows[0].key.as_str()), (&Hours::parse("ask inside"), "ref:A-1"));
    assert!(import.columns.contains(&(Field::Ref, "ref".to_owned())), "a column is recognized by its visible text");
    let cell = import.invalid_cells.first.iter().find(|cell| cell.field == Field::Phone).unwrap();
    assert_eq!(cell.value, "Corner 👩\u{200d}💻");
}

#[test]
fn reports_are_bounded_and_counted() {
    let file = format!("lat,lon,status\n{}{}", "0,0,\n".repeat(MAX_LISTED + 5), "1,2,?\n".repeat(MAX_LISTED + 7));
    let import = import(&file);
    assert_eq!((import.skipped.first.len(), import.skipped.total), (MAX_LISTED, MAX_LISTED + 5));
    assert_eq!((import.invalid_cells.first.len(), import.invalid_cells.total), (MAX_LISTED, MAX_LISTED + 7));
    let huge = format!("lat,lon,name\n1,2,{}\n1,2,ok\n", "x".repeat(70_000));
    let import = self::import(&huge);
    assert_eq!((lines(&import), import.skipped.first[0].reason.as_str()), (vec![3], "the row is longer than 64 KiB"));
}

fn files() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "lat",
        "lon",
        "name",
        "id",
        ",",
        ";",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "\"",
        "\"\"",
        "\\",
        "1",
        "-80.2",
        "0",
        " ",
        "x",
        "é",
        "\u{1e}end\u{1e}",
        "1,2,a\n",
        "lat,lon,name\n",
        "lat\tlon\tname\n",
    ]);
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        prop::collection::vec(piece, 0..60)
            .prop_map(|pieces| format!("lat,lon,name\n{}", pieces.concat()).into_bytes()),
    ]
}

proptest! {
    #[test]
    fn any_file_is_read_with_valid_line_numbers(file in files()) {
        let count = 1 + file.iter().filter(|byte| b"\r\n".contains(byte)).count();
        for format in ["auto", "csv", "tsv"].map(|name| name.parse::<FormatChoice>().unwrap()) {
            match read(&file, &Options { format, ..Options::default() }) {
                Ok(import) => {
                    let skipped = import.skipped.first.iter().map(|skipped| skipped.line);
                    let mut lines: Vec<usize> = import.rows.iter().map(|row| row.line).chain(skipped).collect();
                    lines.sort_unstable();
                    prop_assert!(lines.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", lines);
                    prop_assert!(lines.iter().all(|line| (2..=count).contains(line)), "{:?}", lines);
                }
                Err(ImportError::NotUtf8 { line, .. } | ImportError::OpenQuote { line }) => prop_assert!(line <= count),
                Err(broken) => prop_assert!(!broken.to_string().is_empty()),
            }
        }
    }
}
