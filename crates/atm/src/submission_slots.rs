//! Which submissions of operators are being read: each takes memory and a processor for a while.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use signpost_platform::accounts::Account;
use signpost_platform::web::problem::Problem;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Most submissions that one server takes in at once.
const MAX_SUBMISSIONS: usize = 8;
/// Most of these that are read and compared at once; the others wait with their bodies.
const MAX_READ_AT_ONCE: usize = 2;

/// The submissions that a server takes in; its copies are one.
#[derive(Clone, Debug)]
pub struct SubmissionSlots {
    accounts: Arc<Mutex<HashSet<Account>>>,
    turns: Arc<Semaphore>,
}

/// A submission's place, given up when it is dropped.
#[derive(Debug)]
pub(crate) struct SubmissionSlot {
    slots: SubmissionSlots,
    account: Account,
}

impl Default for SubmissionSlots {
    fn default() -> Self {
        Self { accounts: Arc::default(), turns: Arc::new(Semaphore::new(MAX_READ_AT_ONCE)) }
    }
}

impl SubmissionSlots {
    /// A place for a submission of an account that has none.
    ///
    /// # Errors
    /// Where it has one, or too many are being read.
    pub(crate) fn begin(&self, account: &Account) -> Result<SubmissionSlot, Problem> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if accounts.contains(account) {
            return Err(Problem::TooManyAtOnce { limit: "reports", most: 1 });
        }
        if accounts.len() >= MAX_SUBMISSIONS {
            return Err(Problem::Unavailable(format!("{MAX_SUBMISSIONS} submissions of ATMs are already being read")));
        }
        accounts.insert(account.clone());
        Ok(SubmissionSlot { slots: self.clone(), account: account.clone() })
    }

    /// How many are being taken in.
    #[must_use]
    pub fn running(&self) -> usize {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl SubmissionSlot {
    /// Waits until this submission may be read, and lets the next one when that is dropped.
    pub(crate) async fn turn(&self) -> SemaphorePermit<'_> {
        self.slots.turns.acquire().await.expect("nobody closes the semaphore")
    }
}

impl Drop for SubmissionSlot {
    fn drop(&mut self) {
        let mut accounts = self.slots.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.remove(&self.account);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signpost_platform::accounts::Environment;

    fn account(name: &str) -> Account {
        Account { name: name.to_owned(), environment: Environment::Live }
    }

    #[test]
    fn an_account_has_one_place_and_all_have_a_few() {
        let slots = SubmissionSlots::default();
        let first = slots.begin(&account("acme")).unwrap();
        assert!(matches!(slots.begin(&account("acme")), Err(Problem::TooManyAtOnce { .. })));
        let sandbox = Account { environment: Environment::Sandbox, ..account("acme") };
        let mut places = vec![slots.begin(&sandbox).unwrap()];
        places.extend((2..MAX_SUBMISSIONS).map(|number| slots.begin(&account(&number.to_string())).unwrap()));
        assert!(matches!(slots.begin(&account("late")), Err(Problem::Unavailable(_))));
        drop(first);
        assert_eq!(slots.running(), MAX_SUBMISSIONS - 1);
        slots.begin(&account("acme")).unwrap();
    }
}
