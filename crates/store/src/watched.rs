//! Versions of the watched tables. A write may use cached rows of these tables, if the thread that writes finds them
//! unchanged.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A version of the tables that a [`Schema`](crate::Schema) watches. It changes whenever they may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableVersion(u64);

/// The current version. Only the writer changes it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableVersionClock(Arc<AtomicU64>);

impl TableVersionClock {
    /// Returns the current version. Rows that are read afterwards are of this version or later.
    pub(crate) fn now(&self) -> TableVersion {
        TableVersion(self.0.load(Ordering::Acquire))
    }

    /// Begins another version. The change must be committed before; otherwise an old row could be read as a new row.
    pub(crate) fn advance(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}
