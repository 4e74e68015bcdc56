//! When keys were used last, written once a minute: an operator sees which ones nobody needs any more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use signpost_store::Store;
use tokio_util::sync::CancellationToken;

use super::sql;
use crate::accounts::KeyId;
use crate::interval::every;

/// How often what is remembered is written.
const FLUSH_INTERVAL: Duration = Duration::from_mins(1);

/// Keys that were used since it was written last; cheap to clone. No more than the account has keys.
#[derive(Clone, Debug, Default)]
pub struct KeyUses(Arc<Mutex<HashMap<KeyId, Timestamp>>>);

impl KeyUses {
    /// Remembers a use.
    pub(super) fn record(&self, key: &KeyId, now: Timestamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), now);
    }

    fn drain(&self) -> Vec<(KeyId, Timestamp)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).drain().collect()
    }
}

/// Writes what is remembered, every minute and once more when the server stops.
pub async fn run(used: KeyUses, store: Store, draining: CancellationToken) {
    every(FLUSH_INTERVAL, &draining, "could not record the last use of API keys", || flush(&used, &store)).await;
    if let Err(error) = flush(&used, &store).await {
        tracing::warn!(error = format!("{error:#}"), "could not record the last use of API keys");
    }
}

/// Writes what is remembered.
///
/// # Errors
/// As [`signpost_store::Store::write`].
pub async fn flush(used: &KeyUses, store: &Store) -> Result<()> {
    sql::set_used(store, &used.drain()).await
}
