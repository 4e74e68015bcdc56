//! Which state of a few tables was read. What a request knows of them from memory may go into a write, where the one thread
//! that writes finds them unchanged.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A state of the tables that a [`Schema`](crate::Schema) watches. It is another one whenever they may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchedVersion(u64);

/// The state as the writer knows it; everybody else only looks.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchedClock(Arc<AtomicU64>);

impl WatchedClock {
    /// The state now. Rows that are read after this are of this state or a later one.
    pub(crate) fn now(&self) -> WatchedVersion {
        WatchedVersion(self.0.load(Ordering::Acquire))
    }

    /// Begins another state. What changed must be committed by then, or an old row could be read as one of the new state.
    pub(crate) fn advance(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}
