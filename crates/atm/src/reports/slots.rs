//! A queue that serializes the storage of reports within a server process. Each report is compared with the existing
//! reports before it is written; without the queue, concurrent reports would invalidate each other's comparison.

use tokio::sync::{Mutex, MutexGuard, Semaphore, SemaphorePermit};

/// Maximum number of reports in the queue.
const MAX_WAITING: usize = 128;

/// The single slot for storing a report, and the queue of waiting reports.
#[derive(Debug)]
pub struct ReportSlots {
    places: Semaphore,
    slot: Mutex<()>,
}

/// Exclusive permission to store a report, released on drop.
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
    /// Waits for the slot. Returns `None` if the queue is full.
    pub async fn next(&self) -> Option<ReportSlot<'_>> {
        let place = self.places.try_acquire().ok()?;
        Some(ReportSlot { _slot: self.slot.lock().await, _place: place })
    }
}
