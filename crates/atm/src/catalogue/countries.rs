//! The set of countries that have ATMs.

use std::collections::BTreeSet;

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Country, Distance, Index, Point, Record, Region};

/// Maximum distance for assigning the country of another ATM to an ATM without a country in its address.
const MAX_COUNTRY_DISTANCE: Distance = Distance::miles(50.0);

/// The countries of the ATMs in a snapshot.
#[derive(Debug)]
pub(super) struct AtmCountries {
    known: BTreeSet<Country>,
    /// The locations of the ATMs with an unknown country.
    unknown: Vec<Point>,
    /// `true` if the ATMs are in several countries.
    pub(super) are_several: bool,
}

/// Returns the country of an address. The territories of the United States count as the United States.
#[must_use]
pub fn country_of(region: Option<Region>, country: Option<Country>) -> Option<Country> {
    let region = region.or_else(|| Region::of_territory(country?));
    region.map(Region::country).or(country)
}

/// Returns `true` if the country has [`Region`]s. They are then part of the URL paths of its towns.
pub(super) fn has_known_regions(country: Country) -> bool {
    country == Country::UNITED_STATES || country == Country::CANADA
}

impl AtmCountries {
    /// Collects the countries of all records. `index` contains the locations of the records.
    pub(super) fn of_records(records: &[&Record], index: &Index) -> Self {
        let own: Vec<Option<Country>> = records.iter().map(|record| own_country(record)).collect();
        let known = own.iter().flatten().copied().collect();
        let without_country = records.iter().zip(&own).filter(|(_, country)| country.is_none());
        let unknown = without_country
            .map(|(record, _)| record.point)
            .filter(|point| index.nearest(*point, MAX_COUNTRY_DISTANCE, 1, |at| own[at as usize].is_some()).is_empty())
            .collect();
        Self { known, unknown, are_several: false }
    }

    /// Sets [`Self::are_several`]. An ATM with an unknown country counts for the country of the nearest place.
    pub(super) fn compare(&mut self, gazetteer: &Gazetteer) {
        let mut countries = self.known.clone();
        for point in &self.unknown {
            if countries.len() > 1 {
                break;
            }
            let nearest = gazetteer.nearest_place(*point);
            countries.extend(nearest.and_then(|(place, _)| country_of(place.region, Some(place.country))));
        }
        self.are_several = countries.len() > 1;
    }

    /// Returns the countries, or `None` if the country of any ATM is unknown.
    pub(super) fn all(&self) -> Option<&BTreeSet<Country>> {
        self.unknown.is_empty().then_some(&self.known)
    }
}

fn own_country(record: &Record) -> Option<Country> {
    country_of(record.address.region.as_deref().and_then(Region::parse), record.address.country)
}
