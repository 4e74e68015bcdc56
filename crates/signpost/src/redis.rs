//! Redis or Valkey, shared by the servers behind one address. It holds nothing that may not be lost: while it is away or
//! slow, each server goes on by itself.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::{Context, Result};
use redis::aio::{ConnectionManager, ConnectionManagerConfig, PubSub};
use redis::{Client, RedisResult};
use tokio::time::{sleep, timeout};

/// How long an answer may take: a request waits for it.
const WITHIN: Duration = Duration::from_millis(100);
/// How long a connection may take to stand.
const CONNECT: Duration = Duration::from_secs(1);
/// How long until it is tried again after an answer did not come.
const AGAIN: Duration = Duration::from_millis(250);

/// The way to it; cheap to clone.
#[derive(Clone)]
pub struct Redis(Arc<Inner>);

struct Inner {
    client: Client,
    connection: ConnectionManager,
    /// Whether it is worth asking. No request finds out that it is not but the first.
    answers: AtomicBool,
}

impl Redis {
    /// Reads an address: `redis://`, `rediss://` (encrypted, the certificate checked) or `redis+unix://`. Connects if that
    /// takes no longer than a second, and else in the background, as after every failure.
    ///
    /// # Errors
    /// Where the address cannot be read.
    pub async fn open(url: &str) -> Result<Self> {
        let client = Client::open(url).context("the address of Redis cannot be read: redis://HOST:PORT/")?;
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(CONNECT))
            .set_response_timeout(Some(CONNECT))
            .set_pipeline_buffer_size(1024);
        let connection = ConnectionManager::new_lazy_with_config(client.clone(), config)?;
        let inner = Arc::new(Inner { client, connection, answers: AtomicBool::new(false) });
        if !inner.is_well().await {
            tracing::warn!("Redis does not answer: this server counts limits by itself until it does");
        }
        tokio::spawn(watch(Arc::downgrade(&inner)));
        Ok(Self(inner))
    }

    /// What Redis answers to a question; `None` where it is away or slow.
    pub async fn ask<T, F>(&self, question: impl FnOnce(ConnectionManager) -> F) -> Option<T>
    where
        F: Future<Output = RedisResult<T>>,
    {
        if !self.answers() {
            return None;
        }
        let error = match timeout(WITHIN, question(self.0.connection.clone())).await {
            Ok(Ok(answer)) => return Some(answer),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {WITHIN:?}"),
        };
        if self.0.answers.swap(false, Ordering::Relaxed) {
            tracing::warn!(error, "Redis does not answer: this server counts limits by itself until it does");
        }
        None
    }

    /// Whether it is worth asking.
    #[must_use]
    pub fn answers(&self) -> bool {
        self.0.answers.load(Ordering::Relaxed)
    }

    /// A connection of its own for listening.
    ///
    /// # Errors
    /// Where Redis is away.
    pub async fn listen(&self) -> Result<PubSub> {
        Ok(timeout(CONNECT, self.0.client.get_async_pubsub()).await??)
    }
}

/// Finds out when it is back, as long as anybody uses it.
async fn watch(inner: Weak<Inner>) {
    loop {
        sleep(AGAIN).await;
        let Some(inner) = inner.upgrade() else { return };
        if !inner.answers.load(Ordering::Relaxed) && inner.is_well().await {
            tracing::info!("Redis answers again: limits and streams are shared");
        }
    }
}

impl Inner {
    /// Asks for a sign of life, a second time as fast as requests need it: the first may have to connect.
    async fn is_well(&self) -> bool {
        let ping = || async {
            let mut connection = self.connection.clone();
            redis::cmd("PING").query_async::<String>(&mut connection).await.is_ok()
        };
        let is_well = timeout(CONNECT, ping()).await.unwrap_or(false) && timeout(WITHIN, ping()).await.unwrap_or(false);
        self.answers.store(is_well, Ordering::Relaxed);
        is_well
    }
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redis")
    }
}
