//! One check at a time, of those that the console makes beside the requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Holds the word that a check runs, and takes it back however that check ends.
#[derive(Debug)]
pub(super) struct RunningCheck(Arc<AtomicBool>);

impl RunningCheck {
    /// None where another check runs.
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
    async fn a_check_that_panics_is_not_the_last() {
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
