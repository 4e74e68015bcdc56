//! The catalogue under the law: what advisories say of its machines at a moment.

use std::sync::Arc;

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Distance, Near, Point, StatusReport};

use super::advice::AdviceTable;
use super::facts::AtmFilter;
use super::moment::Moment;
use super::snapshot::{CatalogueEntry, Snapshot};
use crate::advisories::{Advisories, Advisory, LawStanding, Spot};

/// Half the way around the earth: everywhere.
const EVERYWHERE: Distance = Distance::metres(20_100_000.0);

impl Snapshot {
    /// The same under these advisories.
    ///
    /// # Panics
    /// Where it is served already.
    #[must_use]
    pub fn advised(mut self, advisories: Arc<Advisories>, gazetteer: &Gazetteer) -> Self {
        let records = self.entries().iter().map(|entry| &*entry.machine.record);
        let (table, set_of_each) = AdviceTable::build(advisories, records, gazetteer);
        let parts = self.parts_mut().expect("a snapshot is advised before it is served");
        for (entry, set) in parts.entries.iter_mut().zip(set_of_each) {
            entry.advice = set;
        }
        for (facts, at) in parts.facts.iter_mut().zip(&parts.present) {
            facts.advice = parts.entries[*at as usize].advice;
        }
        parts.advice = table;
        self
    }

    /// Whether these are the advisories that it is under.
    pub(super) fn is_under(&self, advisories: &Arc<Advisories>) -> bool {
        self.advice.is_of(advisories)
    }
}

impl<'a> Moment<'a> {
    /// A status as it is where the law may forbid the machine.
    pub(super) fn under_law(&self, entry: &CatalogueEntry, report: StatusReport<'a>) -> StatusReport<'a> {
        match self.snapshot.advice.ban_reason(entry.advice, self.now) {
            Some(reason) => report.under_ban(reason),
            None => report,
        }
    }

    /// Whether a law in force forbids the machine.
    #[must_use]
    pub fn is_banned(&self, entry: &CatalogueEntry) -> bool {
        self.is_ban(entry.advice)
    }

    /// Whether a law in force forbids the machines that have this number of what people are told.
    pub(super) fn is_ban(&self, advice: u32) -> bool {
        self.snapshot.advice.ban_reason(advice, self.now).is_some()
    }

    /// What people should be told at a machine.
    pub fn told(&self, entry: &CatalogueEntry) -> impl Iterator<Item = (&'a Advisory, LawStanding)> + use<'a> {
        self.snapshot.advice.told(entry.advice, self.now)
    }

    /// What people should be told at these machines, each under the law of its own place, and how many it concerns.
    #[must_use]
    pub fn told_of(&self, machines: &[&CatalogueEntry]) -> Vec<(&'a Advisory, LawStanding, usize)> {
        let mut found: Vec<(&'a Advisory, LawStanding, usize)> = Vec::new();
        for (advisory, standing) in machines.iter().flat_map(|entry| self.told(entry)) {
            match found.iter_mut().find(|(known, ..)| std::ptr::eq(*known, advisory)) {
                // Where the clocks of a state differ, the law may hold on one side of them already.
                Some((_, known, machines)) => (*known, *machines) = (standing.min(*known), *machines + 1),
                None => found.push((advisory, standing, 1)),
            }
        }
        found
    }

    /// What people should be told at a place where there is no machine.
    #[must_use]
    pub fn told_at(&self, spot: &Spot<'_>, zone: Option<&str>) -> Vec<(&'a Advisory, LawStanding)> {
        self.snapshot.advice.told_at(spot, zone, self.now)
    }

    /// The nearest machine that matches `filter` and that no law forbids, wherever it is.
    #[must_use]
    pub fn nearest_allowed(&self, from: Point, filter: &AtmFilter) -> Option<Near> {
        let fits = self.predicate(filter);
        let is_allowed = |at| fits(at) && !self.is_banned(self.snapshot.present_at(at));
        self.snapshot.index.nearest(from, EVERYWHERE, 1, is_allowed).first().copied()
    }
}
