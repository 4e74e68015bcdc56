//! Which advisories hold at which machine: worked out once for a state of the catalogue, so that a search only compares
//! two times.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use signpost_locator::Record;
use signpost_locator::gazetteer::Gazetteer;

use crate::advisories::{Advisories, Advisory, LawSpan, LawStanding, Spot};

/// The advisories, and where each holds. Machines of one place share a set.
#[derive(Debug, Default)]
pub(crate) struct AdviceTable {
    advisories: Arc<Advisories>,
    sets: Vec<Vec<PlacedAdvisory>>,
}

/// An advisory at a place.
#[derive(Debug)]
struct PlacedAdvisory {
    /// Its position among the rows.
    number: usize,
    span: LawSpan,
    /// Of a ban: why machines are not known to be open.
    ban_reason: Option<Box<str>>,
}

impl AdviceTable {
    /// Finds what holds at each machine: the table, and the number of its set for each record.
    pub(super) fn build<'r>(
        advisories: Arc<Advisories>,
        records: impl Iterator<Item = &'r Record>,
        gazetteer: &Gazetteer,
    ) -> (Self, Vec<u32>) {
        let mut numbers: HashMap<(Vec<usize>, Option<String>), u32> = HashMap::new();
        let mut sets = Vec::new();
        let set_of = |record: &Record| {
            let spot = Spot::of_machine(record, gazetteer);
            let holding = holding(&advisories, &spot).map(|(number, _)| number).collect();
            let zone = record.time_zone.as_deref().or_else(|| gazetteer.time_zone(record.point, spot.region));
            let key = (holding, zone.map(str::to_owned));
            let next = u32::try_from(sets.len()).unwrap_or(u32::MAX);
            *numbers.entry(key).or_insert_with_key(|(holding, zone)| {
                let zone = time_zone(zone.as_deref());
                sets.push(holding.iter().map(|number| place(&advisories, *number, &zone)).collect());
                next
            })
        };
        let set_of_each = records.map(set_of).collect();
        (Self { advisories, sets }, set_of_each)
    }

    pub(super) fn is_of(&self, advisories: &Arc<Advisories>) -> bool {
        Arc::ptr_eq(&self.advisories, advisories)
    }

    fn set(&self, number: u32) -> &[PlacedAdvisory] {
        self.sets.get(number as usize).map_or(&[], Vec::as_slice)
    }

    /// Why the law forbids the machines of a set at a moment, where it does.
    pub(super) fn ban_reason(&self, set: u32, now: Timestamp) -> Option<&str> {
        let in_force = |placed: &&PlacedAdvisory| placed.span.from <= now && now < placed.span.until;
        self.set(set).iter().filter(in_force).find_map(|placed| placed.ban_reason.as_deref())
    }

    /// What people should be told at the machines of a set.
    pub(super) fn told(&self, set: u32, now: Timestamp) -> impl Iterator<Item = (&Advisory, LawStanding)> {
        self.set(set).iter().filter_map(move |placed| {
            let row = &self.advisories.rows()[placed.number];
            Some((row, row.standing(placed.span, now)?))
        })
    }

    /// What people should be told at a place, whose clocks show the time of this zone.
    pub(super) fn told_at(&self, spot: &Spot<'_>, zone: Option<&str>, now: Timestamp) -> Vec<(&Advisory, LawStanding)> {
        let zone = time_zone(zone);
        let rows = holding(&self.advisories, spot);
        rows.filter_map(|(_, row)| Some((row, row.standing(row.span(&zone), now)?))).collect()
    }
}

/// The advisories that hold at a place, whenever that is.
fn holding<'a>(advisories: &'a Advisories, spot: &Spot<'_>) -> impl Iterator<Item = (usize, &'a Advisory)> {
    advisories.rows().iter().enumerate().filter(|(_, row)| row.area.holds(spot))
}

fn place(advisories: &Advisories, number: usize, zone: &TimeZone) -> PlacedAdvisory {
    let row = &advisories.rows()[number];
    let ban_reason = row.is_ban().then(|| row.reason().into_boxed_str());
    PlacedAdvisory { number, span: row.span(zone), ban_reason }
}

/// The time zone of this name. Where none is known, days begin as in Greenwich.
fn time_zone(name: Option<&str>) -> TimeZone {
    name.and_then(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC)
}
