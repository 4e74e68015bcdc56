//! ATMs in OpenStreetMap: `amenity=atm` with tags for currencies.
//!
//! An element is a report of being in service, as of the day of its last check, else of its last edit, else of the
//! document. When an ATM is removed, its element is deleted or tagged `disused:`.

use std::collections::BTreeMap;

use super::field::Field;
use super::item::DocumentItem;
use super::words;
use crate::atm::Coin;
use crate::terms::{Currency, Trade};
use crate::tri::Tri;

/// The tags of fields. If several tags map to one field, the first is used.
const TAGS: [(Field, &str); 36] = [
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
    (Field::EndDate, "end_date"),
];

/// Tags with the day of the last check, the preferred tag first.
const CHECKED: [&str; 5] =
    ["check_date", "survey:date", "check_date:currency:XBT", "check_date:opening_hours", "lastcheck"];

/// Other tags that are read, and tags that only identify elements.
#[rustfmt::skip]
const OTHERS: [&str; 15] = [
    "amenity", "addr:housenumber", "addr:street", "addr:street_address", "charge", "payment:lightning", "nsi_id",
    "@id", "@ref", "@spider", "@source_uri", "@timestamp", "timestamp", "closed", "disused",
];
/// Prefixes of such tags.
const PREFIXES: [&str; 6] = ["currency:", "disused:", "was:", "removed:", "demolished:", "abandoned:"];

/// Codes of coins. Other codes of three letters are fiat currencies.
const CRYPTO: [&str; 26] = [
    "ADA", "BCH", "BNB", "BSV", "BTC", "BTG", "DAI", "DASH", "DGB", "DOGE", "DOT", "EOS", "ETC", "ETH", "LTC", "NANO",
    "SHIB", "SOL", "TRX", "USDC", "USDT", "XBT", "XLM", "XMR", "XRP", "ZEC",
];

/// Parts of the names of operators of Bitcoin ATMs.
#[rustfmt::skip]
const NAMES: [&str; 13] = [
    "bitcoin", "btc", "crypto", "coin", "libertyx", "bitstop", "byte federal", "bytefederal", "athena", "bitbox",
    "unbank", "bitxchange", "satoshi",
];

/// Returns `true` if a tag is read.
pub(super) fn is_read(tag: &str) -> bool {
    TAGS.iter().any(|(_, known)| *known == tag)
        || CHECKED.contains(&tag)
        || OTHERS.contains(&tag)
        || PREFIXES.iter().any(|prefix| tag.starts_with(prefix))
}

/// Checks for the tags of an ATM that trades coins.
pub(super) fn is_bitcoin_atm(tags: &BTreeMap<String, String>) -> bool {
    let amenity = ["amenity", "disused:amenity", "was:amenity", "abandoned:amenity", "removed:amenity"];
    let is_atm = amenity.iter().any(|key| tags.get(*key).is_some_and(|value| value == "atm"));
    is_atm && has_coin_tags(tags)
}

/// Checks for tags or names of coins.
pub(super) fn has_coin_tags(tags: &BTreeMap<String, String>) -> bool {
    const KEYS: [&str; 6] = ["name", "brand", "operator", "network", "@spider", "nsi_id"];
    let mut coins = coins(tags).peekable();
    if coins.peek().is_some() {
        return coins.any(|(_, deals)| deals == Tri::Yes);
    }
    for name in KEYS.iter().filter_map(|key| tags.get(*key)) {
        let name = name.to_lowercase();
        if NAMES.iter().any(|part| name.contains(part)) {
            return true;
        }
    }
    false
}

/// Creates the item of an element. `id` has the form of its URL, `node/1`; `edited` are times of the last edit, the
/// preferred time first.
pub(super) fn item_of<'a>(
    number: usize,
    id: &str,
    tags: BTreeMap<String, String>,
    edited: impl IntoIterator<Item = &'a str>,
) -> DocumentItem {
    let mut item = DocumentItem { number, properties: tags, ..DocumentItem::default() };
    item.set_all(&TAGS);
    let street = street(&item);
    let checked: Vec<String> = CHECKED.iter().filter_map(|key| item.property(key)).map(str::to_owned).collect();
    let state = state(&item);
    let fee = item.property("charge").and_then(|charge| charge.strip_suffix('%')).map(str::to_owned);
    let fiat: Vec<String> = fiat(&item.properties).map(|currency| currency.to_string()).collect();
    item.set(Field::Ref, Some(id.to_owned()));
    item.set(Field::Street, street);
    item.cells.entry(Field::Status).or_insert_with(|| state.to_owned());
    item.add_dates(Field::VerifiedAt, checked.iter().map(String::as_str));
    item.add_dates(Field::UpdatedAt, edited);
    item.set(Field::BuyFee, fee);
    item.set(Field::Fiat, Some(fiat.join(",")));
    item.coins.extend(coins(&item.properties));
    if let Some(lightning) = item.property("payment:lightning").and_then(words::parse_tri) {
        item.trades.insert(Coin::bitcoin(), Trade { lightning, ..Trade::default() });
    }
    item
}

fn street(item: &DocumentItem) -> Option<String> {
    if let Some(street) = item.property("addr:street_address") {
        return Some(street.to_owned());
    }
    let street = item.property("addr:street")?;
    match item.property("addr:housenumber") {
        Some(number) => Some(format!("{number} {street}")),
        None => Some(street.to_owned()),
    }
}

fn state(item: &DocumentItem) -> &'static str {
    if ["was", "removed", "demolished", "abandoned"].iter().any(|prefix| has_lifecycle_prefix(item, prefix)) {
        "permanently closed"
    } else if has_lifecycle_prefix(item, "disused") {
        "out of service"
    } else {
        "in service"
    }
}

fn has_lifecycle_prefix(item: &DocumentItem, prefix: &str) -> bool {
    item.property(prefix) == Some("yes") || item.property(&format!("{prefix}:amenity")) == Some("atm")
}

/// Returns the coins in tags such as `currency:XBT=yes`.
fn coins(tags: &BTreeMap<String, String>) -> impl Iterator<Item = (Coin, Tri)> {
    let crypto = currencies(tags).filter(|(code, _)| CRYPTO.contains(code));
    crypto.filter_map(|(code, value)| Some((Coin::parse(code)?, words::parse_tri(value)?)))
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
