//! The data model of an ATM: its ID, its record, and the codes of coins.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use arcstr::ArcStr;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Deserializer, Serialize};

use crate::address::Address;
use crate::hours::Hours;
use crate::point::Point;
use crate::stored_form::{self, from_text};
use crate::terms::{CashLimits, Currency, Fees, Kyc, Trade};
use crate::tri::Tri;

/// A Bitcoin ATM: its ID and the record of one source.
#[derive(Clone, Debug, PartialEq)]
pub struct Atm {
    /// The ID. It is never reused.
    pub id: AtmId,
    /// The name of the source, such as `sample` or the name of an import.
    pub source: Arc<str>,
    /// The record of the source. It is boxed, because tens of thousands of ATMs are moved when they are sorted and
    /// merged.
    pub record: Box<Record>,
}

/// The record of one source about an ATM. Values that the source does not state are `None`, unknown or empty, never
/// guessed.
///
/// It is stored as JSON. A field that is missing in a stored record is read as unknown, so that fields can be added
/// without a migration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The source's own identifier of the ATM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_ref: Option<ArcStr>,
    /// The name of the ATM or of its location.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<ArcStr>,
    /// The name of the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<ArcStr>,
    /// The brand shown on the ATM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brand: Option<ArcStr>,
    /// Its location.
    pub point: Point,
    /// Its postal address.
    #[serde(default, skip_serializing_if = "Address::is_empty")]
    pub address: Address,
    /// Its opening hours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<Hours>,
    /// The IANA name of its time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<ArcStr>,
    /// Its operational state.
    #[serde(default)]
    pub reported: ReportedState,
    /// The time of the report of the operational state, or the date of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_at: Option<Timestamp>,
    /// The time when the record was last verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<Timestamp>,
    /// Whether it sells coins for cash.
    #[serde(default)]
    pub buy: Tri,
    /// Whether it pays out cash for coins.
    #[serde(default)]
    pub sell: Tri,
    /// Whether it trades each coin. Coins that are not listed are unknown. Shared, because most ATMs of an operator
    /// trade equal coins.
    #[serde(default, with = "stored_form", skip_serializing_if = "BTreeMap::is_empty")]
    pub coins: Arc<BTreeMap<Coin, Tri>>,
    /// A telephone number, as the source writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<ArcStr>,
    /// An `http` or `https` URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website: Option<ArcStr>,
    /// Fields that few sources have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more: Option<Box<MoreFields>>,
}

/// Record fields that few sources have. They are stored separately, so that other records stay small.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MoreFields {
    /// The fees.
    #[serde(skip_serializing_if = "Fees::is_empty")]
    pub fees: Fees,
    /// The cash limits.
    #[serde(skip_serializing_if = "CashLimits::is_empty")]
    pub limits: CashLimits,
    /// The identification that the ATM requires.
    pub kyc: Kyc,
    /// The trading options of individual coins, if known.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub trades: BTreeMap<Coin, Trade>,
    /// The currencies of the cash that the ATM accepts or pays out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fiat: Vec<Currency>,
    /// The Wikidata item of its brand, such as `Q123`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand_wikidata: Option<ArcStr>,
    /// The network that the ATM belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<ArcStr>,
    /// The business that the ATM is located in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub located_in: Option<ArcStr>,
    /// Whether it is indoors.
    pub indoor: Tri,
    /// The floor that the ATM is located on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<ArcStr>,
    /// Directions to the ATM inside its location.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<ArcStr>,
    /// Whether it is wheelchair accessible.
    pub wheelchair: Tri,
    /// The manufacturer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manufacturer: Option<ArcStr>,
    /// The model name of the manufacturer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ArcStr>,
    /// An email address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<ArcStr>,
    /// The hours of telephone support.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub support_hours: Option<ArcStr>,
    /// A notice by the operator for users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<ArcStr>,
    /// Pictures of it, as `http` or `https` URLs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ArcStr>,
    /// The operator's own number for the ATM, if it differs from the source's identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_ref: Option<ArcStr>,
    /// The URL of the ATM's page at the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_url: Option<ArcStr>,
    /// The day on which it closes permanently.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<Date>,
}

/// The ID of an ATM, an integer from 1 to 2^53. Every JSON parser can represent it exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct AtmId(u64);

/// The operational state of an ATM as its source reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedState {
    /// The ATM is in service.
    InService,
    /// The ATM exists but does not work.
    OutOfService,
    /// The ATM is temporarily closed.
    TemporarilyClosed,
    /// The ATM was removed.
    PermanentlyClosed,
    /// The source does not report a state.
    #[default]
    Unknown,
}

/// The code of a coin: 2 to 10 letters and digits in upper case, such as `BTC`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "String")]
pub struct Coin {
    /// The code in ASCII, padded with zeros. It is stored inline, because most records contain coins.
    code: [u8; Self::MAX_LEN],
}

impl Record {
    /// Creates a record with only a location.
    #[must_use]
    pub fn at(point: Point) -> Self {
        Self {
            source_ref: None,
            name: None,
            operator: None,
            brand: None,
            point,
            address: Address::default(),
            hours: None,
            time_zone: None,
            reported: ReportedState::Unknown,
            reported_at: None,
            verified_at: None,
            buy: Tri::Unknown,
            sell: Tri::Unknown,
            coins: Arc::default(),
            phone: None,
            website: None,
            more: None,
        }
    }

    /// Returns the rare fields for modification, and creates them if necessary.
    pub fn more_mut(&mut self) -> &mut MoreFields {
        self.more.get_or_insert_default()
    }

