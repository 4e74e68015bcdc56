//! Counts requests in sliding windows in the memory of this process.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::iter::repeat_n;
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::shared::SharedCount;
use super::{Caller, Limit, Rate};
use crate::redis::Servers;

/// Number of independently locked shards per limit.
const SHARDS: usize = 64;
/// Number of callers in a shard that triggers the removal of callers without recent requests.
const SWEEP_THRESHOLD: usize = 50_000 / SHARDS;

/// The sliding windows of all limits and callers. Times are from [`crate::clock::Clock::elapsed`],
/// so they are monotonic.
#[derive(Debug)]
pub struct LocalWindows {
    limits: [[Mutex<WindowShard>; SHARDS]; Limit::COUNT],
    hasher: RandomState,
}

/// The windows of some callers for one limit.
#[derive(Debug, Default)]
struct WindowShard {
    windows: HashMap<Caller, Window>,
    sweep_at: usize,
}

#[derive(Debug)]
struct Window {
    length: Duration,
    /// Times of the requests that this server accepted, oldest first.
    accepted: VecDeque<Duration>,
    /// Times of the accepted requests that are not counted in Redis yet, because it was
    /// unreachable.
    uncounted: VecDeque<Duration>,
    /// Number of uncounted requests that are being counted in Redis at the moment.
    being_counted: usize,
    /// The time of the last reply of Redis, and the number of requests that all servers had
    /// accepted then.
    last_reply: Option<(Duration, u32)>,
}

/// A request that this server counted. Dropping it restores the requests that are not counted in
/// Redis.
#[derive(Debug)]
pub(super) struct CountedRequest<'a> {
    shard: &'a Mutex<WindowShard>,
    caller: &'a Caller,
    rate: Rate,
    now: Duration,
    /// Number of units of the window that the request uses.
    cost: u32,
    uncounted: VecDeque<Duration>,
}

impl Default for LocalWindows {
    fn default() -> Self {
        let limits = std::array::from_fn(|_| std::array::from_fn(|_| Mutex::default()));
        Self { limits, hasher: RandomState::new() }
    }
}

impl LocalWindows {
    /// Counts a request that uses `cost` units of the window. If it is rejected, returns the time
    /// until a retry will be accepted.
    pub(super) fn count<'a>(
        &'a self,
        limit: Limit,
        caller: &'a Caller,
        (rate, cost): (Rate, u32),
        now: Duration,
    ) -> Result<CountedRequest<'a>, Duration> {
        let shard = self.shard(limit, caller);
        let mut windows = lock(shard);
        windows.sweep(now);
        windows.change(caller, rate, |window| {
            window.remove_expired(now);
            // The request is accepted once this many of the oldest units have left the window.
            let excess = (window.accepted.len() + cost as usize).saturating_sub(rate.count as usize);
            if let Some(last) = excess.checked_sub(1) {
                let until = window.accepted.get(last).map_or(now, |at| *at) + rate.window;
                return Err(until.saturating_sub(now));
            }
            window.accepted.extend(repeat_n(now, cost as usize));
            let uncounted = take(&mut window.uncounted);
            window.being_counted += uncounted.len();
            Ok(CountedRequest { shard, caller, rate, now, cost, uncounted })
        })
    }

    fn shard(&self, limit: Limit, caller: &Caller) -> &Mutex<WindowShard> {
        let shard = usize::try_from(self.hasher.hash_one(caller) % SHARDS as u64).unwrap_or(0);
        &self.limits[limit as usize][shard]
    }
}

fn lock(shard: &Mutex<WindowShard>) -> MutexGuard<'_, WindowShard> {
    // The counts are valid even after a panic.
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CountedRequest<'_> {
    /// Returns the number of accepted requests that are not counted in Redis yet.
    pub(super) fn uncounted(&self) -> usize {
        self.uncounted.len()
    }

    /// Applies the reply of Redis, which has counted all earlier requests, and has counted or
    /// rejected this request.
    pub(super) fn apply_reply(mut self, count: &SharedCount) -> Result<(), Duration> {
        let being_counted = take(&mut self.uncounted).len();
        self.change(|window| {
            window.being_counted = window.being_counted.saturating_sub(being_counted);
            window.last_reply = Some((self.now, count.accepted));
            if count.wait.is_zero() { Ok(()) } else { window.refuse(self.cost, count.wait) }
        })
    }

    /// Rejects the request because Redis is slow, so that it is unknown whether Redis counted it.
    pub(super) fn refuse(self, wait: Duration) -> Result<(), Duration> {
        self.change(|window| window.refuse(self.cost, wait))
    }

    /// Decides while Redis is unreachable. The request is accepted within this server's share of
    /// the units that were left in the window at the last reply of Redis.
    pub(super) fn share(mut self, servers: Servers) -> Result<(), Duration> {
        let uncounted = take(&mut self.uncounted);
        let Self { rate, now, cost, .. } = self;
        self.change(|window| {
            window.restore_uncounted(uncounted);
            let last_reply = window.last_reply.map_or(0, |(_, count)| count);
            let share = servers.share(rate.count.saturating_sub(last_reply)) as usize;
            if window.uncounted.len() + window.being_counted + cost as usize <= share {
                window.uncounted.extend(repeat_n(now, cost as usize));
                return Ok(());
            }
            let first = window.uncounted.front().copied().into_iter().chain(window.last_reply.map(|(at, _)| at)).min();
            window.refuse(cost, first.map_or(Duration::from_secs(1), |at| (at + rate.window).saturating_sub(now)))
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut Window) -> T) -> T {
        lock(self.shard).change(self.caller, self.rate, change)
    }
}

