//! The ATM service: what its requests and jobs can reach.

use std::ops::Deref;
use std::sync::Arc;

use tokio::task::JoinHandle;

use super::catalogue::{self, Catalogue};
use super::feeds;
use super::settings::AtmSettings;
use super::submissions::Reports;
use crate::platform::Platform;

/// The ATM service. Cheap to clone; built once, when the server starts.
#[derive(Clone, Debug)]
pub struct AtmService(Arc<AtmParts>);

/// The parts of an [`AtmService`].
#[derive(Debug)]
pub struct AtmParts {
    /// What it shares with the other service.
    pub platform: Platform,
    /// The operator's decisions.
    pub settings: AtmSettings,
    /// The ATMs and the places.
    pub catalogue: Arc<Catalogue>,
    /// Operators' reports that are being read.
    pub reports: Reports,
}

impl Deref for AtmService {
    type Target = AtmParts;

    fn deref(&self) -> &AtmParts {
        &self.0
    }
}

impl Deref for AtmParts {
    type Target = Platform;

    fn deref(&self) -> &Platform {
        &self.platform
    }
}

impl AtmService {
    /// The service on a platform.
    #[must_use]
    pub fn new(platform: Platform, settings: AtmSettings, catalogue: Catalogue) -> Self {
        Self(Arc::new(AtmParts { platform, settings, catalogue: Arc::new(catalogue), reports: Reports::default() }))
    }
    /// Starts the work that a running server does by itself, until it drains.
    #[must_use]
    pub fn spawn_jobs(&self) -> [JoinHandle<()>; 2] {
        let watched = self.clone();
        let watch = async move { catalogue::watch(&watched.store, &watched.catalogue, &watched.draining).await };
        [tokio::spawn(feeds::run(self.clone())), tokio::spawn(watch)]
    }
}
