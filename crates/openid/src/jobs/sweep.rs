//! The job that deletes expired authorizations, grants, tokens and consents, and the clients of
//! deleted domains.

use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use signpost_platform::interval::run_every;
use signpost_store::{Statement, Store, WriteOutcome};

use crate::service::OpenidService;
use crate::{authorizations, clients, grants};

/// Interval of the deletion of codes that were not exchanged.
const CODES_INTERVAL: Duration = Duration::from_mins(1);
/// Interval of all other deletions.
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);

/// Sweeps now and every hour, until the server drains.
pub async fn run(service: OpenidService) {
    let failed = "could not delete old requests and grants of clients";
    run_every(SWEEP_INTERVAL, &service.draining, failed, || sweep_once(&service)).await;
}

async fn sweep_once(service: &OpenidService) -> Result<()> {
    let deleted = sweep(&service.store, service.clock.now()).await?;
    if deleted > 0 {
        tracing::info!(swept = deleted, "deleted old requests and grants of clients");
    }
    Ok(())
}

/// Deletes grants without a code exchange, now and every minute, until the server drains.
pub async fn run_codes(service: OpenidService) {
    run_every(CODES_INTERVAL, &service.draining, "could not delete unused authorization codes", || async {
        grants::sql::sweep_unredeemed(&service.store, service.clock.now()).await.map(drop)
    })
    .await;
}

/// Deletes rows that are expired at the time `now`, and the clients and grants of deleted domains.
/// Returns the number of rows.
///
/// # Errors
/// Returns the errors of [`Store::write`].
pub async fn sweep(store: &Store, now: Timestamp) -> Result<usize> {
    // Clients are deleted first, because their grants are deleted with them.
    let clients = sweep_all(store, clients::sql::sweep_statement).await?;
    let grants = grants::sql::sweep(store, now).await?;
    Ok(clients + grants + sweep_all(store, || authorizations::sql::sweep_statement(now)).await?)
}

/// Repeats a statement that deletes a bounded number of rows until none is left.
async fn sweep_all(store: &Store, statement: impl Fn() -> Statement) -> Result<usize> {
    let mut deleted = 0;
    loop {
        match store.write([statement()]).await? {
            WriteOutcome::Committed(rows) if !rows.is_empty() => deleted += rows.len(),
            _ => return Ok(deleted),
        }
    }
}
