//! The ATM service: the state that its requests and jobs share.

use std::ops::Deref;
use std::sync::Arc;

use signpost_platform::Platform;

use super::catalogue::Catalogue;
use super::page_cache::PageCache;
use super::reports::slots::ReportSlots;
use super::settings::AtmSettings;
use super::submission_slots::SubmissionSlots;
use super::visitors::VisitorLookup;

/// The ATM service. Created once, when the server starts; clones share their state.
#[derive(Clone, Debug)]
pub struct AtmService(Arc<AtmParts>);

/// The parts of an [`AtmService`].
#[derive(Debug)]
pub struct AtmParts {
    /// The state that all services share.
    pub platform: Platform,
    /// The settings.
    pub settings: AtmSettings,
    /// The ATMs and the place names.
    pub catalogue: Arc<Catalogue>,
    /// The submissions of operators that are being read.
    pub submissions: SubmissionSlots,
    /// The cache of rendered pages.
    pub page_cache: PageCache,
    /// The slots for reports that are being stored.
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
    /// Creates the service.
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
