//! Whose turn it is to be stored: a report is compared with the others and then written, one after another, so that none
//! of this server makes another one's comparison void.

use tokio::sync::{Mutex, MutexGuard, Semaphore, SemaphorePermit};

/// How many reports may wait for their turn.
const WAITING: usize = 128;

/// The turns of a server.
#[derive(Debug)]
pub struct ReportTurns {
    places: Semaphore,
    turn: Mutex<()>,
}

/// A turn, which ends when it is dropped.
#[derive(Debug)]
pub struct ReportTurn<'a> {
    _turn: MutexGuard<'a, ()>,
    _place: SemaphorePermit<'a>,
}

impl Default for ReportTurns {
    fn default() -> Self {
        Self { places: Semaphore::new(WAITING), turn: Mutex::new(()) }
    }
}

impl ReportTurns {
    /// Waits for a turn. `None` where too many wait already.
    pub async fn next(&self) -> Option<ReportTurn<'_>> {
        let place = self.places.try_acquire().ok()?;
        Some(ReportTurn { _turn: self.turn.lock().await, _place: place })
    }
}
