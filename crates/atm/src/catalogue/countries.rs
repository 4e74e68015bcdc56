//! The countries of ATMs.

use std::collections::BTreeSet;

use signpost_locator::{Country, Distance, Index, Record, Region};

/// Maximum distance between an ATM without a country and the ATM with the assumed country.
const NEAR: Distance = Distance::miles(50.0);

/// Returns the country of an address. The territories of the United States belong to it.
#[must_use]
pub fn country_of(region: Option<Region>, country: Option<Country>) -> Option<Country> {
    let region = region.or_else(|| Region::of_territory(country?));
    region.map(Region::country).or(country)
}

/// Returns the countries of all records, given an index of them. `None` if a country is unknown.
pub(crate) fn countries(records: &[&Record], index: &Index) -> Option<BTreeSet<Country>> {
    let known: Vec<Option<Country>> = records.iter().map(|record| own_country(record)).collect();
    let mut countries = BTreeSet::new();
    for (record, country) in records.iter().zip(&known) {
        if let Some(country) = country {
            countries.insert(*country);
            continue;
        }
        let nearest = index.nearest(record.point, NEAR, 1, |at| known[at as usize].is_some());
        countries.insert(known[nearest.first()?.at as usize]?);
    }
    Some(countries)
}

fn own_country(record: &Record) -> Option<Country> {
    country_of(record.address.region.as_deref().and_then(Region::parse), record.address.country)
}
