//! Subdivisions of counties among the places of a gazetteer.

use std::collections::{HashMap, HashSet};

use super::NearestPlace;
use super::counties::NearestCounty;
use super::places_by_name::{PlacesByName, SAME};
use super::post_offices::names_in_region;
use crate::fold::fold;
use crate::gazetteer::blob::{PlaceArea, PlaceEntry, PostcodeEntry};
use crate::gazetteer::postal_county::CountyList;
use crate::gazetteer::subdivision::Subdivision;
use crate::point::Distance;
use crate::region::Region;

/// The folded names of places that were joined with subdivisions, by their positions.
type KnownNames = HashMap<usize, HashSet<String>>;

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
    let mut named = PlacesByName::default();
    for (at, (place, code)) in places.iter().zip(&codes).enumerate() {
        named.add(place, *code, at);
    }
    // The nearest come first, so that a place is not taken for a farther one of its name.
    let distance = |new: &PlaceEntry| named.nearest(places, new, |_| true).map_or(SAME, |(_, distance)| distance);
    let mut ordered: Vec<(Distance, PlaceEntry, Option<u16>)> =
        new.into_iter().map(|(new, code)| (distance(&new), new, code)).collect();
    ordered.sort_by(|a, b| a.0.in_metres().total_cmp(&b.0.in_metres()));
    let mut known_names = KnownNames::new();
    for (_, new, code) in ordered {
        let region = new.area.region;
        let is_same_county =
            |other: Option<u16>| other.zip(code).is_none_or(|(one, other)| may_be_same(region, one, other));
        let Some((at, _)) = named.nearest(places, &new, is_same_county) else {
            named.add(&new, code, places.len());
            places.push(new);
            codes.push(code);
            continue;
        };
        if codes[at].is_none() && code.is_some() {
            named.change_code(&places[at], at, None, code);
            codes[at] = code;
        }
        let added = PlaceEntry { point: places[at].point, ..new.clone() };
        named.add(&added, codes[at], at);
        let known =
            known_names.entry(at).or_insert_with(|| names_in_region(&places[at]).map(|(_, name)| name).collect());
        join(&mut places[at], new, known, code.is_some());
    }
}

/// Whether two numbers may be of one county of a state. The counties of Connecticut and the planning regions that the
/// Census has replaced them by overlap.
fn may_be_same(region: Option<Region>, one: u16, other: u16) -> bool {
    const FIRST_PLANNING_REGION: u16 = 110;
    let is_of_connecticut = region.is_some_and(|region| region.code() == "CT");
    one == other || (is_of_connecticut && (one < FIRST_PLANNING_REGION) != (other < FIRST_PLANNING_REGION))
}

/// Gives a place the other names of a subdivision that is the same. `known` are the folded names of the place.
fn join(place: &mut PlaceEntry, new: PlaceEntry, known: &mut HashSet<String>, is_county_known: bool) {
    let names = std::iter::once(new.name).chain(new.alternates);
    let added: Vec<String> = names.filter(|name| !known.contains(&fold(name))).collect();
    known.extend(added.iter().map(|name| fold(name)));
    place.alternates.extend(added);
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
