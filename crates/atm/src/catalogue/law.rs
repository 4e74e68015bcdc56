//! Queries of a [`Moment`] for the advisories and bans that apply to its ATMs.

use std::sync::Arc;

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Distance, IndexMatch, Point, StatusReport};

use super::advice::AdviceTable;
use super::facts::AtmFilter;
use super::moment::Moment;
use super::snapshot::{CatalogueEntry, Snapshot};
use crate::advisories::{Advisories, Advisory, LawStatus, Location};

/// Maximum distance on the earth: half of its circumference.
const MAX_DISTANCE: Distance = Distance::metres(20_100_000.0);

impl Snapshot {
    /// Adds the advisories to a new snapshot, and determines the countries of its ATMs.
    ///
    /// # Panics
    /// If the snapshot is already shared.
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
    /// Applies a ban, if there is one, to the status of an ATM.
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

    /// Returns `true` if a law in force forbids the ATMs with this advisory set.
    pub(super) fn is_ban(&self, advice: u32) -> bool {
        self.snapshot.advice.ban_reason(advice, self.now).is_some()
    }

    /// Returns the advisories that apply to an ATM.
    pub fn advisories_for(&self, entry: &CatalogueEntry) -> impl Iterator<Item = (&'a Advisory, LawStatus)> + use<'a> {
        self.snapshot.advice.advisories_of_set(entry.advice, self.now)
    }

    /// Returns the advisories that apply to any of these ATMs, each with the number of affected ATMs.
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

    /// Returns the advisories that apply at a location without ATMs.
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
