//! Runs background jobs at regular intervals.

use std::time::Duration;

use anyhow::Result;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Runs `work` periodically like [`run_every`], and also whenever `notified` is notified.
pub async fn run_every_or_notified<F>(
    pause: Duration,
    notified: &Notify,
    draining: &CancellationToken,
    failed: &str,
    work: impl Fn() -> F,
) where
    F: Future<Output = Result<()>>,
{
    let rounds = async {
        loop {
            if let Err(error) = work().await {
                tracing::warn!(error = format!("{error:#}"), "{failed}");
            }
            drop(timeout(pause, notified.notified()).await);
        }
    };
    draining.run_until_cancelled(rounds).await;
}

/// Runs `work` immediately and then after every `pause`, until the server drains. Draining cancels
/// running work, so an interrupted run must be safe to repeat. Errors are logged with the message
/// `failed`.
pub async fn run_every<F>(pause: Duration, draining: &CancellationToken, failed: &str, work: impl Fn() -> F)
where
    F: Future<Output = Result<()>>,
{
    run_every_or_notified(pause, &Notify::new(), draining, failed, work).await;
}
