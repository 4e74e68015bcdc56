//! Values in imported files: line breaks, placeholders, markup, lists, and filters.

use std::fmt::Write as _;

use signpost_locator::import::{Field, Import, ImportError, NothingUsable, Options, read, read_with_places};
use signpost_locator::{Address, Coin, Country, Hours, Record, ReportedState, Tri};

use crate::GAZETTEER;

const LINE_BREAKS: &str = include_str!("../cases/line-breaks.geojson");

fn options() -> Options {
    Options { now: "2026-11-20T12:00:00Z".parse().ok(), ..Options::default() }
}

fn import(file: &str) -> Import {
    read(file.as_bytes(), &options()).unwrap_or_else(|error| panic!("{error}: {file}"))
}

fn import_where(file: &str, column: &str, value: &str) -> Import {
    let only = vec![(column.to_owned(), value.to_owned())];
    read(file.as_bytes(), &Options { only, ..options() }).unwrap_or_else(|error| panic!("{error}"))
}

/// Imports a table with one row.
fn record(header: &str, row: &str) -> Record {
    let import = import(&format!("lat,lon,{header}\n30.2672,-97.7431,{row}\n"));
    assert_eq!(import.invalid_cells.first, [], "{row}");
    import.rows[0].record.clone()
}

fn hours(record: &Record) -> &str {
    record.hours.as_ref().map_or("", Hours::text)
}

fn parts(address: &Address) -> [&str; 5] {
    let country = address.country.as_ref().map_or("", Country::code);
    let texts = [&address.street, &address.city, &address.region, &address.postcode];
    let [street, city, region, postcode] = texts.map(|text| text.as_deref().unwrap_or_default());
    [street, city, region, postcode, country]
}

#[test]
fn line_breaks_separate_hours_and_addresses() {
    for import in [import(LINE_BREAKS), read_with_places(LINE_BREAKS.as_bytes(), &options(), &GAZETTEER).unwrap()] {
        assert_eq!((import.rows.len(), import.invalid_cells.total), (2, 0));
        for (row, street) in import.rows.iter().zip(["100 Pine St", "102 Pine St"]) {
            assert_eq!(hours(&row.record), "Mo-Fr 09:00-20:00; Sa-Su 10:00-18:00");
            assert!(row.record.hours.as_ref().unwrap().is_understood());
            assert_eq!(parts(&row.record.address), [street, "Seattle", "WA", "98101", "US"]);
            let line = format!("{street}, Seattle, WA 98101, USA");
            assert_eq!(row.record.address.one_line().as_deref(), Some(line.as_str()));
        }
    }
}

#[test]
fn line_breaks_of_all_notations_separate() {
    for line_break in
        ["\n", "\r\n", "\r", "<br>", "<br/>", "\\n", "\\r\\n", "&#10;", ",\n", " ; \r\n\r\n", "\n\u{200b}\n"]
    {
        let address = format!("\"100 Pine St{line_break}Seattle, WA 98101\"");
        let hours_cell = format!("\"Mon-Fri 9am-5pm{line_break}Sat 10am-2pm\"");
        let record = record("address,hours,name", &format!("{address},{hours_cell},\"Corner{line_break}Mart\""));
        assert_eq!(record.address.formatted.as_deref(), Some("100 Pine St, Seattle, WA 98101"), "{line_break:?}");
        assert_eq!(hours(&record), "Mo-Fr 09:00-17:00; Sa 10:00-14:00", "{line_break:?}");
    }
    let record = record("hours", "\"Monday\n9:00 AM\u{202f}–\u{202f}5:00 PM\nTuesday\nClosed\"");
    assert_eq!(hours(&record), "Mo 09:00-17:00; Tu off");
    let tabs = import("lat\tlon\taddress\n30.2\t-97.7\t\"1 Main St\\nAustin, TX 78701\"\n");
    assert_eq!(parts(&tabs.rows[0].record.address), ["1 Main St", "Austin", "TX", "78701", "US"]);
}