impl Drop for CountedRequest<'_> {
    fn drop(&mut self) {
        if !self.uncounted.is_empty() {
            let uncounted = take(&mut self.uncounted);
            self.change(|window| window.restore_uncounted(uncounted));
        }
    }
}

impl WindowShard {
    /// Changes the window of a caller. The caller is cloned only if it is new.
    fn change<T>(&mut self, caller: &Caller, rate: Rate, change: impl FnOnce(&mut Window) -> T) -> T {
        match self.windows.get_mut(caller) {
            Some(window) => change(window),
            None => change(self.windows.entry(caller.clone()).or_insert_with(|| Window::new(rate.window))),
        }
    }

    /// Removes the callers without recent requests, so that memory is bounded by the requests in a
    /// single window. The threshold doubles if no caller can be removed, so that the amortized cost
    /// per request is constant.
    fn sweep(&mut self, now: Duration) {
        if self.windows.len() < self.sweep_at.max(SWEEP_THRESHOLD) {
            return;
        }
        self.windows.retain(|_, window| {
            window.remove_expired(now);
            !window.accepted.is_empty() || window.last_reply.is_some()
        });
        self.sweep_at = self.windows.len() * 2;
    }
}

impl Window {
    fn new(length: Duration) -> Self {
        Self { length, accepted: VecDeque::new(), uncounted: VecDeque::new(), being_counted: 0, last_reply: None }
    }

    fn remove_expired(&mut self, now: Duration) {
        let length = self.length;
        for times in [&mut self.accepted, &mut self.uncounted] {
            while let Some(at) = times.front()
                && *at + length <= now
            {
                times.pop_front();
            }
        }
        self.last_reply = self.last_reply.filter(|(at, _)| *at + length > now);
    }

    /// Removes the last request, which used `cost` units, because it was rejected.
    fn refuse(&mut self, cost: u32, wait: Duration) -> Result<(), Duration> {
        self.accepted.truncate(self.accepted.len().saturating_sub(cost as usize));
        Err(wait)
    }

    /// Restores requests that were not counted in Redis. They precede requests that were accepted
    /// later.
    fn restore_uncounted(&mut self, mut uncounted: VecDeque<Duration>) {
        self.being_counted = self.being_counted.saturating_sub(uncounted.len());
        uncounted.append(&mut self.uncounted);
        self.uncounted = uncounted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(name: &str) -> Caller {
        Caller::Account(name.to_owned())
    }

    const RATE: Rate = Rate { count: 3, window: Duration::from_mins(1) };

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn shared_count(wait: u64, accepted: u32) -> SharedCount {
        SharedCount { wait: at(wait), accepted }
    }

    impl LocalWindows {
        fn one(&self, name: &str, rate: Rate, millis: u64) -> Result<CountedRequest<'_>, Duration> {
            self.of_cost(name, (rate, 1), millis)
        }

        fn of_cost(&self, name: &str, rate: (Rate, u32), millis: u64) -> Result<CountedRequest<'_>, Duration> {
            self.count(Limit::Verify, Box::leak(Box::new(caller(name))), rate, at(millis))
        }

