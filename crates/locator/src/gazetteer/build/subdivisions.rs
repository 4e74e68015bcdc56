//! The build step that adds county subdivisions, such as townships, to the places of a gazetteer.

use std::collections::{HashMap, HashSet};

use super::NearestPlace;
use super::counties::NearestCounty;
use super::places_by_name::{PlacesByName, SAME_PLACE_DISTANCE};
use super::post_offices::names_in_region;
use crate::fold::fold;
use crate::gazetteer::blob::{PlaceArea, PlaceEntry, PostcodeEntry};
use crate::gazetteer::postal_county::CountyList;
use crate::gazetteer::subdivision::Subdivision;
use crate::point::Distance;
use crate::region::Region;

/// The folded names of places that were merged with subdivisions, by the index of the place.
type KnownNames = HashMap<usize, HashSet<String>>;

/// Adds the subdivisions to the places. A subdivision is merged into a nearby place that shares a name with it, and its
/// names are added to the place. Subdivisions of different counties are not merged with each other.
///
/// `codes` are the county codes of the places, if they are known from the source rather than derived from a nearby
/// postcode.
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
    // The nearest subdivisions come first, so that a place is not merged with a farther subdivision of its name.
    let mut ordered: Vec<(Distance, PlaceEntry, Option<u16>)> = Vec::with_capacity(new.len());
    for (new, code) in new {
        let nearest = named.nearest(places, &new, |_| true);
        ordered.push((nearest.map_or(SAME_PLACE_DISTANCE, |(_, distance)| distance), new, code));
    }
    ordered.sort_by(|a, b| a.0.in_metres().total_cmp(&b.0.in_metres()));
    let mut known_names = KnownNames::new();
    for (_, new, code) in ordered {
        let region = new.area.region;
        let nearest = named
            .nearest(places, &new, |other| other.zip(code).is_none_or(|(one, other)| may_be_same(region, one, other)));
        let Some((at, _)) = nearest else {
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

/// Returns `true` if two codes may denote a single county. In Connecticut, codes of counties and of the planning
/// regions that have replaced them in Census data are compatible, because their areas overlap.
fn may_be_same(region: Option<Region>, one: u16, other: u16) -> bool {
    const FIRST_PLANNING_REGION: u16 = 110;
    let is_of_connecticut = region.is_some_and(|region| region.code() == "CT");
    one == other || (is_of_connecticut && (one < FIRST_PLANNING_REGION) != (other < FIRST_PLANNING_REGION))
}

/// Merges a subdivision into a place. `known` are the folded names of the place.
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

/// Converts the subdivisions to places, each with the code of its county.
fn new_entries(
    places: &[PlaceEntry],
    subdivisions: &[Subdivision],
    entries: &[PostcodeEntry],
    counties: &CountyList,
) -> Vec<(PlaceEntry, Option<u16>)> {
    let nearest_place = NearestPlace::new(places);
    let nearest_county = NearestCounty::new(entries);
    let mut new = Vec::with_capacity(subdivisions.len());
    for subdivision in subdivisions {
        let Subdivision { region, point, .. } = *subdivision;
        let Some(nearest) = nearest_place.place(point) else { continue };
        let known = subdivision.county.and_then(|code| counties.number(region, code));
        let entry = PlaceEntry {
            name: subdivision.name.clone(),
            alternates: subdivision.alternates.clone(),
            area: PlaceArea::of_region(region),
            point,
            population: subdivision.population,
            time_zone: nearest.time_zone.clone(),
            county: known.or_else(|| nearest_county.find(point, region, &[])),
            has_post_office: false,
        };
        new.push((entry, subdivision.county));
    }
    new
}
