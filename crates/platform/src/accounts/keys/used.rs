//! Stores the last use of API keys once a minute, so that operators can find unused keys.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use signpost_store::Store;
use tokio_util::sync::CancellationToken;

use super::sql;
use crate::accounts::KeyId;
use crate::interval::run_every;

/// Interval between writes of the last uses.
const FLUSH_INTERVAL: Duration = Duration::from_mins(1);

/// The keys that were used since the last write, with the time of their use. It is cheap to clone,
/// and bounded by the number of keys.
#[derive(Clone, Debug, Default)]
pub struct KeyUses(Arc<Mutex<HashMap<KeyId, Timestamp>>>);

impl KeyUses {
    /// Records the use of a key.
    pub(super) fn record(&self, key: &KeyId, now: Timestamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), now);
    }

    fn drain(&self) -> Vec<(KeyId, Timestamp)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).drain().collect()
    }
}

/// Writes the last uses every minute, and once more when the server stops.
pub async fn run(used: KeyUses, store: Store, draining: CancellationToken) {
    run_every(FLUSH_INTERVAL, &draining, "could not record the last use of API keys", || flush(&used, &store)).await;
    if let Err(error) = flush(&used, &store).await {
        tracing::warn!(error = format!("{error:#}"), "could not record the last use of API keys");
    }
}

/// Writes the last uses since the previous write.
///
/// # Errors
/// Returns the errors of [`signpost_store::Store::write`].
pub async fn flush(used: &KeyUses, store: &Store) -> Result<()> {
    sql::set_used(store, &used.drain()).await
}
