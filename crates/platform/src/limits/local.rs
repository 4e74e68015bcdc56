//! Counts requests in sliding windows in the memory of this process.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::iter::repeat_n;
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::shared::SharedCount;
use super::turn::Demand;
use super::{Caller, Limit};
use crate::redis::Servers;

/// Number of independently locked shards per limit.
const SHARDS: usize = 64;
/// Size of a shard, in callers, from which callers with an empty window are removed.
const SWEEP_THRESHOLD: usize = 50_000 / SHARDS;

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
    /// Times of the requests that were accepted here, oldest first. Reserved turns are in the future.
    accepted: VecDeque<Duration>,
    /// Times of the requests that are not yet counted in Redis, because it was unreachable.
    uncounted: VecDeque<Duration>,
    /// Number of uncounted requests that are being counted in Redis.
    being_counted: usize,
    /// The time of the newest request that all servers accepted, at least the time of the last reply of Redis, and the
    /// number of requests that all servers accepted.
    last_reply: Option<(Duration, u32)>,
}

/// A request that is counted here. Dropping it restores the uncounted requests.
#[derive(Debug)]
pub(super) struct CountedRequest<'a> {
    shard: &'a Mutex<WindowShard>,
    caller: &'a Caller,
    demand: Demand,
    now: Duration,
    /// The time of its turn, by the window of this server.
    turn: Duration,
    uncounted: VecDeque<Duration>,
}

impl Default for LocalWindows {
    fn default() -> Self {
        let limits = std::array::from_fn(|_| std::array::from_fn(|_| Mutex::default()));
        Self { limits, hasher: RandomState::new() }
    }
}

