//! The view of an ATM at a time, for the JSON of tools and the rows and cards of pages.

use std::borrow::Cow;

use jiff::Timestamp;
use signpost_locator::{AtmStatus, Freshness, Point, Record, StatusReport};

use crate::catalogue::{AtmReports, CatalogueEntry, Moment, UnlistedAtm};

/// The view of an ATM at a time.
#[derive(Clone, Debug)]
pub(crate) struct AtmView<'a> {
    pub(crate) entry: &'a CatalogueEntry,
    pub(crate) record: &'a Record,
    pub(crate) status: StatusReport<'a>,
    /// The reports about the ATM.
    pub(crate) reports: Option<&'a AtmReports>,
}

impl<'a> AtmView<'a> {
    pub(crate) fn of(moment: &Moment<'a>, entry: &'a CatalogueEntry) -> Self {
        Self {
            entry,
            record: &entry.atm.record,
            status: moment.status(entry),
            reports: moment.snapshot().reports(entry),
        }
    }

    /// Returns the view of an ATM that its source no longer lists.
    pub(crate) fn of_unlisted(atm: &'a UnlistedAtm) -> Self {
        Self { entry: &atm.entry, record: &atm.entry.atm.record, status: UnlistedAtm::STATUS, reports: None }
    }

    /// Returns the reason for the status, if it adds to the status.
    pub(crate) fn reason(&self) -> Option<&'a str> {
        self.status.has_reason().then_some(self.status.reason.text())
    }

    /// Returns the address on one line.
    pub(crate) fn address(&self) -> Cow<'a, str> {
        self.record.address.one_line().unwrap_or(Cow::Borrowed("address not known"))
    }

    /// Returns when the ATM was last checked, or else reported.
    pub(crate) fn verified_at(&self) -> Option<Timestamp> {
        self.confirmed_at().or(self.record.verified_at).or(self.record.reported_at)
    }

    /// Returns when a report last confirmed the ATM, unless a source has checked it since.
    pub(crate) fn confirmed_at(&self) -> Option<Timestamp> {
        let checked_at = self.record.verified_at.or(self.record.reported_at);
        self.reports.and_then(|reports| reports.verdict.verified_at).filter(|at| Some(*at) > checked_at)
    }

    /// Returns the freshness of the newest information.
    pub(crate) fn freshness(&self, now: Timestamp) -> Freshness {
        Freshness::of(self.entry.atm.known_at().max(self.confirmed_at()), now)
    }

    /// Returns `true` if the ATM is permanently closed.
    pub(crate) fn is_gone(&self) -> bool {
        self.status.status == AtmStatus::PermanentlyClosed
    }

    /// Returns latitude and longitude for output.
    pub(crate) fn degrees(&self) -> [f64; 2] {
        degrees(self.record.point)
    }
}

/// Returns latitude and longitude rounded to 0.1 m, the precision of sources.
pub(crate) fn degrees(point: Point) -> [f64; 2] {
    // Adding zero makes a negative zero positive.
    [point.lat(), point.lon()].map(|degrees| (degrees * 1e6).round() / 1e6 + 0.0)
}
