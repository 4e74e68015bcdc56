//! Windows in this process.

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
/// Size of a shard, in callers, from which callers with an empty window are removed.
const SWEEP_AT: usize = 50_000 / SHARDS;

/// The accepted requests, per limit and caller. Times are from [`crate::clock::Clock::elapsed`], so they are monotonic.
#[derive(Debug)]
pub struct LocalWindows {
    limits: [[Mutex<WindowShard>; SHARDS]; Limit::COUNT],
    hasher: RandomState,
}

/// The windows of some callers for a limit.
#[derive(Debug, Default)]
struct WindowShard {
    windows: HashMap<Caller, Window>,
    sweep_at: usize,
}

#[derive(Debug)]
struct Window {
    length: Duration,
    /// Times of the requests that were accepted here, oldest first.
    passed: VecDeque<Duration>,
    /// Times of the requests that are not yet counted in Redis, because it was unreachable.
    owed: VecDeque<Duration>,
    /// Number of owed requests that are being counted in Redis.
    handed: usize,
    /// The time of the last reply of Redis, and the number of requests that all servers accepted.
    last_reply: Option<(Duration, u32)>,
}

/// A request that is counted here. Dropping it restores the owed requests.
#[derive(Debug)]
pub(super) struct CountedRequest<'a> {
    shard: &'a Mutex<WindowShard>,
    caller: &'a Caller,
    rate: Rate,
    now: Duration,
    /// Units of the window that the request uses.
    cost: u32,
    owed: VecDeque<Duration>,
}

impl Default for LocalWindows {
    fn default() -> Self {
        let limits = std::array::from_fn(|_| std::array::from_fn(|_| Mutex::default()));
        Self { limits, hasher: RandomState::new() }
    }
}

impl LocalWindows {
    /// Counts a request that uses `cost` units of the window. If it is rejected, returns the wait until a retry will be
    /// accepted.
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
            window.forget(now);
            // The request is accepted once this many of the oldest units have left the window.
            let excess = (window.passed.len() + cost as usize).saturating_sub(rate.count as usize);
            if let Some(last) = excess.checked_sub(1) {
                let until = window.passed.get(last).map_or(now, |at| *at) + rate.window;
                return Err(until.saturating_sub(now));
            }
            window.passed.extend(repeat_n(now, cost as usize));
            let owed = take(&mut window.owed);
            window.handed += owed.len();
            Ok(CountedRequest { shard, caller, rate, now, cost, owed })
        })
    }

    fn shard(&self, limit: Limit, caller: &Caller) -> &Mutex<WindowShard> {
        let shard = usize::try_from(self.hasher.hash_one(caller) % SHARDS as u64).unwrap_or(0);
        &self.limits[limit as usize][shard]
    }
}

fn lock(shard: &Mutex<WindowShard>) -> MutexGuard<'_, WindowShard> {
    // A panic leaves valid counts.
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CountedRequest<'_> {
    /// Returns the number of requests that were accepted here and are not counted in Redis.
    pub(super) fn owed(&self) -> usize {
        self.owed.len()
    }

    /// Applies the reply of Redis, which counted the owed requests, and counted or rejected this request.
    pub(super) fn settle(mut self, count: &SharedCount) -> Result<(), Duration> {
        let handed = take(&mut self.owed).len();
        self.change(|window| {
            window.handed = window.handed.saturating_sub(handed);
            window.last_reply = Some((self.now, count.passed));
            if count.wait.is_zero() { Ok(()) } else { window.refuse(self.cost, count.wait) }
        })
    }

    /// Rejects the request because Redis is slow, so that its count there is unknown.
    pub(super) fn refuse(self, wait: Duration) -> Result<(), Duration> {
        self.change(|window| window.refuse(self.cost, wait))
    }

    /// Decides without an unreachable Redis: the request is accepted within this server's share of the window that
    /// remained at the last reply.
    pub(super) fn share(mut self, servers: Servers) -> Result<(), Duration> {
        let owed = take(&mut self.owed);
        let Self { rate, now, cost, .. } = self;
        self.change(|window| {
            window.owe(owed);
            let last_reply = window.last_reply.map_or(0, |(_, count)| count);
            let share = servers.share(rate.count.saturating_sub(last_reply)) as usize;
            if window.owed.len() + window.handed + cost as usize <= share {
                window.owed.extend(repeat_n(now, cost as usize));
                return Ok(());
            }
            let first = window.owed.front().copied().into_iter().chain(window.last_reply.map(|(at, _)| at)).min();
            window.refuse(cost, first.map_or(Duration::from_secs(1), |at| (at + rate.window).saturating_sub(now)))
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut Window) -> T) -> T {
        lock(self.shard).change(self.caller, self.rate, change)
    }
}

impl Drop for CountedRequest<'_> {
    fn drop(&mut self) {
        if !self.owed.is_empty() {
            let owed = take(&mut self.owed);
            self.change(|window| window.owe(owed));
        }
    }
}

