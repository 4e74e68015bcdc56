//! The rule for turns in a sliding window.

use std::collections::VecDeque;
use std::time::Duration;

use super::{Limit, Rate};

/// Maximum time, in milliseconds, that a message to the locator can be configured to wait for its turn.
pub(super) const MAX_WAIT_MILLIS: u64 = 2000;

/// A request to be counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    /// The rate of its limit.
    pub(super) rate: Rate,
    /// Units of the window that the request uses, at most the whole window.
    pub(super) cost: u32,
    /// Maximum time until its turn. Zero: the request is rejected if the window is full.
    pub(super) max_wait: Duration,
}

impl Demand {
    /// Creates a demand. A cost above the whole window is reduced to it: such a request is accepted if the window is
    /// empty.
    pub(super) fn new(rate: Rate, cost: u32, max_wait: Duration) -> Self {
        Self { rate, cost: cost.min(rate.count), max_wait }
    }

    /// Returns the time of the request's turn: `now`, or the time at which enough of the oldest units have left the
    /// window. `counted` has the times of the accepted units, oldest first, and reserved turns in the future. The
    /// result is never before a reserved turn, so turns are in the order of the requests, and a request without a wait
    /// is rejected while others wait.
    pub(super) fn turn(&self, counted: &VecDeque<Duration>, now: Duration) -> Duration {
        let excess = (counted.len() + self.cost as usize).saturating_sub(self.rate.count as usize);
        let Some(last) = excess.checked_sub(1) else { return now };
        let free = counted.get(last).map_or(now, |at| *at) + self.rate.window;
        counted.back().map_or(free, |newest| free.max(*newest))
    }
}

/// Returns the longest time that a reserved turn of this limit may be in the future. Later times in Redis are a sign
/// that its clock was set back.
pub(super) fn max_ahead(limit: Limit) -> Duration {
    match limit {
        Limit::Mcp => Duration::from_millis(MAX_WAIT_MILLIS),
        _ => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::limits::{Caller, LocalWindows};

    const RATE: Rate = Rate { count: 10, window: Duration::from_secs(1) };
    const MAX_WAIT: Duration = Duration::from_millis(MAX_WAIT_MILLIS);

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn turn_after(counted: &[u64], cost: u32, now: u64) -> Duration {
        let counted = counted.iter().copied().map(at).collect();
        Demand::new(RATE, cost, MAX_WAIT).turn(&counted, at(now))
    }

    #[test]
    fn turn_follows_the_oldest_units() {
        let full: Vec<u64> = (0..10).map(|number| number * 50).collect();
        assert_eq!(turn_after(&[], 1, 7), at(7));
        assert_eq!(turn_after(&full[..9], 1, 460), at(460));
        assert_eq!(turn_after(&full, 1, 460), at(1000));
        assert_eq!(turn_after(&full, 3, 460), at(1100));
        assert_eq!(turn_after(&full, 99, 460), at(1450));
    }

    #[test]
    fn turn_is_never_before_a_reserved_turn() {
        let reserved = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1000, 1000];
        assert_eq!(turn_after(&reserved, 1, 10), at(1000));
        assert_eq!(turn_after(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1300], 1, 10), at(1300));
    }

    /// A window that decides about requests at given times.
    #[derive(Default)]
    struct Arrivals {
        windows: LocalWindows,
        /// The turns of the accepted requests, in the order of their arrival.
        turns: Vec<u64>,
    }

    impl Arrivals {
        /// Returns the wait of an accepted request, or the wait of a rejected request until its next attempt.
        fn arrive(&mut self, now: u64, max_wait: Duration) -> Result<u64, u64> {
            let demand = Demand::new(RATE, 1, max_wait);
            let wait = millis(self.windows.count(Limit::Mcp, &Caller::All, demand, at(now)).map_err(millis)?.wait());
            self.turns.push(now + wait);
            Ok(wait)
        }

        fn waiting(&self, now: u64) -> usize {
            self.turns.iter().filter(|turn| **turn > now).count()
        }
    }

    fn millis(time: Duration) -> u64 {
        u64::try_from(time.as_millis()).unwrap()
    }

    #[test]
    fn burst_gets_ten_turns_per_second() {
        let mut arrivals = Arrivals::default();
        let waits: Vec<_> = (0..31).map(|_| arrivals.arrive(0, MAX_WAIT)).collect();
        let expected: Vec<_> = [0, 1000, 2000].into_iter().flat_map(|wait| vec![Ok(wait); 10]).collect();
        assert_eq!(waits[..30], expected);
        assert_eq!(waits[30], Err(3000));
        // A bare call does not overtake those that wait, although a turn is free after a second.
        assert_eq!(arrivals.arrive(999, Duration::ZERO), Err(2001));
        assert_eq!(arrivals.arrive(1000, Duration::ZERO), Err(2000));
        assert_eq!(arrivals.arrive(1000, MAX_WAIT), Ok(2000));
        assert_eq!(arrivals.waiting(1000), 11);
        assert_eq!(arrivals.arrive(3000, Duration::ZERO), Ok(0));
    }

    #[test]
    fn request_without_a_wait_is_rejected_as_before() {
        let mut arrivals = Arrivals::default();
        for now in 0..10 {
            assert_eq!(arrivals.arrive(now, Duration::ZERO), Ok(0));
        }
        assert_eq!(arrivals.arrive(999, Duration::ZERO), Err(1));
        assert_eq!(arrivals.arrive(1000, Duration::ZERO), Ok(0));
    }

    proptest! {
        #[test]
        fn any_arrivals_obey_the_limit(arrivals in vec((0..400_u64, 0..4_u8, any::<bool>()), 1..200)) {
            let mut window = Arrivals::default();
            let mut now = 0;
            for (gap, burst, may_wait) in arrivals {
                // Most requests arrive in bursts, at one time.
                now += if burst == 0 { gap } else { 0 };
                let waiting = window.waiting(now);
                let max_wait = if may_wait { MAX_WAIT } else { Duration::ZERO };
                match window.arrive(now, max_wait) {
                    Ok(wait) if may_wait => prop_assert!(wait <= millis(MAX_WAIT)),
                    Ok(wait) => prop_assert!(wait == 0 && waiting == 0, "a bare call overtakes {waiting}"),
                    Err(wait) => prop_assert!(wait > millis(max_wait)),
                }
                prop_assert!(window.waiting(now) <= 20);
            }
            prop_assert!(window.turns.is_sorted(), "turns are in the order of arrival");
            for turns in window.turns.windows(11) {
                prop_assert!(turns[10] - turns[0] >= 1000, "eleven within a second: {turns:?}");
            }
        }
    }
}
