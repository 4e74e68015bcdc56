//! The post offices of the United States. They mark places that have a post office, and add places that are missing.

use std::collections::{BTreeMap, HashMap};

use super::{MAX_SPREAD, NearestPlace, Postcode, middle, point_key};
use crate::country::Country;
use crate::fold::fold;
use crate::gazetteer::blob::{PlaceArea, PlaceEntry};
use crate::index::Index;
use crate::point::{Distance, Point};
use crate::region::Region;

/// Maximum distance between a place and a post office with its name.
pub(super) const POST_OFFICE_DISTANCE: Distance = Distance::miles(10.0);

/// A region and the folded name of a post office or place in it.
pub(super) type NameInRegion = (Region, String);

/// All post offices by region and folded name.
pub(super) struct Offices<'a>(BTreeMap<NameInRegion, Office<'a>>);

/// The postcodes with one post office name in a region.
struct Office<'a> {
    postcodes: Vec<&'a Postcode>,
    /// The points of the postcodes, each once.
    points: Vec<Point>,
    /// The number of postcodes in each county for each point. Postcodes without a county are not counted.
    counties: Vec<BTreeMap<u16, usize>>,
    index: Index,
}

/// Groups the postcodes of the United States by post office.
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

    /// Returns the counties of the postcodes with this name at most `radius` away, with their numbers of postcodes. A
    /// county may occur several times.
    pub(super) fn counties_within(&self, name: &NameInRegion, from: Point, radius: Distance) -> Vec<(u16, usize)> {
        let Some(office) = self.0.get(name) else { return Vec::new() };
        let near = office.index.within(from, radius, |_| true);
        near.into_iter().flat_map(|at| &office.counties[at as usize]).map(|(code, count)| (*code, *count)).collect()
    }

    fn is_near(&self, name: &NameInRegion, from: Point) -> bool {
        self.0.get(name).is_some_and(|office| office.index.any_within(from, POST_OFFICE_DISTANCE, |_| true))
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

    /// Returns the points of the postcodes that are not near any of these places.
    fn points_without_place(&self, places: &[Point]) -> Vec<Point> {
        let index = Index::build(places);
        let known: Vec<bool> = self.points.iter().map(|point| index.any_within(*point, MAX_SPREAD, |_| true)).collect();
        let (_, numbers) = distinct(self.postcodes.iter().map(|postcode| postcode.point));
        let left = self.postcodes.iter().zip(numbers).filter(|(_, number)| !known[*number]);
        left.map(|(postcode, _)| postcode.point).collect()
    }
}

/// Returns new places for post offices without a nearby place of their name in the region.
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
        // The first of several spellings is used, even if its postcode belongs to another place.
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

/// Returns the folded names of a place, each with its region. The result is empty if the place has no region.
pub(super) fn names_in_region(place: &PlaceEntry) -> impl Iterator<Item = NameInRegion> {
    let names = std::iter::once(&place.name).chain(&place.alternates);
    names.filter_map(|name| Some((place.area.region?, fold(name))))
}

/// Returns the largest group of points that are near each other.
fn densest(points: &[Point]) -> Vec<Point> {
    let (distinct, numbers) = distinct(points.iter().copied());
    let mut weights = vec![0_usize; distinct.len()];
    for number in numbers {
        weights[number] += 1;
    }
    let index = Index::build(&distinct);
    let mut best: Option<(usize, Point)> = None;
    for point in distinct {
        let near = index.within(point, MAX_SPREAD, |_| true);
        let weight: usize = near.into_iter().map(|at| weights[at as usize]).sum();
        // The first of equal groups is used.
        if best.is_none_or(|(most, _)| weight > most) {
            best = Some((weight, point));
        }
    }
    let Some((_, middle)) = best else { return Vec::new() };
    points.iter().copied().filter(|other| middle.distance(*other) <= MAX_SPREAD).collect()
}

/// Returns the distinct points in the order of first occurrence, and the index of each given point among them.
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
