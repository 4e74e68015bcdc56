//! Tracks requests that wait for a session to change, and limits their number.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use signpost_platform::accounts::Account;
use signpost_platform::limits::{Caller, CallerSlots, Slot};
use signpost_platform::web::problem::Problem;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::ids::SessionId;

/// Maximum waiting requests in a process.
const MAX_WAITING: usize = 10_000;
/// Maximum waiting requests for a session, so that a client secret cannot occupy all places.
const MAX_PER_SESSION: usize = 100;
/// Maximum waiting requests for the sessions of an account.
const MAX_PER_ACCOUNT: usize = MAX_WAITING / 4;
/// Maximum waiting requests with client secrets for an account. Pages are public and must not prevent the account's
/// servers from waiting.
const MAX_PAGES_PER_ACCOUNT: usize = 2000;
/// Maximum waiting requests with client secrets from a client IP.
const MAX_PER_ADDRESS: usize = 64;

/// The waiting requests of this process; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Waiters {
    all: Arc<Mutex<WaitersBySession>>,
    callers: CallerSlots,
    /// The requests with client secrets, by account.
    pages: CallerSlots,
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

/// A slot for a waiting request. It is released on drop.
#[derive(Debug)]
pub struct Waiter {
    waiting: Waiters,
    id: SessionId,
    changed: Arc<Notify>,
    _slots: Vec<Slot>,
}

/// The limit that prevents a request from waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooManyWaiters {
    /// The limit of this process or of this session.
    Server,
    /// This limit of the account, of its pages or of the client IP.
    Client(usize),
}

impl From<TooManyWaiters> for Problem {
    fn from(error: TooManyWaiters) -> Self {
        match error {
            TooManyWaiters::Server => Self::Unavailable("too many requests are waiting for sessions".to_owned()),
            TooManyWaiters::Client(max) => Self::TooManyAtOnce { limit: "waiting", max },
        }
    }
}

impl Waiters {
    /// Acquires a place for a request that waits for a session of an account. `page` is the client IP of a request with
    /// the session's client secret.
    ///
    /// # Errors
    /// Returns [`TooManyWaiters`] if a limit is reached.
    pub fn acquire(&self, id: &SessionId, account: &Account, page: Option<&Caller>) -> Result<Waiter, TooManyWaiters> {
        let mut slots = Vec::new();
        if let Some(address) = page {
            slots.push(acquire_slot(&self.callers, address.clone(), MAX_PER_ADDRESS)?);
            slots.push(acquire_slot(&self.pages, Caller::from(account), MAX_PAGES_PER_ACCOUNT)?);
        }
        slots.push(acquire_slot(&self.callers, Caller::from(account), MAX_PER_ACCOUNT)?);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.requests >= MAX_WAITING {
            return Err(TooManyWaiters::Server);
        }
        let entry = all.sessions.entry(id.clone()).or_default();
        if entry.by >= MAX_PER_SESSION {
            return Err(TooManyWaiters::Server);
        }
        entry.by += 1;
        let changed = Arc::clone(&entry.changed);
        all.requests += 1;
        Ok(Waiter { waiting: self.clone(), id: id.clone(), changed, _slots: slots })
    }

    /// Wakes all requests that wait for a session.
    pub fn wake(&self, id: &SessionId) {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = all.sessions.get(id) {
            entry.changed.notify_waiters();
        }
    }

    /// Returns the number of waiting requests.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).requests
    }

    /// Returns the number of sessions with waiting requests.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).sessions.len()
    }
}

fn acquire_slot(slots: &CallerSlots, caller: Caller, max: usize) -> Result<Slot, TooManyWaiters> {
    slots.acquire(caller, max).ok_or(TooManyWaiters::Client(max))
}

impl Waiter {
    /// Completes when the session changes in this process. Call it before reading the session, so that no change is
    /// missed.
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
