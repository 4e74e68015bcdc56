//! The ATM service: what its requests and jobs can reach.

use std::ops::Deref;
use std::sync::Arc;

use signpost_platform::Platform;

use super::catalogue::Catalogue;
use super::reports::turns::ReportTurns;
use super::settings::AtmSettings;
use super::shelf::PageShelf;
use super::submission_slots::SubmissionSlots;
use super::visitors::VisitorLookup;

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
    /// Operators' submissions that are being read.
    pub submissions: SubmissionSlots,
    /// Pages that were made a moment ago.
    pub shelf: PageShelf,
    /// Whose report is being stored.
    pub report_turns: ReportTurns,
    /// Who is signed in, where people log in here.
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
    /// The service on a platform.
    #[must_use]
    pub fn new(
        platform: Platform,
        settings: AtmSettings,
        catalogue: Catalogue,
        visitors: Option<Arc<dyn VisitorLookup>>,
    ) -> Self {
        let (submissions, report_turns) = (SubmissionSlots::default(), ReportTurns::default());
        let shelf = PageShelf::default();
        Self(Arc::new(AtmParts {
            platform,
            settings,
            catalogue: Arc::new(catalogue),
            submissions,
            shelf,
            report_turns,
            visitors,
        }))
    }
}
