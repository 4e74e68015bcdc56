//! The shared state of the ATM service for requests and background jobs.

use std::ops::Deref;
use std::sync::Arc;

use signpost_platform::Platform;

use super::catalogue::Catalogue;
use super::page_cache::PageCache;
use super::reports::slots::ReportSlots;
use super::settings::AtmSettings;
use super::submission_slots::SubmissionSlots;
use super::visitors::VisitorLookup;

/// A handle to the state of the ATM service, created once at server startup. Clones share the state.
#[derive(Clone, Debug)]
pub struct AtmService(Arc<AtmParts>);

/// The parts of an [`AtmService`].
#[derive(Debug)]
pub struct AtmParts {
    /// The state that is shared with the other services of the server.
    pub platform: Platform,
    /// The settings of the locator.
    pub settings: AtmSettings,
    /// The live catalogue of ATMs and place names.
    pub catalogue: Arc<Catalogue>,
    /// The slots for operators' submissions that are being received.
    pub submissions: SubmissionSlots,
    /// The cache of rendered pages.
    pub page_cache: PageCache,
    /// The queue for reports that are being stored.
    pub report_slots: ReportSlots,
    /// The lookup of signed-in visitors, if the server has logins.
    pub visitors: Option<Arc<dyn VisitorLookup>>,
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
    /// Creates the state of the ATM service.
    #[must_use]
    pub fn new(
        platform: Platform,
        settings: AtmSettings,
        catalogue: Catalogue,
        visitors: Option<Arc<dyn VisitorLookup>>,
    ) -> Self {
        Self(Arc::new(AtmParts {
            platform,
            settings,
            catalogue: Arc::new(catalogue),
            submissions: SubmissionSlots::default(),
            page_cache: PageCache::default(),
            report_slots: ReportSlots::default(),
            visitors,
        }))
    }
}
