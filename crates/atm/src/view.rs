//! What is shown of a machine, in whichever form: tools write it as JSON, pages as rows and cards. What it says is decided
//! here, once.

use std::borrow::Cow;

use jiff::Timestamp;
use signpost_locator::{AtmStatus, Freshness, Point, Record, StatusReport};

use crate::catalogue::{CatalogueEntry, MachineReports, Moment};

/// A machine at a moment.
#[derive(Clone, Debug)]
pub(crate) struct MachineView<'a> {
    pub(crate) entry: &'a CatalogueEntry,
    pub(crate) record: &'a Record,
    pub(crate) status: StatusReport<'a>,
    /// What people report of it.
    pub(crate) reports: Option<&'a MachineReports>,
}

impl<'a> MachineView<'a> {
    pub(crate) fn of(moment: &Moment<'a>, entry: &'a CatalogueEntry) -> Self {
        let (record, reports) = (&*entry.machine.record, moment.snapshot().reports(entry));
        Self { entry, record, status: moment.status(entry), reports }
    }

    /// Why it has its status, where that says more than the status does.
    pub(crate) fn reason(&self) -> Option<&'a str> {
        self.status.is_reasoned().then_some(self.status.reason.text())
    }

    /// The address on one line.
    pub(crate) fn address(&self) -> Cow<'a, str> {
        self.record.address.one_line().unwrap_or(Cow::Borrowed("address not known"))
    }

    /// When somebody last checked it, or else reported it.
    pub(crate) fn verified_at(&self) -> Option<Timestamp> {
        self.seen_there_at().or(self.record.verified_at).or(self.record.reported_at)
    }

    /// When people last reported that it is there, where no source has checked it since.
    pub(crate) fn seen_there_at(&self) -> Option<Timestamp> {
        let checked_at = self.record.verified_at.or(self.record.reported_at);
        self.reports.and_then(|reports| reports.verdict.verified_at).filter(|at| Some(*at) > checked_at)
    }

    /// How old the newest of all that is known is.
    pub(crate) fn freshness(&self, now: Timestamp) -> Freshness {
        Freshness::of(self.record.known_at().max(self.seen_there_at()), now)
    }

    /// Whether it is gone for good.
    pub(crate) fn is_gone(&self) -> bool {
        self.status.status == AtmStatus::PermanentlyClosed
    }

    /// Latitude and longitude as they are written.
    pub(crate) fn degrees(&self) -> [f64; 2] {
        degrees(self.record.point)
    }
}

/// Latitude and longitude to a tenth of a metre: what sources write behind that is noise.
pub(crate) fn degrees(point: Point) -> [f64; 2] {
    // Adding zero makes a positive zero of a negative one.
    [point.lat(), point.lon()].map(|degrees| (degrees * 1e6).round() / 1e6 + 0.0)
}
