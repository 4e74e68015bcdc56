//! The job that rotates the signing keys and erases retired private keys.

use std::time::Duration;

use anyhow::Result;
use signpost_platform::interval::run_every;

use crate::service::OpenidService;
use crate::signing_keys::creation::rotate_due_keys;

/// Interval of the job: much shorter than the day for which a key is published before it signs.
const CHECK_INTERVAL: Duration = Duration::from_hours(1);

/// Rotates due keys now and every hour, until the server drains.
pub async fn run(service: OpenidService) {
    let failed = "could not rotate the keys that sign ID tokens";
    run_every(CHECK_INTERVAL, &service.draining, failed, || rotate(&service)).await;
}

async fn rotate(service: &OpenidService) -> Result<()> {
    let made = rotate_due_keys(&service.store, &service.seal, service.clock.now()).await?;
    if made > 0 {
        tracing::info!(made, "made the next keys that sign ID tokens");
    }
    Ok(())
}
