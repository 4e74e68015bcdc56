//! Every place of the United States, asked for by its own name in its own state.

use super::{Gazetteer, Place, Resolved};
use crate::country::Country;
use crate::point::Distance;

/// Most places that are named beside the one that is taken.
const MAX_ALTERNATIVES: usize = 5;
/// How far the middle of a place may lie from that of what is there under its name, such as a base of the army.
const SAME: Distance = Distance::miles(10.0);
/// The same of a post office that is one of the town's.
const OFFICE_OF_TOWN: Distance = Distance::miles(40.0);

#[test]
fn a_place_is_found_by_its_name_and_state_or_is_named_beside_the_one_that_is() {
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

/// Whether an answer is the place, or says that there is also the place. A list of others that is full may leave it out.
fn names(found: &Resolved, place: &Place) -> bool {
    // A post office of no known size may be one of the town.
    let same = if place.population == 0 { OFFICE_OF_TOWN } else { SAME };
    found.point.distance(place.point) < same
        || found.alternatives.iter().any(|other| other.point.distance(place.point) < SAME)
        || found.alternatives.len() == MAX_ALTERNATIVES
}
