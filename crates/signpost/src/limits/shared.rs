//! Windows kept in Redis, for all servers together.

use std::sync::LazyLock;
use std::time::Duration;

use redis::Script;

use super::{Caller, Limit, Rate};
use crate::redis::Redis;

/// The times of the requests that passed, oldest first, by Redis' own clock: those of the servers may differ. One round
/// trip, and nothing comes between.
const TAKE: &str = "
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local count, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local oldest = tonumber(redis.call('LINDEX', KEYS[1], 0))
while oldest and oldest + window <= now do
    redis.call('LPOP', KEYS[1])
    oldest = tonumber(redis.call('LINDEX', KEYS[1], 0))
end
if oldest and redis.call('LLEN', KEYS[1]) >= count then
    return oldest + window - now
end
redis.call('RPUSH', KEYS[1], now)
redis.call('PEXPIRE', KEYS[1], window)
return 0";

static SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new(TAKE));

/// Counts a request, or says how long until one will pass; `None` where Redis cannot say.
pub(super) async fn take(redis: &Redis, limit: Limit, caller: &Caller, rate: Rate) -> Option<Result<(), Duration>> {
    let window = u64::try_from(rate.window.as_millis()).unwrap_or(u64::MAX);
    let key = format!("signpost:limit:{}:{caller}", limit.name());
    let wait: u64 = redis
        .ask(async |mut connection| {
            SCRIPT.key(key).arg(rate.count).arg(window).invoke_async::<u64>(&mut connection).await
        })
        .await?;
    Some(if wait == 0 { Ok(()) } else { Err(Duration::from_millis(wait)) })
}
