//! Notices that the catalogue or the place names changed, whichever program changed them.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use signpost_platform::interval::every_or_when;
use signpost_store::Store;
use tokio_util::sync::CancellationToken;

use super::live::{Catalogue, load};
use super::sql;

/// How often a running server looks. An import must be served within 5 s.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// Serves every new state of the catalogue until `draining`.
pub async fn watch(store: &Store, catalogue: &Arc<Catalogue>, draining: &CancellationToken) {
    // Where that fails, the state that is served stays.
    let reload = || reload_if_changed(store, catalogue);
    every_or_when(WATCH_INTERVAL, &catalogue.changed, draining, "could not reload the catalogue", reload).await;
}

async fn reload_if_changed(store: &Store, catalogue: &Arc<Catalogue>) -> Result<()> {
    let places = Arc::clone(catalogue);
    tokio::task::spawn_blocking(move || places.places.reload_if_changed()).await??;
    if sql::read_version(store).await? == catalogue.snapshot().version() {
        return Ok(());
    }
    let snapshot = load(store).await?;
    tracing::info!(version = snapshot.version(), atms = snapshot.len(), "catalogue reloaded");
    catalogue.replace(snapshot);
    Ok(())
}
