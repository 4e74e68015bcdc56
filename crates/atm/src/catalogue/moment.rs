//! Queries of a catalogue snapshot at a fixed point in time.

use std::sync::Arc;

use jiff::Timestamp;
use signpost_locator::{AtmStatus, Distance, IndexMatch, OpenState, Point, StatusReport, status};

use super::facts::AtmFilter;
use super::hours::{EvaluatedHours, HoursNow};
use super::snapshot::{CatalogueEntry, Snapshot};

/// A snapshot of the catalogue at a fixed point in time. A request must use a single moment for its whole reply.
#[derive(Clone, Debug)]
pub struct Moment<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) evaluated_hours: Arc<EvaluatedHours>,
    pub(crate) now: Timestamp,
}

/// The next time when an ATM opens or closes, in local time (RFC 3339 with offset).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum NextOpening<'a> {
    OpensAt(&'a str),
    ClosesAt(&'a str),
}

impl Snapshot {
    /// Returns the catalogue at the time `now`.
    #[must_use]
    pub fn at(&self, now: Timestamp) -> Moment<'_> {
        Moment { snapshot: self, evaluated_hours: self.hours.at(now), now }
    }
}

impl<'a> Moment<'a> {
    /// Returns the time of this moment.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the time until which the status of all ATMs is valid, at most the end of the current minute.
    #[must_use]
    pub fn lasts_until(&self) -> Timestamp {
        let minute = self.now.as_second().div_euclid(60) + 1;
        let until = Timestamp::from_second(minute * 60).unwrap_or(Timestamp::MAX).min(self.evaluated_hours.until());
        self.snapshot.next_end().map_or(until, |end| until.min(end))
    }

    /// Returns the underlying snapshot.
    #[must_use]
    pub fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    /// Returns the status of an ATM with its reason.
    #[must_use]
    pub fn status(&self, entry: &CatalogueEntry) -> StatusReport<'a> {
        let report = status(&entry.atm.record, self.hours(entry).map(|hours| hours.opening), self.now);
        self.apply_bans(entry, self.apply_reports(entry, report))
    }

    /// Returns the next opening or closing time of an ATM with this status.
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

    /// Returns the `max` nearest ATMs within `radius` that are not gone and match `filter`, nearest first, then by ID.
    #[must_use]
    pub fn nearest(&self, from: Point, radius: Distance, max: usize, filter: &AtmFilter) -> Vec<IndexMatch> {
        self.snapshot.index.nearest(from, radius, max, self.predicate(filter))
    }

    /// Returns the `max` nearest of the ATMs that [`Moment::within`] returns, and their total number.
    #[must_use]
    pub fn nearest_and_count(
        &self,
        from: Point,
        radius: Distance,
        max: usize,
        filter: &AtmFilter,
    ) -> (Vec<IndexMatch>, usize) {
        // Fast path: most searches have no filter, and counting dominates their time.
        if filter.is_any() && !self.snapshot.reports.has_gone() {
            return self.snapshot.index.nearest_and_count(from, radius, max, |_| true);
        }
        self.snapshot.index.nearest_and_count(from, radius, max, self.predicate(filter))
    }

    /// Returns all ATMs within `radius` that are not gone and match `filter`, in no order.
    pub fn within(&self, from: Point, radius: Distance, filter: &AtmFilter) -> impl Iterator<Item = &CatalogueEntry> {
        let found = self.snapshot.index.within(from, radius, self.predicate(filter));
        found.into_iter().map(|at| self.snapshot.present_entry(at))
    }

    /// Returns a predicate for index positions: `true` if the ATM is not gone and matches `filter`.
    pub(super) fn predicate(&self, filter: &AtmFilter) -> impl Fn(u32) -> bool {
        let prepared = self.snapshot.coins.prepare(filter);
        let has_reports = !self.snapshot.reports.is_empty();
        move |at| {
            let facts = &self.snapshot.facts[at as usize];
            prepared.fits(facts, || &*self.snapshot.present_entry(at).atm.record, &self.evaluated_hours, self.now)
                && (!filter.open_now || !self.is_ban(facts.advice))
                && (!has_reports || !self.is_excluded_by_reports(at, filter))
        }
    }

    fn is_excluded_by_reports(&self, position: u32, filter: &AtmFilter) -> bool {
        let id = self.snapshot.present_entry(position).atm.id;
        let reports = &self.snapshot.reports;
        reports.is_gone(id) || filter.open_now && reports.is_doubted(id)
    }

    fn hours(&self, entry: &CatalogueEntry) -> Option<&HoursNow> {
        self.evaluated_hours.get(entry.hours?)
    }
}
