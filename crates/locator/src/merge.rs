//! Merges rows of different sources that describe a single ATM.
//!
//! The rules are based on measurements of sources in the United States. If two sources contain an ATM, nearly all of
//! their rows are within 25 m of each other; beyond 25 m, distance alone is not sufficient evidence. Rows within 25 m
//! are merged unless the names of their brands or operators contradict each other. Rows within 150 m are merged only if
//! they share the operator's number of the ATM or the house number. Rows of one source are never merged, because they
//! describe different ATMs. Merges are computed and not stored, so that they follow changes of the rows.

use std::collections::{BTreeSet, HashSet};

use jiff::Timestamp;

use crate::atm::{Atm, AtmId, Record};
use crate::claim::{ADDRESS, COINS, ClaimParts, SERVICES, STATUS, SourceClaim};
use crate::fold::{fold, words};
use crate::neighbours::Neighbours;
use crate::point::Distance;

/// Maximum distance between rows that are merged unless their names contradict each other.
const SAME_LOCATION_DISTANCE: Distance = Distance::metres(25.0);
/// Maximum distance between rows that are merged if they share a number.
const SAME_NUMBER_DISTANCE: Distance = Distance::metres(150.0);
/// Maximum number of neighbours that a row is compared with.
const MAX_NEIGHBOURS: usize = 16;
/// Words in the names of operators that do not distinguish them.
const GENERIC_WORDS: [&str; 12] =
    ["atm", "atms", "bitcoin", "btc", "btm", "coin", "crypto", "inc", "llc", "ltd", "machine", "the"];

/// An ATM, merged from the rows of all sources.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedAtm {
    /// The lowest ID of its rows.
    pub id: AtmId,
    /// The merged record.
    pub record: Box<Record>,
    /// The rows, in order of precedence. Never empty.
    pub claims: Vec<SourceClaim>,
}

impl MergedAtm {
    /// Returns the date of the newest row.
    #[must_use]
    pub fn known_at(&self) -> Option<Timestamp> {
        self.claims.iter().filter_map(|claim| claim.known_at).max()
    }
}

/// Merges rows into ATMs, sorted by ID. Rows in `apart` are never merged with other rows.
#[must_use]
pub fn merge(mut atms: Vec<Atm>, apart: &BTreeSet<AtmId>) -> Vec<MergedAtm> {
    atms.sort_by_key(|atm| atm.id);
    let groups = groups(&atms, apart);
    // The first row of a group has the lowest ID, and a group is numbered by its first row.
    let mut rows: Vec<(usize, Atm)> = groups.into_iter().zip(atms).collect();
    rows.sort_by_key(|(group, _)| *group);
    let mut rows = rows.into_iter().peekable();
    let mut machines = Vec::with_capacity(rows.len());
    while let Some((group, first)) = rows.next() {
        // Fast path: most groups have a single row.
        let mut members = Vec::with_capacity(1);
        members.push(first);
        while let Some((_, row)) = rows.next_if(|(other, _)| *other == group) {
            members.push(row);
        }
        machines.push(machine(members));
    }
    machines.shrink_to_fit();
    machines
}

/// Returns the group of each row, identified by the position of the group's first row.
fn groups(atms: &[Atm], apart: &BTreeSet<AtmId>) -> Vec<usize> {
    let mut groups = Groups { of: (0..atms.len()).collect(), members: (0..atms.len()).map(|at| vec![at]).collect() };
    if atms.windows(2).all(|pair| pair[0].source == pair[1].source) {
        return groups.of;
    }
    let neighbours = Neighbours::new(atms, apart);
    let mut pairs = Vec::new();
    for (at, atm) in atms.iter().enumerate().filter(|(_, atm)| !apart.contains(&atm.id)) {
        for (distance, other) in neighbours.after(at, SAME_NUMBER_DISTANCE, MAX_NEIGHBOURS) {
            if describe_same_atm(&atm.record, &atms[other].record, distance) {
                pairs.push((distance, at, other));
            }
        }
    }
    pairs.sort_by(|a, b| a.0.in_metres().total_cmp(&b.0.in_metres()).then((a.1, a.2).cmp(&(b.1, b.2))));
    for (_, one, other) in pairs {
        groups.join(one, other, atms);
    }
    groups.of
}

