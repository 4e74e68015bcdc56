//! Submissions of operators to directories of ATMs: `{"providerId", "apiTimestamp", "locations": […]}`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::counted_values::CountedValues;
use super::document::DocumentMembers;
use super::error::ImportError;
use super::field::Field;
use super::format::{FileContent, Format, SourceFile};
use super::item::{self, DocumentItem};

const LOCATIONS: &str = "locations";
const SENT_AT: &str = "apiTimestamp";

/// Submissions of operators to directories.
pub const FORMAT: Format = Format {
    name: "submission",
    title: "submissions",
    json: Some(DocumentMembers { list: LOCATIONS, others: &[SENT_AT] }),
    recognise: |file| file.has_list(LOCATIONS),
    read: machines,
};

/// The JSON pointers (RFC 6901) of fields in a location. If several pointers map to one field, the first is used.
const FIELDS: [(Field, &str); 42] = [
    (Field::Ref, "/locationId"),
    (Field::Ref, "/id"),
    (Field::Operator, "/operatorName"),
    (Field::Operator, "/operatorId"),
    (Field::Brand, "/brand"),
    (Field::Lat, "/address/latitude"),
    (Field::Lon, "/address/longitude"),
    (Field::Lat, "/latitude"),
    (Field::Lon, "/longitude"),
    (Field::Street, "/address/street"),
    (Field::City, "/address/city"),
    (Field::Region, "/address/region"),
    (Field::Postcode, "/address/postalCode"),
    (Field::Country, "/address/country"),
    (Field::Name, "/business/name"),
    (Field::Website, "/business/url"),
    (Field::Phone, "/business/phone"),
    (Field::Email, "/business/email"),
    (Field::Hours, "/business/hours"),
    (Field::Buy, "/status/cashInEnabled"),
    (Field::Sell, "/status/cashOutEnabled"),
    (Field::Manufacturer, "/manufacturer"),
    (Field::Model, "/model"),
    (Field::Coins, "/coins"),
    (Field::Coins, "/cryptoCurrencies"),
    (Field::Fiat, "/fiat"),
    (Field::BuyFee, "/fees/buyPercent"),
    (Field::BuyFee, "/fees/cashIn"),
    (Field::BuyFeeFixed, "/fees/buyFixed"),
    (Field::SellFee, "/fees/sellPercent"),
    (Field::SellFee, "/fees/cashOut"),
    (Field::SellFeeFixed, "/fees/sellFixed"),
    (Field::Currency, "/fees/currency"),
    (Field::Currency, "/limits/currency"),
    (Field::Min, "/limits/min"),
    (Field::Max, "/limits/max"),
    (Field::MaxDay, "/limits/maxDay"),
    (Field::KycAbove, "/limits/kycAbove"),
    (Field::Kyc, "/kyc"),
    (Field::Notice, "/notice"),
    (Field::Note, "/note"),
    (Field::TimeZone, "/timeZone"),
];

/// Paths of other members that are read.
const OTHERS: [&str; 5] = ["lastReportedTime", "isDeleted", "status", "status.isEnabled", "status.isDeleted"];

/// Returns `true` if a member is read, by its path.
fn is_read(path: &str) -> bool {
    OTHERS.contains(&path) || FIELDS.iter().any(|(_, pointer)| pointer[1..].replace('/', ".") == path)
}

/// Returns all locations of a submission.
fn machines<'a>(file: &SourceFile<'a>) -> Result<FileContent<'a>, ImportError> {
    let document = file.document()?;
    let dated = item::cell(&document.member(SENT_AT)?);
    let mut items = Vec::new();
    for location in document.items(LOCATIONS, FORMAT.name)? {
        let (number, location) = location?;
        items.push(item_of(number, &location));
    }
    Ok(FileContent::Items { items, others: CountedValues::default(), dated, is_read })
}

fn item_of(number: usize, location: &Value) -> DocumentItem {
    let mut properties = BTreeMap::new();
    flatten("", location, &mut properties, 3);
    let mut item = DocumentItem { number, properties, ..DocumentItem::default() };
    for (field, pointer) in FIELDS {
        if let Some(value) = location.pointer(pointer).and_then(item::cell).filter(|value| !value.trim().is_empty()) {
            item.cells.entry(field).or_insert(value);
        }
    }
    item.set(Field::ReportedAt, item::cell(&location["lastReportedTime"]));
    item.set(Field::Status, state(&location["status"]).map(str::to_owned));
    item.is_gone = [&location["isDeleted"], &location["status"]["isDeleted"]].contains(&&Value::Bool(true));
    item
}

/// Returns the operational state: as text, or by the enabled services. An ATM without any service is out of service.
fn state(status: &Value) -> Option<&str> {
    if let Some(words) = status.as_str() {
        return Some(words);
    }
    let is_enabled = status["isEnabled"].as_bool()?;
    let has_no_service =
        status["cashInEnabled"].as_bool() == Some(false) && status["cashOutEnabled"].as_bool() != Some(true);
    Some(if is_enabled && !has_no_service { "in service" } else { "out of service" })
}

/// Collects the members of an object by their paths, `address.city`, for `--map` and `--where`.
pub(super) fn flatten(path: &str, value: &Value, into: &mut BTreeMap<String, String>, depth: usize) {
    if let Some(cell) = item::cell(value) {
        into.insert(path.to_owned(), cell);
    } else if let Some(members) = value.as_object().filter(|_| depth > 0) {
        for (name, member) in members {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            flatten(&path, member, into, depth - 1);
        }
    }
}
