//! The advisories of each ATM, determined once for a snapshot, so that a search only compares two times.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use signpost_locator::Record;
use signpost_locator::gazetteer::Gazetteer;

use crate::advisories::{Advisories, Advisory, LawSpan, LawStanding, Spot};

/// The advisories, and the set of advisories for each place. ATMs of one place share a set.
#[derive(Debug, Default)]
pub(crate) struct AdviceTable {
    advisories: Arc<Advisories>,
    sets: Vec<Vec<PlacedAdvisory>>,
}

/// An advisory at a place.
#[derive(Debug)]
struct PlacedAdvisory {
    /// The position among the rows.
    number: usize,
    span: LawSpan,
    /// The reason for the status of the ATMs, if the advisory is a ban.
    ban_reason: Option<Box<str>>,
}

impl AdviceTable {
    /// Returns the table, and the number of the set of each record.
    pub(super) fn build<'r>(
        advisories: Arc<Advisories>,
        records: impl Iterator<Item = &'r Record>,
        gazetteer: &Gazetteer,
    ) -> (Self, Vec<u32>) {
        let mut numbers: HashMap<(Vec<usize>, Option<String>), u32> = HashMap::new();
        let mut sets = Vec::new();
        let mut set_of_each = Vec::new();
        for record in records {
            let spot = Spot::of_machine(record, gazetteer);
            let holding = holding(&advisories, &spot).map(|(number, _)| number).collect();
            let zone = record.time_zone.as_deref().or_else(|| gazetteer.time_zone(record.point, spot.region));
            let next = u32::try_from(sets.len()).unwrap_or(u32::MAX);
            let number = numbers.entry((holding, zone.map(str::to_owned))).or_insert_with_key(|(holding, zone)| {
                let zone = time_zone(zone.as_deref());
                sets.push(holding.iter().map(|number| place(&advisories, *number, &zone)).collect());
                next
            });
            set_of_each.push(*number);
        }
        (Self { advisories, sets }, set_of_each)
    }

    /// Returns `true` if the table was built from these advisories.
    pub(super) fn is_of(&self, advisories: &Arc<Advisories>) -> bool {
        Arc::ptr_eq(&self.advisories, advisories)
    }

    fn set(&self, number: u32) -> &[PlacedAdvisory] {
        self.sets.get(number as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the reason if a law forbids the ATMs of a set at a time.
    pub(super) fn ban_reason(&self, set: u32, now: Timestamp) -> Option<&str> {
        let mut in_force = self.set(set).iter().filter(|placed| placed.span.contains(now));
        in_force.find_map(|placed| placed.ban_reason.as_deref())
    }

    /// Returns the advisories of a set at a time.
    pub(super) fn told(&self, set: u32, now: Timestamp) -> impl Iterator<Item = (&Advisory, LawStanding)> {
        self.set(set).iter().filter_map(move |placed| {
            let row = &self.advisories.rows()[placed.number];
            Some((row, row.standing(placed.span, now)?))
        })
    }

    /// Returns the advisories for a location in a time zone.
    pub(super) fn told_at(&self, spot: &Spot<'_>, zone: Option<&str>, now: Timestamp) -> Vec<(&Advisory, LawStanding)> {
        let zone = time_zone(zone);
        let rows = holding(&self.advisories, spot);
        rows.filter_map(|(_, row)| Some((row, row.standing(row.span(&zone), now)?))).collect()
    }
}

/// Returns the advisories for a location at any time, with their positions.
fn holding<'a>(advisories: &'a Advisories, spot: &Spot<'_>) -> impl Iterator<Item = (usize, &'a Advisory)> {
    advisories.rows().iter().enumerate().filter(|(_, row)| row.area.holds(spot))
}

fn place(advisories: &Advisories, number: usize, zone: &TimeZone) -> PlacedAdvisory {
    let row = &advisories.rows()[number];
    let ban_reason = row.is_ban().then(|| row.reason().into_boxed_str());
    PlacedAdvisory { number, span: row.span(zone), ban_reason }
}

/// Returns the time zone with this name, or UTC.
fn time_zone(name: Option<&str>) -> TimeZone {
    name.and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC)
}
