//! What OpenStreetMap's tags say of a machine: `amenity=atm` with the currencies it deals in.
//!
//! A map shows what is there: an element is a report of being in service, as of the day on which somebody last checked
//! it, else of its last edit. Elements are taken out of the map, or tagged `disused:`, when a machine is gone.

use std::collections::BTreeMap;

use super::field::Field;
use super::item::DocumentItem;
use super::words;
use crate::atm::Coin;
use crate::terms::{Currency, Trade};
use crate::tri::Tri;

/// Which tag holds which field; of several for one field the first that is there.
const TAGS: [(Field, &str); 35] = [
    (Field::Name, "name"),
    (Field::Operator, "operator"),
    (Field::Brand, "brand"),
    (Field::BrandWikidata, "brand:wikidata"),
    (Field::Network, "network"),
    (Field::LocatedIn, "located_in"),
    (Field::Address, "addr:full"),
    (Field::City, "addr:city"),
    (Field::Region, "addr:state"),
    (Field::Region, "addr:province"),
    (Field::Postcode, "addr:postcode"),
    (Field::Country, "addr:country"),
    (Field::Hours, "opening_hours"),
    (Field::Status, "operational_status"),
    (Field::Phone, "phone"),
    (Field::Phone, "contact:phone"),
    (Field::Website, "website"),
    (Field::Website, "contact:website"),
    (Field::Website, "url"),
    (Field::Email, "email"),
    (Field::Email, "contact:email"),
    (Field::Buy, "cash_in"),
    (Field::Sell, "cash_out"),
    (Field::Indoor, "indoor"),
    (Field::Level, "level"),
    (Field::Note, "description"),
    (Field::Wheelchair, "wheelchair"),
    (Field::Image, "image"),
    (Field::Manufacturer, "manufacturer"),
    (Field::Model, "model"),
    (Field::MachineRef, "ref"),
    (Field::SupportHours, "support_hours"),
    (Field::Min, "min_amount"),
    (Field::Max, "max_amount"),
    (Field::TimeZone, "timezone"),
];

/// Tags that say when somebody looked.
const CHECKED: [&str; 5] =
    ["check_date", "survey:date", "check_date:currency:XBT", "check_date:opening_hours", "lastcheck"];

/// Tags that say something in other ways, with those that only tell elements apart.
const OTHERS: [&str; 16] = [
    "amenity",
    "addr:housenumber",
    "addr:street",
    "addr:street_address",
    "charge",
    "payment:lightning",
    "nsi_id",
    "@id",
    "@ref",
    "@spider",
    "@source_uri",
    "@timestamp",
    "timestamp",
    "end_date",
    "closed",
    "disused",
];
/// What stands before such a tag.
const PREFIXES: [&str; 6] = ["currency:", "disused:", "was:", "removed:", "demolished:", "abandoned:"];

/// Codes that are no currencies of a state. Others of three letters are.
const CRYPTO: [&str; 26] = [
    "ADA", "BCH", "BNB", "BSV", "BTC", "BTG", "DAI", "DASH", "DGB", "DOGE", "DOT", "EOS", "ETC", "ETH", "LTC", "NANO",
    "SHIB", "SOL", "TRX", "USDC", "USDT", "XBT", "XLM", "XMR", "XRP", "ZEC",
];

/// Parts of the names of those who run machines for coins.
const NAMES: [&str; 13] = [
    "bitcoin",
    "btc",
    "crypto",
    "coin",
    "libertyx",
    "bitstop",
    "byte federal",
    "bytefederal",
    "athena",
    "bitbox",
    "unbank",
    "bitxchange",
    "satoshi",
];

/// Whether anything is read from a tag.
pub(super) fn is_read(tag: &str) -> bool {
    TAGS.iter().any(|(_, known)| *known == tag)
        || CHECKED.contains(&tag)
        || OTHERS.contains(&tag)
        || PREFIXES.iter().any(|prefix| tag.starts_with(prefix))
}

