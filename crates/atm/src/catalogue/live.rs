//! The live catalogue: the current snapshot of the ATMs, with the place names, advisories and geocoder for requests.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use arc_swap::ArcSwap;
use jiff::Timestamp;
use signpost_platform::clock::Clock;
use signpost_store::Store;
use tokio::sync::Notify;

use super::snapshot::Snapshot;
use super::sql::{self, StoredCatalogue};
use crate::advisories::LiveAdvisories;
use crate::places::Places;
use crate::places::geocoder::Geocoder;
use crate::reports;

/// The data for all requests: the current snapshot of the ATMs, the place names, and the advisories.
#[derive(Debug)]
pub struct Catalogue {
    pub(super) snapshot: ArcSwap<Snapshot>,
    /// The place names for free-text searches.
    pub places: Places,
    /// The advisories about the law and about fraud.
    pub advisories: LiveAdvisories,
    /// The external geocoder for texts that the place names do not contain.
    pub geocoder: Option<Geocoder>,
    /// Wakes [`watch`](super::watch()) after a change by this process.
    pub changed: Notify,
}

impl Catalogue {
    /// Loads the catalogue from the database. An empty database is filled with fictional sample ATMs first.
    ///
    /// # Errors
    /// The errors of [`Store::read`], [`Store::write`], [`Places::open`] and [`LiveAdvisories::open`].
    pub async fn open(
        store: &Store,
        clock: &Clock,
        data_dir: &Path,
        advisories: Option<&Path>,
        geocoder: Option<Geocoder>,
    ) -> Result<Self> {
        // Started first, because reading the place names is the slowest step and independent of the others.
        let data_dir = data_dir.to_owned();
        let places = tokio::task::spawn_blocking(move || Places::open(&data_dir));
        let advisories = LiveAdvisories::open(advisories)?;
        sql::fill_with_sample(store, clock.now()).await?;
        let snapshot = load(store, clock.now()).await?;
        let places = places.await.context("could not read the place names")??;
        let snapshot = snapshot.with_advisories(advisories.now(), &places.now());
        Ok(Self { snapshot: ArcSwap::from_pointee(snapshot), places, advisories, geocoder, changed: Notify::new() })
    }

    /// Creates an empty catalogue for a server without the ATM service.
    ///
    /// # Errors
    /// The errors of [`Places::none`] and [`LiveAdvisories::open`].
    pub fn none() -> Result<Self> {
        Ok(Self {
            snapshot: ArcSwap::from_pointee(Snapshot::build(StoredCatalogue::default())),
            places: Places::none()?,
            advisories: LiveAdvisories::open(None)?,
            geocoder: None,
            changed: Notify::new(),
        })
    }

    /// Returns the current snapshot of the ATMs. A request must use a single snapshot for its reply.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Adds the current advisories to a new snapshot and makes it the current snapshot. Running requests continue to
    /// use the previous snapshot.
    pub fn replace(&self, snapshot: Snapshot) {
        let snapshot = snapshot.with_advisories(self.advisories.now(), &self.places.now());
        self.snapshot.store(Arc::new(snapshot));
    }
}

/// Reads the catalogue from the database and weighs its reports at the time `now`. ATMs with an end date up to `now`
/// are permanently closed.
///
/// # Errors
/// The errors of [`Store::read`], or if a record or a report cannot be read.
pub async fn load(store: &Store, now: Timestamp) -> Result<Snapshot> {
    let stored = sql::read_catalogue(store, now).await?;
    // Building a snapshot of 40,000 records would block a thread of the async runtime for 100 ms.
    let built =
        tokio::task::spawn_blocking(|| Snapshot::build(stored)).await.context("could not build the catalogue")?;
    add_reports(built, store, now).await
}

/// Replaces the reports of a snapshot by those in the database, weighed at the time `now`.
///
/// # Errors
/// The errors of [`Store::read`], or if a report cannot be read.
pub(super) async fn add_reports(snapshot: Snapshot, store: &Store, now: Timestamp) -> Result<Snapshot> {
    // If a report is stored between these reads, the version is outdated and the next check reloads the reports.
    let version = reports::sql::read_version(store).await?;
    let rows = reports::sql::list_counting(store).await?;
    tokio::task::spawn_blocking(move || snapshot.with_reports(version, rows, now))
        .await
        .context("could not weigh the reports")
}
