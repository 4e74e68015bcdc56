//! The catalogue at one moment.

use std::sync::Arc;

use jiff::Timestamp;
use signpost_locator::{AtmStatus, Distance, Near, OpenState, Point, StatusReport, status};

use super::Wanted;
use super::snapshot::{Entry, Snapshot};
use super::timetable::{Answer, Board};

/// A state of the catalogue at one moment. Hold it for one request, so that all of a reply is of that moment.
#[derive(Clone, Debug)]
pub struct Moment<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) board: Arc<Board>,
    pub(crate) now: Timestamp,
}

/// When a machine opens or closes next, on a clock there (RFC 3339 with its offset).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Change<'a> {
    OpensAt(&'a str),
    ClosesAt(&'a str),
}

impl Moment<'_> {
    /// The moment.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The state of the catalogue.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        self.snapshot
    }

    /// Whether a machine can be used, and why.
    #[must_use]
    pub fn status(&self, entry: &Entry) -> StatusReport {
        status(&entry.machine.record, self.answer(entry).map(|answer| answer.opening), self.now)
    }

    /// When a machine of this status closes, or opens again.
    #[must_use]
    pub fn change(&self, entry: &Entry, status: AtmStatus) -> Option<Change<'_>> {
        let answer = self.answer(entry)?;
        let changes_at = answer.changes_at.as_deref()?;
        match (status, answer.opening) {
            (AtmStatus::Open, Ok(OpenState::Open)) => Some(Change::ClosesAt(changes_at)),
            (AtmStatus::Closed, Ok(OpenState::Closed)) => Some(Change::OpensAt(changes_at)),
            _ => None,
        }
    }

    /// The `most` nearest machines within `radius` that are not gone and are as `wanted`, nearest first, then by id.
    #[must_use]
    pub fn nearest(&self, from: Point, radius: Distance, most: usize, wanted: &Wanted) -> Vec<Near> {
        self.snapshot.index.nearest(from, radius, most, self.asking(wanted))
    }

    /// The `most` nearest of what [`Moment::within`] would return, and how many that is.
    #[must_use]
    pub fn nearest_and_count(&self, from: Point, radius: Distance, most: usize, wanted: &Wanted) -> (Vec<Near>, usize) {
        self.snapshot.index.nearest_and_count(from, radius, most, self.asking(wanted))
    }

    /// All machines within `radius` that are not gone and are as `wanted`, in no order.
    pub fn within(&self, from: Point, radius: Distance, wanted: &Wanted) -> impl Iterator<Item = &Entry> {
        let found = self.snapshot.index.within(from, radius, self.asking(wanted));
        found.into_iter().map(|at| self.snapshot.present_at(at))
    }

    fn asking(&self, wanted: &Wanted) -> impl Fn(u32) -> bool {
        let question = self.snapshot.coins.question(wanted);
        let record = |at| &self.snapshot.present_at(at).machine.record;
        move |at| question.fits(&self.snapshot.facts[at as usize], || record(at), &self.board, self.now)
    }

    fn answer(&self, entry: &Entry) -> Option<&Answer> {
        self.board.answer(entry.hours?)
    }
}