impl LocalWindows {
    /// Counts a request at its turn. If it is rejected, returns the wait until a retry will be accepted.
    pub(super) fn count<'a>(
        &'a self,
        limit: Limit,
        caller: &'a Caller,
        demand: Demand,
        now: Duration,
    ) -> Result<CountedRequest<'a>, Duration> {
        let shard = self.shard(limit, caller);
        let mut windows = lock(shard);
        windows.sweep(now);
        windows.change(caller, demand.rate.window, |window| {
            window.remove_expired(now);
            let turn = demand.turn(&window.accepted, now);
            let wait = turn.saturating_sub(now);
            if wait > demand.max_wait {
                return Err(wait);
            }
            window.accepted.extend(repeat_n(turn, demand.cost as usize));
            let uncounted = take(&mut window.uncounted);
            window.being_counted += uncounted.len();
            Ok(CountedRequest { shard, caller, demand, now, turn, uncounted })
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
    pub(super) fn uncounted(&self) -> usize {
        self.uncounted.len()
    }

    /// Returns the time until the turn of the request, by the window of this server.
    pub(super) fn wait(&self) -> Duration {
        self.turn.saturating_sub(self.now)
    }

    /// Applies the reply of Redis, which counted the uncounted requests, and counted or rejected this request. Returns the
    /// time until the turn of the request.
    pub(super) fn apply_reply(mut self, count: &SharedCount) -> Result<Duration, Duration> {
        let being_counted = take(&mut self.uncounted).len();
        self.change(|window| {
            window.being_counted = window.being_counted.saturating_sub(being_counted);
            window.last_reply = Some((self.now + count.ahead, count.passed));
            if count.is_accepted { Ok(count.wait) } else { window.refuse(self.demand.cost, count.wait) }
        })
    }

    /// Rejects the request because Redis is slow, so that its count there is unknown.
    pub(super) fn refuse(self, wait: Duration) -> Result<Duration, Duration> {
        self.change(|window| window.refuse(self.demand.cost, wait))
    }

    /// Decides without an unreachable Redis: the request is accepted within this server's share of the window that
    /// remained at the last reply. No request waits, because the turns of the other servers are unknown.
    pub(super) fn share(mut self, servers: Servers) -> Result<Duration, Duration> {
        let uncounted = take(&mut self.uncounted);
        let Self { demand: Demand { rate, cost, .. }, now, turn, .. } = self;
        self.change(|window| {
            window.owe(uncounted);
            let wait = turn.saturating_sub(now);
            if !wait.is_zero() {
                return window.refuse(cost, wait);
            }
            let last_reply = window.last_reply.map_or(0, |(_, count)| count);
            let share = servers.share(rate.count.saturating_sub(last_reply)) as usize;
            if window.uncounted.len() + window.being_counted + cost as usize <= share {
                window.uncounted.extend(repeat_n(now, cost as usize));
                return Ok(Duration::ZERO);
            }
            let first = window.uncounted.front().copied().into_iter().chain(window.last_reply.map(|(at, _)| at)).min();
            window.refuse(cost, first.map_or(Duration::from_secs(1), |at| (at + rate.window).saturating_sub(now)))
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut Window) -> T) -> T {
        lock(self.shard).change(self.caller, self.demand.rate.window, change)
    }
}

impl Drop for CountedRequest<'_> {
    fn drop(&mut self) {
        if !self.uncounted.is_empty() {
            let uncounted = take(&mut self.uncounted);
            self.change(|window| window.owe(uncounted));
        }
    }
}

impl WindowShard {
    /// Changes the window of a caller. Only new callers are cloned.
    fn change<T>(&mut self, caller: &Caller, length: Duration, change: impl FnOnce(&mut Window) -> T) -> T {
        match self.windows.get_mut(caller) {
            Some(window) => change(window),
            None => change(self.windows.entry(caller.clone()).or_insert_with(|| Window::new(length))),
        }
    }

    /// Removes empty windows, so that memory is bounded by the requests of a single window from any number of
    /// addresses. The threshold doubles while no window is empty, so that the work per request is constant.
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

    /// Removes the last request, of `cost` units, because it was rejected.
    fn refuse(&mut self, cost: u32, wait: Duration) -> Result<Duration, Duration> {
        self.accepted.truncate(self.accepted.len().saturating_sub(cost as usize));
        Err(wait)
    }

    /// Restores requests that were not counted in Redis, before requests that were accepted later.
    fn owe(&mut self, mut uncounted: VecDeque<Duration>) {
        self.being_counted = self.being_counted.saturating_sub(uncounted.len());
        uncounted.append(&mut self.uncounted);
        self.uncounted = uncounted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Rate;

    fn caller(name: &str) -> Caller {
        Caller::Account(name.to_owned())
    }

    const RATE: Rate = Rate { count: 3, window: Duration::from_mins(1) };

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn shared_count(wait: u64, passed: u32) -> SharedCount {
        SharedCount { is_accepted: wait == 0, wait: at(wait), passed, ahead: Duration::ZERO }
    }

    fn demand(rate: Rate, cost: u32) -> Demand {
        Demand::new(rate, cost, Duration::ZERO)
    }

    impl LocalWindows {
        fn one(&self, name: &str, rate: Rate, millis: u64) -> Result<CountedRequest<'_>, Duration> {
            self.of_cost(name, (rate, 1), millis)
        }

        fn of_cost(&self, name: &str, (rate, cost): (Rate, u32), millis: u64) -> Result<CountedRequest<'_>, Duration> {
            self.count(Limit::Verify, Box::leak(Box::new(caller(name))), demand(rate, cost), at(millis))
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
        assert_eq!(take(11, 20_000).map(drop), Err(at(50_000)));
        assert_eq!(take(1, 20_000).map(drop), Ok(()));
        assert_eq!(take(1, 20_000).map(drop), Err(at(40_000)));
        assert_eq!(take(4, 60_000).unwrap().apply_reply(&shared_count(7, 2)), Err(at(7)));
        assert_eq!(take(4, 60_000).unwrap().share(Servers { count: 2, before: 1 }), Ok(at(0)));
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
        assert_eq!(take(0).apply_reply(&shared_count(0, 4)), Ok(at(0)));
        // Six are left for two servers.
        let second = Servers { count: 2, before: 1 };
        assert_eq!([1, 2, 3].map(|millis| take(millis).share(second)), [Ok(at(0)); 3]);
        assert_eq!(take(10_000).share(second), Err(at(50_000)));
        // A dropped request restores the uncounted requests; they are not counted twice at once.
        let asks = take(10_001);
        assert_eq!((asks.uncounted(), take(10_002).uncounted()), (3, 0));
        drop(asks);
        let asks = take(10_003);
        assert_eq!((asks.uncounted(), asks.apply_reply(&shared_count(0, 8))), (3, Ok(at(0))));
        assert_eq!(take(10_004).uncounted(), 0);
    }

    #[test]
    fn redis_reply_expires_with_the_window() {
        let windows = LocalWindows::default();
        assert_eq!(windows.one("a", RATE, 0).unwrap().apply_reply(&shared_count(30_000, 3)), Err(at(30_000)));
        assert_eq!(windows.one("a", RATE, 59_999).unwrap().share(Servers::single()), Err(at(1)));
        assert_eq!(windows.one("a", RATE, 60_000).unwrap().share(Servers::single()), Ok(at(0)));
    }

    #[test]
    fn reserved_turns_delay_the_share_without_redis() {
        let windows = LocalWindows::default();
        let reserve = |millis| {
            let demand = Demand::new(RATE, 1, Duration::from_mins(2));
            windows.count(Limit::Mcp, &Caller::All, demand, at(millis)).unwrap()
        };
        // Redis has two turns ahead, the later at 90 s.
        let reply = SharedCount { is_accepted: true, wait: at(90_000), passed: 5, ahead: at(90_000) };
        assert_eq!(reserve(0).apply_reply(&reply), Ok(at(90_000)));
        assert_eq!(reserve(60_000).share(Servers::single()), Err(at(90_000)));
        assert_eq!(reserve(149_999).share(Servers::single()), Err(at(1)));
        assert_eq!(reserve(150_000).share(Servers::single()), Ok(at(0)));
        // Without Redis no request waits.
        for _ in 0..2 {
            assert_eq!(reserve(150_000).share(Servers::single()), Ok(at(0)));
        }
        assert_eq!(reserve(150_000).share(Servers::single()), Err(at(60_000)));
    }

    #[test]
    fn callers_and_limits_are_counted_separately() {
        let windows = LocalWindows::default();
        for _ in 0..3 {
            assert!(windows.one("a", RATE, 0).is_ok());
        }
        assert!(windows.one("a", RATE, 1).is_err());
        assert!(windows.one("b", RATE, 1).is_ok());
        assert!(windows.count(Limit::Domains, &caller("a"), demand(RATE, 1), at(1)).is_ok());
    }

    #[test]
    fn empty_windows_are_removed() {
        let windows = LocalWindows::default();
        let name = |number: usize| caller(&number.to_string());
        for number in 0..SHARDS * SWEEP_THRESHOLD * 3 / 2 {
            assert!(windows.count(Limit::Verify, &name(number), demand(RATE, 1), Duration::ZERO).is_ok());
        }
        assert_eq!(windows.callers(), SHARDS * SWEEP_THRESHOLD * 3 / 2);
        // The first caller of each shard after its growth triggers its sweep.
        let mut late = 0;
        while windows.callers() > late {
            assert!(windows.count(Limit::Verify, &name(1_000_000 + late), demand(RATE, 1), at(60_000)).is_ok());
            late += 1;
            assert!(late < SHARDS * SWEEP_THRESHOLD, "{} are left", windows.callers());
        }
    }
}
