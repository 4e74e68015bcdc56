//! The advisories for the ATMs of a snapshot at a time.

use std::sync::Arc;

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Distance, Near, Point, StatusReport};

use super::advice::AdviceTable;
use super::facts::AtmFilter;
use super::moment::Moment;
use super::snapshot::{CatalogueEntry, Snapshot};
use crate::advisories::{Advisories, Advisory, LawStanding, Spot};

/// Half of the circumference of the earth.
const EVERYWHERE: Distance = Distance::metres(20_100_000.0);

impl Snapshot {
    /// Returns the snapshot with these advisories.
    ///
    /// # Panics
    /// If the snapshot is served already.
    #[must_use]
    pub fn advised(mut self, advisories: Arc<Advisories>, gazetteer: &Gazetteer) -> Self {
        let records = self.entries().iter().map(|entry| &*entry.machine.record);
        let (table, set_of_each) = AdviceTable::build(advisories, records, gazetteer);
        let parts = Arc::get_mut(&mut self.parts).expect("a snapshot is advised before it is served");
        for (entry, set) in parts.entries.iter_mut().zip(set_of_each) {
            entry.advice = set;
        }
        for (facts, at) in parts.facts.iter_mut().zip(&parts.present) {
            facts.advice = parts.entries[*at as usize].advice;
        }
        parts.advice = table;
        self
    }
}

impl<'a> Moment<'a> {
    /// Returns the status of an ATM with respect to bans.
    pub(super) fn under_law(&self, entry: &CatalogueEntry, report: StatusReport<'a>) -> StatusReport<'a> {
        match self.snapshot.advice.ban_reason(entry.advice, self.now) {
            Some(reason) => report.under_ban(reason),
            None => report,
        }
    }

    /// Returns `true` if a law in force forbids the ATM.
    #[must_use]
    pub fn is_banned(&self, entry: &CatalogueEntry) -> bool {
        self.is_ban(entry.advice)
    }

    /// Returns `true` if a law in force forbids the ATMs with this set of advisories.
    pub(super) fn is_ban(&self, advice: u32) -> bool {
        self.snapshot.advice.ban_reason(advice, self.now).is_some()
    }

    /// Returns the advisories for an ATM.
    pub fn told(&self, entry: &CatalogueEntry) -> impl Iterator<Item = (&'a Advisory, LawStanding)> + use<'a> {
        self.snapshot.advice.told(entry.advice, self.now)
    }

    /// Returns the advisories for these ATMs, and the number of ATMs that each applies to.
    #[must_use]
    pub fn told_of(&self, machines: &[&CatalogueEntry]) -> Vec<(&'a Advisory, LawStanding, usize)> {
        let mut found: Vec<(&'a Advisory, LawStanding, usize)> = Vec::new();
        for (advisory, standing) in machines.iter().flat_map(|entry| self.told(entry)) {
            match found.iter_mut().find(|(known, ..)| std::ptr::eq(*known, advisory)) {
                // In a state with two time zones, the law may be in force in only one of them.
                Some((_, known, machines)) => {
                    *known = standing.min(*known);
                    *machines += 1;
                }
                None => found.push((advisory, standing, 1)),
            }
        }
        found
    }

    /// Returns the advisories for a location without ATMs.
    #[must_use]
    pub fn told_at(&self, spot: &Spot<'_>, zone: Option<&str>) -> Vec<(&'a Advisory, LawStanding)> {
        self.snapshot.advice.told_at(spot, zone, self.now)
    }

    /// Returns the nearest ATM that matches `filter` and that no law forbids, at any distance.
    #[must_use]
    pub fn nearest_allowed(&self, from: Point, filter: &AtmFilter) -> Option<Near> {
        let fits = self.predicate(filter);
        let found = self
            .snapshot
            .index
            .nearest(from, EVERYWHERE, 1, |at| fits(at) && !self.is_banned(self.snapshot.present_at(at)));
        found.first().copied()
    }
}