    /// Returns the time of the newest report or verification, if known.
    #[must_use]
    pub fn known_at(&self) -> Option<Timestamp> {
        self.reported_at.max(self.verified_at)
    }

    /// Returns whether users can buy or sell a coin. The trading options of the coin take precedence over the list of
    /// coins and the general services of the ATM.
    #[must_use]
    pub fn trades(&self, coin: &Coin) -> Trade {
        let own = self.more.as_ref().and_then(|more| more.trades.get(coin)).copied().unwrap_or_default();
        let deals = self.coins.get(coin).copied().unwrap_or_default();
        Trade {
            buy: trades_coin(own.buy, deals, self.buy),
            sell: trades_coin(own.sell, deals, self.sell),
            lightning: own.lightning,
        }
    }

    /// Returns the title of the ATM: its name, brand or operator, whichever is known first, or `Bitcoin ATM`.
    ///
    /// ```
    /// # use signpost_locator::{Point, Record};
    /// let mut record = Record::at(Point::new(25.7617, -80.1918).unwrap());
    /// assert_eq!(record.title(), "Bitcoin ATM");
    /// record.name = Some("Corner Shop".into());
    /// assert_eq!(record.title(), "Corner Shop");
    /// ```
    #[must_use]
    pub fn title(&self) -> &str {
        [&self.name, &self.brand, &self.operator].into_iter().find_map(Option::as_deref).unwrap_or("Bitcoin ATM")
    }
}

/// Returns whether an ATM offers a service for a coin. `own` is the trading option of the coin, `deals` is whether the
/// ATM trades the coin, and `service` is whether it offers the service in general.
fn trades_coin(own: Tri, deals: Tri, service: Tri) -> Tri {
    match (own, deals) {
        (Tri::Unknown, Tri::Yes) => service,
        (Tri::Unknown, Tri::No) => Tri::No,
        _ => own,
    }
}

impl AtmId {
    /// Maximum ID, 2^53.
    pub const MAX: Self = Self(1 << 53);

    /// Creates an ID. Returns `None` if the number is not in the range from 1 to 2^53.
    #[must_use]
    pub fn new(number: u64) -> Option<Self> {
        (1..=Self::MAX.0).contains(&number).then_some(Self(number))
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for AtmId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<AtmId> for u64 {
    fn from(id: AtmId) -> Self {
        id.0
    }
}

impl TryFrom<u64> for AtmId {
    type Error = &'static str;

    fn try_from(number: u64) -> Result<Self, Self::Error> {
        Self::new(number).ok_or("an ATM id is 1 to 9007199254740992")
    }
}

impl Coin {
    const MAX_LEN: usize = 10;

    /// Parses the code of a coin, in any case. `XBT` is an alias of `BTC`.
    ///
    /// ```
    /// # use signpost_locator::Coin;
    /// assert_eq!(Coin::parse("xbt").unwrap().code(), "BTC");
    /// assert_eq!(Coin::parse("bit coin"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let valid = (2..=Self::MAX_LEN).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !valid {
            return None;
        }
        let mut code = [0; Self::MAX_LEN];
        code[..text.len()].copy_from_slice(text.as_bytes());
        code.make_ascii_uppercase();
        let coin = Self { code };
        Some(if coin.code() == "XBT" { Self::bitcoin() } else { coin })
    }

    /// Returns Bitcoin, `BTC`.
    #[must_use]
    pub fn bitcoin() -> Self {
        Self { code: *b"BTC\0\0\0\0\0\0\0" }
    }

    /// Returns the code, in upper case.
    #[must_use]
    pub fn code(&self) -> &str {
        let end = self.code.iter().position(|byte| *byte == 0).unwrap_or(Self::MAX_LEN);
        std::str::from_utf8(&self.code[..end]).unwrap_or_default()
    }
}

impl fmt::Display for Coin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Debug for Coin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Coin({self})")
    }
}

impl From<Coin> for String {
    fn from(coin: Coin) -> Self {
        coin.code().to_owned()
    }
}

impl<'de> Deserialize<'de> for Coin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer, |text| {
            Self::parse(text).ok_or("a coin code is 2 to 10 letters and digits, such as BTC")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record::at(Point::new(25.7617, -80.1918).expect("on the earth"))
    }

    #[test]
    fn stored_record_round_trips() {
        let mut full = record();
        full.name = Some("Corner Shop".into());
        full.address.city = Some("Miami".into());
        full.hours = Some(Hours::Always);
        full.reported = ReportedState::TemporarilyClosed;
        full.reported_at = Some("2026-11-20T12:00:00Z".parse().unwrap());
        full.buy = Tri::Yes;
        let coins = [("BTC", Tri::Yes), ("LTC", Tri::No)].map(|(code, deals)| (Coin::parse(code).unwrap(), deals));
        full.coins = Arc::new(coins.into());
        for record in [record(), full] {
            let text = serde_json::to_string(&record).unwrap();
            assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record, "{text}");
        }
    }

    #[test]
    fn missing_members_are_unknown_and_extra_ignored() {
        let text = r#"{"point": {"lat": 25.7617, "lon": -80.1918}, "of_a_later_version": [1]}"#;
        assert_eq!(serde_json::from_str::<Record>(text).unwrap(), record());
    }

    #[test]
    fn ids_are_1_to_2_to_the_53() {
        for (number, valid) in [(0, false), (1, true), (1 << 53, true), ((1 << 53) + 1, false), (u64::MAX, false)] {
            assert_eq!(AtmId::new(number).is_some(), valid, "{number}");
            assert_eq!(serde_json::from_str::<AtmId>(&number.to_string()).is_ok(), valid, "{number}");
        }
    }
}
