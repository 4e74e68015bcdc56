//! Records rejected requests in the audit log. They are counted and written once a minute, so that
//! a flood of rejected requests does not fill the disk.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use serde_json::json;
use signpost_store::{Statement, Store};
use tokio_util::sync::CancellationToken;

use super::sql::insert_entry;
use super::{Action, Actor};
use crate::clock::Clock;
use crate::interval::run_every;
use crate::limits::Caller;

/// Interval between writes of the counts.
const FLUSH_INTERVAL: Duration = Duration::from_mins(1);
/// Maximum number of callers with a separate entry per interval. All further callers share an
/// entry.
const MAX_COUNTED_CALLERS: usize = 100;

/// Counts the rejected requests of each caller since the last write. It is cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct RejectionCounter(Arc<Mutex<RejectionCounts>>);

#[derive(Debug, Default)]
struct RejectionCounts {
    callers: HashMap<(Caller, &'static str), u64>,
    others: u64,
}

impl RejectionCounter {
    /// Counts a request that was rejected with the error code `reason`. Logs the first rejected
    /// request of a caller in each interval.
    pub fn count(&self, caller: &Caller, reason: &'static str) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (caller.clone(), reason);
        if counted.callers.len() >= MAX_COUNTED_CALLERS && !counted.callers.contains_key(&key) {
            counted.others += 1;
            return;
        }
        let count = counted.callers.entry(key).or_default();
        *count += 1;
        let is_first = *count == 1;
        drop(counted);
        if is_first {
            tracing::warn!(caller = caller.to_string(), reason, "API key refused");
        }
    }

    fn drain(&self) -> RejectionCounts {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Writes the counts every minute, and once more when the server stops.
pub async fn run(refusals: RejectionCounter, store: Store, clock: Clock, draining: CancellationToken) {
    let failed = "could not write the audit log";
    run_every(FLUSH_INTERVAL, &draining, failed, || flush(&refusals, &store, clock.now())).await;
    if let Err(error) = flush(&refusals, &store, clock.now()).await {
        tracing::warn!(error = format!("{error:#}"), "could not write the last refusals to the audit log");
    }
}

/// Writes the counts to the audit log and resets them.
///
/// # Errors
/// Returns the errors of [`signpost_store::Store::write`]. The counts are lost in that case.
pub async fn flush(refusals: &RejectionCounter, store: &Store, now: Timestamp) -> Result<()> {
    let RejectionCounts { callers, others } = refusals.drain();
    let mut statements: Vec<Statement> = Vec::new();
    for ((caller, reason), count) in callers {
        statements.push(refusal_entry(caller.to_string(), reason, count, now));
    }
    if others > 0 {
        statements.push(refusal_entry("others".to_owned(), "", others, now));
    }
    if !statements.is_empty() {
        store.write(statements).await?;
    }
    Ok(())
}

fn refusal_entry(address: String, reason: &str, count: u64, now: Timestamp) -> Statement {
    let details = json!({ "count": count });
    insert_entry(&Actor::Address(address), None, Action::AccessRefused, reason, &details, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_entries_is_bounded() {
        let refusals = RejectionCounter::default();
        for number in 0..1000_u32 {
            refusals.count(&Caller::Address(std::net::Ipv4Addr::from(number).into()), "invalid_api_key");
            refusals.count(&Caller::Address(std::net::Ipv4Addr::from(0).into()), "invalid_api_key");
        }
        let counted = refusals.drain();
        assert_eq!((counted.callers.len(), counted.others), (MAX_COUNTED_CALLERS, 900));
        let first = (Caller::Address(std::net::Ipv4Addr::from(0).into()), "invalid_api_key");
        assert_eq!(counted.callers[&first], 1001);
        assert!(refusals.drain().callers.is_empty());
    }
}
