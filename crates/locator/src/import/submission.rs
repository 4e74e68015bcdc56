//! What operators push to directories of machines: `{"providerId", "apiTimestamp", "locations": […]}`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::document::Document;
use super::json::{self, Entry};
use super::{Broken, Field};

/// Where in a location each field stands, as a pointer (RFC 6901); of several for one field the first that is there.
const MEMBERS: [(Field, &str); 42] = [
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
pub(super) fn is_read(path: &str) -> bool {
    OTHERS.contains(&path) || MEMBERS.iter().any(|(_, pointer)| pointer[1..].replace('/', ".") == path)
}

/// All locations of a submission.
pub(super) fn entries(document: &Document<'_>) -> Result<Vec<Entry>, Broken> {
    let sent = json::cell(&document.member("apiTimestamp")?);
    let locations = document.items("locations", "submission")?;
    locations.map(|location| location.map(|(number, location)| entry(number, &location, sent.as_deref()))).collect()
}

fn entry(number: usize, location: &Value, sent: Option<&str>) -> Entry {
    let mut properties = BTreeMap::new();
    flatten("", location, &mut properties, 3);
    let mut entry = Entry { number, properties, ..Entry::default() };
    for (field, pointer) in MEMBERS {
        if let Some(value) = location.pointer(pointer).and_then(json::cell).filter(|value| !value.trim().is_empty()) {
            entry.cells.entry(field).or_insert(value);
        }
    }
    let reported_at = json::cell(&location["lastReportedTime"]).or_else(|| sent.map(str::to_owned));
    entry.put(Field::ReportedAt, reported_at);
    entry.put(Field::Status, state(&location["status"]).map(str::to_owned));
    entry.is_gone = [&location["isDeleted"], &location["status"]["isDeleted"]].contains(&&Value::Bool(true));
    entry
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
    if let Some(cell) = json::cell(value) {
        into.insert(path.to_owned(), cell);
    } else if let Some(members) = value.as_object().filter(|_| depth > 0) {
        for (name, member) in members {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            flatten(&path, member, into, depth - 1);
        }
    }
}
