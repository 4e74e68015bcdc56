//! Runs a single background check at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A guard of a running check that clears the flag when dropped.
#[derive(Debug)]
pub(super) struct RunningCheck(Arc<AtomicBool>);

impl RunningCheck {
    /// Starts a check. `None` if another check is running.
    pub(super) fn begin(is_running: &Arc<AtomicBool>) -> Option<Self> {
        (!is_running.swap(true, Ordering::AcqRel)).then(|| Self(Arc::clone(is_running)))
    }
}

impl Drop for RunningCheck {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn panicking_check_does_not_block_the_next() {
        let is_running = Arc::new(AtomicBool::new(false));
        let running = RunningCheck::begin(&is_running).unwrap();
        assert!(RunningCheck::begin(&is_running).is_none(), "one at a time");
        let panics = async move {
            let _running = running;
            panic!("of this test");
        };
        tokio::spawn(panics).await.unwrap_err();
        assert!(RunningCheck::begin(&is_running).is_some());
    }
}
