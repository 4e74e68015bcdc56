//! A background task that reloads the catalogue, place names and advisories after another process has changed them.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use signpost_platform::clock::Clock;
use signpost_platform::interval::run_every_or_notified;
use signpost_store::Store;
use tokio_util::sync::CancellationToken;

use super::live::{Catalogue, add_reports, load};
use super::snapshot::Snapshot;
use super::sql;
use crate::reports;

/// Interval of the check for changes. The effect of an import must be visible within 5 s.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// Reloads the catalogue after each change until `draining` is cancelled. If a reload fails, the previous version stays
/// in use.
pub async fn watch(store: &Store, catalogue: &Arc<Catalogue>, clock: &Clock, draining: &CancellationToken) {
    run_every_or_notified(WATCH_INTERVAL, &catalogue.changed, draining, "could not reload the catalogue", || {
        reload_if_changed(store, catalogue, clock)
    })
    .await;
}

async fn reload_if_changed(store: &Store, catalogue: &Arc<Catalogue>, clock: &Clock) -> Result<()> {
    let files = Arc::clone(catalogue);
    tokio::task::spawn_blocking(move || {
        // An invalid advisories file must not prevent the other reloads.
        if let Err(error) = files.advisories.reload_if_changed() {
            tracing::warn!(error = error.to_string(), "could not reload the advisories");
        }
        files.places.reload_if_changed()
    })
    .await??;
    let version = sql::read_version(store).await?;
    let served = catalogue.snapshot();
    let is_current = served.version() == version && !served.is_outdated(clock.now());
    if is_current && served.advice.was_built_from(&catalogue.advisories.now()) {
        return reload_reports(store, catalogue, &served, clock).await;
    }
    let snapshot = load(store, clock.now()).await?;
    tracing::info!(version = snapshot.version(), atms = snapshot.len(), "catalogue reloaded");
    let catalogue = Arc::clone(catalogue);
    tokio::task::spawn_blocking(move || catalogue.replace(snapshot)).await?;
    Ok(())
}

/// Reloads only the reports and reuses the ATMs of the current snapshot, because reports change far more often.
async fn reload_reports(store: &Store, catalogue: &Catalogue, served: &Snapshot, clock: &Clock) -> Result<()> {
    let now = clock.now();
    if served.reports.is_current(reports::sql::read_version(store).await?, now) {
        return Ok(());
    }
    let snapshot = add_reports(served.clone(), store, now).await?;
    tracing::debug!(version = snapshot.reports.version, "reports reloaded");
    catalogue.snapshot.store(Arc::new(snapshot));
    Ok(())
}