#[test]
fn line_breaks_do_not_change_keys() {
    let keys = |file: &str| import(file).rows.into_iter().map(|row| row.key).collect::<Vec<_>>();
    let broken = keys("lat,lon,name,address\n1,2,a,\"1 Main St\nAustin, TX\"\n");
    assert_eq!(broken, keys("lat,lon,name,address\n1,2,a,\"1 Main St Austin, TX\"\n"));
    assert_eq!(keys("lat,lon,id,name\n1,2,<b>7</b>,a\n"), ["ref:<b>7</b>"]);
}

#[test]
fn placeholders_are_absent() {
    let import = import(include_str!("../cases/placeholders.csv"));
    assert_eq!((import.rows.len(), import.invalid_cells.total, import.skipped.total), (2, 0, 0));
    for row in &import.rows {
        assert_eq!(row.record.name, None);
        assert_eq!(parts(&row.record.address), ["", "", "TX", "", "US"]);
        assert_eq!(row.record.title(), "Bitcoin ATM");
    }
}

#[test]
fn placeholders_of_all_fields_are_absent() {
    let fields: Vec<&str> =
        Field::all().map(Field::name).filter(|name| !["lat", "lon", "coordinates"].contains(name)).collect();
    for text in ["null", "N/A", "undefined", "None", "NaN", "-", "--", "n.a.", "UNKNOWN", " null "] {
        let row = vec![text; fields.len()].join(",");
        let import = import(&format!("lat,lon,{}\n1,2,{row}\n3,4,{row}\n", fields.join(",")));
        assert_eq!(import.invalid_cells.first, [], "{text}");
        assert_eq!(import.rows.len(), 2, "{text}: a placeholder is no identifier");
        let record = &import.rows[0].record;
        assert_eq!(
            (&record.address, &record.more, record.reported),
            (&Address::default(), &None, ReportedState::Unknown)
        );
        assert_eq!((&record.name, &record.hours, &record.phone, record.buy), (&None, &None, &None, Tri::Unknown));
    }
    let skipped = import("lat,lon\nnull,null\nNaN,NaN\n1,N/A\n").skipped;
    assert!(skipped.first.iter().all(|row| row.reason == "no coordinates"), "{skipped:?}");
}

#[test]
fn markup_is_removed_in_order() {
    for (cell, expected) in [
        ("Tom &amp; Jerry&#39;s", "Tom & Jerry's"),
        ("<b>Corner</b> Shop", "Corner Shop"),
        ("&lt;i&gt;Corner&lt;/i&gt; Shop", "Corner Shop"),
        ("&amp;lt;i&amp;gt;Corner", "&lt;i&gt;Corner"),
        ("Corner&#8238; Shop&#x200b;", "Corner Shop"),
        ("Corner&nbsp;&nbsp;Shop", "Corner Shop"),
        ("Caf&eacute;", "Café"),
        ("A < B", "A < B"),
        ("<<b>script>alert(1)<</b>/script>", "alert(1)"),
    ] {
        assert_eq!(record("name", cell).name.as_deref(), Some(expected), "{cell}");
    }
    let hidden = record("name", "&#8238;");
    assert_eq!(hidden.name, None);
    let url = record("website", "https://example.com/?a=1&amp;b=2");
    assert_eq!(url.website.as_deref(), Some("https://example.com/?a=1&b=2"));
}

#[test]
fn first_of_several_contacts_is_used() {
    let record = record(
        "phone,website,email,image",
        "+1 305 555 0100; +1 305 555 0101,https://example.com/a;https://example.com/b,a@example.com; b@example.com,\
         https://example.com/1.png https://example.com/2.png",
    );
    assert_eq!(record.phone.as_deref(), Some("+1 305 555 0100"));
    assert_eq!(record.website.as_deref(), Some("https://example.com/a"));
    let more = record.more.as_ref().unwrap();
    assert_eq!(more.email.as_deref(), Some("a@example.com"));
    assert_eq!(more.images, ["https://example.com/1.png"]);
}

