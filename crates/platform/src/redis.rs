//! The connection to Redis or Valkey, which the servers of a deployment share. It contains only
//! data that may be lost. While it is unreachable, each server continues independently.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use redis::aio::{ConnectionManager, ConnectionManagerConfig, PubSub};
use redis::{Client, RedisResult, Script};
use signpost_store::random;
use tokio::time::{sleep, timeout};

/// Timeout of a reply that a request waits for.
const REPLY_TIMEOUT: Duration = Duration::from_secs(1);
/// Timeout of opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Time without any reply after which Redis is considered unreachable. It is much longer than the
/// timeout of a request, so that a server on a busy machine does not fall back to local limits.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval between announcements of this server, and between retries while Redis is unreachable.
const ANNOUNCE_INTERVAL: Duration = Duration::from_millis(500);

/// Announces a server, by the clock of Redis. Returns the number of servers that announced
/// themselves in the last minute, and the number of these that precede this server. At most the
/// 1024 newest are stored.
const ANNOUNCE: &str = "
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 60000)
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1025)
redis.call('PEXPIRE', KEYS[1], 60000)
local servers, before = redis.call('ZRANGE', KEYS[1], 0, -1), 0
for _, server in ipairs(servers) do
    if server < ARGV[1] then before = before + 1 end
end
return {#servers, before}";

static ANNOUNCE_SCRIPT: LazyLock<Script> = LazyLock::new(|| Script::new(ANNOUNCE));

/// A connection to Redis. It is cheap to clone.
#[derive(Clone)]
pub struct Redis(Arc<Inner>);

struct Inner {
    client: Client,
    connection: ConnectionManager,
    /// Set while Redis is reachable. After a failure, only the first request waits for Redis.
    is_reachable: AtomicBool,
    /// The unique name of this server among the servers that share the Redis.
    name: String,
    servers: Mutex<Servers>,
}

/// The servers that share a Redis, as of its last reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Servers {
    /// Number of servers that announced themselves in the last minute, including this server.
    pub count: u32,
    /// Number of these servers that precede this server in the order of their names.
    pub before: u32,
}

/// Reason Redis did not return a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedisError {
    /// Redis is connected but did not reply in time.
    Timeout,
    /// There is no connection, or Redis returned an error.
    Unreachable,
}

impl Redis {
    /// Connects to a URL with the scheme `redis`, `rediss` (encrypted, with a verified certificate)
    /// or `redis+unix`. If this takes longer than a second, it continues in the background, like a
    /// reconnection after a failure.
    ///
    /// # Errors
    /// Returns an error if the URL is invalid.
    pub async fn open(url: &str) -> Result<Self> {
        let client = Client::open(url).context("the Redis URL is not valid: use redis://HOST:PORT/")?;
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(SILENCE_TIMEOUT))
            .set_pipeline_buffer_size(1024);
        let connection = ConnectionManager::new_lazy_with_config(client.clone(), config)?;
        let inner = Arc::new(Inner {
            client,
            connection,
            is_reachable: AtomicBool::new(false),
            name: data_encoding::HEXLOWER.encode(&random::<8>()),
            servers: Mutex::new(Servers::single()),
        });
        if let Err(error) = inner.announce().await {
            tracing::warn!(error, "Redis is unreachable; falling back to per-process rate limits");
        }
        tokio::spawn(watch(Arc::downgrade(&inner)));
        Ok(Self(inner))
    }

    /// Sends a command and returns the reply. Fails immediately while Redis is known to be
    /// unreachable.
    ///
    /// # Errors
    /// Returns [`RedisError`] if Redis is slow or unreachable.
    pub async fn run<T, F>(&self, command: impl FnOnce(ConnectionManager) -> F) -> Result<T, RedisError>
    where
        F: Future<Output = RedisResult<T>>,
    {
        if !self.is_reachable() {
            return Err(RedisError::Unreachable);
        }
        let Ok(reply) = timeout(REPLY_TIMEOUT, command(self.0.connection.clone())).await else {
            return Err(RedisError::Timeout);
        };
        reply.map_err(|error| {
            self.0.mark_unreachable(&error.to_string());
            RedisError::Unreachable
        })
    }

    /// Returns `true` if Redis is reachable.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.0.is_reachable.load(Ordering::Relaxed)
    }

    /// Returns the servers that share the Redis, as of its last reply.
    #[must_use]
    pub fn servers(&self) -> Servers {
        *self.0.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a separate connection for subscriptions.
    ///
    /// # Errors
    /// Returns an error if Redis is unreachable.
    pub async fn listen(&self) -> Result<PubSub> {
        Ok(timeout(CONNECT_TIMEOUT, self.0.client.get_async_pubsub()).await??)
    }
}

