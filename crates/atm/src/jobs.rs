//! Work that a running server does by itself: fetches the feeds that are due, and loads a catalogue that changed.

use std::time::Duration;

use anyhow::Result;
use signpost_platform::interval::every;
use tokio::task::JoinHandle;

use super::catalogue;
use super::feeds::{Feed, Synced, sql, sync};
use crate::reports;
use crate::service::AtmService;

/// How often a running server looks.
const LOOK_INTERVAL: Duration = Duration::from_secs(10);

/// How often addresses and old reports are swept.
const SWEEP_INTERVAL: Duration = Duration::from_mins(10);

/// Starts all of it, until the server drains.
#[must_use]
pub fn spawn_all(atm: &AtmService) -> [JoinHandle<()>; 3] {
    let watched = atm.clone();
    let watch =
        async move { catalogue::watch(&watched.store, &watched.catalogue, &watched.clock, &watched.draining).await };
    [tokio::spawn(run_feeds(atm.clone())), tokio::spawn(watch), tokio::spawn(sweep_reports(atm.clone()))]
}

/// Forgets addresses and old reports until the server stops.
async fn sweep_reports(service: AtmService) {
    let sweep = || reports::sql::sweep(&service.store, service.clock.now());
    every(SWEEP_INTERVAL, &service.draining, "could not sweep the reports", sweep).await;
}

/// Fetches what is due until the server stops.
async fn run_feeds(service: AtmService) {
    // A fetch that is cut off is made again, and the same document changes nothing twice.
    every(LOOK_INTERVAL, &service.draining, "could not fetch the feeds", || sync_due(&service)).await;
}

async fn sync_due(service: &AtmService) -> Result<()> {
    let now = service.clock.now();
    let due = |feed: &Feed| feed.every.is_some() && feed.may_be_fetched(now);
    for feed in sql::list(&service.store).await?.into_iter().filter(due) {
        let name = feed.name.clone();
        match sync(&service.store, &service.catalogue.places.now(), &service.outbound, feed, now, false).await {
            Ok(Synced::Unchanged) => tracing::info!(feed = name, "feed unchanged"),
            // The import has its own line.
            Ok(Synced::TakenOver { .. }) => {}
            Err(error) => tracing::warn!(feed = name, error = format!("{error:#}"), "could not import the feed"),
        }
    }
    Ok(())
}
