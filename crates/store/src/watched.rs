//! Versions of the watched tables. A write may depend on cached rows of these tables; it is refused
//! if they may have changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A version of the tables that a [`Schema`](crate::Schema) watches. It changes whenever the tables
/// may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableVersion(u64);

/// The clock of table versions. Only the writer advances it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableVersionClock(Arc<AtomicU64>);

impl TableVersionClock {
    /// Returns the current version. Rows that are read afterwards have this version or a later
    /// version.
    pub(crate) fn now(&self) -> TableVersion {
        TableVersion(self.0.load(Ordering::Acquire))
    }

    /// Starts the next version. The change must already be committed, because otherwise an old row
    /// could be cached as a new row.
    pub(crate) fn advance(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}