struct Groups {
    of: Vec<usize>,
    members: Vec<Vec<usize>>,
}

impl Groups {
    /// Joins the groups of two rows, unless they contain rows of the same source or of contradicting brands.
    fn join(&mut self, one: usize, other: usize, atms: &[Atm]) {
        let first = self.of[one].min(self.of[other]);
        let second = self.of[one].max(self.of[other]);
        if first == second {
            return;
        }
        for a in &self.members[first] {
            for b in &self.members[second] {
                if atms[*a].source == atms[*b].source || contradict(&atms[*a].record, &atms[*b].record) {
                    return;
                }
            }
        }
        let joined = std::mem::take(&mut self.members[second]);
        for at in &joined {
            self.of[*at] = first;
        }
        self.members[first].extend(joined);
    }
}

fn describe_same_atm(a: &Record, b: &Record, distance: Distance) -> bool {
    !contradict(a, b) && (distance <= SAME_LOCATION_DISTANCE || same_number(a, b))
}

/// Returns `true` if both records name a brand or operator, and share no name.
fn contradict(a: &Record, b: &Record) -> bool {
    let a = names(a);
    let b = names(b);
    !a.is_empty() && !b.is_empty() && a.is_disjoint(&b)
}

/// Returns the distinctive words in the names of the brand and operator.
fn names(record: &Record) -> HashSet<String> {
    let mut names = HashSet::new();
    for name in [&record.brand, &record.operator].into_iter().flatten() {
        let own: Vec<String> = words(name).into_iter().filter(|word| !GENERIC_WORDS.contains(&word.as_str())).collect();
        if !own.is_empty() {
            // Joined words are included, so that `Coin Flip` and `CoinFlip` are equal.
            names.insert(fold(name));
            names.extend(own);
        }
    }
    names
}

/// Returns `true` if both records have the same number of the ATM, or the same house number and street.
fn same_number(a: &Record, b: &Record) -> bool {
    if operator_number(a).zip(operator_number(b)).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b)) {
        return true;
    }
    house_and_street(a).is_some_and(|house_of_a| Some(house_of_a) == house_and_street(b))
}

/// Returns the operator's number of the ATM, or the source's identifier if there is none.
fn operator_number(record: &Record) -> Option<&str> {
    let machine_ref = record.more.as_ref().and_then(|more| more.machine_ref.as_deref());
    machine_ref.or(record.source_ref.as_deref())
}

/// Returns the house number and the first word of the street.
fn house_and_street(record: &Record) -> Option<(String, String)> {
    let street = record.address.street.as_ref().or(record.address.formatted.as_ref())?;
    let mut words = words(street.split(',').next()?).into_iter();
    let number = words.next()?;
    if !number.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    Some((number, words.next()?))
}

/// Merges the rows of a group into an ATM. Rows that were reported or verified later take precedence.
fn machine(mut rows: Vec<Atm>) -> MergedAtm {
    let id = rows[0].id;
    rows.sort_by_key(|atm| (std::cmp::Reverse(atm.record.known_at()), atm.id));
    let mut claims: Vec<SourceClaim> = rows.iter().map(SourceClaim::of).collect();
    let mut rows = rows.into_iter().map(|atm| atm.record);
    let mut record = rows.next().unwrap_or_else(|| unreachable!("a group has a row"));
    claims[0].parts = ClaimParts::of(&record);
    for (other, claim) in rows.zip(&mut claims[1..]) {
        claim.parts = ClaimParts::of(&other).without(ClaimParts::of(&record));
        fill(&mut record, *other, claim.parts);
    }
    MergedAtm { id, record, claims }
}