/// Returns a response of Overpass with elements of these tags.
fn overpass(tags: &[&str]) -> String {
    let elements = (1..).zip(tags).map(|(id, tags)| {
        format!(r#"{{"type": "node", "id": {id}, "lat": 30.2672, "lon": -97.7431, "tags": {{{tags}}}}}"#)
    });
    format!(r#"{{"elements": [{}]}}"#, elements.collect::<Vec<_>>().join(","))
}

#[test]
fn all_kinds_of_atms_are_imported() {
    for tags in [
        r#""amenity": "atm", "currency:XBT": "yes""#,
        r#""amenity": "atm;bureau_de_change", "currency:XBT": "yes""#,
        r#""amenity": "bureau_de_change; atm", "currency:XBT": "yes""#,
        r#""amenity": "vending_machine", "vending": "bitcoin""#,
        r#""vending": "snacks;bitcoin""#,
        r#""amenity": "payment_terminal", "currency:XBT": "yes""#,
        r#""amenity": "bureau_de_change", "currency:XBT": "yes""#,
    ] {
        let overpass = import(&overpass(&[tags]));
        assert_eq!((overpass.rows.len(), overpass.filtered), (1, 0), "{tags}");
        let coins: Vec<&str> = overpass.rows[0].record.coins.keys().map(Coin::code).collect();
        assert_eq!(coins, ["BTC"], "{tags}");
        assert_eq!(overpass.rows[0].record.reported, ReportedState::InService, "{tags}");
        let feature = format!(
            r#"{{"type": "FeatureCollection", "features": [{{"type": "Feature", "properties": {{{tags}}},
                "geometry": {{"type": "Point", "coordinates": [-97.7, 30.2]}}}}]}}"#
        );
        assert_eq!(import(&feature).rows.len(), 1, "{tags}");
        let gone = import(&overpass_of_former(tags));
        assert_ne!(gone.rows[0].record.reported, ReportedState::InService, "{tags}");
    }
}

fn overpass_of_former(tags: &str) -> String {
    overpass(&[&tags.replace("\"amenity\"", "\"disused:amenity\"").replace("\"vending\"", "\"disused:vending\"")])
}

