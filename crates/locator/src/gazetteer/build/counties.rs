//! The counties of the United States, and which postcodes and places lie in them.

use std::collections::{BTreeMap, HashMap};

use super::post_offices::{Offices, own_postcodes};
use super::{Postcode, number};
use crate::country::Country;
use crate::gazetteer::blob::{PlaceEntry, PostcodeEntry};
use crate::gazetteer::postal_county::{CountyList, PostalCounty};
use crate::index::Index;
use crate::point::{Distance, Point};
use crate::region::Region;

/// The counties of the United States that the postcodes name; puts the entries into them.
pub(super) fn counties(entries: &mut [PostcodeEntry], postcodes: &[Postcode]) -> CountyList {
    let named =
        postcodes.iter().rev().filter_map(|postcode| Some((number(&postcode.code)?, postcode.county.as_ref()?)));
    let named: HashMap<u32, &PostalCounty> = named.collect();
    let county = |entry: &PostcodeEntry| {
        let region = entry.area.region.filter(|region| region.country() == Country::UNITED_STATES);
        named.get(&entry.code).copied().zip(region)
    };
    let known = entries.iter().filter_map(|entry| county(entry).map(|(county, region)| (county, region, entry.point)));
    let counties = CountyList::of_postcodes(known);
    for entry in entries {
        entry.county = county(entry).and_then(|(county, region)| counties.number(region, county.code));
    }
    counties
}

/// Puts places of the United States into their counties: that of the code; else that of most postcodes of their post
/// office; else that of the nearest postcode.
pub(super) fn put_counties(
    places: &mut [PlaceEntry],
    codes: &[Option<u16>],
    offices: &Offices<'_>,
    entries: &[PostcodeEntry],
    counties: &CountyList,
) {
    let nearest = NearestCounty::new(entries);
    for (place, code) in places.iter_mut().zip(codes) {
        let Some(region) = place.area.region else { continue };
        let known = code.and_then(|code| counties.number(region, code));
        let of_office = || counties_of_office(place, region, offices, counties);
        place.county = known.or_else(|| nearest.find(place.point, region, &of_office()));
    }
}

/// The county that most postcodes of a place's post office are in; several, if they have as many.
fn counties_of_office(place: &PlaceEntry, region: Region, offices: &Offices<'_>, counties: &CountyList) -> Vec<usize> {
    let mut shares: BTreeMap<usize, usize> = BTreeMap::new();
    let own = own_postcodes(place, offices).filter_map(|postcode| postcode.county.as_ref());
    for county in own.filter_map(|county| counties.number(region, county.code)) {
        *shares.entry(county).or_default() += 1;
    }
    let most = shares.values().copied().max();
    shares.into_iter().filter(|(_, share)| Some(*share) == most).map(|(county, _)| county).collect()
}

/// Which county's postcode is nearest to a point.
pub(super) struct NearestCounty<'a> {
    known: Vec<&'a PostcodeEntry>,
    index: Index,
}

impl<'a> NearestCounty<'a> {
    pub(super) fn new(entries: &'a [PostcodeEntry]) -> Self {
        let known: Vec<&PostcodeEntry> = entries.iter().filter(|entry| entry.county.is_some()).collect();
        let index = Index::build(&known.iter().map(|entry| entry.point).collect::<Vec<_>>());
        Self { known, index }
    }

    /// The number of a county of a region; one of `among`, unless there are none.
    pub(super) fn find(&self, point: Point, region: Region, among: &[usize]) -> Option<usize> {
        let inside = |at: u32| {
            let entry = self.known[at as usize];
            let is_meant = among.is_empty() || entry.county.is_some_and(|county| among.contains(&county));
            entry.area.region == Some(region) && is_meant
        };
        let near = self.index.nearest(point, Distance::metres(f64::INFINITY), 1, inside);
        self.known[near.first()?.at as usize].county
    }
}
