//! Tables in several languages and notations: headers, dates, amounts, streets and postcodes.

use signpost_locator::export::cell;
use signpost_locator::import::{Field, Import, Options, read};

fn import(file: &str) -> Import {
    let options = Options { now: "2026-11-20T12:00:00Z".parse().ok(), ..Options::default() };
    read(file.as_bytes(), &options).unwrap_or_else(|error| panic!("{error}: {file}"))
}

/// Returns fields of a row.
fn cells<const N: usize>(import: &Import, row: usize, fields: [Field; N]) -> [String; N] {
    fields.map(|field| cell(&import.rows[row].record, field))
}

/// Imports a table with one row, and returns a field of it and the reason of its first problem.
fn value(header: &str, row: &str, field: Field) -> (String, &'static str) {
    let import = import(&format!("lat,lon,{header}\n30.25,-97.75,{row}\n"));
    let reason = import.invalid_cells.first.first().map_or("", |cell| cell.reason);
    (cell(&import.rows[0].record, field), reason)
}

#[test]
fn headers_of_several_languages_are_read() {
    let german = import(
        "Standort-ID;Bezeichnung;Straße;Hausnummer;PLZ;Ort;Land;Breitengrad;Längengrad;Öffnungszeiten;Betreiber;Zuletzt geprüft\n\
         B1;Kiosk;Alexanderplatz;1;10178;Berlin;Deutschland;52,5219;13,4132;Mo-Fr 09:00-18:00;Kurant;20.11.2025\n",
    );
    assert_eq!(german.unused.total, 0, "{:?}", german.unused);
    let fields = [Field::Ref, Field::Name, Field::Street, Field::Postcode, Field::City, Field::Country];
    assert_eq!(cells(&german, 0, fields), ["B1", "Kiosk", "Alexanderplatz 1", "10178", "Berlin", "DE"]);
    let fields = [Field::Lat, Field::Hours, Field::Operator, Field::VerifiedAt];
    assert_eq!(cells(&german, 0, fields), ["52.5219", "Mo-Fr 09:00-18:00", "Kurant", "2025-11-20T00:00:00Z"]);
    let turkish = import("Ad;Adres;İlçe;İl;Enlem;Boylam\nBTC;Bahariye Cd. 5;Kadıköy;İstanbul;40,99;29,03\n");
    let fields = [Field::Name, Field::Street, Field::City, Field::Region, Field::Lon];
    assert_eq!(cells(&turkish, 0, fields), ["BTC", "Bahariye Cd. 5", "Kadıköy", "İstanbul", "29.03"]);
    let japanese =
        import("名称,住所,緯度,経度,営業時間\n渋谷,東京都渋谷区道玄坂2-1,35.658,139.7016,Mo-Su 10:00-22:00\n");
    let fields = [Field::Name, Field::Address, Field::Hours];
    assert_eq!(cells(&japanese, 0, fields), ["渋谷", "東京都渋谷区道玄坂2-1", "Mo-Su 10:00-22:00"]);
    // A word with several meanings is not read.
    let spanish = import("nombre,estado,latitud,longitud\nSol,activo,40.41,-3.7\n");
    assert_eq!(spanish.unused.first, ["estado"]);
}

#[test]
fn notes_in_headers_are_ignored() {
    let noted = import("Name,Latitude (deg),\"Longitude\n[WGS84]\",Phone (toll free)\nA,30.25,-97.75,512 555 0100\n");
    assert_eq!(cells(&noted, 0, [Field::Lat, Field::Lon, Field::Phone]), ["30.25", "-97.75", "512 555 0100"]);
    let both = import("lat,lon,phone (old),phone\n1,2,512 555 0100,512 555 0101\n");
    assert_eq!(cells(&both, 0, [Field::Phone]), ["512 555 0101"]);
}

