//! Assignment of ATMs to towns, the first step of building the [`Towns`](super::towns::Towns) of a snapshot.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Country, Point, Record, Region, ReportedState, fold};

use super::countries::{country_of, has_known_regions};
use super::town::{Town, TownArea};
use crate::advisories::Location;

/// The key of a town: its area and its folded main name.
pub(super) type TownKey = (TownArea, String);

/// The towns of a snapshot while ATMs are being assigned to them.
pub(super) struct TownDrafts<'a> {
    places: &'a Gazetteer,
    pub(super) drafts: BTreeMap<TownKey, TownDraft>,
    /// The folded main name of a town for each folded name in addresses.
    pub(super) main_names: BTreeMap<(TownArea, Box<str>), String>,
}

/// A town while ATMs are being assigned to it.
#[derive(Default)]
pub(super) struct TownDraft {
    pub(super) name: String,
    center: Option<Point>,
    pub(super) machines: Vec<u32>,
}

impl<'a> TownDrafts<'a> {
    pub(super) fn new(places: &'a Gazetteer) -> Self {
        Self { places, drafts: BTreeMap::new(), main_names: BTreeMap::new() }
    }

    /// Adds ATMs to their towns, and returns the town of each ATM. Permanently closed ATMs are assigned to a town but
    /// not added to it.
    pub(super) fn add_all(&mut self, records: &[&Record]) -> Vec<Option<TownKey>> {
        let mut keys = Vec::with_capacity(records.len());
        for (at, record) in (0..).zip(records) {
            let key = self.find_key(record);
            if let Some(key) = &key
                && record.reported != ReportedState::PermanentlyClosed
            {
                self.drafts.entry(key.clone()).or_default().machines.push(at);
            }
            keys.push(key);
        }
        keys
    }

    /// Returns the key of an ATM's town. Returns `None` if the country is unknown, or if the address has no city and
    /// there is no nearby place in the country.
    fn find_key(&mut self, record: &Record) -> Option<TownKey> {
        let spot = Location::of_atm(record, self.places);
        let own = spot.country?;
        let region = spot.region.or_else(|| Region::of_territory(own));
        let country = country_of(region, Some(own))?;
        if has_known_regions(country) {
            let area = TownArea { country, region };
            if let Some(city) = spot.city.filter(|city| !fold(city).is_empty()) {
                return Some(self.key_in_region(area, &city));
            }
            let nearest = self.places.nearest_place_in(record.point, country, region)?;
            return Some(self.key_in_region(area, &nearest.name));
        }
        self.key_in_country(country, record)
    }

    /// Returns the key of a city's town in a country with known regions.
    fn key_in_region(&mut self, area: TownArea, city: &str) -> TownKey {
        let folded = fold(city);
        let new = match self.main_names.entry((area, folded.clone().into())) {
            Entry::Occupied(known) => return (area, known.get().clone()),
            Entry::Vacant(new) => new,
        };
        let place = area.region.and_then(|region| self.places.city(region, city));
        let main = place.as_ref().map_or(folded, |place| fold(&place.name));
        new.insert(main.clone());
        let key = (area, main);
        let draft = self.drafts.entry(key.clone()).or_default();
        if draft.name.is_empty() {
            draft.center = place.as_ref().map(|place| place.point);
            draft.name = place.map_or_else(|| city.trim().to_owned(), |place| place.name);
        }
        key
    }

    /// Returns the key of an ATM's town in a country without known regions.
    fn key_in_country(&mut self, country: Country, record: &Record) -> Option<TownKey> {
        let city = record.address.city.as_deref();
        let town = self.places.town(country, city, record.point)?;
        let area = TownArea { country, region: None };
        let key = (area, fold(&town.name));
        if let Some(city) = city {
            self.main_names.entry((area, fold(city).into())).or_insert_with(|| key.1.clone());
        }
        let draft = self.drafts.entry(key.clone()).or_default();
        if draft.name.is_empty() {
            draft.center = town.center;
            draft.name = town.name;
        }
        Some(key)
    }
}

impl TownDraft {
    pub(super) fn town(self, area: TownArea, records: &[&Record]) -> Town {
        let points: Vec<Point> = self.machines.iter().map(|at| records[*at as usize].point).collect();
        let center = self.center.or_else(|| Point::centroid(points.iter().copied()));
        // ATMs on opposite sides of the earth have no common centre.
        let center = center.unwrap_or_else(|| *points.first().expect("a town has an ATM"));
        let distances = points.iter().map(|point| center.distance(*point).in_metres());
        let mut machines: Vec<(f64, u32)> = distances.zip(self.machines).collect();
        machines.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let machines = machines.into_iter().map(|(_, at)| at).collect();
        Town { area, name: self.name.into(), center, machines }
    }
}
