//! A compact form of the ATM properties that searches filter by, compared as bits during the index walk.

use std::collections::HashMap;

use jiff::Timestamp;
use signpost_locator::{Coin, IN_SERVICE_VALIDITY, Record, ReportedState, Trade, Tri};

use super::hours::EvaluatedHours;

/// The bit for a service that is offered regardless of the coin.
const ANY_COIN_BIT: u64 = 1 << 63;

/// The side of a trade, from the user's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TradeSide {
    /// Buy coins for cash.
    Buy,
    /// Sell coins for cash.
    Sell,
}

/// A search filter for ATMs. An ATM with an unknown value of a filtered property does not match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtmFilter {
    /// Whether the ATM must be open now.
    pub open_now: bool,
    /// The service that the ATM must offer; for the filtered coin, if [`Self::coin`] is set.
    pub service: Option<TradeSide>,
    /// The coin that the ATM must support.
    pub coin: Option<Coin>,
}

/// The coins in the catalogue. The 63 most common coins have a bit each; the value of other coins is 0.
#[derive(Debug, Default)]
pub(crate) struct Coins(HashMap<Coin, u64>);

/// Maximum number of coins with a bit of their own.
const COIN_BITS: usize = 63;

/// The known properties of an ATM, with a bit for each coin. A search reads only these few bytes of each ATM: reading
/// the record would take longer than the rest of the search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    deals: u64,
    buys: u64,
    sells: u64,
    /// Expiry of the report that the ATM is in service, in microseconds since 1970.
    in_service_until: i64,
    /// The index of the opening hours in the [`HoursTable`](super::hours::HoursTable); `u32::MAX` if they are unknown.
    hours: u32,
    /// The index of the advisory set in the [`AdviceTable`](super::advice::AdviceTable).
    pub(super) advice: u32,
}

/// An [`AtmFilter`], compiled to the coin bits of a snapshot.
#[derive(Clone, Copy)]
pub(crate) enum PreparedFilter<'a> {
    /// Every ATM matches.
    Any,
    /// An ATM matches if it has all of these bits. A coin without a bit is looked up in the record.
    Asked { deals: u64, buys: u64, sells: u64, open_now: bool, rare: Option<&'a AtmFilter> },
    /// No ATM matches.
    Impossible,
}

impl AtmFilter {
    /// Returns `true` if the filter is empty, so that every ATM matches.
    #[must_use]
    pub fn is_any(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether an ATM matches the service and the coin of the filter.
    pub(crate) fn offer(&self, record: &Record) -> Tri {
        match (&self.coin, self.service) {
            (None, None) => Tri::Yes,
            (None, Some(service)) => {
                let whole = if service == TradeSide::Buy { record.buy } else { record.sell };
                if whole != Tri::Yes && coins_of(record).any(|coin| self.side(record.trades(coin)) == Tri::Yes) {
                    return Tri::Yes;
                }
                whole
            }
            (Some(coin), None) => match (record.coins.get(coin), self.side(record.trades(coin))) {
                (Some(Tri::Yes), _) | (_, Tri::Yes) => Tri::Yes,
                (Some(Tri::No), _) | (_, Tri::No) => Tri::No,
                _ => Tri::Unknown,
            },
            (Some(coin), Some(_)) => self.side(record.trades(coin)),
        }
    }

    /// Returns whether a trade is possible on the filtered side, or on either side if the filter has no service.
    fn side(&self, trade: Trade) -> Tri {
        match self.service {
            None if trade.buy == Tri::Yes || trade.sell == Tri::Yes => Tri::Yes,
            None if trade.buy == Tri::No && trade.sell == Tri::No => Tri::No,
            None => Tri::Unknown,
            Some(TradeSide::Buy) => trade.buy,
            Some(TradeSide::Sell) => trade.sell,
        }
    }
}

/// Returns the coins in a record, possibly with duplicates.
fn coins_of(record: &Record) -> impl Iterator<Item = &Coin> {
    record.coins.keys().chain(record.more.iter().flat_map(|more| more.trades.keys()))
}

fn bits_if_yes(tri: Tri, bits: u64) -> u64 {
    if tri == Tri::Yes { bits } else { 0 }
}

impl Coins {
    pub(crate) fn from_records<'a>(records: impl Iterator<Item = &'a Record>) -> Self {
        let mut counts: HashMap<&Coin, usize> = HashMap::new();
        for record in records {
            for coin in coins_of(record) {
                *counts.entry(coin).or_default() += 1;
            }
        }
        let mut coins: Vec<(&Coin, usize)> = counts.into_iter().collect();
        coins.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let bits = (0..COIN_BITS).map(|bit| 1 << bit).chain(std::iter::repeat(0));
        Self(coins.into_iter().zip(bits).map(|((coin, _), bit)| (*coin, bit)).collect())
    }

