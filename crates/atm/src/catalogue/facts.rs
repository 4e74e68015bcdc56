//! What searches ask of a machine, in a form that is tested in nanoseconds while the index is walked.

use std::collections::HashMap;

use jiff::Timestamp;
use signpost_locator::{Coin, FRESH, Record, Reported, Trade, Tri};

use super::hours::HoursBoard;

/// The bit of a machine as a whole, whatever the coin.
const WHOLE: u64 = 1 << 63;

/// What somebody wants to do at a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TradeSide {
    /// Buy coins for cash.
    Buy,
    /// Sell coins for cash.
    Sell,
}

/// What machines must be known to be like; the unknown does not match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtmFilter {
    /// Open now.
    pub open_now: bool,
    /// Offering this, of the coin if one is named.
    pub service: Option<TradeSide>,
    /// Dealing in this coin.
    pub coin: Option<Coin>,
}

/// Which bit stands for which coin: the 63 that most machines deal in have one, others none.
#[derive(Debug, Default)]
pub(crate) struct Coins(HashMap<Coin, u64>);

/// How many coins have a bit.
const BITS: usize = 63;

/// What is known of a machine, a bit for each coin. A search that looks at many machines reads these few bytes of each and
/// nothing else: to follow it to its record takes longer than the rest of the search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    deals: u64,
    buys: u64,
    sells: u64,
    /// Until when the report of its being in service counts, in microseconds since 1970.
    in_service_until: i64,
    /// The number of its hours; one that no board has where it has none.
    hours: u32,
    /// The number of what people are told there.
    pub(super) advice: u32,
}

/// A filter in the bits of a catalogue, ready to be tested on each machine.
#[derive(Clone, Copy)]
pub(crate) enum PreparedFilter<'a> {
    /// Every machine will do.
    Any,
    /// Those that deal, buy and sell in at least these coins. One for which there is no bit is asked of the record.
    Asked { deals: u64, buys: u64, sells: u64, open_now: bool, rare: Option<&'a AtmFilter> },
    /// No machine can be like this.
    Impossible,
}

impl AtmFilter {
    /// Whether every machine will do.
    #[must_use]
    pub fn is_any(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a machine offers the service and deals in the coin.
    pub(crate) fn offer(&self, record: &Record) -> Tri {
        let side = |trade: Trade| match self.service {
            None if trade.buy == Tri::Yes || trade.sell == Tri::Yes => Tri::Yes,
            None if trade.buy == Tri::No && trade.sell == Tri::No => Tri::No,
            None => Tri::Unknown,
            Some(TradeSide::Buy) => trade.buy,
            Some(TradeSide::Sell) => trade.sell,
        };
        let traded = || record.more.iter().flat_map(|more| more.trades.keys());
        match (&self.coin, self.service) {
            (None, None) => Tri::Yes,
            (None, Some(service)) => {
                let whole = if service == TradeSide::Buy { record.buy } else { record.sell };
                let any = || record.coins.keys().chain(traded()).any(|coin| side(record.trades(coin)) == Tri::Yes);
                if whole != Tri::Yes && any() { Tri::Yes } else { whole }
            }
            (Some(coin), None) => match (record.coins.get(coin), side(record.trades(coin))) {
                (Some(Tri::Yes), _) | (_, Tri::Yes) => Tri::Yes,
                (Some(Tri::No), _) | (_, Tri::No) => Tri::No,
                _ => Tri::Unknown,
            },
            (Some(coin), Some(_)) => side(record.trades(coin)),
        }
    }
}

impl Coins {
    pub(crate) fn from_records<'a>(records: impl Iterator<Item = &'a Record>) -> Self {
        let mut counts: HashMap<&Coin, usize> = HashMap::new();
        for record in records {
            let traded = record.more.iter().flat_map(|more| more.trades.keys());
            for coin in record.coins.keys().chain(traded) {
                *counts.entry(coin).or_default() += 1;
            }
        }
        let mut coins: Vec<(&Coin, usize)> = counts.into_iter().collect();
        coins.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let bits = (0..BITS).map(|bit| 1 << bit).chain(std::iter::repeat(0));
        Self(coins.into_iter().zip(bits).map(|((coin, _), bit)| (*coin, bit)).collect())
    }

