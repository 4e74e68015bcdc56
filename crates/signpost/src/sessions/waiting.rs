//! Requests that wait for a session to change.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::id::SessionId;

/// Most requests that wait in one process, and most of them for one session: whoever holds one page's secret must not
/// take all places.
const MOST: usize = 10_000;
const OF_ONE: usize = 100;

/// Who waits for which session in this process; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Waiting(Arc<Mutex<All>>);

#[derive(Debug, Default)]
struct All {
    sessions: HashMap<SessionId, Waited>,
    requests: usize,
}

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
    /// A place among those who wait for a session; `None` where too many wait already, for it or at all.
    #[must_use]
    pub fn take(&self, id: &SessionId) -> Option<Waiter> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.requests >= MOST {
            return None;
        }
        let entry = all.sessions.entry(id.clone()).or_default();
        if entry.by >= OF_ONE {
            return None;
        }
        entry.by += 1;
        let changed = Arc::clone(&entry.changed);
        all.requests += 1;
        Some(Waiter { all: self.clone(), id: id.clone(), changed })
    }

    /// Wakes all that wait for a session.
    pub fn wake(&self, id: &SessionId) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = all.sessions.get(id) {
            entry.changed.notify_waiters();
        }
    }

    /// How many requests wait.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).requests
    }

    /// How many sessions are waited for.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).sessions.len()
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
        let mut all = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.requests -= 1;
        if let Some(entry) = all.sessions.get_mut(&self.id) {
            entry.by -= 1;
            if entry.by == 0 {
                all.sessions.remove(&self.id);
            }
        }
    }
}
