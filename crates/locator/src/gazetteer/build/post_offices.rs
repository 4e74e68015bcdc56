//! The post offices of the United States: places that they alone know, and places that have one.

use std::collections::BTreeMap;

use super::{NearestPlace, Postcode, TOGETHER, middle};
use crate::country::Country;
use crate::fold::fold;
use crate::gazetteer::blob::{PlaceArea, PlaceEntry};
use crate::point::{Distance, Point};
use crate::region::Region;

/// A place and a post office of one name this close to each other are the same place.
const SAME: Distance = Distance::miles(10.0);

/// The postcodes of post offices by region and folded name.
pub(super) type Offices<'a> = BTreeMap<(Region, String), Vec<&'a Postcode>>;

/// The post offices of the United States.
pub(super) fn offices(postcodes: &[Postcode]) -> Offices<'_> {
    let mut offices = Offices::new();
    for postcode in postcodes {
        let (Some(name), Some(region)) = (&postcode.name, postcode.region) else { continue };
        if region.country() == Country::UNITED_STATES {
            offices.entry((region, fold(name))).or_default().push(postcode);
        }
    }
    offices
}

/// The places of the United States that only post offices know: those that no place of the name in the region is near.
pub(super) fn new_places(places: &[PlaceEntry], offices: &Offices<'_>) -> Vec<PlaceEntry> {
    let mut unknown = offices.clone();
    for place in places {
        for office in names_in_region(place) {
            if let Some(postcodes) = unknown.get_mut(&office) {
                postcodes.retain(|postcode| postcode.point.distance(place.point) > TOGETHER);
            }
        }
    }
    let nearest = NearestPlace::new(places);
    let office = |((region, folded), left): ((Region, String), Vec<&Postcode>)| {
        let area = PlaceArea { country: region.country(), region: Some(region) };
        let point = middle(&densest(&left.iter().map(|postcode| postcode.point).collect::<Vec<_>>()))?;
        // Of several spellings the first, also where its postcode is that of another place.
        let name = offices[&(region, folded)].first()?.name.as_ref()?;
        let time_zone = nearest.place(point)?.time_zone.clone();
        Some(PlaceEntry {
            name: name.clone(),
            alternates: Vec::new(),
            area,
            point,
            population: 0,
            time_zone,
            county: None,
            has_post_office: false,
        })
    };
    unknown.into_iter().filter_map(office).collect()
}

/// Marks the places that have a post office of one of their names.
pub(super) fn mark_post_offices(places: &mut [PlaceEntry], offices: &Offices<'_>) {
    for place in places {
        let has_one = own_postcodes(place, offices).next().is_some();
        place.has_post_office = has_one;
    }
}

/// The postcodes of the post office of one of a place's names.
pub(super) fn own_postcodes<'a>(place: &PlaceEntry, offices: &Offices<'a>) -> impl Iterator<Item = &'a Postcode> {
    let named = names_in_region(place).filter_map(|name| offices.get(&name)).flatten().copied();
    named.filter(|postcode| postcode.point.distance(place.point) <= SAME)
}

/// The folded names of a place with its region; none where it has no region.
fn names_in_region(place: &PlaceEntry) -> impl Iterator<Item = (Region, String)> {
    let names = std::iter::once(&place.name).chain(&place.alternates);
    names.filter_map(|name| Some((place.area.region?, fold(name))))
}

/// Those of some points that lie together, where most do.
fn densest(points: &[Point]) -> Vec<Point> {
    let around = |point: &Point| points.iter().copied().filter(|other| point.distance(*other) <= TOGETHER).collect();
    let all: Vec<Vec<Point>> = points.iter().map(around).collect();
    // Of equal ones the first.
    all.into_iter().rev().max_by_key(Vec::len).unwrap_or_default()
}
