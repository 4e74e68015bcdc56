//! Cancellable CPU-bound work on the blocking threads of the runtime.

use anyhow::{Context, Result};
use signpost_locator::import::CancelFlag;

/// Runs `work` on a blocking thread. The flag is set when the returned future is dropped, that is, when the request was
/// cancelled or the server drains.
///
/// # Errors
/// If `work` panics.
pub async fn run<T: Send + 'static>(work: impl FnOnce(&CancelFlag) -> T + Send + 'static) -> Result<T> {
    struct CancelOnDrop(CancelFlag);

    impl Drop for CancelOnDrop {
        fn drop(&mut self) {
            self.0.cancel();
        }
    }

    let cancel = CancelFlag::default();
    let _cancel_on_drop = CancelOnDrop(cancel.clone());
    tokio::task::spawn_blocking(move || work(&cancel)).await.context("the work was interrupted")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn work_ends_without_a_waiting_request() {
        let (begun, begins) = tokio::sync::oneshot::channel();
        let (ended, ends) = mpsc::channel();
        let work = tokio::spawn(run(move |cancel| {
            begun.send(()).unwrap();
            while cancel.check().is_ok() {
                std::thread::yield_now();
            }
            ended.send(()).unwrap();
        }));
        begins.await.unwrap();
        work.abort();
        let ended = tokio::task::spawn_blocking(move || ends.recv_timeout(Duration::from_mins(1)));
        ended.await.unwrap().expect("it stops");
    }

    #[tokio::test]
    async fn awaited_work_is_completed() {
        assert_eq!(run(|cancel| cancel.check().map(|()| 7)).await.unwrap(), Ok(7));
    }
}
