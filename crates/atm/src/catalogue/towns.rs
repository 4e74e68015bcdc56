//! The towns with ATMs, by country, region and name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Country, Distance, Index, Point, Record, Region, ReportedState, fold, slug};

use super::countries::country_of;
use crate::advisories::Location;

/// The number of an ATM without a town.
const NONE: u32 = u32::MAX;

/// The country and region of a town. Only the United States and Canada have regions here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TownArea {
    /// The country.
    pub country: Country,
    /// The state, territory or province.
    pub region: Option<Region>,
}

/// A town with ATMs.
#[derive(Clone, Debug)]
pub struct Town {
    /// The area.
    pub area: TownArea,
    /// The name in the gazetteer, or else in the address of the first ATM.
    pub name: Box<str>,
    /// The centre in the gazetteer, or else of the ATMs.
    pub center: Point,
    /// The positions of the ATMs that are not gone, those nearest to the centre first.
    machines: Box<[u32]>,
}

/// The towns of a snapshot.
#[derive(Debug)]
pub struct Towns {
    /// By area and name. A town stays here without ATMs if all of them are gone by reports.
    all: Vec<Arc<Town>>,
    lookup: Arc<TownLookup>,
}

/// The indexes of the towns, independent of reports.
#[derive(Debug)]
struct TownLookup {
    /// The numbers of towns by area and folded name. A town has several names if addresses and gazetteer differ.
    numbers: BTreeMap<(TownArea, Box<str>), u32>,
    /// The number of the town of each ATM.
    of_atms: Vec<u32>,
    /// The centres.
    index: Index,
}

/// A town while its ATMs are collected.
#[derive(Default)]
struct TownDraft {
    name: String,
    center: Option<Point>,
    machines: Vec<u32>,
}

impl Towns {
    /// Sorts ATMs by the towns of their addresses, or else of the nearest place.
    pub(super) fn build(records: &[&Record], places: &Gazetteer) -> Self {
        let mut drafts: BTreeMap<(TownArea, String), TownDraft> = BTreeMap::new();
        let mut main_names: BTreeMap<(TownArea, Box<str>), String> = BTreeMap::new();
        let mut key_of_each = Vec::with_capacity(records.len());
        for (at, record) in (0..).zip(records) {
            let key = find_town(record, places).map(|(area, city)| {
                let folded = fold(&city);
                let main = match main_names.entry((area, folded.clone().into())) {
                    Entry::Occupied(known) => known.get().clone(),
                    Entry::Vacant(new) => new.insert(add_draft(&mut drafts, area, &city, folded, places)).clone(),
                };
                (area, main)
            });
            if let Some(key) = &key
                && record.reported != ReportedState::PermanentlyClosed
            {
                drafts.entry(key.clone()).or_default().machines.push(at);
            }
            key_of_each.push(key);
        }
        drafts.retain(|_, draft| !draft.machines.is_empty());
        Self::from_drafts(drafts, main_names, &key_of_each, records)
    }

    fn from_drafts(
        drafts: BTreeMap<(TownArea, String), TownDraft>,
        main_names: BTreeMap<(TownArea, Box<str>), String>,
        key_of_each: &[Option<(TownArea, String)>],
        records: &[&Record],
    ) -> Self {
        let mut drafts: Vec<_> = drafts.into_iter().collect();
        drafts.sort_by(|(a, one), (b, other)| (a.0, &one.name).cmp(&(b.0, &other.name)));
        let keys = drafts.iter().map(|(key, _)| key.clone());
        let by_key: BTreeMap<(TownArea, String), u32> = keys.zip(0..).collect();
        let of_atms = key_of_each.iter().map(|key| match key {
            Some(key) => by_key.get(key).copied().unwrap_or(NONE),
            None => NONE,
        });
        let of_atms = of_atms.collect();
        let mut numbers: BTreeMap<(TownArea, Box<str>), u32> = BTreeMap::new();
        for ((area, name), main) in main_names {
            if let Some(number) = by_key.get(&(area, main)) {
                numbers.insert((area, name), *number);
            }
        }
        let towns = drafts.into_iter().map(|((area, _), draft)| Arc::new(draft.town(area, records)));
        let towns: Vec<_> = towns.collect();
        // A town is also found by its gazetteer name, even if no address has it.
        for ((area, main), number) in by_key {
            for own in [fold(&towns[number as usize].slug()), main] {
                numbers.entry((area, own.into())).or_insert(number);
            }
        }
        let index = Index::build(&towns.iter().map(|town| town.center).collect::<Vec<_>>());
        Self { all: towns, lookup: Arc::new(TownLookup { numbers, of_atms, index }) }
    }

    /// Returns the towns without the ATMs at these positions. Towns that do not change are shared.
    pub(super) fn without(&self, gone: impl Iterator<Item = usize>) -> Self {
        let mut all = self.all.clone();
        for at in gone {
            let Some(number) = self.number_of(at) else { continue };
            let town = Arc::make_mut(&mut all[number]);
            town.machines = town.machines.iter().copied().filter(|machine| *machine as usize != at).collect();
        }
        Self { all, lookup: Arc::clone(&self.lookup) }
    }

    /// Returns all towns, by area and name.
    pub fn all(&self) -> impl Iterator<Item = &Town> {
        present(&self.all)
    }

    /// Returns the towns of an area, by name.
    pub fn of_area(&self, area: TownArea) -> impl Iterator<Item = &Town> {
        let start = self.all.partition_point(|town| town.area < area);
        let end = self.all.partition_point(|town| town.area <= area);
        present(&self.all[start..end])
    }

