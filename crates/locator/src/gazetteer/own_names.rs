//! A test that resolves every place of the United States by its own name and state.

use super::{Gazetteer, Place, Resolved};
use crate::country::Country;
use crate::point::Distance;

/// Maximum number of alternatives in a result.
const MAX_ALTERNATIVES: usize = 5;
/// Maximum distance between a place and a correct result with its name, such as an army base.
const SAME_PLACE_DISTANCE: Distance = Distance::miles(10.0);
/// Maximum distance between a town and one of its post offices.
const POST_OFFICE_DISTANCE: Distance = Distance::miles(40.0);

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

/// Checks that a result is the place or has it as an alternative. A full list of alternatives may omit the place.
fn names(found: &Resolved, place: &Place) -> bool {
    // A place of unknown population may be a post office of a more distant town.
    let same = if place.population == 0 { POST_OFFICE_DISTANCE } else { SAME_PLACE_DISTANCE };
    found.point.distance(place.point) < same
        || found.alternatives.iter().any(|other| other.point.distance(place.point) < SAME_PLACE_DISTANCE)
        || found.alternatives.len() == MAX_ALTERNATIVES
}
