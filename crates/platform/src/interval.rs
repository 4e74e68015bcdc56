//! Work that a running server does by itself, again and again.

use std::time::Duration;

use anyhow::Result;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// As [`every`], and also at once when somebody says that there is something to do.
pub async fn every_or_when<F>(
    pause: Duration,
    told: &Notify,
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
            drop(timeout(pause, told.notified()).await);
        }
    };
    draining.run_until_cancelled(rounds).await;
}

/// Does `work` now and after every `pause`, until the server drains; work that runs then is cut off, so it must be such
/// that it can be done again. A failure is logged under `failed`, and the next round may succeed.
pub async fn every<F>(pause: Duration, draining: &CancellationToken, failed: &str, work: impl Fn() -> F)
where
    F: Future<Output = Result<()>>,
{
    every_or_when(pause, &Notify::new(), draining, failed, work).await;
}
