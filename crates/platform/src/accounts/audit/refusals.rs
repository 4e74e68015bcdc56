//! Refused requests are counted and written once a minute, so that a storm of them fills no disk.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use serde_json::json;
use signpost_store::{Step, Store};
use tokio_util::sync::CancellationToken;

use super::sql::insert_entry;
use super::{Action, Actor};
use crate::clock::Clock;
use crate::interval::every;
use crate::limits::Caller;

/// How often what was counted is written.
const FLUSH_INTERVAL: Duration = Duration::from_mins(1);
/// How many callers are told apart in that time; the others are one entry.
const MAX_COUNTED_CALLERS: usize = 100;

/// Who was refused since the last entry, and how often; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Refusals(Arc<Mutex<RefusalCounts>>);

#[derive(Debug, Default)]
struct RefusalCounts {
    callers: HashMap<(Caller, &'static str), u64>,
    others: u64,
}

impl Refusals {
    /// Counts a request that was refused for `reason`, a code of the error catalogue. The first one of a caller in a
    /// minute is logged.
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

    fn drain(&self) -> RefusalCounts {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Writes what was counted, every minute and once more when the server stops.
pub async fn run(refusals: Refusals, store: Store, clock: Clock, draining: CancellationToken) {
    let flush = || flush(&refusals, &store, clock.now());
    every(FLUSH_INTERVAL, &draining, "could not write the audit log", flush).await;
    if let Err(error) = flush().await {
        tracing::warn!(error = format!("{error:#}"), "could not write the last refusals to the audit log");
    }
}

/// Writes what was counted.
///
/// # Errors
/// As [`signpost_store::Store::write`]; what was counted is lost then.
pub async fn flush(refusals: &Refusals, store: &Store, now: Timestamp) -> Result<()> {
    let RefusalCounts { callers, others } = refusals.drain();
    let of_caller = |((caller, reason), count): ((Caller, &'static str), u64)| {
        let (actor, details) = (Actor::Address(caller.to_string()), json!({ "count": count }));
        insert_entry(&actor, None, Action::AccessRefused, reason, &details, now)
    };
    let mut steps: Vec<Step> = callers.into_iter().map(of_caller).collect();
    if others > 0 {
        let (actor, details) = (Actor::Address("others".to_owned()), json!({ "count": others }));
        steps.push(insert_entry(&actor, None, Action::AccessRefused, "", &details, now));
    }
    if !steps.is_empty() {
        store.write(steps).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_of_refusals_is_a_bounded_number_of_entries() {
        let refusals = Refusals::default();
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