#[test]
fn other_kinds_are_counted_by_their_tags() {
    let import = import(&overpass(&[
        r#""amenity": "atm", "currency:XBT": "yes""#,
        r#""amenity": "atm""#,
        r#""amenity": "atm", "currency:XBT": "no""#,
        r#""amenity": "bank""#,
        r#""amenity": "bureau_de_change", "name": "Bitcoin Exchange""#,
        r#""amenity": "payment_terminal", "currency:XBT": "no""#,
        r#""amenity": "vending_machine", "vending": "sweets""#,
        r#""shop": "mall", "currency:XBT": "yes""#,
        "",
    ]));
    assert_eq!((import.rows.len(), import.filtered), (1, 8));
    let counts = import.filtered_by.most_frequent();
    assert_eq!(counts[0], ("amenity=atm without a coin", 2));
    let kinds = ["amenity=bank", "amenity=bureau_de_change", "amenity=payment_terminal", "amenity=vending_machine"];
    assert_eq!(counts[1..5].iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), kinds);
    assert_eq!(counts[5..].iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), ["no tags", "shop=mall"]);
    let error = read(overpass(&[r#""amenity": "bank""#]).as_bytes(), &options()).unwrap_err();
    assert!(matches!(error, ImportError::NoMachines { .. }));
    assert!(error.to_string().ends_with("; they are: amenity=bank (1)"), "{error}");
}

#[test]
fn spider_with_a_future_end_is_in_service() {
    let import = import(include_str!("../cases/atp-dates.geojson"));
    assert_eq!((import.rows.len(), import.invalid_cells.total, import.filtered), (2, 0, 0));
    let [first, second] = [0, 1].map(|at| &import.rows[at].record);
    let collected = "2023-01-05T03:04:05.123456Z".parse().ok();
    assert_eq!((first.reported_at, second.reported_at), (collected, collected));
    assert_eq!(second.more.as_ref().unwrap().end_date, "2027-06-30".parse().ok());
    assert_eq!([first.reported, second.reported], [ReportedState::InService; 2]);
}

const KINDS: &str = "lat,lon,category,visited\n1,2,Shop,11/20/2026\n1,2,ATM,11/21/2026\n3,4,atm,\n5,6,,11/22/2026\n";

#[test]
fn filter_is_suggested_for_a_column_with_atms() {
    let import = import(KINDS);
    let filter = import.suggestions.filter.unwrap();
    assert_eq!((filter.column.as_str(), filter.value.as_str(), filter.rows, filter.total), ("category", "ATM", 2, 4));
    for (file, reason) in [
        ("lat,lon,category\n1,2,atm\n1,2,ATM\n", "all rows are ATMs"),
        ("lat,lon,category\n1,2,shop\n1,2,cafe\n", "no row is an ATM"),
        ("lat,lon,name\n1,2,atm\n1,2,cafe\n", "the column is used"),
    ] {
        assert_eq!(self::import(file).suggestions.filter, None, "{reason}");
    }
    assert_eq!(import_where(KINDS, "category", "atm").suggestions.filter, None);
    let feature = |kind: &str| {
        format!(
            r#"{{"type": "Feature", "properties": {{"kind": "{kind}"}}, "geometry": {{"type": "Point", "coordinates": [1, 2]}}}}"#
        )
    };
    let features = format!(r#"{{"features": [{}, {}]}}"#, feature("bitcoin_atm"), feature("cafe"));
    assert_eq!(self::import(&features).suggestions.filter.unwrap().value, "bitcoin_atm");
}

#[test]
fn filters_ignore_case_and_count_other_values() {
    let import = import_where(KINDS, "Category", " aTm ");
    assert_eq!((import.rows.len(), import.filtered), (2, 2));
    assert_eq!(import.filtered_by.most_frequent(), [("category is blank", 1), ("category=Shop", 1)]);
    assert_eq!(import.suggestions.unmatched, []);
    let document = r#"{"features": [
        {"type": "Feature", "properties": {"Kind": "ÄTM"}, "geometry": {"type": "Point", "coordinates": [1, 2]}},
        {"type": "Feature", "properties": {"Kind": "cafe"}, "geometry": {"type": "Point", "coordinates": [1, 2]}}]}"#;
    assert_eq!(import_where(document, "kind", "ätm").rows.len(), 1);
}

#[test]
fn unmatched_filter_lists_the_values() {
    let import = import_where(KINDS, "category", "btm");
    assert_eq!((import.rows.len(), import.filtered), (0, 4));
    let error = NothingUsable::of(&import).to_string();
    let expected = "nothing in the file can be used: no row has category=btm; the values of category are: (blank) (1), \
                    ATM (1), Shop (1), atm (1)";
    assert_eq!(error, expected);
    let mut wide = "lat,lon,kind\n".to_owned();
    for number in 0..3_000 {
        writeln!(wide, "1,2,kind {number} {}", "x".repeat(100)).unwrap();
    }
    let error = NothingUsable::of(&import_where(&wide, "kind", "atm")).to_string();
    assert!(error.len() < 2_500 && error.ends_with(" and others (2980)"), "{error}");
}

#[test]
fn unusable_file_has_a_reason() {
    let import = import("lat,lon\n,\n0,0\n");
    let expected = "nothing in the file can be used: 2 rows are skipped, the first is line 2 (no coordinates)";
    assert_eq!(NothingUsable::of(&import).to_string(), expected);
}

#[test]
fn unused_columns_with_dates_are_named() {
    assert_eq!(import(KINDS).suggestions.unused_dates, ["visited"]);
    let file = "lat,lon,updated,install_date,phone_2,rating,opened\n\
                1,2,2026-11-20,1795176000,305-555-0100,5,\"Nov 3, 2020\"\n\
                1,2,2026-11-20,,305-555-0101,4,soon\n";
    assert_eq!(import(file).suggestions.unused_dates, ["install_date", "opened"]);
}