    /// Returns the town of an area with this name, in any spelling.
    #[must_use]
    pub fn find(&self, area: TownArea, name: &str) -> Option<&Town> {
        let number = self.lookup.numbers.get(&(area, fold(name).into_boxed_str()))?;
        self.all.get(*number as usize).map(Arc::as_ref).filter(|town| !town.is_empty())
    }

    /// Returns the town of the ATM at a position.
    #[must_use]
    pub fn of_atm(&self, at: usize) -> Option<&Town> {
        self.all.get(self.number_of(at)?).map(Arc::as_ref).filter(|town| !town.is_empty())
    }

    fn number_of(&self, machine: usize) -> Option<usize> {
        let number = self.lookup.of_atms.get(machine).filter(|number| **number != NONE)?;
        Some(*number as usize)
    }

    /// Returns the `max` nearest towns to a point within a distance, except `except`.
    pub fn near(
        &self,
        from: Point,
        within: Distance,
        max: usize,
        except: Option<&Town>,
    ) -> impl Iterator<Item = &Town> {
        let near = self.lookup.index.nearest(from, within, max, |at| {
            let town = &*self.all[at as usize];
            !town.is_empty() && except.is_none_or(|except| !std::ptr::eq(town, except))
        });
        near.into_iter().map(|near| &*self.all[near.at as usize])
    }

    /// Returns the areas with towns, and their numbers of ATMs.
    #[must_use]
    pub fn areas(&self) -> Vec<(TownArea, usize)> {
        let mut areas: Vec<(TownArea, usize)> = Vec::new();
        for town in self.all() {
            match areas.last_mut() {
                Some((area, count)) if *area == town.area => *count += town.machines.len(),
                _ => areas.push((town.area, town.machines.len())),
            }
        }
        areas
    }
}

impl Town {
    /// Returns the name for URLs.
    #[must_use]
    pub fn slug(&self) -> String {
        slug(&self.name)
    }

    /// Returns the number of ATMs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.machines.len()
    }

    /// Returns `true` if it has no ATMs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.machines.is_empty()
    }

    /// Returns the positions of the ATMs that are not gone, those nearest to the centre first.
    #[must_use]
    pub fn machines(&self) -> &[u32] {
        &self.machines
    }
}

impl TownDraft {
    fn town(self, area: TownArea, records: &[&Record]) -> Town {
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

/// Returns the towns with ATMs.
fn present(towns: &[Arc<Town>]) -> impl Iterator<Item = &Town> {
    towns.iter().map(Arc::as_ref).filter(|town| !town.is_empty())
}

/// Returns the area and the city of an ATM, if both are known.
fn find_town<'a>(record: &'a Record, places: &Gazetteer) -> Option<(TownArea, Cow<'a, str>)> {
    let location = Location::of_atm(record, places);
    let own = location.country?;
    let region = location.region.or_else(|| Region::of_territory(own));
    let country = country_of(region, Some(own))?;
    let city = location.city?;
    (!fold(&city).is_empty()).then_some((TownArea { country, region }, city))
}

/// Adds the draft of a town for a new spelling of its name, unless it exists. Returns the folded main name of the town.
fn add_draft(
    drafts: &mut BTreeMap<(TownArea, String), TownDraft>,
    area: TownArea,
    city: &str,
    folded: String,
    places: &Gazetteer,
) -> String {
    let place = area.region.and_then(|region| places.city(region, city));
    let main = place.as_ref().map_or(folded, |place| fold(&place.name));
    let draft = drafts.entry((area, main.clone())).or_default();
    if draft.name.is_empty() {
        draft.center = place.as_ref().map(|place| place.point);
        draft.name = place.map_or_else(|| city.trim().to_owned(), |place| place.name);
    }
    main
}

#[cfg(test)]
mod tests {
    use signpost_locator::ArcStr;

    use super::*;

    #[test]
    fn town_is_found_by_its_gazetteer_name() {
        let mut record = Record::at(Point::new(40.7128, -74.006).expect("on the earth"));
        record.address.city = Some("New York".into());
        record.address.region = Some(ArcStr::from("NY"));
        let towns = Towns::build(&[&record], &Gazetteer::embedded());
        let all: Vec<_> = towns.all().collect();
        let [town] = all[..] else { panic!("one town") };
        assert_eq!(&*town.name, "New York City");
        for name in ["New York", "New York City", &town.slug()] {
            assert_eq!(towns.find(town.area, name).map(Town::len), Some(1), "{name}");
        }
    }

    #[test]
    fn removed_atms_are_not_counted_in_a_town() {
        let record = |city: &'static str, lat| {
            let mut record = Record::at(Point::new(lat, -97.74).expect("on the earth"));
            (record.address.city, record.address.region) = (Some(city.into()), Some(ArcStr::from("TX")));
            record
        };
        let records = [record("Austin", 30.26), record("Marfa", 30.3), record("Austin", 30.27)];
        let towns = Towns::build(&records.iter().collect::<Vec<_>>(), &Gazetteer::embedded());
        let area = towns.of_atm(0).expect("a town").area;
        let left = towns.without([1, 2, 99].into_iter());
        assert_eq!(left.all().map(|town| (&*town.name, town.machines())).collect::<Vec<_>>(), [("Austin", &[0][..])]);
        assert_eq!((left.areas(), left.of_area(area).count()), (vec![(area, 1)], 1));
        assert!(left.find(area, "Marfa").is_none() && left.of_atm(1).is_none());
        let point = records[1].point;
        assert!(left.near(point, Distance::miles(500.0), 9, None).all(|town| &*town.name == "Austin"));
        assert_eq!((towns.areas(), towns.find(area, "Marfa").map(Town::len)), (vec![(area, 3)], Some(1)));
    }
}