#[test]
fn order_of_day_and_month_follows_from_the_column() {
    let dates = |cells: &[&str]| {
        let rows: Vec<String> = cells.iter().map(|date| format!("1,2,\"{date}\"")).collect();
        let import = import(&format!("lat,lon,last_verified\n{}\n", rows.join("\n")));
        let read: Vec<String> = import.rows.iter().map(|row| cell(&row.record, Field::VerifiedAt)).collect();
        let reasons: Vec<&str> = import.invalid_cells.first.iter().map(|cell| cell.reason).collect();
        (read, reasons)
    };
    let (american, _) = dates(&["11/20/2025", "1/5/2025 2:30 PM"]);
    assert_eq!(american, ["2025-11-20T00:00:00Z", "2025-01-05T14:30:00Z"]);
    let (european, _) = dates(&["20/11/2025", "5/1/2025"]);
    assert_eq!(european, ["2025-11-20T00:00:00Z", "2025-01-05T00:00:00Z"]);
    for cells in [&["1/5/2025", "2/3/2025"][..], &["13/5/2025", "2/13/2025"]] {
        let (read, reasons) = dates(cells);
        assert_eq!(read, ["", ""]);
        assert!(reasons.len() == 2 && reasons[0].contains("no date of the column shows it"), "{reasons:?}");
    }
    assert!(dates(&["11/20/2027", "11/21/2027"]).1.iter().all(|reason| *reason == "in the future"));
    assert!(dates(&["45981"]).1[0].contains("day number of a spreadsheet"));
    let end = import("lat,lon,closing_date\n1,2,12/31/2027\n3,4,1/5/2027\n");
    let fields = [Field::EndDate];
    assert_eq!((cells(&end, 0, fields), cells(&end, 1, fields)), (["2027-12-31".into()], ["2027-01-05".into()]));
    let document =
        import(r#"[{"lat": 1, "lon": 2, "updated": "1/5/2025"}, {"lat": 3, "lon": 4, "updated": "11/20/2025"}]"#);
    assert_eq!(cells(&document, 0, [Field::ReportedAt]), ["2025-01-05T00:00:00Z"]);
}

#[test]
fn amounts_with_decimal_commas_are_read() {
    for (header, row, field, expected, problem) in [
        ("buy_fee", "\"12,5 %\"", Field::BuyFee, "12.5", ""),
        ("max", "\"3.000,00 €\"", Field::Max, "3000.00", ""),
        ("max", "\"$3,000\"", Field::Max, "3000", ""),
        ("max", "3.000", Field::Max, "", "not an amount, such as 1,000.50 or 1.000,50"),
    ] {
        assert_eq!(value(header, row, field), (expected.to_owned(), problem), "{row}");
    }
}

#[test]
fn street_in_the_column_of_addresses_is_completed() {
    let import = import("lat,lon,address,address2,city,state,zip\n30.25,-97.75,100 Main St,Suite 5,Austin,TX,78701\n");
    let record = &import.rows[0].record;
    assert_eq!(record.address.one_line().as_deref(), Some("100 Main St, Suite 5, Austin, TX 78701"));
    let whole = value("address,city", "\"100 Main St, Austin, TX\",Austin", Field::Address);
    assert_eq!(whole.0, "100 Main St, Austin, TX");
}

#[test]
fn numbers_of_programs_are_restored() {
    for (header, row, field, expected, problem) in [
        ("state,zip", "MA,2134", Field::Postcode, "02134", ""),
        ("state,zip", "TX,78701.0", Field::Postcode, "78701", ""),
        ("state,zip", "TX,2134", Field::Postcode, "", "not a ZIP code of 5 or 9 digits"),
        ("state,zip", "MA,\"=\"\"02134\"\"\"", Field::Postcode, "02134", ""),
        ("state,zip", "MA,=\"02134\"", Field::Postcode, "02134", ""),
        ("phone", "5125550100.0", Field::Phone, "5125550100", ""),
        ("id", "1.23457E+11", Field::Ref, "", "a number that a spreadsheet has rounded: format the column as text"),
    ] {
        assert_eq!(value(header, row, field), (expected.to_owned(), problem), "{row}");
    }
}