    /// The coins of all machines, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Coin> {
        self.0.keys().copied()
    }

    pub(crate) fn contains(&self, coin: &Coin) -> bool {
        self.0.contains_key(coin)
    }

    /// A machine's facts, given the number of its hours.
    pub(crate) fn facts(&self, record: &Record, hours: Option<u32>) -> Facts {
        let whole = |tri: Tri| if tri == Tri::Yes { WHOLE } else { 0 };
        let fresh_until = |at: Timestamp| at.checked_add(FRESH).unwrap_or(Timestamp::MAX);
        let fresh_until = record.reported_at.map_or(Timestamp::MAX, fresh_until).as_microsecond();
        let in_service_until = if record.reported == Reported::InService { fresh_until } else { i64::MIN };
        let (buys, sells, hours) = (whole(record.buy), whole(record.sell), hours.unwrap_or(u32::MAX));
        let mut facts = Facts { deals: 0, buys, sells, in_service_until, hours, advice: 0 };
        let traded = record.more.iter().flat_map(|more| more.trades.keys());
        for coin in record.coins.keys().chain(traded) {
            let trade = record.trades(coin);
            let bit = self.0.get(coin).copied().unwrap_or_default();
            let in_both = |tri: Tri| if tri == Tri::Yes { bit | WHOLE } else { 0 };
            facts.buys |= in_both(trade.buy);
            facts.sells |= in_both(trade.sell);
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
            None => WHOLE,
            Some(coin) => match self.0.get(coin) {
                Some(bit) => *bit,
                None => return PreparedFilter::Impossible,
            },
        };
        let if_asked = |service: TradeSide| if filter.service == Some(service) { bit } else { 0 };
        let deals = if filter.coin.is_some() && filter.service.is_none() { bit } else { 0 };
        let (buys, sells) = (if_asked(TradeSide::Buy), if_asked(TradeSide::Sell));
        let rare = (bit == 0).then_some(filter);
        PreparedFilter::Asked { deals, buys, sells, open_now: filter.open_now, rare }
    }
}

impl PreparedFilter<'_> {
    /// Whether a machine is so at the time `now`, of which the board tells what the hours say.
    pub(crate) fn fits<'r>(
        self,
        facts: &Facts,
        record: impl FnOnce() -> &'r Record,
        board: &HoursBoard,
        now: Timestamp,
    ) -> bool {
        match self {
            Self::Any => true,
            Self::Impossible => false,
            Self::Asked { deals, buys, sells, open_now, rare } => {
                let has = |known: u64, asked: u64| known & asked == asked;
                has(facts.deals, deals)
                    && has(facts.buys, buys)
                    && has(facts.sells, sells)
                    && (!open_now || facts.is_open(board, now))
                    && rare.is_none_or(|filter| filter.offer(record()) == Tri::Yes)
            }
        }
    }
}

impl Facts {
    fn is_open(&self, board: &HoursBoard, now: Timestamp) -> bool {
        now.as_microsecond() <= self.in_service_until && board.is_open(self.hours)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use signpost_locator::Point;

    use super::*;
    use crate::catalogue::hours::HoursBook;

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
        fn bits_say_what_records_say(
            records in prop::collection::vec(record(), 1..60),
            service in prop::option::of(prop_oneof![Just(TradeSide::Buy), Just(TradeSide::Sell)]),
            coin in prop::option::of(coin()),
        ) {
            let filter = AtmFilter { open_now: false, service, coin };
            let coins = Coins::from_records(records.iter());
            let now = Timestamp::UNIX_EPOCH;
            let board = HoursBook::default().table().at(now);
            for record in &records {
                let facts = coins.facts(record, None);
                let fits = coins.prepare(&filter).fits(&facts, || record, &board, now);
                prop_assert_eq!(fits, filter.offer(record) == Tri::Yes, "{:?} {:?}", filter, record);
            }
        }
    }
}
