//! The time that a request waited for its turn at a rate limit. It is not part of the request's duration in the metrics,
//! because the server was not slow.

use std::cell::Cell;
use std::time::Duration;

tokio::task_local! {
    /// The time that the current request has waited for its turn.
    static WAITED: Cell<Duration>;
}

/// Adds a wait to the current request, if any.
pub fn add_turn_wait(wait: Duration) {
    let _no_request = WAITED.try_with(|waited| waited.set(waited.get() + wait));
}

/// Runs a request. Returns its result and the time that it waited for its turn.
pub(crate) async fn measure_turn_wait<T>(running: impl Future<Output = T>) -> (T, Duration) {
    let measured = async {
        let result = running.await;
        (result, WAITED.with(Cell::get))
    };
    WAITED.scope(Cell::default(), measured).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waits_are_added_per_request() {
        add_turn_wait(Duration::from_secs(9));
        let request = async {
            add_turn_wait(Duration::from_secs(1));
            tokio::task::yield_now().await;
            add_turn_wait(Duration::from_secs(2));
            "done"
        };
        let (waited, other) = tokio::join!(measure_turn_wait(request), measure_turn_wait(async {}));
        assert_eq!((waited, other), (("done", Duration::from_secs(3)), ((), Duration::ZERO)));
    }
}