        fn callers(&self) -> usize {
            self.limits.iter().flatten().map(|shard| lock(shard).windows.len()).sum()
        }
    }

    #[test]
    fn rejected_requests_do_not_count() {
        let windows = LocalWindows::default();
        let take = |millis| windows.one("a", RATE, millis).map(drop);
        assert_eq!([take(0), take(20_000), take(40_000)], [Ok(()); 3]);
        assert_eq!(take(59_999), Err(at(1)));
        assert_eq!(take(60_000), Ok(()));
        assert_eq!(take(60_001), Err(at(19_999)));
        assert_eq!(take(80_000), Ok(()));
    }

    #[test]
    fn request_uses_its_cost_in_units() {
        let (windows, rate) = (LocalWindows::default(), Rate { count: 10, ..RATE });
        let take = |cost, millis| windows.of_cost("a", (rate, cost), millis);
        assert_eq!([take(4, 0).map(drop), take(5, 10_000).map(drop)], [Ok(()); 2]);
        // One unit is left. A request with a higher cost waits until enough of the oldest units
        // have expired.
        assert_eq!(take(5, 20_000).map(drop), Err(at(40_000)));
        assert_eq!(take(6, 20_000).map(drop), Err(at(50_000)));
        assert_eq!(take(11, 20_000).map(drop), Err(at(60_000)));
        assert_eq!(take(1, 20_000).map(drop), Ok(()));
        assert_eq!(take(1, 20_000).map(drop), Err(at(40_000)));
        assert_eq!(take(4, 60_000).unwrap().apply_reply(&shared_count(7, 2)), Err(at(7)));
        assert_eq!(take(4, 60_000).unwrap().share(Servers { count: 2, before: 1 }), Ok(()));
        assert_eq!(take(1, 60_000).map(drop), Err(at(10_000)));
    }

    #[test]
    fn requests_rejected_by_redis_are_not_counted() {
        let windows = LocalWindows::default();
        for millis in 0..10 {
            let counted = windows.one("a", RATE, millis).unwrap();
            assert_eq!(counted.apply_reply(&shared_count(500, 3)), Err(at(500)));
            assert_eq!(windows.one("a", RATE, millis).unwrap().refuse(at(1000)), Err(at(1000)));
        }
    }

    #[test]
    fn share_without_redis_is_counted_later() {
        let (windows, rate) = (LocalWindows::default(), Rate { count: 10, ..RATE });
        let take = |millis| windows.one("a", rate, millis).unwrap();
        assert_eq!(take(0).apply_reply(&shared_count(0, 4)), Ok(()));
        // Six units are left for two servers.
        let second = Servers { count: 2, before: 1 };
        assert_eq!([1, 2, 3].map(|millis| take(millis).share(second)), [Ok(()); 3]);
        assert_eq!(take(10_000).share(second), Err(at(50_000)));
        // Dropping a request restores the uncounted requests, which are not counted twice at the
        // same time.
        let asks = take(10_001);
        assert_eq!((asks.uncounted(), take(10_002).uncounted()), (3, 0));
        drop(asks);
        let asks = take(10_003);
        assert_eq!((asks.uncounted(), asks.apply_reply(&shared_count(0, 8))), (3, Ok(())));
        assert_eq!(take(10_004).uncounted(), 0);
    }

    #[test]
    fn redis_reply_expires_with_the_window() {
        let windows = LocalWindows::default();
        assert_eq!(windows.one("a", RATE, 0).unwrap().apply_reply(&shared_count(30_000, 3)), Err(at(30_000)));
        assert_eq!(windows.one("a", RATE, 59_999).unwrap().share(Servers::single()), Err(at(1)));
        assert_eq!(windows.one("a", RATE, 60_000).unwrap().share(Servers::single()), Ok(()));
    }

    #[test]
    fn callers_and_limits_are_counted_separately() {
        let windows = LocalWindows::default();
        for _ in 0..3 {
            assert!(windows.one("a", RATE, 0).is_ok());
        }
        assert!(windows.one("a", RATE, 1).is_err());
        assert!(windows.one("b", RATE, 1).is_ok());
        assert!(windows.count(Limit::Domains, &caller("a"), (RATE, 1), at(1)).is_ok());
    }

    #[test]
    fn empty_windows_are_removed() {
        let windows = LocalWindows::default();
        let name = |number: usize| caller(&number.to_string());
        for number in 0..SHARDS * SWEEP_THRESHOLD * 3 / 2 {
            assert!(windows.count(Limit::Verify, &name(number), (RATE, 1), Duration::ZERO).is_ok());
        }
        assert_eq!(windows.callers(), SHARDS * SWEEP_THRESHOLD * 3 / 2);
        // The first caller of each shard after the growth triggers a sweep.
        let mut late = 0;
        while windows.callers() > late {
            assert!(windows.count(Limit::Verify, &name(1_000_000 + late), (RATE, 1), at(60_000)).is_ok());
            late += 1;
            assert!(late < SHARDS * SWEEP_THRESHOLD, "{} are left", windows.callers());
        }
    }
}
