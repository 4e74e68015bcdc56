//! The table of the advisories for each ATM. It is built once for a snapshot, so that a search only needs to compare
//! the current time with the period of each law.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use signpost_locator::Record;
use signpost_locator::gazetteer::Gazetteer;

use crate::advisories::{Advisories, Advisory, LawSpan, LawStatus, Location};

/// The table of advisory sets. ATMs with identical advisories and time zones share a set.
#[derive(Debug, Default)]
pub(crate) struct AdviceTable {
    advisories: Arc<Advisories>,
    sets: Vec<Vec<PlacedAdvisory>>,
}

/// An advisory in the set of an ATM, with its period in the ATM's time zone.
#[derive(Debug)]
struct PlacedAdvisory {
    /// The index in [`Advisories::rows`].
    number: usize,
    span: LawSpan,
    /// The reason for the status of the ATMs, if the advisory is a ban.
    ban_reason: Option<Box<str>>,
}

impl AdviceTable {
    /// Builds the table, and returns it with the index of each record's set.
    pub(super) fn build<'r>(
        advisories: Arc<Advisories>,
        records: impl Iterator<Item = &'r Record>,
        gazetteer: &Gazetteer,
    ) -> (Self, Vec<u32>) {
        let mut numbers: HashMap<(Vec<usize>, Option<String>), u32> = HashMap::new();
        let mut sets = Vec::new();
        let mut set_of_each = Vec::new();
        for record in records {
            let location = Location::of_atm(record, gazetteer);
            let matching = matching_advisories(&advisories, &location).map(|(number, _)| number).collect();
            let zone = record.time_zone.as_deref().or_else(|| gazetteer.time_zone(record.point, location.region));
            let next = u32::try_from(sets.len()).unwrap_or(u32::MAX);
            let number = numbers.entry((matching, zone.map(str::to_owned))).or_insert_with_key(|(matching, zone)| {
                let zone = time_zone(zone.as_deref());
                sets.push(matching.iter().map(|number| place(&advisories, *number, &zone)).collect());
                next
            });
            set_of_each.push(*number);
        }
        (Self { advisories, sets }, set_of_each)
    }

    /// Returns `true` if the table was built from this instance of the advisories.
    pub(super) fn was_built_from(&self, advisories: &Arc<Advisories>) -> bool {
        Arc::ptr_eq(&self.advisories, advisories)
    }

    fn set(&self, number: u32) -> &[PlacedAdvisory] {
        self.sets.get(number as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the reason for the ban if a law forbids the ATMs of a set at the time `now`.
    pub(super) fn ban_reason(&self, set: u32, now: Timestamp) -> Option<&str> {
        let mut in_force = self.set(set).iter().filter(|placed| placed.span.contains(now));
        in_force.find_map(|placed| placed.ban_reason.as_deref())
    }

    /// Returns the advisories of a set that apply at the time `now`.
    pub(super) fn advisories_of_set(&self, set: u32, now: Timestamp) -> impl Iterator<Item = (&Advisory, LawStatus)> {
        self.set(set).iter().filter_map(move |placed| {
            let row = &self.advisories.rows()[placed.number];
            Some((row, row.law_status(placed.span, now)?))
        })
    }

    /// Returns the advisories that apply at a location at the time `now`. `zone` is the IANA name of its time zone.
    pub(super) fn advisories_at(
        &self,
        location: &Location<'_>,
        zone: Option<&str>,
        now: Timestamp,
    ) -> Vec<(&Advisory, LawStatus)> {
        let zone = time_zone(zone);
        let rows = matching_advisories(&self.advisories, location);
        rows.filter_map(|(_, row)| Some((row, row.law_status(row.span(&zone), now)?))).collect()
    }
}

/// Returns all advisories for a location, regardless of time, with their indexes.
fn matching_advisories<'a>(
    advisories: &'a Advisories,
    location: &Location<'_>,
) -> impl Iterator<Item = (usize, &'a Advisory)> {
    advisories.rows().iter().enumerate().filter(|(_, row)| row.area.contains(location))
}

fn place(advisories: &Advisories, number: usize, zone: &TimeZone) -> PlacedAdvisory {
    let row = &advisories.rows()[number];
    let ban_reason = row.is_ban().then(|| row.reason().into_boxed_str());
    PlacedAdvisory { number, span: row.span(zone), ban_reason }
}

/// Returns the time zone with this IANA name, or UTC if it is missing or unknown.
fn time_zone(name: Option<&str>) -> TimeZone {
    name.and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC)
}
