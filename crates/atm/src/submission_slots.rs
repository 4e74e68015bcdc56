//! Limits for the concurrent submissions of operators. Each submission occupies memory and a thread for a while.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use signpost_platform::accounts::Account;
use signpost_platform::clock::Clock;
use signpost_platform::limits::Caller;
use signpost_platform::web::problem::Problem;
use signpost_platform::web::receive_slots::{ReceiveLimits, ReceiveSlot, ReceiveSlots, SlotsFull};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Maximum number of submissions that a server receives concurrently: in total, per account, and per client address if
/// others wait. The minimum transfer rate is in bytes per second.
const RECEIVE_LIMITS: ReceiveLimits = ReceiveLimits { slots: 8, per_owner: 1, per_address: 4, min_rate: 4 * 1024 };
/// Maximum number of submissions that are parsed concurrently. Others wait with their received bodies.
const MAX_CONCURRENT_PARSES: usize = 2;

/// The slots for the submissions that a server receives. Clones share their state.
#[derive(Clone, Debug)]
pub struct SubmissionSlots {
    slots: ReceiveSlots,
    parse_permits: Arc<Semaphore>,
}

/// The slot of a submission, released on drop.
#[derive(Debug)]
pub(crate) struct SubmissionSlot {
    slot: ReceiveSlot,
    parse_permits: Arc<Semaphore>,
}

impl Default for SubmissionSlots {
    fn default() -> Self {
        Self {
            slots: ReceiveSlots::new(RECEIVE_LIMITS),
            parse_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_PARSES)),
        }
    }
}

impl SubmissionSlots {
    /// Acquires a slot for a submission of an account. If no slot is free, the submission with the slowest body is
    /// aborted.
    ///
    /// # Errors
    /// If the account already has a slot, or if no slot is free and no submission may be aborted.
    pub(crate) fn begin(
        &self,
        account: &Account,
        address: Caller,
        elapsed: Duration,
    ) -> Result<SubmissionSlot, Problem> {
        let owner = format!("{} {}", account.environment.as_str(), account.name);
        let slot = self.slots.begin(owner, address, elapsed).map_err(|full| match full {
            SlotsFull::Owner => Problem::TooManyAtOnce { limit: "reports", max: RECEIVE_LIMITS.per_owner },
            SlotsFull::All => {
                Problem::Unavailable(format!("{} submissions of ATMs are already being read", RECEIVE_LIMITS.slots))
            }
        })?;
        Ok(SubmissionSlot { slot, parse_permits: Arc::clone(&self.parse_permits) })
    }

    /// Returns the number of submissions that are being received.
    #[must_use]
    pub fn running(&self) -> usize {
        self.slots.in_use()
    }
}

impl SubmissionSlot {
    /// Receives the body of a request with `receive`, within the limits of the slot.
    ///
    /// # Errors
    /// The errors of `receive`, or [`Problem::Unavailable`] if the body arrives too slowly.
    pub(crate) async fn receive<T, F>(
        &self,
        clock: &Clock,
        request: Request,
        receive: impl FnOnce(Request) -> F,
    ) -> Result<T, Problem>
    where
        F: Future<Output = Result<T, Problem>>,
    {
        let received = self.slot.receive(clock, receive(self.slot.count(request))).await;
        received.unwrap_or_else(|end| Err(Problem::Unavailable(format!("a submission of ATMs: {end}"))))
    }

    /// Waits until this submission may be parsed. Dropping the permit allows the next submission to be parsed.
    pub(crate) async fn turn(&self) -> SemaphorePermit<'_> {
        self.parse_permits.acquire().await.expect("the semaphore is never closed")
    }
}

#[cfg(test)]
mod tests {
    use signpost_platform::accounts::Environment;

    use super::*;

    #[test]
    fn account_has_one_slot_per_environment() {
        let slots = SubmissionSlots::default();
        let begin =
            |environment| slots.begin(&Account { name: "acme".to_owned(), environment }, Caller::All, Duration::ZERO);
        let first = begin(Environment::Live).unwrap();
        assert!(matches!(begin(Environment::Live), Err(Problem::TooManyAtOnce { max: 1, .. })));
        let sandbox = begin(Environment::Sandbox).unwrap();
        drop(first);
        assert_eq!(slots.running(), 1);
        drop((begin(Environment::Live).unwrap(), sandbox));
        assert_eq!(slots.running(), 0);
    }
}