    /// Returns all coins, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Coin> {
        self.0.keys().copied()
    }

    pub(crate) fn contains(&self, coin: &Coin) -> bool {
        self.0.contains_key(coin)
    }

    /// Returns the facts of an ATM. `hours` is the index of its opening hours.
    pub(crate) fn facts(&self, record: &Record, hours: Option<u32>) -> Facts {
        let in_service_until = match (record.reported, record.reported_at) {
            (ReportedState::InService, Some(at)) => {
                at.checked_add(IN_SERVICE_VALIDITY).unwrap_or(Timestamp::MAX).as_microsecond()
            }
            _ => i64::MIN,
        };
        let mut facts = Facts {
            deals: 0,
            buys: bits_if_yes(record.buy, ANY_COIN_BIT),
            sells: bits_if_yes(record.sell, ANY_COIN_BIT),
            in_service_until,
            hours: hours.unwrap_or(u32::MAX),
            advice: 0,
        };
        for coin in coins_of(record) {
            let trade = record.trades(coin);
            let bit = self.0.get(coin).copied().unwrap_or_default();
            facts.buys |= bits_if_yes(trade.buy, bit | ANY_COIN_BIT);
            facts.sells |= bits_if_yes(trade.sell, bit | ANY_COIN_BIT);
            let deals = record.coins.get(coin) == Some(&Tri::Yes) || [trade.buy, trade.sell].contains(&Tri::Yes);
            facts.deals |= if deals { bit } else { 0 };
        }
        facts
    }

    pub(crate) fn prepare<'a>(&self, filter: &'a AtmFilter) -> PreparedFilter<'a> {
        if filter.is_any() {
            return PreparedFilter::Any;
        }
        let bit = match &filter.coin {
            None => ANY_COIN_BIT,
            Some(coin) => match self.0.get(coin) {
                Some(bit) => *bit,
                None => return PreparedFilter::Impossible,
            },
        };
        let deals = if filter.coin.is_some() && filter.service.is_none() { bit } else { 0 };
        let buys = if filter.service == Some(TradeSide::Buy) { bit } else { 0 };
        let sells = if filter.service == Some(TradeSide::Sell) { bit } else { 0 };
        let rare = (bit == 0).then_some(filter);
        PreparedFilter::Asked { deals, buys, sells, open_now: filter.open_now, rare }
    }
}

impl PreparedFilter<'_> {
    /// Returns `true` if an ATM matches at the time `now`. `evaluated` are the opening hours at this time.
    pub(crate) fn fits<'r>(
        self,
        facts: &Facts,
        record: impl FnOnce() -> &'r Record,
        evaluated: &EvaluatedHours,
        now: Timestamp,
    ) -> bool {
        match self {
            Self::Any => true,
            Self::Impossible => false,
            Self::Asked { deals, buys, sells, open_now, rare } => {
                facts.deals & deals == deals
                    && facts.buys & buys == buys
                    && facts.sells & sells == sells
                    && (!open_now || facts.is_open(evaluated, now))
                    && rare.is_none_or(|filter| filter.offer(record()) == Tri::Yes)
            }
        }
    }
}

impl Facts {
    fn is_open(&self, evaluated: &EvaluatedHours, now: Timestamp) -> bool {
        now.as_microsecond() <= self.in_service_until && evaluated.is_open(self.hours)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use signpost_locator::Point;

    use super::*;
    use crate::catalogue::hours::HoursTableBuilder;

    fn tri() -> impl Strategy<Value = Tri> {
        prop_oneof![Just(Tri::Yes), Just(Tri::No), Just(Tri::Unknown)]
    }

    fn coin() -> impl Strategy<Value = Coin> {
        prop_oneof![
            4 => (0..4_u8).prop_map(|number| format!("C{number}")),
            1 => (0..90_u8).prop_map(|number| format!("R{number}")),
        ]
        .prop_map(|code| Coin::parse(&code).expect("a code"))
    }

    fn record() -> impl Strategy<Value = Record> {
        let trade = (tri(), tri()).prop_map(|(buy, sell)| Trade { buy, sell, lightning: Tri::Unknown });
        let coins = prop::collection::btree_map(coin(), tri(), 0..5);
        let trades = prop::collection::btree_map(coin(), trade, 0..3);
        (tri(), tri(), coins, trades).prop_map(|(buy, sell, coins, trades)| {
            let mut record = Record::at(Point::new(30.0, -97.0).expect("on the earth"));
            (record.buy, record.sell, record.coins) = (buy, sell, Arc::new(coins));
            record.more_mut().trades = trades;
            record
        })
    }

    proptest! {
        #[test]
        fn bits_match_the_records(
            records in prop::collection::vec(record(), 1..60),
            service in prop::option::of(prop_oneof![Just(TradeSide::Buy), Just(TradeSide::Sell)]),
            coin in prop::option::of(coin()),
        ) {
            let filter = AtmFilter { open_now: false, service, coin };
            let coins = Coins::from_records(records.iter());
            let now = Timestamp::UNIX_EPOCH;
            let evaluated = HoursTableBuilder::default().build().at(now);
            for record in &records {
                let facts = coins.facts(record, None);
                let fits = coins.prepare(&filter).fits(&facts, || record, &evaluated, now);
                prop_assert_eq!(fits, filter.offer(record) == Tri::Yes, "{:?} {:?}", filter, record);
            }
        }
    }
}
