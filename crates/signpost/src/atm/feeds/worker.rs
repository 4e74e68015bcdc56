//! Fetches the feeds that are due, as long as the server runs.

use std::time::Duration;

use anyhow::Result;

use super::{Feed, Synced, sql, sync};
use crate::atm::AtmService;
use crate::platform::interval::every;

/// How often a running server looks.
const EVERY: Duration = Duration::from_secs(10);

/// Fetches what is due until the server stops.
pub async fn run(app: AtmService) {
    // A fetch that is cut off is made again, and the same document changes nothing twice.
    every(EVERY, &app.draining, "the feeds could not be read", || look(&app)).await;
}

async fn look(app: &AtmService) -> Result<()> {
    let now = app.clock.now();
    let due = |feed: &Feed| feed.every.is_some() && feed.next_at <= now;
    for feed in sql::list(&app.store).await?.into_iter().filter(due) {
        let name = feed.name.clone();
        match sync(&app.store, &app.catalogue.places.now(), &app.outbound, feed, now, false).await {
            Ok(Synced::Unchanged) => tracing::info!(feed = name, "feed unchanged"),
            // The import has its own line.
            Ok(Synced::TakenOver { .. }) => {}
            Err(error) => tracing::warn!(feed = name, error = format!("{error:#}"), "could not import the feed"),
        }
    }
    Ok(())
}
