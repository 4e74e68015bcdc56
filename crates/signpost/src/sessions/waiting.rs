//! Requests that wait for a session to change.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::id::SessionId;

/// Most requests that wait in one process.
const MOST: usize = 10_000;

/// Who waits for which session in this process; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Waiting(Arc<Mutex<HashMap<SessionId, Waited>>>);

#[derive(Debug, Default)]
struct Waited {
    changed: Arc<Notify>,
    by: usize,
}

/// A place in the queue, given up when it is dropped.
#[derive(Debug)]
pub struct Waiter {
    all: Waiting,
    id: SessionId,
    changed: Arc<Notify>,
}

impl Waiting {
    /// A place among those who wait for a session; `None` where too many wait already.
    #[must_use]
    pub fn take(&self, id: &SessionId) -> Option<Waiter> {
        let mut waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waited.values().map(|entry| entry.by).sum::<usize>() >= MOST {
            return None;
        }
        let entry = waited.entry(id.clone()).or_default();
        entry.by += 1;
        Some(Waiter { all: self.clone(), id: id.clone(), changed: Arc::clone(&entry.changed) })
    }

    /// Wakes all that wait for a session.
    pub fn wake(&self, id: &SessionId) {
        let waited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = waited.get(id) {
            entry.changed.notify_waiters();
        }
    }

    /// How many sessions are waited for.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
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
        let mut waited = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = waited.get_mut(&self.id) {
            entry.by -= 1;
            if entry.by == 0 {
                waited.remove(&self.id);
            }
        }
    }
}