impl WindowShard {
    /// Changes the window of a caller. Only new callers are cloned.
    fn change<T>(&mut self, caller: &Caller, rate: Rate, change: impl FnOnce(&mut Window) -> T) -> T {
        match self.windows.get_mut(caller) {
            Some(window) => change(window),
            None => change(self.windows.entry(caller.clone()).or_insert_with(|| Window::new(rate.window))),
        }
    }

    /// Removes empty windows, so that memory is bounded by the requests of a single window from any number of
    /// addresses. The threshold doubles while no window is empty, so that the work per request is constant.
    fn sweep(&mut self, now: Duration) {
        if self.windows.len() < self.sweep_at.max(SWEEP_AT) {
            return;
        }
        self.windows.retain(|_, window| {
            window.forget(now);
            !window.passed.is_empty() || window.last_reply.is_some()
        });
        self.sweep_at = self.windows.len() * 2;
    }
}

impl Window {
    fn new(length: Duration) -> Self {
        Self { length, passed: VecDeque::new(), owed: VecDeque::new(), handed: 0, last_reply: None }
    }

    fn forget(&mut self, now: Duration) {
        let length = self.length;
        for times in [&mut self.passed, &mut self.owed] {
            while let Some(at) = times.front()
                && *at + length <= now
            {
                times.pop_front();
            }
        }
        self.last_reply = self.last_reply.filter(|(at, _)| *at + length > now);
    }

    /// Removes the last request, of `cost` units, because it was rejected.
    fn refuse(&mut self, cost: u32, wait: Duration) -> Result<(), Duration> {
        self.passed.truncate(self.passed.len().saturating_sub(cost as usize));
        Err(wait)
    }

    /// Restores requests that were not counted in Redis, before requests that were accepted later.
    fn owe(&mut self, mut owed: VecDeque<Duration>) {
        self.handed = self.handed.saturating_sub(owed.len());
        owed.append(&mut self.owed);
        self.owed = owed;
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

    fn shared_count(wait: u64, passed: u32) -> SharedCount {
        SharedCount { wait: at(wait), passed }
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
        // One unit is left; a larger cost waits until enough of the oldest units have expired.
        assert_eq!(take(5, 20_000).map(drop), Err(at(40_000)));
        assert_eq!(take(6, 20_000).map(drop), Err(at(50_000)));
        assert_eq!(take(11, 20_000).map(drop), Err(at(60_000)));
        assert_eq!(take(1, 20_000).map(drop), Ok(()));
        assert_eq!(take(1, 20_000).map(drop), Err(at(40_000)));
        assert_eq!(take(4, 60_000).unwrap().settle(&shared_count(7, 2)), Err(at(7)));
        assert_eq!(take(4, 60_000).unwrap().share(Servers { count: 2, before: 1 }), Ok(()));
        assert_eq!(take(1, 60_000).map(drop), Err(at(10_000)));
    }

    #[test]
    fn requests_rejected_by_redis_are_not_counted() {
        let windows = LocalWindows::default();
        for millis in 0..10 {
            let counted = windows.one("a", RATE, millis).unwrap();
            assert_eq!(counted.settle(&shared_count(500, 3)), Err(at(500)));
            assert_eq!(windows.one("a", RATE, millis).unwrap().refuse(at(1000)), Err(at(1000)));
        }
    }

    #[test]
    fn share_without_redis_is_counted_later() {
        let (windows, rate) = (LocalWindows::default(), Rate { count: 10, ..RATE });
        let take = |millis| windows.one("a", rate, millis).unwrap();
        assert_eq!(take(0).settle(&shared_count(0, 4)), Ok(()));
        // Six are left for two servers.
        let second = Servers { count: 2, before: 1 };
        assert_eq!([1, 2, 3].map(|millis| take(millis).share(second)), [Ok(()); 3]);
        assert_eq!(take(10_000).share(second), Err(at(50_000)));
        // A dropped request restores the owed requests; they are not counted twice at once.
        let asks = take(10_001);
        assert_eq!((asks.owed(), take(10_002).owed()), (3, 0));
        drop(asks);
        let asks = take(10_003);
        assert_eq!((asks.owed(), asks.settle(&shared_count(0, 8))), (3, Ok(())));
        assert_eq!(take(10_004).owed(), 0);
    }

    #[test]
    fn redis_reply_expires_with_the_window() {
        let windows = LocalWindows::default();
        assert_eq!(windows.one("a", RATE, 0).unwrap().settle(&shared_count(30_000, 3)), Err(at(30_000)));
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
        for number in 0..SHARDS * SWEEP_AT * 3 / 2 {
            assert!(windows.count(Limit::Verify, &name(number), (RATE, 1), Duration::ZERO).is_ok());
        }
        assert_eq!(windows.callers(), SHARDS * SWEEP_AT * 3 / 2);
        // The first caller of each shard after its growth triggers its sweep.
        let mut late = 0;
        while windows.callers() > late {
            assert!(windows.count(Limit::Verify, &name(1_000_000 + late), (RATE, 1), at(60_000)).is_ok());
            late += 1;
            assert!(late < SHARDS * SWEEP_AT, "{} are left", windows.callers());
        }
    }
}