/// Whether the tags are those of a machine that deals in coins, and not in cash alone.
pub(super) fn is_bitcoin_atm(tags: &BTreeMap<String, String>) -> bool {
    let amenity = ["amenity", "disused:amenity", "was:amenity", "abandoned:amenity", "removed:amenity"];
    let is_atm = amenity.iter().any(|key| tags.get(*key).is_some_and(|value| value == "atm"));
    is_atm && deals_in_coins(tags)
}

/// Whether the tags speak of coins at all.
pub(super) fn deals_in_coins(tags: &BTreeMap<String, String>) -> bool {
    let coins: Vec<bool> = coins(tags).map(|(_, truth)| truth == Tri::Yes).collect();
    let named = || {
        let names =
            ["name", "brand", "operator", "network", "@spider", "nsi_id"].iter().filter_map(|key| tags.get(*key));
        names.map(|name| name.to_lowercase()).any(|name| NAMES.iter().any(|part| name.contains(part)))
    };
    if coins.is_empty() { named() } else { coins.contains(&true) }
}

/// The element's machine. `edited` is when the element last changed; `id` is as links to it are made, `node/1`.
pub(super) fn item_of(number: usize, id: &str, tags: BTreeMap<String, String>, edited: Option<&str>) -> DocumentItem {
    let mut entry = DocumentItem { number, properties: tags, ..DocumentItem::default() };
    entry.set_all(&TAGS);
    let tag = |key: &str| entry.properties.get(key).map(String::as_str);
    let street = tag("addr:street_address").map(str::to_owned).or_else(|| {
        let (number, street) = (tag("addr:housenumber"), tag("addr:street")?);
        Some(number.map_or_else(|| street.to_owned(), |number| format!("{number} {street}")))
    });
    let checked = CHECKED.iter().filter_map(|key| tag(key)).max().map(str::to_owned);
    let prefixed = |prefix: &str| tag(prefix) == Some("yes") || tag(&format!("{prefix}:amenity")) == Some("atm");
    let state = if ["was", "removed", "demolished", "abandoned"].into_iter().any(prefixed) {
        "permanently closed"
    } else if prefixed("disused") {
        "out of service"
    } else {
        "in service"
    };
    let fee = tag("charge").and_then(|charge| charge.strip_suffix('%')).map(str::to_owned);
    let coins: Vec<(Coin, Tri)> = coins(&entry.properties).collect();
    let fiat: Vec<String> = fiat(&entry.properties).map(|currency| currency.to_string()).collect();
    let lightning = tag("payment:lightning").and_then(words::truth);
    let reported_at = checked.clone().or_else(|| edited.map(str::to_owned));
    entry.set(Field::Ref, Some(id.to_owned()));
    entry.set(Field::Street, street);
    entry.cells.entry(Field::Status).or_insert_with(|| state.to_owned());
    entry.set(Field::ReportedAt, reported_at);
    entry.set(Field::VerifiedAt, checked);
    entry.set(Field::BuyFee, fee);
    entry.set(Field::Fiat, Some(fiat.join(",")));
    entry.coins.extend(coins);
    if let Some((lightning, bitcoin)) = lightning.zip(Coin::parse("BTC")) {
        entry.trades.insert(bitcoin, Trade { lightning, ..Trade::default() });
    }
    entry
}

/// The coins in `currency:XBT=yes` and the like.
fn coins(tags: &BTreeMap<String, String>) -> impl Iterator<Item = (Coin, Tri)> {
    let crypto = currencies(tags).filter(|(code, _)| CRYPTO.contains(code));
    crypto.filter_map(|(code, value)| Some((Coin::parse(code)?, words::truth(value)?)))
}

fn fiat(tags: &BTreeMap<String, String>) -> impl Iterator<Item = Currency> {
    let state = currencies(tags).filter(|(code, value)| !CRYPTO.contains(code) && *value == "yes");
    state
        .filter(|(code, _)| code.bytes().all(|byte| byte.is_ascii_uppercase()))
        .filter_map(|(code, _)| Currency::parse(code))
}

fn currencies(tags: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    tags.iter().filter_map(|(key, value)| Some((key.strip_prefix("currency:")?, value.as_str())))
}
