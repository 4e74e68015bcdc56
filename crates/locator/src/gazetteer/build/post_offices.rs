//! The post offices of the United States: new places with their names, and marks of the places that have a post office.

use std::collections::{BTreeMap, HashMap};

use super::{NearestPlace, Postcode, TOGETHER, middle, point_key};
use crate::country::Country;
use crate::fold::fold;
use crate::gazetteer::blob::{PlaceArea, PlaceEntry};
use crate::index::Index;
use crate::point::{Distance, Point};
use crate::region::Region;

/// Maximum distance between a place and its post office of one name.
pub(super) const SAME: Distance = Distance::miles(10.0);

/// A region with the folded name of a post office or place in it.
pub(super) type NameInRegion = (Region, String);

/// The post offices by region and folded name.
pub(super) struct Offices<'a>(BTreeMap<NameInRegion, Office<'a>>);

/// The postcodes in a region with one name.
struct Office<'a> {
    postcodes: Vec<&'a Postcode>,
    /// The points of the postcodes, each once.
    points: Vec<Point>,
    /// For each point, the number of postcodes in each county. Those without a county are not counted.
    counties: Vec<BTreeMap<u16, usize>>,
    index: Index,
}

/// Returns the post offices of the United States.
pub(super) fn offices(postcodes: &[Postcode]) -> Offices<'_> {
    let mut found: BTreeMap<NameInRegion, Vec<&Postcode>> = BTreeMap::new();
    for postcode in postcodes {
        let Some(name) = &postcode.name else { continue };
        let Some(region) = postcode.region else { continue };
        if region.country() == Country::UNITED_STATES {
            found.entry((region, fold(name))).or_default().push(postcode);
        }
    }
    Offices(found.into_iter().map(|(name, postcodes)| (name, Office::new(postcodes))).collect())
}

impl Offices<'_> {
    /// Returns `true` if there is a post office of this name.
    pub(super) fn contains(&self, name: &NameInRegion) -> bool {
        self.0.contains_key(name)
    }

    /// Returns numbers of postcodes with this name at most `radius` away by county. A county may occur several times.
    pub(super) fn counties_within(&self, name: &NameInRegion, from: Point, radius: Distance) -> Vec<(u16, usize)> {
        let Some(office) = self.0.get(name) else { return Vec::new() };
        let near = office.index.within(from, radius, |_| true);
        near.into_iter().flat_map(|at| &office.counties[at as usize]).map(|(code, count)| (*code, *count)).collect()
    }

    fn is_near(&self, name: &NameInRegion, from: Point) -> bool {
        self.0.get(name).is_some_and(|office| office.index.any_within(from, SAME, |_| true))
    }
}

impl<'a> Office<'a> {
    fn new(postcodes: Vec<&'a Postcode>) -> Self {
        let (points, numbers) = distinct(postcodes.iter().map(|postcode| postcode.point));
        let mut counties = vec![BTreeMap::new(); points.len()];
        for (postcode, number) in postcodes.iter().zip(numbers) {
            if let Some(county) = &postcode.county {
                *counties[number].entry(county.code).or_default() += 1;
            }
        }
        let index = Index::build(&points);
        Self { postcodes, points, counties, index }
    }

    /// Returns the points of the postcodes without a place of the name nearby.
    fn points_without_place(&self, places: &[Point]) -> Vec<Point> {
        let index = Index::build(places);
        let known: Vec<bool> = self.points.iter().map(|point| index.any_within(*point, TOGETHER, |_| true)).collect();
        let (_, numbers) = distinct(self.postcodes.iter().map(|postcode| postcode.point));
        let left = self.postcodes.iter().zip(numbers).filter(|(_, number)| !known[*number]);
        left.map(|(postcode, _)| postcode.point).collect()
    }
}

/// Returns new places of the United States: post offices without a place of their name nearby in the region.
pub(super) fn new_places(places: &[PlaceEntry], offices: &Offices<'_>) -> Vec<PlaceEntry> {
    let mut named: HashMap<NameInRegion, Vec<Point>> = HashMap::new();
    for place in places {
        for name in names_in_region(place).filter(|name| offices.contains(name)) {
            named.entry(name).or_default().push(place.point);
        }
    }
    let nearest = NearestPlace::new(places);
    let mut new = Vec::new();
    for (name, office) in &offices.0 {
        let known = named.get(name).map(Vec::as_slice).unwrap_or_default();
        let (known, _) = distinct(known.iter().copied());
        let Some(point) = middle(&densest(&office.points_without_place(&known))) else { continue };
        // Of several spellings the first is used, even if its postcode belongs to another place.
        let Some(spelling) = office.postcodes.first().and_then(|postcode| postcode.name.clone()) else { continue };
        let Some(zone) = nearest.place(point).map(|place| place.time_zone.clone()) else { continue };
        new.push(PlaceEntry {
            name: spelling,
            alternates: Vec::new(),
            area: PlaceArea::of_region(name.0),
            point,
            population: 0,
            time_zone: zone,
            county: None,
            has_post_office: false,
        });
    }
    new
}

/// Marks the places that have a post office with one of their names.
pub(super) fn mark_post_offices(places: &mut [PlaceEntry], offices: &Offices<'_>) {
    for place in places {
        let has_one = names_in_region(place).any(|name| offices.is_near(&name, place.point));
        place.has_post_office = has_one;
    }
}

/// Returns the folded names of a place with its region; none if it has no region.
pub(super) fn names_in_region(place: &PlaceEntry) -> impl Iterator<Item = NameInRegion> {
    let names = std::iter::once(&place.name).chain(&place.alternates);
    names.filter_map(|name| Some((place.area.region?, fold(name))))
}

/// Returns the largest group of points that lie together.
fn densest(points: &[Point]) -> Vec<Point> {
    let (distinct, numbers) = distinct(points.iter().copied());
    let mut weights = vec![0_usize; distinct.len()];
    for number in numbers {
        weights[number] += 1;
    }
    let index = Index::build(&distinct);
    let mut best: Option<(usize, Point)> = None;
    for point in distinct {
        let near = index.within(point, TOGETHER, |_| true);
        let weight: usize = near.into_iter().map(|at| weights[at as usize]).sum();
        // Of equal weights the first is used.
        if best.is_none_or(|(most, _)| weight > most) {
            best = Some((weight, point));
        }
    }
    let Some((_, middle)) = best else { return Vec::new() };
    points.iter().copied().filter(|other| middle.distance(*other) <= TOGETHER).collect()
}

/// Returns each point once, in the order of first occurrence, and for each given point its index among them.
fn distinct(points: impl Iterator<Item = Point>) -> (Vec<Point>, Vec<usize>) {
    let mut known = HashMap::new();
    let mut found = Vec::new();
    let mut numbers = Vec::new();
    for point in points {
        let number = *known.entry(point_key(point)).or_insert(found.len());
        if number == found.len() {
            found.push(point);
        }
        numbers.push(number);
    }
    (found, numbers)
}
