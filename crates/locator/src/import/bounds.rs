//! How much of a file is read, and for how long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::broken::Broken;

/// How much of a file is read. Reading takes time and memory in proportion to these, however long the file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most items in a document, and rows in a table; the reading ends at the first one more.
    pub items: usize,
    /// Most bytes of an item in a document.
    pub item_bytes: usize,
}

impl Default for Bounds {
    /// For a file of one's own.
    fn default() -> Self {
        Self { items: 10_000_000, item_bytes: 16 << 20 }
    }
}

impl Bounds {
    /// How many rows of a table are worth reading: the header, and one more than may be there, which shows that there
    /// are too many.
    pub(super) fn rows(self) -> usize {
        self.items.saturating_add(2)
    }
}

/// Ends a reading from another thread; its copies are one.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends what is read with it: soon, as [`Broken::Stopped`].
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Goes on only as long as nobody stopped it.
    ///
    /// # Errors
    /// [`Broken::Stopped`] once it was stopped.
    pub fn check(&self) -> Result<(), Broken> {
        if self.0.load(Ordering::Relaxed) { Err(Broken::Stopped) } else { Ok(()) }
    }
}
