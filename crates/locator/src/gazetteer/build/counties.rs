//! Assignment of postcodes and places to the counties of the United States.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::post_offices::{NameInRegion, Offices, POST_OFFICE_DISTANCE, names_in_region};
use super::{Postcode, number, point_key};
use crate::country::Country;
use crate::gazetteer::blob::{PlaceEntry, PostcodeEntry};
use crate::gazetteer::postal_county::{CountyList, PostalCounty};
use crate::index::Index;
use crate::point::{Distance, Point};
use crate::region::Region;

/// Collects the counties of the United States from the table of postcodes, and assigns the entries to them.
pub(super) fn counties(entries: &mut [PostcodeEntry], postcodes: &[Postcode]) -> CountyList {
    let named =
        postcodes.iter().rev().filter_map(|postcode| Some((number(&postcode.code)?, postcode.county.as_ref()?)));
    let named: HashMap<u32, &PostalCounty> = named.collect();
    let known = entries.iter().filter_map(|entry| {
        let (county, region) = county_of(entry, &named)?;
        Some((county, region, entry.point))
    });
    let counties = CountyList::of_postcodes(known);
    for entry in entries {
        entry.county = county_of(entry, &named).and_then(|(county, region)| counties.number(region, county.code));
    }
    counties
}

/// Returns the county and region of a postcode of the United States.
fn county_of<'a>(entry: &PostcodeEntry, named: &HashMap<u32, &'a PostalCounty>) -> Option<(&'a PostalCounty, Region)> {
    let region = entry.area.region?;
    if region.country() != Country::UNITED_STATES {
        return None;
    }
    Some((*named.get(&entry.code)?, region))
}

/// Assigns places of the United States to counties: by their county code if it is known, otherwise by the county of
/// most postcodes of their post office, otherwise by the nearest postcode.
pub(super) fn assign_counties(
    places: &mut [PlaceEntry],
    codes: &[Option<u16>],
    offices: &Offices<'_>,
    entries: &[PostcodeEntry],
    counties: &CountyList,
) {
    let nearest = NearestCounty::new(entries);
    let mut shares = CountyShares::new(offices, counties);
    for (place, code) in places.iter_mut().zip(codes) {
        let Some(region) = place.area.region else { continue };
        let known = code.and_then(|code| counties.number(region, code));
        place.county = known.or_else(|| nearest.find(place.point, region, shares.of(place)));
    }
}

/// A lookup of the county of the nearest postcode in a region. If several postcodes of a county are at one point, only
/// the first is in the index, because a search would visit all of them.
pub(super) struct NearestCounty {
    regions: HashMap<Region, CountyIndex>,
}

struct CountyIndex {
    /// The county of each point.
    counties: Vec<usize>,
    index: Index,
}

impl NearestCounty {
    pub(super) fn new(entries: &[PostcodeEntry]) -> Self {
        let mut seen = HashSet::new();
        let mut found: HashMap<Region, Vec<(Point, usize)>> = HashMap::new();
        for entry in entries {
            let Some(county) = entry.county else { continue };
            let Some(region) = entry.area.region else { continue };
            if seen.insert((region, county, point_key(entry.point))) {
                found.entry(region).or_default().push((entry.point, county));
            }
        }
        let regions = found.into_iter().map(|(region, known)| (region, CountyIndex::new(&known))).collect();
        Self { regions }
    }

    /// Returns the index of the county of the nearest postcode in a region. If `among` is not empty, only its counties
    /// are considered.
    pub(super) fn find(&self, point: Point, region: Region, among: &[usize]) -> Option<usize> {
        let CountyIndex { counties, index } = self.regions.get(&region)?;
        let near = index.nearest(point, Distance::metres(f64::INFINITY), 1, |at| {
            among.is_empty() || among.contains(&counties[at as usize])
        });
        Some(counties[near.first()?.at as usize])
    }
}

impl CountyIndex {
    fn new(known: &[(Point, usize)]) -> Self {
        let (points, counties): (Vec<Point>, Vec<usize>) = known.iter().copied().unzip();
        Self { counties, index: Index::build(&points) }
    }
}

/// A cache of the counties that contain most postcodes of a post office.
struct CountyShares<'a> {
    offices: &'a Offices<'a>,
    counties: &'a CountyList,
    /// The cached results by names, region and point.
    found: HashMap<(Vec<NameInRegion>, [u64; 2]), Vec<usize>>,
}

impl<'a> CountyShares<'a> {
    fn new(offices: &'a Offices<'a>, counties: &'a CountyList) -> Self {
        Self { offices, counties, found: HashMap::new() }
    }

    /// Returns the county that contains most postcodes of a place's post office, or several counties with equal
    /// numbers.
    fn of(&mut self, place: &PlaceEntry) -> &[usize] {
        let mut names: Vec<_> = names_in_region(place).filter(|name| self.offices.contains(name)).collect();
        names.sort_unstable();
        let offices = self.offices;
        let counties = self.counties;
        let key = (names, point_key(place.point));
        self.found.entry(key).or_insert_with_key(|(names, _)| most_shared(names, place.point, offices, counties))
    }
}

fn most_shared(names: &[NameInRegion], point: Point, offices: &Offices<'_>, counties: &CountyList) -> Vec<usize> {
    let mut shares: BTreeMap<usize, usize> = BTreeMap::new();
    for name in names {
        for (code, count) in offices.counties_within(name, point, POST_OFFICE_DISTANCE) {
            if let Some(county) = counties.number(name.0, code) {
                *shares.entry(county).or_default() += count;
            }
        }
    }
    let most = shares.values().copied().max();
    shares.into_iter().filter(|(_, share)| Some(*share) == most).map(|(county, _)| county).collect()
}
