//! The advisories for the ATMs of a snapshot at a time.

use std::sync::Arc;

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Distance, IndexMatch, Point, StatusReport};

use super::advice::AdviceTable;
use super::facts::AtmFilter;
use super::moment::Moment;
use super::snapshot::{CatalogueEntry, Snapshot};
use crate::advisories::{Advisories, Advisory, LawStatus, Location};

/// Half of the circumference of the earth.
const MAX_DISTANCE: Distance = Distance::metres(20_100_000.0);

impl Snapshot {
    /// Returns the snapshot with these advisories, and with the countries of its ATMs.
    ///
    /// # Panics
    /// If the snapshot is served already.
    #[must_use]
    pub fn with_advisories(mut self, advisories: Arc<Advisories>, gazetteer: &Gazetteer) -> Self {
        let records = self.entries().iter().map(|entry| &*entry.atm.record);
        let (table, set_of_each) = AdviceTable::build(advisories, records, gazetteer);
        let parts = Arc::get_mut(&mut self.parts).expect("advisories are set before a snapshot is served");
        for (entry, set) in parts.entries.iter_mut().zip(set_of_each) {
            entry.advice = set;
        }
        for (facts, at) in parts.facts.iter_mut().zip(&parts.present) {
            facts.advice = parts.entries[*at as usize].advice;
        }
        parts.advice = table;
        parts.countries.compare(gazetteer);
        self
    }
}

impl<'a> Moment<'a> {
    /// Returns the status of an ATM with respect to bans.
    pub(super) fn apply_bans(&self, entry: &CatalogueEntry, report: StatusReport<'a>) -> StatusReport<'a> {
        match self.snapshot.advice.ban_reason(entry.advice, self.now) {
            Some(reason) => report.with_ban(reason),
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
    pub fn advisories_for(&self, entry: &CatalogueEntry) -> impl Iterator<Item = (&'a Advisory, LawStatus)> + use<'a> {
        self.snapshot.advice.advisories_of_set(entry.advice, self.now)
    }

    /// Returns the advisories for these ATMs, and the number of ATMs that each applies to.
    #[must_use]
    pub fn advisories_with_counts(&self, machines: &[&CatalogueEntry]) -> Vec<(&'a Advisory, LawStatus, usize)> {
        let mut found: Vec<(&'a Advisory, LawStatus, usize)> = Vec::new();
        for (advisory, law_status) in machines.iter().flat_map(|entry| self.advisories_for(entry)) {
            match found.iter_mut().find(|(known, ..)| std::ptr::eq(*known, advisory)) {
                // In a state with two time zones, the law may be in force in only one of them.
                Some((_, known, machines)) => {
                    *known = law_status.min(*known);
                    *machines += 1;
                }
                None => found.push((advisory, law_status, 1)),
            }
        }
        found
    }

    /// Returns the advisories for a location without ATMs.
    #[must_use]
    pub fn advisories_at(&self, location: &Location<'_>, zone: Option<&str>) -> Vec<(&'a Advisory, LawStatus)> {
        self.snapshot.advice.advisories_at(location, zone, self.now)
    }

    /// Returns the nearest ATM that matches `filter` and that no law forbids, at any distance.
    #[must_use]
    pub fn nearest_allowed(&self, from: Point, filter: &AtmFilter) -> Option<IndexMatch> {
        let fits = self.predicate(filter);
        let found = self
            .snapshot
            .index
            .nearest(from, MAX_DISTANCE, 1, |at| fits(at) && !self.is_banned(self.snapshot.present_entry(at)));
        found.first().copied()
    }
}
