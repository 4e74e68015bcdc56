//! Windows in Redis, for all servers together.

use std::sync::LazyLock;
use std::time::Duration;

use redis::Script;

use super::turn::{self, Demand};
use super::{Caller, Limit};
use crate::redis::{Redis, RedisError};

/// Counts a request atomically, in a single round trip. The list contains the times of accepted requests, oldest first,
/// by the clock of Redis, because the servers' clocks may differ. Reserved turns are in the future, at most `ahead`.
/// Requests that a server accepted while Redis was unreachable are counted first. Times after `ahead` mean that the clock
/// was set back: all future times then count as now, so that no wait exceeds a window. The rule for the turn is that of
/// [`Demand::turn`].
const COUNT: &str = "
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local count, window, uncounted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local cost, patience, ahead = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local newest = tonumber(redis.call('LINDEX', KEYS[1], -1)) or now
if newest > now + ahead then
    local last, at = -1, newest
    while at and at > now do
        redis.call('LSET', KEYS[1], last, now)
        last = last - 1
        at = tonumber(redis.call('LINDEX', KEYS[1], last))
    end
    redis.call('PEXPIRE', KEYS[1], window)
    newest = now
end
newest = math.max(newest, now)
local oldest = tonumber(redis.call('LINDEX', KEYS[1], 0))
while oldest and oldest + window <= now do
    redis.call('LPOP', KEYS[1])
    oldest = tonumber(redis.call('LINDEX', KEYS[1], 0))
end
for _ = 1, uncounted do redis.call('RPUSH', KEYS[1], newest) end
local passed = redis.call('LLEN', KEYS[1])
local turn = now
local excess = passed + cost - count
if excess > 0 then
    turn = math.max((tonumber(redis.call('LINDEX', KEYS[1], excess - 1)) or now) + window, newest)
end
local accepted = turn - now <= patience
if accepted then
    newest = math.max(newest, turn)
    for _ = 1, cost do passed = redis.call('RPUSH', KEYS[1], newest) end
end
if accepted or uncounted > 0 then redis.call('PEXPIRE', KEYS[1], newest - now + window) end
return {accepted and 1 or 0, turn - now, passed, newest - now}";

static SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new(COUNT));

/// The reply of Redis to a counted request.
pub(super) struct SharedCount {
    /// Set if the request was accepted.
    pub(super) is_accepted: bool,
    /// The time until the turn of an accepted request, or until a rejected request will be accepted.
    pub(super) wait: Duration,
    /// Number of requests in the window that all servers accepted, with reserved turns.
    pub(super) passed: u32,
    /// The time until the newest of these requests; zero if no turn is reserved.
    pub(super) ahead: Duration,
}

/// Counts a request after the uncounted units.
pub(super) async fn count(
    redis: &Redis,
    (limit, caller): (Limit, &Caller),
    demand: Demand,
    uncounted: usize,
) -> Result<SharedCount, RedisError> {
    let Demand { rate, cost, max_wait } = demand;
    let key = format!("signpost:limit:{}:{caller}", limit.name());
    let [window, patience, max_ahead] = [rate.window, max_wait, turn::max_ahead(limit)].map(millis);
    let (accepted, wait, passed, ahead) = redis
        .run(async |mut connection| {
            let mut script = SCRIPT.key(key);
            script.arg(rate.count).arg(window).arg(uncounted).arg(cost).arg(patience).arg(max_ahead);
            script.invoke_async::<(u8, u64, u32, u64)>(&mut connection).await
        })
        .await?;
    Ok(SharedCount {
        is_accepted: accepted == 1,
        wait: Duration::from_millis(wait),
        passed,
        ahead: Duration::from_millis(ahead),
    })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
