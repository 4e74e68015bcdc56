//! ATMs in OpenStreetMap: `amenity=atm` with tags for currencies, and other kinds of elements that sell coins, such as
//! `vending=bitcoin`.
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
const OTHERS: [&str; 16] = [
    "amenity", "vending", "addr:housenumber", "addr:street", "addr:street_address", "charge", "payment:lightning", "nsi_id",
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

/// Prefixes of the tags of existing and of former elements.
const LIFECYCLE: [&str; 6] = ["", "disused:", "was:", "abandoned:", "removed:", "demolished:"];
/// Kinds of elements that are ATMs only if they trade coins according to their tags, not by their names.
const KINDS_WITH_COINS: [&str; 2] = ["bureau_de_change", "payment_terminal"];
/// Values of `vending` for coins.
const VENDED_COINS: [&str; 5] = ["bitcoin", "bitcoins", "crypto", "cryptocurrencies", "cryptocurrency"];
/// Keys of the kind of an element, the preferred key first.
const KIND_KEYS: [&str; 7] = ["amenity", "vending", "shop", "office", "tourism", "leisure", "building"];

/// Returns `true` if a tag is read.
pub(super) fn is_read(tag: &str) -> bool {
    TAGS.iter().any(|(_, known)| *known == tag)
        || CHECKED.contains(&tag)
        || OTHERS.contains(&tag)
        || PREFIXES.iter().any(|prefix| tag.starts_with(prefix))
}

/// Checks for the tags of an ATM that trades coins.
pub(super) fn is_bitcoin_atm(tags: &BTreeMap<String, String>) -> bool {
    if vends_coins(tags) || (has_amenity(tags, "atm") && has_coin_tags(tags)) {
        return true;
    }
    let trades_coins = coins(tags).any(|(_, deals)| deals == Tri::Yes);
    trades_coins && KINDS_WITH_COINS.iter().any(|kind| has_amenity(tags, kind))
}

/// Checks for the tags of an ATM, possibly for cash only.
pub(super) fn may_be_atm(tags: &BTreeMap<String, String>) -> bool {
    has_amenity(tags, "atm") || is_bitcoin_atm(tags)
}

/// Checks for a tag without which an element is no ATM, to skip other elements fast.
pub(super) fn may_be_kind_of_atm(key: &[u8], value: &[u8]) -> bool {
    let is_kind = |kind: &[u8]| kind == b"atm" || KINDS_WITH_COINS.iter().any(|known| known.as_bytes() == kind);
    let is_coin = |kind: &[u8]| VENDED_COINS.iter().any(|known| known.as_bytes() == kind);
    let mut values = value.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    (key.ends_with(b"amenity") && values.clone().any(is_kind)) || (key.ends_with(b"vending") && values.any(is_coin))
}

/// Returns the tag that shows the kind of an element that is no Bitcoin ATM.
pub(super) fn kind(tags: &BTreeMap<String, String>) -> String {
    if has_amenity(tags, "atm") {
        return "amenity=atm without a coin".to_owned();
    }
    for key in KIND_KEYS {
        if let Some(value) = tags.get(key) {
            return format!("{key}={value}");
        }
    }
    if tags.is_empty() { "no tags".to_owned() } else { "other tags".to_owned() }
}

/// Checks for a value of `amenity`, of an existing or a former element. Several values are separated by semicolons.
fn has_amenity(tags: &BTreeMap<String, String>, amenity: &str) -> bool {
    LIFECYCLE.iter().any(|prefix| has_value(tags, &format!("{prefix}amenity"), amenity))
}

/// Checks for an existing or a former vending machine for coins.
fn vends_coins(tags: &BTreeMap<String, String>) -> bool {
    LIFECYCLE.iter().any(|prefix| {
        let key = format!("{prefix}vending");
        VENDED_COINS.iter().any(|coin| has_value(tags, &key, coin))
    })
}

fn has_value(tags: &BTreeMap<String, String>, key: &str, value: &str) -> bool {
    tags.get(key).is_some_and(|values| values.split(';').any(|listed| listed.trim() == value))
}

/// Checks for tags or names of coins.
pub(super) fn has_coin_tags(tags: &BTreeMap<String, String>) -> bool {
    const KEYS: [&str; 6] = ["name", "brand", "operator", "network", "@spider", "nsi_id"];
    if vends_coins(tags) {
        return true;
    }
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
    if item.coins.is_empty() && vends_coins(&item.properties) {
        item.coins.insert(Coin::bitcoin(), Tri::Yes);
    }
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
    if item.property(prefix) == Some("yes") {
        return true;
    }
    let amenity = format!("{prefix}:amenity");
    if has_value(&item.properties, &amenity, "atm") {
        return true;
    }
    // An ATM may be at the place of a former bureau de change.
    if item.property("amenity").is_some() {
        return false;
    }
    let vending = format!("{prefix}:vending");
    let has_kind = |kind: &str| has_value(&item.properties, &amenity, kind);
    VENDED_COINS.iter().any(|coin| has_value(&item.properties, &vending, coin))
        || KINDS_WITH_COINS.into_iter().any(has_kind)
        || (has_kind("vending_machine") && vends_coins(&item.properties))
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
