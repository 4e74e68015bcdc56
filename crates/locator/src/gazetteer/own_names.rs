//! Resolves every place of the United States by its name and state.

use super::{Gazetteer, Place, Resolved};
use crate::country::Country;
use crate::point::Distance;

/// Maximum alternatives of an answer.
const MAX_ALTERNATIVES: usize = 5;
/// Maximum distance between a place and an answer with its name, such as an army base.
const SAME: Distance = Distance::miles(10.0);
/// Maximum distance between a town and one of its post offices.
const OFFICE_OF_TOWN: Distance = Distance::miles(40.0);

#[test]
fn own_name_finds_a_place_or_lists_it() {
    let gazetteer = Gazetteer::embedded();
    let mut asked = 0;
    let mut lost = Vec::new();
    for place in (0..).take(gazetteer.len()).map(|at| gazetteer.place(at)) {
        if place.country == Country::UNITED_STATES && place.region.is_some() {
            asked += 1;
            let found = gazetteer.resolve(&place.label());
            if !found.as_ref().is_ok_and(|found| names(found, &place)) {
                lost.push(format!("{}: {found:?}", place.label()));
            }
        }
    }
    assert!(asked > 20_000, "{asked}");
    assert!(lost.is_empty(), "{} of {asked}: {:#?}", lost.len(), &lost[..lost.len().min(40)]);
}

/// Checks that an answer is the place or has it as an alternative. A full list of alternatives may omit it.
fn names(found: &Resolved, place: &Place) -> bool {
    // A post office of unknown size may belong to the town.
    let same = if place.population == 0 { OFFICE_OF_TOWN } else { SAME };
    found.point.distance(place.point) < same
        || found.alternatives.iter().any(|other| other.point.distance(place.point) < SAME)
        || found.alternatives.len() == MAX_ALTERNATIVES
}
