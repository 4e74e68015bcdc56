//! CPU-bound work on threads that run no requests.

use anyhow::{Context, Result};
use signpost_locator::import::Stop;

/// Runs `work` on a thread for blocking work. Stops it when the returned future is dropped, because the request ended
/// or the server drains.
///
/// # Errors
/// If `work` panics.
pub async fn run<T: Send + 'static>(work: impl FnOnce(&Stop) -> T + Send + 'static) -> Result<T> {
    struct StopOnDrop(Stop);

    impl Drop for StopOnDrop {
        fn drop(&mut self) {
            self.0.stop();
        }
    }

    let stop = Stop::default();
    let _stop_on_drop = StopOnDrop(stop.clone());
    tokio::task::spawn_blocking(move || work(&stop)).await.context("the work was interrupted")
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
        let work = tokio::spawn(run(move |stop| {
            begun.send(()).unwrap();
            while stop.check().is_ok() {
                std::thread::yield_now();
            }
            ended.send(()).unwrap();
        }));
        begins.await.unwrap();
        work.abort();
        let ended = tokio::task::spawn_blocking(move || ends.recv_timeout(Duration::from_mins(1)));
        ended.await.unwrap().expect("it was told to stop");
    }

    #[tokio::test]
    async fn awaited_work_is_completed() {
        assert_eq!(run(|stop| stop.check().map(|()| 7)).await.unwrap(), Ok(7));
    }
}
