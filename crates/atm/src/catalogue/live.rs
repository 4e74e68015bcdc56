//! The catalogue that is served.

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

/// The machines and the places; replaced whole, so that a search sees one state from beginning to end.
#[derive(Debug)]
pub struct Catalogue {
    snapshot: ArcSwap<Snapshot>,
    /// The place names behind free-text search.
    pub places: Places,
    /// What people are told of the law and of fraud.
    pub advisories: LiveAdvisories,
    /// Who is asked about what they do not know.
    pub geocoder: Option<Geocoder>,
    /// Wakes whoever watches for a new state.
    pub changed: Notify,
}

impl Catalogue {
    /// Reads the catalogue, and fills an empty one with fictional sample machines first.
    ///
    /// # Errors
    /// As [`Store::read`], [`Store::write`], [`Places::open`] and [`LiveAdvisories::open`].
    pub async fn open(
        store: &Store,
        clock: &Clock,
        data_dir: &Path,
        advisories: Option<&Path>,
        geocoder: Option<Geocoder>,
    ) -> Result<Self> {
        // First of all: it takes longest, and needs nothing of the others.
        let data_dir = data_dir.to_owned();
        let places = tokio::task::spawn_blocking(move || Places::open(&data_dir));
        let advisories = LiveAdvisories::open(advisories)?;
        sql::fill_with_sample(store, clock.now()).await?;
        let snapshot = load(store, clock.now()).await?;
        let places = places.await.context("could not read the place names")??;
        let snapshot = snapshot.advised(advisories.now(), &places.now());
        Ok(Self { snapshot: ArcSwap::from_pointee(snapshot), places, advisories, geocoder, changed: Notify::new() })
    }

    /// No machines and no places, for a server that does not find any.
    ///
    /// # Errors
    /// As [`Places::none`] and [`LiveAdvisories::open`].
    pub fn none() -> Result<Self> {
        let nothing = StoredCatalogue::default();
        let snapshot = ArcSwap::from_pointee(Snapshot::build(nothing));
        let (places, advisories) = (Places::none()?, LiveAdvisories::open(None)?);
        Ok(Self { snapshot, places, advisories, geocoder: None, changed: Notify::new() })
    }

    /// The machines as they are now. Hold it for one request, so that its parts fit together.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Serves the same machines with these reports from now on.
    pub(super) fn show_reports(&self, snapshot: Snapshot) {
        self.snapshot.store(Arc::new(snapshot));
    }

    /// Serves another snapshot from now on, under the advisories of now; searches that run keep theirs.
    pub fn replace(&self, snapshot: Snapshot) {
        let snapshot = snapshot.advised(self.advisories.now(), &self.places.now());
        self.snapshot.store(Arc::new(snapshot));
    }
}

/// The snapshot of what the database keeps now, with what people have reported until `now`.
///
/// # Errors
/// As [`Store::read`], or where a record or a report cannot be read.
pub async fn load(store: &Store, now: Timestamp) -> Result<Snapshot> {
    let stored = sql::read_catalogue(store).await?;
    // 40,000 records take a tenth of a second: too long to hold up the requests beside it.
    let built =
        tokio::task::spawn_blocking(|| Snapshot::build(stored)).await.context("could not build the catalogue")?;
    add_reports(built, store, now).await
}

/// The same machines with what people have reported until `now`.
///
/// # Errors
/// As [`Store::read`], or where a report cannot be read.
pub(super) async fn add_reports(snapshot: Snapshot, store: &Store, now: Timestamp) -> Result<Snapshot> {
    // A report between these reads leaves an old version beside new rows: the next look reads again.
    let version = reports::sql::read_version(store).await?;
    let rows = reports::sql::list_counting(store).await?;
    tokio::task::spawn_blocking(move || snapshot.reported(version, rows, now))
        .await
        .context("could not weigh the reports")
}
