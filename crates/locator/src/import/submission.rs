//! What operators push to directories of machines: `{"providerId", "apiTimestamp", "locations": […]}`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::broken::Broken;
use super::document::DocumentMembers;
use super::field::Field;
use super::format::{FileContent, Format, SourceFile};
use super::item::{self, DocumentItem};

const LOCATIONS: &str = "locations";
const SENT_AT: &str = "apiTimestamp";

/// What operators push to directories.
pub const FORMAT: Format = Format {
    name: "submission",
    title: "submissions",
    json: Some(DocumentMembers { list: LOCATIONS, others: &[SENT_AT] }),
    recognise: |file| file.has_list(LOCATIONS),
    read: machines,
};

/// Where in a location each field stands, as a pointer (RFC 6901); of several for one field the first that is there.
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

/// Members that are read in another way, as their paths are written in options.
const OTHERS: [&str; 5] = ["lastReportedTime", "isDeleted", "status", "status.isEnabled", "status.isDeleted"];

/// Whether anything is read from a member, by its path.
fn is_read(path: &str) -> bool {
    OTHERS.contains(&path) || FIELDS.iter().any(|(_, pointer)| pointer[1..].replace('/', ".") == path)
}

/// All locations of a submission.
fn machines<'a>(file: &SourceFile<'a>) -> Result<FileContent<'a>, Broken> {
    let document = file.document()?;
    let sent = item::cell(&document.member(SENT_AT)?);
    let locations = document.items(LOCATIONS, FORMAT.name)?;
    let items =
        locations.map(|location| location.map(|(number, location)| item_of(number, &location, sent.as_deref())));
    Ok(FileContent::Items { items: items.collect::<Result<_, _>>()?, others: 0, is_read })
}

fn item_of(number: usize, location: &Value, sent: Option<&str>) -> DocumentItem {
    let mut properties = BTreeMap::new();
    flatten("", location, &mut properties, 3);
    let mut item = DocumentItem { number, properties, ..DocumentItem::default() };
    for (field, pointer) in FIELDS {
        if let Some(value) = location.pointer(pointer).and_then(item::cell).filter(|value| !value.trim().is_empty()) {
            item.cells.entry(field).or_insert(value);
        }
    }
    let reported_at = item::cell(&location["lastReportedTime"]).or_else(|| sent.map(str::to_owned));
    item.set(Field::ReportedAt, reported_at);
    item.set(Field::Status, state(&location["status"]).map(str::to_owned));
    item.is_gone = [&location["isDeleted"], &location["status"]["isDeleted"]].contains(&&Value::Bool(true));
    item
}

/// The operational state: in words, or by what is enabled. A machine that can neither take nor give cash does not work.
fn state(status: &Value) -> Option<&str> {
    let enabled = |name: &str| status[name].as_bool();
    match (status.as_str(), enabled("isEnabled")) {
        (Some(words), _) => Some(words),
        (None, Some(false)) => Some("out of service"),
        (None, Some(true)) if enabled("cashInEnabled") == Some(false) && enabled("cashOutEnabled") != Some(true) => {
            Some("out of service")
        }
        (None, Some(true)) => Some("in service"),
        (None, None) => None,
    }
}

/// The members of an object by their paths, `address.city`, for `--map` and `--where`.
fn flatten(path: &str, value: &Value, into: &mut BTreeMap<String, String>, depth: usize) {
    if let Some(cell) = item::cell(value) {
        into.insert(path.to_owned(), cell);
    } else if let Some(members) = value.as_object().filter(|_| depth > 0) {
        for (name, member) in members {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            flatten(&path, member, into, depth - 1);
        }
    }
}
