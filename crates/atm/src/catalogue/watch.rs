//! Notices that the catalogue, the place names or the advisories changed, whichever program changed them.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use signpost_platform::clock::Clock;
use signpost_platform::interval::every_or_when;
use signpost_store::Store;
use tokio_util::sync::CancellationToken;

use super::live::{Catalogue, add_reports, load};
use super::snapshot::Snapshot;
use super::sql;
use crate::reports;

/// How often a running server looks. An import must be served within 5 s.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// Serves every new state of the catalogue until `draining`.
pub async fn watch(store: &Store, catalogue: &Arc<Catalogue>, clock: &Clock, draining: &CancellationToken) {
    // Where that fails, the state that is served stays.
    let reload = || reload_if_changed(store, catalogue, clock);
    every_or_when(WATCH_INTERVAL, &catalogue.changed, draining, "could not reload the catalogue", reload).await;
}

async fn reload_if_changed(store: &Store, catalogue: &Arc<Catalogue>, clock: &Clock) -> Result<()> {
    let files = Arc::clone(catalogue);
    tokio::task::spawn_blocking(move || {
        // A broken file of advisories holds up nothing else: the last good one is used on.
        if let Err(error) = files.advisories.reload_if_changed() {
            tracing::warn!(error = error.to_string(), "could not reload the advisories");
        }
        files.places.reload_if_changed()
    })
    .await??;
    let is_same = sql::read_version(store).await? == catalogue.snapshot().version();
    if is_same && catalogue.snapshot().is_under(&catalogue.advisories.now()) {
        return show_new_reports(store, catalogue, clock).await;
    }
    let snapshot = load(store, clock.now()).await?;
    tracing::info!(version = snapshot.version(), atms = snapshot.len(), "catalogue reloaded");
    let served = Arc::clone(catalogue);
    tokio::task::spawn_blocking(move || served.replace(snapshot)).await?;
    Ok(())
}

/// Reports come far more often than imports, and cost none.
async fn show_new_reports(store: &Store, catalogue: &Arc<Catalogue>, clock: &Clock) -> Result<()> {
    let (served, now) = (catalogue.snapshot(), clock.now());
    if served.has_reports_of(reports::sql::read_version(store).await?, now) {
        return Ok(());
    }
    let snapshot = add_reports(Snapshot::clone(&served), store, now).await?;
    tracing::debug!(version = snapshot.report_version(), "reports reloaded");
    catalogue.show_reports(snapshot);
    Ok(())
}
