//! Tests that exports can be imported again without changes.

use std::sync::Arc;

use proptest::prelude::*;
use signpost_locator::import::{Options, read};
use signpost_locator::{
    Address, ArcStr, Coin, Country, Currency, Decimal, Hours, Kyc, Point, Record, RecordInterner, ReportedState, Tri,
    export, import,
};

fn text() -> impl Strategy<Value = Option<ArcStr>> {
    // A third of the texts look like formulas, and some of these are already escaped.
    prop::option::of("'{0,2}[=+@-]?[A-Z'\"é東][a-z,;é]{2,6}( [A-Z0-9][a-z&.,\"]{1,5})?".prop_map(ArcStr::from))
}

fn tri() -> impl Strategy<Value = Tri> {
    prop_oneof![Just(Tri::Yes), Just(Tri::No), Just(Tri::Unknown)]
}

fn decimal() -> impl Strategy<Value = Option<Decimal>> {
    prop::option::of(
        (0..9_999_u32, 0..99_u8).prop_map(|(whole, part)| Decimal::parse(&format!("{whole}.{part:02}")).unwrap()),
    )
}

prop_compose! {
    fn address()(
        street in text(), city in text(), region in prop::sample::select(vec!["TX", "NY"]),
        postcode in prop::sample::select(vec!["78701", "78701-1234"]),
    ) -> Address {
        let known = |text: &str| Some(text.into());
        let (region, postcode) = (known(region), known(postcode));
        Address { street, city, region, postcode, country: Some(Country::UNITED_STATES), formatted: None }
    }
}

prop_compose! {
    fn record()(
        lat in -89.9..89.9_f64, lon in 0.1..179.9_f64, address in address(),
        names in prop::array::uniform4(text()),
        terms in prop::array::uniform5(decimal()),
        flags in prop::array::uniform4(tri()),
        reported in prop::sample::select(vec![ReportedState::Unknown, ReportedState::InService, ReportedState::PermanentlyClosed]),
        hours in prop::sample::select(vec!["", "24/7", "Mo-Fr 09:00-17:00", "ask inside"]),
        kyc in prop::sample::select(vec![Kyc::Unknown, Kyc::None, Kyc::Phone, Kyc::Id]),
        seconds in prop::option::of(1_500_000_000..1_700_000_000_i64),
    ) -> Record {
        let mut record = Record::at(Point::new(lat, lon).unwrap());
        record.source_ref = Some("A-17".into());
        [record.name, record.operator, record.brand, _] = names.clone();
        record.address = address;
        record.hours = Hours::parse(hours);
        record.time_zone = Some("America/Chicago".into());
        (record.reported, record.buy, record.sell) = (reported, flags[0], flags[1]);
        record.reported_at = seconds.map(|at| jiff::Timestamp::from_second(at).unwrap());
        let coins = ["BTC", "LTC"].map(|code| (Coin::parse(code).unwrap(), Tri::Yes));
        record.coins = Arc::new(coins.into());
        record.phone = Some("+1 512 555 0100".into());
        record.website = Some("https://example.com/a?b=c".into());
        let more = record.more_mut();
        let [buy_fee, sell_fee, least, most, above] = terms;
        (more.fees.buy_percent, more.fees.sell_fixed) = (buy_fee, sell_fee);
        (more.limits.min, more.limits.max, more.limits.kyc_above) = (least, most, above);
        let currency = Currency::parse("USD");
        more.fees.currency = currency.filter(|_| !more.fees.is_empty());
        more.limits.currency = currency.filter(|_| !more.limits.is_empty());
        more.fiat = vec![Currency::parse("USD").unwrap(), Currency::parse("CAD").unwrap()];
        (more.kyc, more.indoor, more.wheelchair) = (kyc, flags[2], flags[3]);
        (more.located_in, more.note, more.model) = (names[3].clone(), names[0].clone(), names[1].clone());
        more.email = Some("atm@example.com".into());
        record
    }
}

/// Returns the content of a record, regardless of the order of its members and the last digit of its coordinates.
fn normalize(record: &Record) -> serde_json::Value {
    serde_json::to_value(record).unwrap()
}

#[test]
fn formulas_are_escaped_and_numbers_are_not() {
    let mut record = Record::at(Point::new(-25.5, -80.19).unwrap());
    (record.name, record.brand) = (Some("=HYPERLINK(\"http://evil.example\")".into()), Some("@home".into()));
    (record.operator, record.phone) = (Some("-2+3".into()), Some("+1 512 555 0100".into()));
    let table = export::csv(std::iter::once((7, &record, "=thanks".to_owned())));
    let mut rows = csv::ReaderBuilder::new().has_headers(false).from_reader(&*table).into_records();
    let header = rows.next().unwrap().unwrap();
    let row = rows.next().unwrap().unwrap();
    let cell = |name: &str| &row[header.iter().position(|known| known == name).unwrap()];
    assert_eq!((cell("lat"), cell("lon")), ("-25.5", "-80.19"));
    assert_eq!((cell("name"), cell("brand")), ("'=HYPERLINK(\"http://evil.example\")", "'@home"));
    assert_eq!([cell("operator"), cell("phone"), cell("attribution")], ["'-2+3", "'+1 512 555 0100", "'=thanks"]);
    let back = &read(&table, &Options::default()).unwrap().rows[0].record;
    assert_eq!((&back.name, &back.operator, &back.phone), (&record.name, &record.operator, &record.phone));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn table_round_trips(records in prop::collection::vec(record(), 1..5)) {
        let mut records = records;
        for (number, record) in (1..).zip(&mut records) {
            record.source_ref = Some(format!("A-{number}").into());
        }
        let table = export::csv((1..).zip(&records).map(|(id, record)| (id, record, "thanks, all".to_owned())));
        let import = read(&table, &Options::default()).unwrap();
        let back: Vec<_> = import.rows.iter().map(|row| normalize(&row.record)).collect();
        prop_assert_eq!(back, records.iter().map(normalize).collect::<Vec<_>>());
    }

    #[test]
    fn features_round_trip(record in record()) {
        let mut record = record;
        // Columns are recognized by their names, and a document only contains members with a value.
        for (at, text) in [&mut record.name, &mut record.operator, &mut record.brand].into_iter().enumerate() {
            text.get_or_insert_with(|| format!("name {at}").into());
        }
        let collection = serde_json::json!({ "type": "FeatureCollection", "features": [export::feature(7, &record)] });
        let import: import::Import = read(collection.to_string().as_bytes(), &Options::default()).unwrap();
        prop_assert_eq!(normalize(&import.rows[0].record), normalize(&record));
    }

    #[test]
    fn stored_records_round_trip_byte_for_byte(
        records in prop::collection::vec(record(), 1..8),
    ) {
        let mut parts = RecordInterner::default();
        for record in records {
            let stored = serde_json::to_string(&record).unwrap();
            let mut read: Record = serde_json::from_str(&stored).unwrap();
            parts.intern(&mut read);
            prop_assert_eq!(&read, &record);
            prop_assert_eq!(serde_json::to_string(&read).unwrap(), stored);
        }
    }
}
