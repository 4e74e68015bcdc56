//! Tracks the outcome of the last write, for readiness checks. A check without a recent write
//! performs a test write.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::sqlite;
use crate::statement::Unavailable;

/// How long the outcome of a write is considered current.
const OUTCOME_LIFETIME: Duration = Duration::from_secs(1);

/// The outcome of the last write to the database.
#[derive(Debug, Default)]
pub(super) struct LastWrite {
    outcome: Mutex<Option<Outcome>>,
    /// Held during a test write, so that concurrent checks share its outcome.
    pub(super) probe_lock: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone, Debug)]
struct Outcome {
    at: Instant,
    failure: Option<String>,
}

impl LastWrite {
    /// Records the outcome of a write. An error in a statement is ignored, because it does not
    /// affect other writes.
    pub(super) fn record<T>(&self, result: &Result<T>, now: Instant) {
        let failure = match result {
            Ok(_) => None,
            Err(error) if sqlite::is_corrupt(error.downcast_ref()) => Some("the database is corrupt".to_owned()),
            Err(error) => match error.downcast_ref::<Unavailable>() {
                // The text after the first colon may be confidential and is only logged.
                Some(Unavailable(reason)) => reason.split(':').next().map(str::to_owned),
                None => return,
            },
        };
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(Outcome { at: now, failure });
    }

    /// Returns `true` if a write completed less than [`OUTCOME_LIFETIME`] before `now`.
    pub(super) fn is_fresh(&self, now: Instant) -> bool {
        let outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        outcome.as_ref().is_some_and(|outcome| now.saturating_duration_since(outcome.at) < OUTCOME_LIFETIME)
    }

    /// Checks that the last write succeeded.
    ///
    /// # Errors
    /// Returns the reason for its failure, without confidential parts.
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
