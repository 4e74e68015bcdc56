//! Which reports of operators are being read: each takes memory and a processor for a while.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use signpost_platform::accounts::Account;
use signpost_platform::web::problem::Problem;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Most reports that one server takes in at once.
const MAX_REPORTS: usize = 8;
/// Most of these that are read and compared at once; the others wait with their bodies.
const MAX_READ_AT_ONCE: usize = 2;

/// The reports that a server takes in; its copies are one.
#[derive(Clone, Debug)]
pub struct Reports {
    accounts: Arc<Mutex<HashSet<Account>>>,
    turns: Arc<Semaphore>,
}

/// A report's place, given up when it is dropped.
#[derive(Debug)]
pub(crate) struct ReportSlot {
    reports: Reports,
    account: Account,
}

impl Default for Reports {
    fn default() -> Self {
        Self { accounts: Arc::default(), turns: Arc::new(Semaphore::new(MAX_READ_AT_ONCE)) }
    }
}

impl Reports {
    /// A place for a report of an account that has none.
    ///
    /// # Errors
    /// Where it has one, or too many are being read.
    pub(crate) fn begin(&self, account: &Account) -> Result<ReportSlot, Problem> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if accounts.contains(account) {
            return Err(Problem::TooManyAtOnce { limit: "reports", most: 1 });
        }
        if accounts.len() >= MAX_REPORTS {
            return Err(Problem::Unavailable(format!("{MAX_REPORTS} reports of ATMs are already being read")));
        }
        accounts.insert(account.clone());
        Ok(ReportSlot { reports: self.clone(), account: account.clone() })
    }

    /// How many are being taken in.
    #[must_use]
    pub fn running(&self) -> usize {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl ReportSlot {
    /// Waits until this report may be read, and lets the next one when that is dropped.
    pub(crate) async fn turn(&self) -> SemaphorePermit<'_> {
        self.reports.turns.acquire().await.expect("nobody closes the semaphore")
    }
}

impl Drop for ReportSlot {
    fn drop(&mut self) {
        let mut accounts = self.reports.accounts.lock().unwrap_or_else(PoisonError::into_inner);
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
        let reports = Reports::default();
        let first = reports.begin(&account("acme")).unwrap();
        assert!(matches!(reports.begin(&account("acme")), Err(Problem::TooManyAtOnce { .. })));
        let sandbox = Account { environment: Environment::Sandbox, ..account("acme") };
        let mut places = vec![reports.begin(&sandbox).unwrap()];
        places.extend((2..MAX_REPORTS).map(|number| reports.begin(&account(&number.to_string())).unwrap()));
        assert!(matches!(reports.begin(&account("late")), Err(Problem::Unavailable(_))));
        drop(first);
        assert_eq!(reports.running(), MAX_REPORTS - 1);
        reports.begin(&account("acme")).unwrap();
    }
}
