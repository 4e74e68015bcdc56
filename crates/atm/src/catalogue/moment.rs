//! The catalogue at one moment.

use std::sync::Arc;

use jiff::Timestamp;
use signpost_locator::{AtmStatus, Distance, Near, OpenState, Point, StatusReport, status};

use super::facts::AtmFilter;
use super::hours::{HoursBoard, HoursNow};
use super::snapshot::{CatalogueEntry, Snapshot};

/// A state of the catalogue at one moment. Hold it for one request, so that all of a reply is of that moment.
#[derive(Clone, Debug)]
pub struct Moment<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) board: Arc<HoursBoard>,
    pub(crate) now: Timestamp,
}

/// When a machine opens or closes next, on a clock there (RFC 3339 with its offset).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum NextOpening<'a> {
    OpensAt(&'a str),
    ClosesAt(&'a str),
}

impl Snapshot {
    /// The catalogue as it is at a moment, which decides what is open.
    #[must_use]
    pub fn at(&self, now: Timestamp) -> Moment<'_> {
        Moment { snapshot: self, board: self.hours.at(now), now }
    }
}

impl<'a> Moment<'a> {
    /// The moment.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Until when all that is said of machines stays the same, at the longest to the end of the minute that clocks show.
    #[must_use]
    pub fn lasts_until(&self) -> Timestamp {
        let minute = self.now.as_second().div_euclid(60) + 1;
        Timestamp::from_second(minute * 60).unwrap_or(Timestamp::MAX).min(self.board.until())
    }

    /// The state of the catalogue.
    #[must_use]
    pub fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    /// Whether a machine can be used, and why.
    #[must_use]
    pub fn status(&self, entry: &CatalogueEntry) -> StatusReport<'a> {
        let report = status(&entry.machine.record, self.hours(entry).map(|hours| hours.opening), self.now);
        self.under_law(entry, self.under_reports(entry, report))
    }

    /// When a machine of this status closes, or opens again.
    #[must_use]
    pub fn next_opening(&self, entry: &CatalogueEntry, status: AtmStatus) -> Option<NextOpening<'_>> {
        let hours = self.hours(entry)?;
        let changes_at = hours.changes_at.as_deref()?;
        match (status, hours.opening) {
            (AtmStatus::Open, Ok(OpenState::Open)) => Some(NextOpening::ClosesAt(changes_at)),
            (AtmStatus::Closed, Ok(OpenState::Closed)) => Some(NextOpening::OpensAt(changes_at)),
            _ => None,
        }
    }

    /// The `most` nearest machines within `radius` that are not gone and match `filter`, nearest first, then by id.
    #[must_use]
    pub fn nearest(&self, from: Point, radius: Distance, most: usize, filter: &AtmFilter) -> Vec<Near> {
        self.snapshot.index.nearest(from, radius, most, self.predicate(filter))
    }

    /// The `most` nearest of what [`Moment::within`] would return, and how many that is.
    #[must_use]
    pub fn nearest_and_count(
        &self,
        from: Point,
        radius: Distance,
        most: usize,
        filter: &AtmFilter,
    ) -> (Vec<Near>, usize) {
        // Most searches ask for nothing of the machines, and counting them all is most of such a search.
        if filter.is_any() && !self.snapshot.reports.has_gone() {
            return self.snapshot.index.nearest_and_count(from, radius, most, |_| true);
        }
        self.snapshot.index.nearest_and_count(from, radius, most, self.predicate(filter))
    }

    /// All machines within `radius` that are not gone and match `filter`, in no order.
    pub fn within(&self, from: Point, radius: Distance, filter: &AtmFilter) -> impl Iterator<Item = &CatalogueEntry> {
        let found = self.snapshot.index.within(from, radius, self.predicate(filter));
        found.into_iter().map(|at| self.snapshot.present_at(at))
    }

    pub(super) fn predicate(&self, filter: &AtmFilter) -> impl Fn(u32) -> bool {
        let prepared = self.snapshot.coins.prepare(filter);
        let record = |at| &*self.snapshot.present_at(at).machine.record;
        let reports = Some(&self.snapshot.reports).filter(|reports| !reports.is_empty());
        let is_reported = move |at: u32| {
            let id = self.snapshot.present_at(at).machine.id;
            reports.is_some_and(|reports| reports.is_gone(id) || filter.open_now && reports.is_doubted(id))
        };
        move |at| {
            let facts = &self.snapshot.facts[at as usize];
            prepared.fits(facts, || record(at), &self.board, self.now)
                && (!filter.open_now || !self.is_ban(facts.advice))
                && (reports.is_none() || !is_reported(at))
        }
    }

    fn hours(&self, entry: &CatalogueEntry) -> Option<&HoursNow> {
        self.board.get(entry.hours?)
    }
}
