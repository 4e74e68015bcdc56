//! Limits of an import.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::ImportError;

/// The limits of the size of a file, and so of the time and memory for reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum items in a document, or rows in a table.
    pub items: usize,
    /// Maximum bytes of an item in a document.
    pub item_bytes: usize,
    /// Maximum bytes of the content of a compressed file.
    pub unpacked_bytes: usize,
}

impl Default for Bounds {
    /// Returns the limits for a trusted file.
    fn default() -> Self {
        Self { items: 10_000_000, item_bytes: 16 << 20, unpacked_bytes: 1 << 30 }
    }
}

impl Bounds {
    /// Returns the maximum number of rows that are read of a table: the header, and one row above the limit, to detect
    /// that it is exceeded.
    pub(super) fn rows(self) -> usize {
        self.items.saturating_add(2)
    }
}

/// A flag that cancels an import from another thread. Clones share their state.
#[derive(Clone, Debug, Default)]
pub struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    /// Cancels the import, which soon fails with [`ImportError::Cancelled`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Checks that the import was not cancelled.
    ///
    /// # Errors
    /// [`ImportError::Cancelled`], if it was cancelled.
    pub fn check(&self) -> Result<(), ImportError> {
        if self.0.load(Ordering::Relaxed) { Err(ImportError::Cancelled) } else { Ok(()) }
    }
}
