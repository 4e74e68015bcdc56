//! Subdivisions of counties among the places of a gazetteer.

use std::collections::HashMap;

use super::NearestPlace;
use super::counties::NearestCounty;
use crate::fold::fold;
use crate::gazetteer::blob::{PlaceArea, PlaceEntry, PostcodeEntry};
use crate::gazetteer::postal_county::CountyList;
use crate::gazetteer::subdivision::Subdivision;
use crate::point::Distance;
use crate::region::Region;

/// A place and a subdivision of one name this close to each other are the same place.
const SAME: Distance = Distance::miles(10.0);

/// Places by region and folded name.
type Named = HashMap<(Region, String), Vec<usize>>;

/// Adds the subdivisions to the places. One that has a name of a place near it gives it its other names. Those of one
/// name in several counties stay apart, however near they are.
///
/// `codes` are those of the counties of the places, where they are known, and not only guessed from a postcode nearby.
pub(super) fn add_subdivisions(
    places: &mut Vec<PlaceEntry>,
    mut codes: Vec<Option<u16>>,
    subdivisions: &[Subdivision],
    entries: &[PostcodeEntry],
    counties: &CountyList,
) {
    let new = new_entries(places, subdivisions, entries, counties);
    let mut named = Named::new();
    for (at, place) in places.iter().enumerate() {
        remember(&mut named, place, at);
    }
    // The nearest come first, so that a place is not taken for a farther one of its name.
    let distance = |new: &PlaceEntry| nearest(places, &named, new, |_| true).map_or(SAME, |(_, distance)| distance);
    let mut ordered: Vec<(Distance, PlaceEntry, Option<u16>)> =
        new.into_iter().map(|(new, code)| (distance(&new), new, code)).collect();
    ordered.sort_by(|a, b| a.0.in_metres().total_cmp(&b.0.in_metres()));
    for (_, new, code) in ordered {
        let region = new.area.region;
        let is_of_county = |at: usize| codes[at].zip(code).is_none_or(|(one, other)| may_be_same(region, one, other));
        if let Some((at, _)) = nearest(places, &named, &new, is_of_county) {
            codes[at] = codes[at].or(code);
            join(&mut places[at], new, code.is_some());
            remember(&mut named, &places[at], at);
        } else {
            remember(&mut named, &new, places.len());
            places.push(new);
            codes.push(code);
        }
    }
}

/// Whether two numbers may be of one county of a state. The counties of Connecticut and the planning regions that the
/// Census has replaced them by overlap.
fn may_be_same(region: Option<Region>, one: u16, other: u16) -> bool {
    const FIRST_PLANNING_REGION: u16 = 110;
    let is_of_connecticut = region.is_some_and(|region| region.code() == "CT");
    one == other || (is_of_connecticut && (one < FIRST_PLANNING_REGION) != (other < FIRST_PLANNING_REGION))
}

/// Gives a place the other names of a subdivision that is the same.
fn join(place: &mut PlaceEntry, new: PlaceEntry, is_county_known: bool) {
    let known: Vec<String> = folded_names(place).collect();
    let names = std::iter::once(new.name).chain(new.alternates);
    place.alternates.extend(names.filter(|name| !known.contains(&fold(name))));
    if is_county_known && new.county.is_some() {
        place.county = new.county;
    }
    if place.population == 0 {
        place.population = new.population;
    }
}

/// The subdivisions as places, each with the code of its county.
fn new_entries(
    places: &[PlaceEntry],
    subdivisions: &[Subdivision],
    entries: &[PostcodeEntry],
    counties: &CountyList,
) -> Vec<(PlaceEntry, Option<u16>)> {
    let (nearest_place, nearest_county) = (NearestPlace::new(places), NearestCounty::new(entries));
    let entry = |of: &Subdivision| {
        let known = of.county.and_then(|code| counties.number(of.region, code));
        let entry = PlaceEntry {
            name: of.name.clone(),
            alternates: of.alternates.clone(),
            area: PlaceArea { country: of.region.country(), region: Some(of.region) },
            point: of.point,
            population: of.population,
            time_zone: nearest_place.place(of.point)?.time_zone.clone(),
            county: known.or_else(|| nearest_county.find(of.point, of.region, &[])),
            has_post_office: false,
        };
        Some((entry, of.county))
    };
    subdivisions.iter().filter_map(entry).collect()
}

/// The nearest place that has a name of another and is near it.
fn nearest(
    places: &[PlaceEntry],
    named: &Named,
    to: &PlaceEntry,
    is_meant: impl Fn(usize) -> bool,
) -> Option<(usize, Distance)> {
    let region = to.area.region?;
    let found = folded_names(to).filter_map(|name| named.get(&(region, name))).flatten();
    let near = found.map(|at| (*at, places[*at].point.distance(to.point)));
    let near = near.filter(|(at, distance)| *distance <= SAME && is_meant(*at));
    near.min_by(|a, b| a.1.in_metres().total_cmp(&b.1.in_metres()).then(a.0.cmp(&b.0)))
}

fn remember(named: &mut Named, place: &PlaceEntry, at: usize) {
    let Some(region) = place.area.region else { return };
    for name in folded_names(place) {
        let places = named.entry((region, name)).or_default();
        if !places.contains(&at) {
            places.push(at);
        }
    }
}

fn folded_names(place: &PlaceEntry) -> impl Iterator<Item = String> {
    std::iter::once(&place.name).chain(&place.alternates).map(|name| fold(name))
}
