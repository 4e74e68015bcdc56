//! The ATM service: what its requests and jobs can reach.

use std::ops::Deref;
use std::sync::Arc;

use signpost_platform::Platform;

use super::catalogue::Catalogue;
use super::reports::Reports;
use super::settings::AtmSettings;

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
}
