//! Signing keys are replaced in time, and private ones erased that sign no more.

use std::time::Duration;

use signpost_platform::interval::every;

use crate::service::OpenidService;
use crate::signing_keys::making::keep_in_order;

/// How often a running server looks: far less than the day for which a key is published before it signs.
const LOOK_INTERVAL: Duration = Duration::from_hours(1);

/// Looks now and every hour, until the server stops.
pub async fn run(service: OpenidService) {
    let keep = || async {
        let made = keep_in_order(&service.store, &service.seal, service.clock.now()).await?;
        if made > 0 {
            tracing::info!(made, "made the next keys that sign ID tokens");
        }
        Ok(())
    };
    every(LOOK_INTERVAL, &service.draining, "could not rotate the keys that sign ID tokens", keep).await;
}
