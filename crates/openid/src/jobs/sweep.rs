//! Requests, grants, tokens and consents that are over are deleted, and clients of domains that are gone, so that no table
//! grows for ever.

use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use signpost_platform::interval::every;
use signpost_store::{Step, Store, WriteOutcome};

use crate::service::OpenidService;
use crate::{authorizations, clients, grants};

/// How often a running server looks for codes that nobody redeemed.
const CODES_INTERVAL: Duration = Duration::from_mins(1);
/// How often for all else.
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);

/// Sweeps now and every hour, until the server stops.
pub async fn run(service: OpenidService) {
    let sweep = || async {
        let swept = sweep(&service.store, service.clock.now()).await?;
        if swept > 0 {
            tracing::info!(swept, "deleted old requests and grants of clients");
        }
        Ok(())
    };
    every(SWEEP_INTERVAL, &service.draining, "could not delete old requests and grants of clients", sweep).await;
}

/// Sweeps grants now and every minute whose code nobody redeemed, until the server stops: nobody has anything of them.
pub async fn run_codes(service: OpenidService) {
    let sweep = || async { grants::sql::sweep_unredeemed(&service.store, service.clock.now()).await.map(drop) };
    every(CODES_INTERVAL, &service.draining, "could not delete codes that nobody redeemed", sweep).await;
}

/// Deletes what is over at the time `now`, or belongs to nobody any more; returns how many rows that were.
///
/// # Errors
/// As [`Store::write`].
pub async fn sweep(store: &Store, now: Timestamp) -> Result<usize> {
    // Clients first: what they were granted goes with them.
    let clients = sweep_all(store, clients::sql::sweep_step).await?;
    let grants = grants::sql::sweep(store, now).await?;
    Ok(clients + grants + sweep_all(store, || authorizations::sql::sweep_step(now)).await?)
}

/// Repeats a step that deletes a bounded number of rows until there is none left.
async fn sweep_all(store: &Store, step: impl Fn() -> Step) -> Result<usize> {
    let mut swept = 0;
    loop {
        match store.write([step()]).await? {
            WriteOutcome::Committed(rows) if !rows.is_empty() => swept += rows.len(),
            _ => return Ok(swept),
        }
    }
}
