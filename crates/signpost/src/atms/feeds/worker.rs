//! Fetches the feeds that are due, as long as the server runs.

use std::time::Duration;

use anyhow::Result;

use super::{Feed, Synced, sync};
use crate::app::App;

/// How often a running server looks.
const EVERY: Duration = Duration::from_secs(10);

/// Fetches what is due until the server stops.
pub async fn run(app: App) {
    loop {
        tokio::select! {
            () = app.draining.cancelled() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
        let looked = tokio::select! {
            // A fetch that is cut off changed nothing: it is made again.
            () = app.draining.cancelled() => return,
            looked = look(&app) => looked,
        };
        if let Err(error) = looked {
            tracing::warn!(error = format!("{error:#}"), "the feeds could not be read");
        }
    }
}

async fn look(app: &App) -> Result<()> {
    let now = app.clock.now();
    let due = |feed: &Feed| feed.every.is_some() && feed.next_at <= now;
    for feed in app.store.feeds().await?.into_iter().filter(due) {
        let name = feed.name.clone();
        match sync(&app.store, &app.catalogue.places.now(), &app.outbound, feed, now, false).await {
            Ok(Synced::Unchanged) => tracing::info!(feed = name, "nothing changed"),
            Ok(Synced::TakenOver { changes, .. }) => tracing::info!(feed = name, ?changes, "taken over"),
            Err(error) => tracing::warn!(feed = name, error = format!("{error:#}"), "not taken over"),
        }
    }
    Ok(())
}
