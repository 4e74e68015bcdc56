//! Requests waiting for a session to change.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use signpost_platform::accounts::Account;
use signpost_platform::limits::{Caller, Concurrent, Slot};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::ids::SessionId;

/// Most requests that wait in one process.
const MAX_WAITING: usize = 10_000;
/// Most of them for one session: whoever holds one page's secret must not take all places.
const MAX_PER_SESSION: usize = 100;
/// Most of them for sessions of one account: a quarter, so that no account takes the places of the others.
const MAX_PER_ACCOUNT: usize = MAX_WAITING / 4;
/// Most of those that come with a page's secret: anybody can open pages, and must not keep the account's own servers from
/// waiting.
const MAX_PAGES_PER_ACCOUNT: usize = 2000;
/// Most of these from one client address.
const MAX_PER_ADDRESS: usize = 64;

/// Who waits for which session in this process; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Waiters {
    all: Arc<Mutex<WaitersBySession>>,
    callers: Concurrent,
    /// The pages of each account.
    pages: Concurrent,
}

#[derive(Debug, Default)]
struct WaitersBySession {
    sessions: HashMap<SessionId, SessionWaiters>,
    requests: usize,
}

#[derive(Debug, Default)]
struct SessionWaiters {
    changed: Arc<Notify>,
    by: usize,
}

/// A place in the queue, given up when it is dropped.
#[derive(Debug)]
pub struct Waiter {
    waiting: Waiters,
    id: SessionId,
    changed: Arc<Notify>,
    _slots: [Option<Slot>; 3],
}

/// Why nobody more may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooManyWaiters {
    /// Too many wait in this process, or for this session.
    Everybody,
    /// Too many wait for sessions of this account, or pages for these, or from this client address: so many may.
    Caller(usize),
}

impl Waiters {
    /// A place among those who wait for a session of an account; `page` is the client address of one who came with the
    /// session's client secret.
    ///
    /// # Errors
    /// Where too many wait already.
    pub fn acquire(&self, id: &SessionId, account: &Account, page: Option<&Caller>) -> Result<Waiter, TooManyWaiters> {
        let slot = |all: &Concurrent, caller, most| all.acquire(caller, most).ok_or(TooManyWaiters::Caller(most));
        let of_address = page.map(|address| slot(&self.callers, address.clone(), MAX_PER_ADDRESS)).transpose()?;
        let of_pages = page.map(|_| slot(&self.pages, Caller::from(account), MAX_PAGES_PER_ACCOUNT)).transpose()?;
        let of_account = slot(&self.callers, Caller::from(account), MAX_PER_ACCOUNT)?;
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.requests >= MAX_WAITING {
            return Err(TooManyWaiters::Everybody);
        }
        let entry = all.sessions.entry(id.clone()).or_default();
        if entry.by >= MAX_PER_SESSION {
            return Err(TooManyWaiters::Everybody);
        }
        entry.by += 1;
        let changed = Arc::clone(&entry.changed);
        all.requests += 1;
        Ok(Waiter { waiting: self.clone(), id: id.clone(), changed, _slots: [Some(of_account), of_pages, of_address] })
    }

    /// Wakes all that wait for a session.
    pub fn wake(&self, id: &SessionId) {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = all.sessions.get(id) {
            entry.changed.notify_waiters();
        }
    }

    /// How many requests wait.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).requests
    }

    /// How many sessions are waited for.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).sessions.len()
    }

    /// Whether nobody waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Waiter {
    /// Ends when the session changes in this process. Ask before looking, so that no change falls between.
    pub fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut all = self.waiting.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.requests -= 1;
        if let Some(entry) = all.sessions.get_mut(&self.id) {
            entry.by -= 1;
            if entry.by == 0 {
                all.sessions.remove(&self.id);
            }
        }
    }
}
