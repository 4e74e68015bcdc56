//! Writing machines to files that [`import`](crate::import) reads: CSV and GeoJSON.

use arcstr::ArcStr;
use serde_json::{Map, Value, json};

use crate::atm::{MoreFields, Record, Reported};
use crate::formula;
use crate::hours::Hours;
use crate::import::Field;
use crate::terms::Kyc;
use crate::tri::Tri;

/// What is known of a machine, as the columns of a table say it; empty where nothing is. Coins that a machine is known
/// not to deal in, and how it deals in single ones, have no column.
///
/// ```
/// use signpost_locator::import::Field;
/// use signpost_locator::{Point, Record, export};
///
/// let record = Record::at(Point::new(30.25, -97.5).unwrap());
/// let known: Vec<_> = Field::all().map(|field| export::cell(&record, field)).filter(|cell| !cell.is_empty()).collect();
/// assert_eq!(known, ["30.25", "-97.5"]);
/// ```
#[must_use]
pub fn cell(record: &Record, field: Field) -> String {
    let address = &record.address;
    let text = |text: &Option<ArcStr>| text.as_deref().unwrap_or_default().to_owned();
    match field {
        Field::Lat => record.point.lat().to_string(),
        Field::Lon => record.point.lon().to_string(),
        Field::Name => text(&record.name),
        Field::Ref => text(&record.source_ref),
        Field::Address => text(&address.formatted),
        Field::Street => text(&address.street),
        Field::City => text(&address.city),
        Field::Region => text(&address.region),
        Field::Postcode => text(&address.postcode),
        Field::Country => address.country.map(|country| country.code().to_owned()).unwrap_or_default(),
        Field::Operator => text(&record.operator),
        Field::Brand => text(&record.brand),
        Field::Status => reported(record.reported).to_owned(),
        Field::Hours => record.hours.as_ref().map(Hours::text).unwrap_or_default().to_owned(),
        Field::Phone => text(&record.phone),
        Field::Website => text(&record.website),
        Field::Buy => tri(record.buy),
        Field::Sell => tri(record.sell),
        Field::Coins => {
            let coins = record.coins.iter().filter(|(_, deals)| **deals == Tri::Yes);
            coins.map(|(coin, _)| coin.code()).collect::<Vec<_>>().join(", ")
        }
        Field::TimeZone => text(&record.time_zone),
        Field::ReportedAt => record.reported_at.map(|at| at.to_string()).unwrap_or_default(),
        Field::VerifiedAt => record.verified_at.map(|at| at.to_string()).unwrap_or_default(),
        rare => record.more.as_deref().map(|more| rare_cell(more, rare)).unwrap_or_default(),
    }
}

/// The same of what few sources say.
fn rare_cell(more: &MoreFields, field: Field) -> String {
    let text = |text: &Option<ArcStr>| text.as_deref().unwrap_or_default().to_owned();
    let number = |number: &Option<crate::terms::Decimal>| {
        number.as_ref().map(|number| number.as_str().to_owned()).unwrap_or_default()
    };
    match field {
        Field::Network => text(&more.network),
        Field::LocatedIn => text(&more.located_in),
        Field::Fiat => more.fiat.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        Field::BuyFee => number(&more.fees.buy_percent),
        Field::BuyFeeFixed => number(&more.fees.buy_fixed),
        Field::SellFee => number(&more.fees.sell_percent),
        Field::SellFeeFixed => number(&more.fees.sell_fixed),
        Field::Currency => {
            let currency = more.fees.currency.or(more.limits.currency);
            currency.map(|currency| currency.to_string()).unwrap_or_default()
        }
        Field::Min => number(&more.limits.min),
        Field::Max => number(&more.limits.max),
        Field::MaxDay => number(&more.limits.max_day),
        Field::KycAbove => number(&more.limits.kyc_above),
        Field::Kyc => kyc(more.kyc).to_owned(),
        Field::Manufacturer => text(&more.manufacturer),
        Field::Model => text(&more.model),
        Field::Email => text(&more.email),
        Field::SupportHours => text(&more.support_hours),
        Field::Wheelchair => tri(more.wheelchair),
        Field::Indoor => tri(more.indoor),
        Field::Level => text(&more.level),
        Field::Note => text(&more.note),
        Field::Notice => text(&more.notice),
        Field::Image => text(&more.images.first().cloned()),
        Field::SourceUrl => text(&more.source_url),
        Field::MachineRef => text(&more.machine_ref),
        Field::BrandWikidata => text(&more.brand_wikidata),
        _ => String::new(),
    }
}

/// A table with a header (RFC 4180): the machine's number, what is known of it, and whom to thank for that. A cell that a
/// spreadsheet would take for a formula (it begins with `=`, `@`, `+`, `-`, a wide form of these or a tab and is no
/// number) has an apostrophe before it, which [`import`](crate::import) takes off again.
///
/// # Panics
/// Never: every row has as many cells as the header, and memory takes them all.
#[must_use]
pub fn csv<'a>(machines: impl Iterator<Item = (u64, &'a Record, String)>) -> Vec<u8> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let header = std::iter::once("id").chain(Field::all().map(Field::name)).chain(["attribution"]);
    let mut written = table.write_record(header);
    for (id, record, attribution) in machines {
        let cells = Field::all().map(|field| cell(record, field));
        let row = std::iter::once(id.to_string()).chain(cells).chain([attribution]);
        written = written.and_then(|()| table.write_record(row.map(|cell| formula::guarded(&cell).into_owned())));
    }
    written.ok().and_then(|()| table.into_inner().ok()).expect("a table in memory takes rows as long as its header")
}

/// A feature (RFC 7946) with the machine's number as its id and what is known as its properties.
#[must_use]
pub fn feature(id: u64, record: &Record) -> Value {
    let known = Field::all().filter(|field| ![Field::Lat, Field::Lon].contains(field));
    let property = |field: Field| Some((field.name().to_owned(), Value::from(cell(record, field))));
    let properties: Map<String, Value> = known.filter_map(property).filter(|(_, cell)| *cell != "").collect();
    let coordinates = [record.point.lon(), record.point.lat()];
    json!({
        "type": "Feature",
        "id": id,
        "geometry": { "type": "Point", "coordinates": coordinates },
        "properties": properties,
    })
}

fn tri(tri: Tri) -> String {
    match tri {
        Tri::Yes => "yes".to_owned(),
        Tri::No => "no".to_owned(),
        Tri::Unknown => String::new(),
    }
}

fn reported(reported: Reported) -> &'static str {
    match reported {
        Reported::InService => "in service",
        Reported::OutOfService => "out of service",
        Reported::TemporarilyClosed => "temporarily closed",
        Reported::PermanentlyClosed => "permanently closed",
        Reported::Unknown => "",
    }
}

fn kyc(kyc: Kyc) -> &'static str {
    match kyc {
        Kyc::None => "none",
        Kyc::Phone => "phone",
        Kyc::Id => "id",
        Kyc::Unknown => "",
    }
}
