//! A lookup of the towns with ATMs by country, region and name.

use std::collections::BTreeMap;
use std::sync::Arc;

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Distance, Index, Point, Record, fold};

use super::countries::has_known_regions;
use super::town::{Town, TownArea};
use super::town_drafts::{TownDrafts, TownKey};

/// The town index of an ATM without a town.
const NO_TOWN: u32 = u32::MAX;

/// The towns of a snapshot.
#[derive(Debug)]
pub struct Towns {
    /// The towns, sorted by area and name. A town stays in the list without ATMs if all of them are gone according to
    /// reports.
    all: Vec<Arc<Town>>,
    lookup: Arc<TownLookup>,
}

/// The lookup tables of the towns, independent of reports.
#[derive(Debug)]
struct TownLookup {
    /// The indexes of towns by area and folded name. A town has several names if addresses and gazetteer differ.
    numbers: BTreeMap<(TownArea, Box<str>), u32>,
    /// The town index of each ATM.
    of_atms: Vec<u32>,
    /// A spatial index of the town centres.
    index: Index,
}

impl Towns {
    /// Assigns ATMs to the towns of their addresses, or to the nearest place if the address has no city.
    pub(super) fn build(records: &[&Record], places: &Gazetteer) -> Self {
        let mut drafts = TownDrafts::new(places);
        let key_of_each = drafts.add_all(records);
        Self::from_drafts(drafts, &key_of_each, records)
    }

    fn from_drafts(drafts: TownDrafts<'_>, key_of_each: &[Option<TownKey>], records: &[&Record]) -> Self {
        let TownDrafts { drafts, main_names, .. } = drafts;
        let mut drafts: Vec<_> = drafts.into_iter().filter(|(_, draft)| !draft.machines.is_empty()).collect();
        drafts.sort_by(|(a, one), (b, other)| (a.0, &one.name).cmp(&(b.0, &other.name)));
        let keys = drafts.iter().map(|(key, _)| key.clone());
        let by_key: BTreeMap<TownKey, u32> = keys.zip(0..).collect();
        let of_atms = key_of_each.iter().map(|key| match key {
            Some(key) => by_key.get(key).copied().unwrap_or(NO_TOWN),
            None => NO_TOWN,
        });
        let of_atms = of_atms.collect();
        let towns = drafts.into_iter().map(|((area, _), draft)| Arc::new(draft.town(area, records)));
        let towns: Vec<_> = towns.collect();
        let mut numbers = spelled_towns(&main_names, &by_key, true);
        let elsewhere = spelled_towns(&main_names, &by_key, false);
        // A town is also found by its gazetteer name, even if no address uses this name.
        for ((area, main), number) in by_key {
            for own in [fold(&towns[number as usize].slug()), main] {
                numbers.entry((area, own.into())).or_insert(number);
            }
        }
        // Outside the United States and Canada, several towns may share a name in addresses, but only one of them can
        // have its path.
        for (name, number) in elsewhere {
            numbers.entry(name).or_insert(number);
        }
        let index = Index::build(&towns.iter().map(|town| town.center).collect::<Vec<_>>());
        Self { all: towns, lookup: Arc::new(TownLookup { numbers, of_atms, index }) }
    }

    /// Returns the towns without the ATMs at these positions. Unchanged towns are shared with `self`.
    pub(super) fn without(&self, gone: impl Iterator<Item = usize>) -> Self {
        let mut all = self.all.clone();
        for at in gone {
            let Some(number) = self.number_of(at) else { continue };
            let town = Arc::make_mut(&mut all[number]);
            town.machines = town.machines.iter().copied().filter(|machine| *machine as usize != at).collect();
        }
        Self { all, lookup: Arc::clone(&self.lookup) }
    }

    /// Returns all towns with ATMs, sorted by area and name.
    pub fn all(&self) -> impl Iterator<Item = &Town> {
        present(&self.all)
    }

    /// Returns the towns of an area with ATMs, sorted by name.
    pub fn of_area(&self, area: TownArea) -> impl Iterator<Item = &Town> {
        let start = self.all.partition_point(|town| town.area < area);
        let end = self.all.partition_point(|town| town.area <= area);
        present(&self.all[start..end])
    }

    /// Returns the town with this name in an area, in any spelling with an equal folded form.
    #[must_use]
    pub fn find(&self, area: TownArea, name: &str) -> Option<&Town> {
        let number = self.lookup.numbers.get(&(area, fold(name).into_boxed_str()))?;
        self.all.get(*number as usize).map(Arc::as_ref).filter(|town| !town.is_empty())
    }

    /// Returns the town of the ATM at this position.
    #[must_use]
    pub fn of_atm(&self, position: usize) -> Option<&Town> {
        self.all.get(self.number_of(position)?).map(Arc::as_ref).filter(|town| !town.is_empty())
    }

    fn number_of(&self, machine: usize) -> Option<usize> {
        let number = self.lookup.of_atms.get(machine).filter(|number| **number != NO_TOWN)?;
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

    /// Returns the areas that have towns, with their numbers of ATMs.
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

/// Returns the indexes of towns by their names in addresses, for countries with (`has_regions`) or without known
/// regions.
fn spelled_towns(
    main_names: &BTreeMap<(TownArea, Box<str>), String>,
    by_key: &BTreeMap<TownKey, u32>,
    has_regions: bool,
) -> BTreeMap<(TownArea, Box<str>), u32> {
    let mut numbers = BTreeMap::new();
    for ((area, name), main) in main_names {
        if has_known_regions(area.country) != has_regions {
            continue;
        }
        if let Some(number) = by_key.get(&(*area, main.clone())) {
            numbers.insert((*area, name.clone()), *number);
        }
    }
    numbers
}

/// Filters the towns that have ATMs.
fn present(towns: &[Arc<Town>]) -> impl Iterator<Item = &Town> {
    towns.iter().map(Arc::as_ref).filter(|town| !town.is_empty())
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
