//! Export of ATMs to CSV and GeoJSON, in formats of [`import`](crate::import).

use arcstr::ArcStr;
use serde_json::{Map, Value, json};

use crate::atm::{MoreFields, Record, ReportedState};
use crate::formula;
use crate::hours::Hours;
use crate::import::Field;
use crate::terms::{Decimal, Kyc};
use crate::tri::Tri;

/// Returns a field as a table cell; empty if it is unknown. Coins that are not traded, and the trading options of
/// single coins, have no field.
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
    match field {
        Field::Lat => record.point.lat().to_string(),
        Field::Lon => record.point.lon().to_string(),
        Field::Name => text(record.name.as_ref()),
        Field::Ref => text(record.source_ref.as_ref()),
        Field::Address => text(address.formatted.as_ref()),
        Field::Street => text(address.street.as_ref()),
        Field::City => text(address.city.as_ref()),
        Field::Region => text(address.region.as_ref()),
        Field::Postcode => text(address.postcode.as_ref()),
        Field::Country => address.country.map(|country| country.code().to_owned()).unwrap_or_default(),
        Field::Operator => text(record.operator.as_ref()),
        Field::Brand => text(record.brand.as_ref()),
        Field::Status => reported(record.reported).to_owned(),
        Field::Hours => record.hours.as_ref().map(Hours::text).unwrap_or_default().to_owned(),
        Field::Phone => text(record.phone.as_ref()),
        Field::Website => text(record.website.as_ref()),
        Field::Buy => tri(record.buy),
        Field::Sell => tri(record.sell),
        Field::Coins => {
            let coins = record.coins.iter().filter(|(_, deals)| **deals == Tri::Yes);
            coins.map(|(coin, _)| coin.code()).collect::<Vec<_>>().join(", ")
        }
        Field::TimeZone => text(record.time_zone.as_ref()),
        Field::ReportedAt => record.reported_at.map(|at| at.to_string()).unwrap_or_default(),
        Field::VerifiedAt => record.verified_at.map(|at| at.to_string()).unwrap_or_default(),
        rare => record.more.as_deref().map(|more| rare_cell(more, rare)).unwrap_or_default(),
    }
}

/// Returns a rare field as a table cell.
fn rare_cell(more: &MoreFields, field: Field) -> String {
    match field {
        Field::Network => text(more.network.as_ref()),
        Field::LocatedIn => text(more.located_in.as_ref()),
        Field::Fiat => more.fiat.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        Field::BuyFee => number(more.fees.buy_percent.as_ref()),
        Field::BuyFeeFixed => number(more.fees.buy_fixed.as_ref()),
        Field::SellFee => number(more.fees.sell_percent.as_ref()),
        Field::SellFeeFixed => number(more.fees.sell_fixed.as_ref()),
        Field::Currency => {
            let currency = more.fees.currency.or(more.limits.currency);
            currency.map(|currency| currency.to_string()).unwrap_or_default()
        }
        Field::Min => number(more.limits.min.as_ref()),
        Field::Max => number(more.limits.max.as_ref()),
        Field::MaxDay => number(more.limits.max_day.as_ref()),
        Field::KycAbove => number(more.limits.kyc_above.as_ref()),
        Field::Kyc => kyc(more.kyc).to_owned(),
        Field::Manufacturer => text(more.manufacturer.as_ref()),
        Field::Model => text(more.model.as_ref()),
        Field::Email => text(more.email.as_ref()),
        Field::SupportHours => text(more.support_hours.as_ref()),
        Field::Wheelchair => tri(more.wheelchair),
        Field::Indoor => tri(more.indoor),
        Field::Level => text(more.level.as_ref()),
        Field::Note => text(more.note.as_ref()),
        Field::Notice => text(more.notice.as_ref()),
        Field::Image => text(more.images.first()),
        Field::SourceUrl => text(more.source_url.as_ref()),
        Field::MachineRef => text(more.machine_ref.as_ref()),
        Field::BrandWikidata => text(more.brand_wikidata.as_ref()),
        Field::EndDate => more.end_date.map(|date| date.to_string()).unwrap_or_default(),
        _ => String::new(),
    }
}

/// Returns a CSV table with a header (RFC 4180): the ID, all fields, and the attribution of each ATM. A cell that a
/// spreadsheet would evaluate as a formula (it begins with `=`, `@`, `+`, `-`, a full-width form of these or a tab, but
/// is not a number) gets an apostrophe; [`import`](crate::import) removes it.
///
/// # Panics
/// Never: every row has as many cells as the header, and writing to memory does not fail.
#[must_use]
pub fn csv<'a>(machines: impl Iterator<Item = (u64, &'a Record, String)>) -> Vec<u8> {
    const INFALLIBLE: &str = "a table in memory accepts rows as long as its header";
    let mut table = csv::Writer::from_writer(Vec::new());
    let header = std::iter::once("id").chain(exported_fields().map(Field::name)).chain(["attribution"]);
    table.write_record(header).expect(INFALLIBLE);
    for (id, record, attribution) in machines {
        let cells = exported_fields().map(|field| cell(record, field));
        let row = std::iter::once(id.to_string()).chain(cells).chain([attribution]);
        table.write_record(row.map(|cell| formula::escape(&cell).into_owned())).expect(INFALLIBLE);
    }
    table.into_inner().expect(INFALLIBLE)
}

/// Returns a feature (RFC 7946) with the ID of the ATM and its known fields as properties.
#[must_use]
pub fn feature(id: u64, record: &Record) -> Value {
    let mut properties = Map::new();
    for field in Field::all().filter(|field| ![Field::Lat, Field::Lon].contains(field)) {
        let value = cell(record, field);
        if !value.is_empty() {
            properties.insert(field.name().to_owned(), Value::from(value));
        }
    }
    let coordinates = [record.point.lon(), record.point.lat()];
    json!({
        "type": "Feature",
        "id": id,
        "geometry": { "type": "Point", "coordinates": coordinates },
        "properties": properties,
    })
}

/// Returns the fields of an export. Latitude and longitude have columns of their own, and the street is complete.
fn exported_fields() -> impl Iterator<Item = Field> {
    Field::all().filter(|field| ![Field::Coordinates, Field::HouseNumber, Field::Street2].contains(field))
}

fn text(text: Option<&ArcStr>) -> String {
    text.map(|text| text.as_str().to_owned()).unwrap_or_default()
}

fn number(number: Option<&Decimal>) -> String {
    number.map(|number| number.as_str().to_owned()).unwrap_or_default()
}

fn tri(tri: Tri) -> String {
    match tri {
        Tri::Yes => "yes".to_owned(),
        Tri::No => "no".to_owned(),
        Tri::Unknown => String::new(),
    }
}

fn reported(reported: ReportedState) -> &'static str {
    match reported {
        ReportedState::InService => "in service",
        ReportedState::OutOfService => "out of service",
        ReportedState::TemporarilyClosed => "temporarily closed",
        ReportedState::PermanentlyClosed => "permanently closed",
        ReportedState::Unknown => "",
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
