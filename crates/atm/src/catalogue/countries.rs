//! In which countries machines are.

use std::collections::BTreeSet;

use signpost_locator::{Country, Distance, Index, Point, Record, Region};

/// A machine without a country is in that of the nearest one that has one, up to here.
const NEAR: Distance = Distance::miles(50.0);

/// The territories of the United States, which have codes of their own as countries.
const TERRITORIES: [&str; 5] = ["AS", "GU", "MP", "PR", "VI"];

/// The country that people say a place is in, given how its address names it.
#[must_use]
pub fn country_of(region: Option<Region>, country: Option<Country>) -> Option<Country> {
    let country = region.map(Region::country).or(country)?;
    Some(if TERRITORIES.contains(&country.code()) { Country::UNITED_STATES } else { country })
}

/// The countries of all machines, which `index` finds by their positions; `None` where that of one is not known.
pub(crate) fn countries(records: &[&Record], index: &Index) -> Option<BTreeSet<Country>> {
    let own =
        |record: &Record| country_of(record.address.region.as_deref().and_then(Region::parse), record.address.country);
    let known: Vec<Option<Country>> = records.iter().map(|record| own(record)).collect();
    let nearby = |point: Point| {
        let near = index.nearest(point, NEAR, 1, |at| known[at as usize].is_some());
        near.first().and_then(|near| known[near.at as usize])
    };
    records.iter().zip(&known).map(|(record, country)| country.or_else(|| nearby(record.point))).collect()
}
