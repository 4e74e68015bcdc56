//! Stores reports sequentially: each is compared with the others and then written, so that no report of this server
//! invalidates another's comparison.

use tokio::sync::{Mutex, MutexGuard, Semaphore, SemaphorePermit};

/// Maximum reports that wait for their slot.
const MAX_WAITING: usize = 128;

/// The slot for storing a report, and its queue.
#[derive(Debug)]
pub struct ReportSlots {
    places: Semaphore,
    slot: Mutex<()>,
}

/// The slot of a report, released on drop.
#[derive(Debug)]
pub struct ReportSlot<'a> {
    _slot: MutexGuard<'a, ()>,
    _place: SemaphorePermit<'a>,
}

impl Default for ReportSlots {
    fn default() -> Self {
        Self { places: Semaphore::new(MAX_WAITING), slot: Mutex::new(()) }
    }
}

impl ReportSlots {
    /// Waits for the slot. `None` if too many reports wait already.
    pub async fn next(&self) -> Option<ReportSlot<'_>> {
        let place = self.places.try_acquire().ok()?;
        Some(ReportSlot { _slot: self.slot.lock().await, _place: place })
    }
}