/// Fills the missing parts of a record from another record.
fn fill(record: &mut Record, other: Record, taken: ClaimParts) {
    if taken.has(STATUS) {
        record.reported = other.reported;
        record.reported_at = other.reported_at;
    }
    if taken.has(SERVICES) {
        record.buy = other.buy;
        record.sell = other.sell;
    }
    if taken.has(ADDRESS) {
        record.address = other.address;
    }
    if taken.has(COINS) {
        record.coins = other.coins;
    }
    record.name = record.name.take().or(other.name);
    record.operator = record.operator.take().or(other.operator);
    record.brand = record.brand.take().or(other.brand);
    record.hours = record.hours.take().or(other.hours);
    record.phone = record.phone.take().or(other.phone);
    record.website = record.website.take().or(other.website);
    record.more = record.more.take().or(other.more);
    record.time_zone = record.time_zone.take().or(other.time_zone);
    record.verified_at = record.verified_at.max(other.verified_at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atm::ReportedState;
    use crate::point::Point;

    /// The length of one metre in degrees of latitude, about 1e-5.
    const METRE: f64 = 1.0 / 111_195.0;

    fn atm(id: u64, source: &str, metres: f64, set: impl FnOnce(&mut Record)) -> Atm {
        let mut record = Record::at(Point::new(30.0 + metres * METRE, -97.0).expect("on the earth"));
        set(&mut record);
        Atm { id: AtmId::new(id).expect("an id"), source: source.into(), record: record.into() }
    }

    fn brand(name: &str) -> impl FnOnce(&mut Record) {
        let name = Some(name.into());
        |record| record.brand = name
    }

    /// Returns the IDs of the rows of each ATM.
    fn merged(atms: Vec<Atm>) -> Vec<Vec<u64>> {
        let mut machines: Vec<Vec<u64>> = merge(atms, &BTreeSet::new())
            .into_iter()
            .map(|machine| {
                let mut ids: Vec<u64> = machine.claims.iter().map(|claim| claim.id.get()).collect();
                ids.sort_unstable();
                ids
            })
            .collect();
        machines.sort();
        machines
    }

    #[test]
    fn conflicting_brands_prevent_a_merge() {
        let none = |_: &mut Record| {};
        assert_eq!(merged(vec![atm(1, "a", 0.0, none), atm(2, "b", 24.0, none)]), [vec![1, 2]]);
        assert_eq!(merged(vec![atm(1, "a", 0.0, none), atm(2, "b", 26.0, none)]), [vec![1], vec![2]]);
        assert_eq!(merged(vec![atm(1, "a", 0.0, none), atm(2, "a", 0.0, none)]), [vec![1], vec![2]]);
        for (one, other, same) in [
            ("CoinFlip", "Coin Flip", true),
            ("Bitcoin Depot", "BITCOIN DEPOT", true),
            ("Athena Bitcoin", "Athena Bitcoin Inc.", true),
            ("CoinFlip", "Bitcoin Depot", false),
            ("Bitcoin ATM", "CoinFlip", true),
        ] {
            let machines = merged(vec![atm(1, "a", 0.0, brand(one)), atm(2, "b", 5.0, brand(other))]);
            assert_eq!(machines.len() == 1, same, "{one} and {other}");
        }
    }

    #[test]
    fn distant_rows_require_a_shared_number() {
        let street = |text: &str| {
            let text = Some(text.into());
            |record: &mut Record| record.address.street = text
        };
        let number = |text: &str| {
            let text = Some(text.into());
            |record: &mut Record| record.source_ref = text
        };
        let far = |a: Atm, b: Atm| merged(vec![a, b]).len() == 1;
        assert!(far(atm(1, "a", 0.0, street("12 Main St")), atm(2, "b", 140.0, street("12 Main Street"))));
        assert!(!far(atm(1, "a", 0.0, street("12 Main St")), atm(2, "b", 140.0, street("14 Main St"))));
        assert!(!far(atm(1, "a", 0.0, street("12 Main St")), atm(2, "b", 140.0, street("12 Oak Ave"))));
        assert!(!far(atm(1, "a", 0.0, street("12 Main St")), atm(2, "b", 160.0, street("12 Main St"))));
        assert!(far(atm(1, "a", 0.0, number("A17")), atm(2, "b", 100.0, number("a17"))));
        assert!(!far(atm(1, "a", 0.0, number("A17")), atm(2, "b", 100.0, number("A18"))));
    }

    #[test]
    fn atms_in_one_mall_match_their_counterparts() {
        let none = |_: &mut Record| {};
        let atms =
            vec![atm(1, "a", 0.0, none), atm(2, "a", 10.0, none), atm(3, "b", 1.0, none), atm(4, "b", 11.0, none)];
        assert_eq!(merged(atms), [vec![1, 3], vec![2, 4]]);
        let atms = vec![atm(1, "a", 0.0, none), atm(2, "b", 2.0, none), atm(3, "c", 4.0, none), atm(4, "c", 6.0, none)];
        assert_eq!(merged(atms), [vec![1, 2, 3], vec![4]]);
        // A row without a brand between rows of two brands does not join them.
        let atms = vec![atm(1, "a", 0.0, brand("CoinFlip")), atm(2, "b", 2.0, none), atm(3, "c", 5.0, brand("Athena"))];
        assert_eq!(merged(atms), [vec![1, 2], vec![3]]);
    }

    #[test]
    fn newest_value_wins_and_others_fill_gaps() {
        let at = |text: &str| text.parse().ok();
        let old = atm(1, "map", 0.0, |record| {
            record.name = Some("Old name".into());
            record.phone = Some("+1 512 555 0100".into());
            record.reported = ReportedState::InService;
            record.reported_at = at("2025-01-01T00:00:00Z");
        });
        let new = atm(2, "operator", 3.0, |record| {
            record.name = Some("New name".into());
            record.reported = ReportedState::OutOfService;
            record.reported_at = at("2026-11-20T00:00:00Z");
        });
        let machines = merge(vec![new, old], &BTreeSet::new());
        let machine = &machines[0];
        assert_eq!((machines.len(), machine.id.get()), (1, 1));
        assert_eq!((machine.record.title(), machine.record.phone.is_some()), ("New name", true));
        assert_eq!(
            (machine.record.reported, machine.known_at()),
            (ReportedState::OutOfService, at("2026-11-20T00:00:00Z"))
        );
        let claims: Vec<_> = machine
            .claims
            .iter()
            .map(|claim| (&*claim.source, claim.parts.names().collect::<Vec<_>>().join(" ")))
            .collect();
        assert_eq!(claims, [("operator", "location name status".to_owned()), ("map", "phone".to_owned())]);
    }

    #[test]
    fn undated_row_does_not_report_the_status() {
        let in_service = |record: &mut Record| record.reported = ReportedState::InService;
        let out_of_service = |record: &mut Record| record.reported = ReportedState::OutOfService;
        let dated = |record: &mut Record| record.reported_at = "2026-11-20T00:00:00Z".parse().ok();
        let reported = |one, other| merge(vec![one, other], &BTreeSet::new())[0].record.reported;
        assert_eq!(
            reported(atm(1, "a", 0.0, in_service), atm(2, "b", 1.0, out_of_service)),
            ReportedState::OutOfService
        );
        assert_eq!(reported(atm(1, "a", 0.0, in_service), atm(2, "b", 1.0, dated)), ReportedState::Unknown);
    }

    #[test]
    fn separated_rows_are_not_merged() {
        let none = |_: &mut Record| {};
        let atms = || vec![atm(1, "a", 0.0, none), atm(2, "b", 1.0, none)];
        for id in [1, 2] {
            assert_eq!(merge(atms(), &BTreeSet::from([AtmId::new(id).expect("an id")])).len(), 2);
        }
    }
}
