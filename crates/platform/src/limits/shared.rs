//! Counts requests in sliding windows in Redis, for all servers of a deployment.

use std::sync::LazyLock;
use std::time::Duration;

use redis::Script;

use super::{Caller, Limit, Rate};
use crate::redis::{Redis, RedisError};

/// Counts a request atomically in a single round trip. The list contains the times of accepted
/// requests, oldest first, by the clock of Redis, because the clocks of the servers may differ.
/// Requests that a server accepted while Redis was unreachable are counted first. If the clock of
/// Redis was set back, times in the future count as the current time, so that no wait exceeds the
/// window.
const COUNT: &str = "
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local count, window, owed = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local cost = tonumber(ARGV[4])
local last = -1
local newest = tonumber(redis.call('LINDEX', KEYS[1], last))
while newest and newest > now do
    redis.call('LSET', KEYS[1], last, now)
    redis.call('PEXPIRE', KEYS[1], window)
    last = last - 1
    newest = tonumber(redis.call('LINDEX', KEYS[1], last))
end
local oldest = tonumber(redis.call('LINDEX', KEYS[1], 0))
while oldest and oldest + window <= now do
    redis.call('LPOP', KEYS[1])
    oldest = tonumber(redis.call('LINDEX', KEYS[1], 0))
end
for _ = 1, owed do redis.call('RPUSH', KEYS[1], now) end
local accepted = redis.call('LLEN', KEYS[1])
local wait = 0
if accepted + cost > count then
    wait = tonumber(redis.call('LINDEX', KEYS[1], accepted + cost - count - 1) or now) + window - now
else
    for _ = 1, cost do accepted = redis.call('RPUSH', KEYS[1], now) end
end
if wait == 0 or owed > 0 then redis.call('PEXPIRE', KEYS[1], window) end
return {wait, accepted}";

static SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new(COUNT));

/// The reply of the Redis script.
pub(super) struct SharedCount {
    /// Time until the request will be accepted, or zero if it was accepted.
    pub(super) wait: Duration,
    /// Number of units in the window that all servers accepted.
    pub(super) accepted: u32,
}

/// Counts a request that uses `cost` units of the window, after earlier requests that are not
/// counted yet.
pub(super) async fn count(
    redis: &Redis,
    (limit, caller): (Limit, &Caller),
    (rate, cost): (Rate, u32),
    owed: usize,
) -> Result<SharedCount, RedisError> {
    let window = u64::try_from(rate.window.as_millis()).unwrap_or(u64::MAX);
    let key = format!("signpost:limit:{}:{caller}", limit.name());
    let (wait, accepted) = redis
        .run(async |mut connection| {
            let mut script = SCRIPT.key(key);
            script.arg(rate.count).arg(window).arg(owed).arg(cost).invoke_async::<(u64, u32)>(&mut connection).await
        })
        .await?;
    Ok(SharedCount { wait: Duration::from_millis(wait), accepted })
}