/// Returns `true` if [`Redis::open`] can parse this URL. Does not open a connection.
#[must_use]
pub fn is_redis_url(url: &str) -> bool {
    Client::open(url).is_ok()
}

/// Measures the round-trip time of a `PING` command on an open connection.
///
/// # Errors
/// Returns an error if the URL is invalid or Redis does not reply within two seconds.
pub async fn measure_ping(url: &str) -> Result<Duration> {
    let client = Client::open(url).context("the Redis URL is not valid: use redis://HOST:PORT/")?;
    let exchange = async {
        let mut connection = client.get_multiplexed_async_connection().await?;
        let start = Instant::now();
        redis::cmd("PING").query_async::<String>(&mut connection).await?;
        Ok(start.elapsed())
    };
    timeout(CONNECT_TIMEOUT + REPLY_TIMEOUT, exchange).await.context("no reply in time")?
}

impl Servers {
    /// Returns the servers of a deployment with a single server.
    #[must_use]
    pub fn single() -> Self {
        Self { count: 1, before: 0 }
    }

    /// Returns this server's share of `whole`. The shares of all servers add up to `whole`.
    #[must_use]
    pub fn share(self, whole: u32) -> u32 {
        let count = self.count.max(1);
        whole / count + u32::from(self.before < whole % count)
    }
}

/// Announces this server and checks that Redis replies, until the last [`Redis`] handle is dropped.
async fn watch(inner: Weak<Inner>) {
    loop {
        sleep(ANNOUNCE_INTERVAL).await;
        let Some(inner) = inner.upgrade() else { return };
        let was_unreachable = !inner.is_reachable.load(Ordering::Relaxed);
        if inner.announce().await.is_ok() && was_unreachable {
            tracing::info!("Redis is reachable again; rate limits and streams are shared");
        }
    }
}

impl Inner {
    /// Announces this server and records whether Redis replies. An unreachable Redis must reply
    /// within the timeout of requests before it is considered reachable again. Returns the reason
    /// for a failure.
    async fn announce(&self) -> Result<(), String> {
        let limit = if self.is_reachable.load(Ordering::Relaxed) { SILENCE_TIMEOUT } else { REPLY_TIMEOUT };
        let mut connection = self.connection.clone();
        let mut script = ANNOUNCE_SCRIPT.key("signpost:servers");
        let replied = timeout(limit, script.arg(&self.name).invoke_async::<(u32, u32)>(&mut connection)).await;
        let reason = match replied {
            Ok(Ok((count, before))) => {
                *self.servers.lock().unwrap_or_else(PoisonError::into_inner) = Servers { count, before };
                self.is_reachable.store(true, Ordering::Relaxed);
                return Ok(());
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no response within {} s", limit.as_secs_f32()),
        };
        self.mark_unreachable(&reason);
        Err(reason)
    }

    fn mark_unreachable(&self, error: &str) {
        if self.is_reachable.swap(false, Ordering::Relaxed) {
            tracing::warn!(error, "Redis is unreachable; falling back to this server's share of the rate limits");
        }
    }
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redis")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_whole() {
        for count in 1..=7 {
            for whole in [0, 1, 5, 6, 7, 8, 99, 100, 1_000_000] {
                let shares = (0..count).map(|before| Servers { count, before }.share(whole));
                assert_eq!(shares.sum::<u32>(), whole);
            }
        }
        assert_eq!(Servers::single().share(100), 100);
    }
}
