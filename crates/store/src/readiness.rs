//! Readiness of the database: the outcome of the last write, or of a test write if there was none for a second.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::sqlite;
use crate::statement::Unavailable;

/// Lifetime of the outcome of a write.
const OUTCOME_LIFETIME: Duration = Duration::from_secs(1);

/// The outcome of the last write.
#[derive(Debug, Default)]
pub(super) struct LastWrite {
    outcome: Mutex<Option<Outcome>>,
    /// Locked during a test write, so that concurrent checks share it.
    pub(super) probe_lock: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone, Debug)]
struct Outcome {
    at: Instant,
    failure: Option<String>,
}

impl LastWrite {
    /// Records the outcome of a write. The error of a statement is ignored: it does not affect other writes.
    pub(super) fn record<T>(&self, result: &Result<T>, now: Instant) {
        let failure = match result {
            Ok(_) => None,
            Err(error) if sqlite::is_corrupt(error.downcast_ref()) => Some("the database is corrupt".to_owned()),
            Err(error) => match error.downcast_ref::<Unavailable>() {
                // The part after the colon is for the log only.
                Some(Unavailable(reason)) => reason.split(':').next().map(str::to_owned),
                None => return,
            },
        };
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(Outcome { at: now, failure });
    }

    /// Returns `true` if a write ended less than a second before `now`.
    pub(super) fn is_fresh(&self, now: Instant) -> bool {
        let outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        outcome.as_ref().is_some_and(|outcome| now.saturating_duration_since(outcome.at) < OUTCOME_LIFETIME)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        match outcome.as_ref().and_then(|outcome| outcome.failure.as_ref()) {
            Some(failure) => Err(format!("the last write failed: {failure}")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn the_last_write_is_reported_without_confidential_parts() {
        let (writes, now) = (LastWrite::default(), Instant::now());
        assert!(!writes.is_fresh(now));
        writes.record(&Ok(()), now);
        assert!(writes.is_fresh(now + Duration::from_millis(999)));
        assert!(!writes.is_fresh(now + OUTCOME_LIFETIME));
        writes.record::<()>(&Err(anyhow!("a fault of one statement")), now);
        assert_eq!(writes.check(), Ok(()));
        writes.record::<()>(&Err(Unavailable("the disk fails: at /secret/place".to_owned()).into()), now);
        assert_eq!(writes.check(), Err("the last write failed: the disk fails".to_owned()));
        writes.record(&Ok(()), now);
        assert_eq!(writes.check(), Ok(()));
    }
}
