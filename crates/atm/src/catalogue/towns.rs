//! The towns that have machines, by country, region and name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{Country, Distance, Index, Point, Record, Region, Reported, fold, slug};

use super::countries::country_of;
use crate::advisories::Spot;

/// The number of no town.
const NONE: u32 = u32::MAX;

/// Where a town lies. What sources call a region outside of the United States and Canada is none here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TownArea {
    /// The country.
    pub country: Country,
    /// The state, territory or province.
    pub region: Option<Region>,
}

/// A town that has machines.
#[derive(Clone, Debug)]
pub struct Town {
    /// Where it lies.
    pub area: TownArea,
    /// Its name, as the place names spell it, or else its first machine.
    pub name: Box<str>,
    /// Its middle: as the place names know it, else that of its machines.
    pub center: Point,
    /// The positions of its machines that are not gone, those nearest to its middle first.
    machines: Box<[u32]>,
}

/// The towns of a state of the catalogue.
#[derive(Debug)]
pub struct Towns {
    /// By area and name. One whose machines are all gone is a town no more, but keeps its number.
    all: Vec<Arc<Town>>,
    lookup: Arc<TownLookup>,
}

/// Where the towns are found, whichever of their machines are gone.
#[derive(Debug)]
struct TownLookup {
    /// Their numbers by area and folded name; a town has several where addresses spell it otherwise than the place names.
    numbers: BTreeMap<(TownArea, Box<str>), u32>,
    /// The number of each machine's town.
    of_machines: Vec<u32>,
    /// Where they are.
    index: Index,
}

/// A town before its machines are all known.
#[derive(Default)]
struct TownDraft {
    name: String,
    center: Option<Point>,
    machines: Vec<u32>,
}

impl Towns {
    /// Sorts machines by the towns of their addresses; where one names none, by the nearest place.
    pub(super) fn build(records: &[&Record], places: &Gazetteer) -> Self {
        let mut drafts: BTreeMap<(TownArea, String), TownDraft> = BTreeMap::new();
        let mut main_names: BTreeMap<(TownArea, Box<str>), String> = BTreeMap::new();
        let mut key_of_each = Vec::with_capacity(records.len());
        for (at, record) in (0..).zip(records) {
            let key = find_town(record, places).map(|(area, city)| {
                let folded = fold(&city);
                let main = match main_names.entry((area, folded.clone().into())) {
                    Entry::Occupied(known) => known.get().clone(),
                    Entry::Vacant(new) => new.insert(open_draft(&mut drafts, area, &city, folded, places)).clone(),
                };
                (area, main)
            });
            if let Some(key) = &key
                && record.reported != Reported::PermanentlyClosed
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
        let number = |area: TownArea, main: &str| by_key.get(&(area, main.to_owned())).copied();
        let numbers = main_names.into_iter();
        let mut numbers: BTreeMap<_, _> =
            numbers.filter_map(|(key, main)| number(key.0, &main).map(|number| (key, number))).collect();
        let of_each = |key: &Option<(TownArea, String)>| {
            key.as_ref().and_then(|(area, main)| number(*area, main)).unwrap_or(NONE)
        };
        let of_machines = key_of_each.iter().map(of_each).collect();
        let towns = drafts.into_iter().map(|((area, _), draft)| Arc::new(draft.town(area, records)));
        let towns: Vec<_> = towns.collect();
        // Its own name leads to a town, also where no address spells it so.
        for ((area, main), number) in &by_key {
            for own in [main.clone(), fold(&towns[*number as usize].slug())] {
                numbers.entry((*area, own.into())).or_insert(*number);
            }
        }
        let index = Index::build(&towns.iter().map(|town| town.center).collect::<Vec<_>>());
        Self { all: towns, lookup: Arc::new(TownLookup { numbers, of_machines, index }) }
    }

    /// The same without the machines at some positions. Few are left out, so the rest is shared.
    pub(super) fn without(&self, gone: impl Iterator<Item = usize>) -> Self {
        let mut all = self.all.clone();
        for at in gone {
            let Some(number) = self.number_of(at) else { continue };
            let town = Arc::make_mut(&mut all[number]);
            town.machines = town.machines.iter().copied().filter(|machine| *machine as usize != at).collect();
        }
        Self { all, lookup: Arc::clone(&self.lookup) }
    }

    /// All of them, by area and name.
    pub fn all(&self) -> impl Iterator<Item = &Town> {
        present(&self.all)
    }

    /// Those of an area.
    pub fn of_area(&self, area: TownArea) -> impl Iterator<Item = &Town> {
        let start = self.all.partition_point(|town| town.area < area);
        let end = self.all.partition_point(|town| town.area <= area);
        present(&self.all[start..end])
    }

    /// The town of an area that a text names, however it spells it.
    #[must_use]
    pub fn find(&self, area: TownArea, name: &str) -> Option<&Town> {
        let number = self.lookup.numbers.get(&(area, fold(name).into_boxed_str()))?;
        self.all.get(*number as usize).map(Arc::as_ref).filter(|town| !town.is_empty())
    }

    /// The town of the machine at a position.
    #[must_use]
    pub fn of_machine(&self, at: usize) -> Option<&Town> {
        self.all.get(self.number_of(at)?).map(Arc::as_ref).filter(|town| !town.is_empty())
    }

    fn number_of(&self, machine: usize) -> Option<usize> {
        let number = self.lookup.of_machines.get(machine).filter(|number| **number != NONE)?;
        Some(*number as usize)
    }

    /// The towns nearest to a point but for one of them, at most this far away.
    pub fn near(&self, from: Point, within: Distance, most: usize, but: Option<&Town>) -> impl Iterator<Item = &Town> {
        let is_other = |at: u32| {
            let town = &*self.all[at as usize];
            !town.is_empty() && but.is_none_or(|but| !std::ptr::eq(town, but))
        };
        let near = self.lookup.index.nearest(from, within, most, is_other);
        near.into_iter().map(|near| &*self.all[near.at as usize])
    }

    /// The areas that have towns, and how many machines those have.
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
    /// Its name in an address.
    #[must_use]
    pub fn slug(&self) -> String {
        slug(&self.name)
    }

    /// How many machines it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.machines.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.machines.is_empty()
    }

    /// The positions of its machines that are not gone, those nearest to its middle first.
    #[must_use]
    pub fn machines(&self) -> &[u32] {
        &self.machines
    }
}

impl TownDraft {
    fn town(self, area: TownArea, records: &[&Record]) -> Town {
        let point = |at: u32| records[at as usize].point;
        let center = self.center.or_else(|| Point::middle(self.machines.iter().map(|at| point(*at))));
        // Machines all around the earth share no more than a name.
        let center = center.or_else(|| self.machines.first().map(|at| point(*at))).expect("a town has a machine");
        let mut machines = self.machines;
        machines.sort_by(|a, b| {
            let away = |at: u32| center.distance(point(at)).in_metres();
            away(*a).total_cmp(&away(*b)).then(a.cmp(b))
        });
        Town { area, name: self.name.into(), center, machines: machines.into() }
    }
}

/// Those that have machines.
fn present(towns: &[Arc<Town>]) -> impl Iterator<Item = &Town> {
    towns.iter().map(Arc::as_ref).filter(|town| !town.is_empty())
}

/// The area and the city that a machine stands in, where both are known.
fn find_town<'a>(record: &'a Record, places: &Gazetteer) -> Option<(TownArea, Cow<'a, str>)> {
    let spot = Spot::of_machine(record, places);
    let own = spot.country?;
    // A territory has a code as a country and one as a region.
    let region = spot.region.or_else(|| Region::parse(own.code()).filter(|_| country_of(None, Some(own)) != Some(own)));
    let country = country_of(region, Some(own))?;
    let city = spot.city?;
    (!fold(&city).is_empty()).then_some((TownArea { country, region }, city))
}

/// Opens the draft of a town that was not met by this name before; the folded main name of it.
fn open_draft(
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
        let name = place.as_ref().map_or(city.trim(), |place| &place.name);
        (draft.name, draft.center) = (name.to_owned(), place.as_ref().map(|place| place.point));
    }
    main
}

#[cfg(test)]
mod tests {
    use signpost_locator::ArcStr;

    use super::*;

    #[test]
    fn a_town_is_found_by_its_own_name_where_no_address_spells_it_so() {
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
    fn a_town_counts_no_machine_that_is_gone_and_is_none_without_any() {
        let record = |city: &'static str, lat| {
            let mut record = Record::at(Point::new(lat, -97.74).expect("on the earth"));
            (record.address.city, record.address.region) = (Some(city.into()), Some(ArcStr::from("TX")));
            record
        };
        let records = [record("Austin", 30.26), record("Marfa", 30.3), record("Austin", 30.27)];
        let towns = Towns::build(&records.iter().collect::<Vec<_>>(), &Gazetteer::embedded());
        let area = towns.of_machine(0).expect("a town").area;
        let left = towns.without([1, 2, 99].into_iter());
        assert_eq!(left.all().map(|town| (&*town.name, town.machines())).collect::<Vec<_>>(), [("Austin", &[0][..])]);
        assert_eq!((left.areas(), left.of_area(area).count()), (vec![(area, 1)], 1));
        assert!(left.find(area, "Marfa").is_none() && left.of_machine(1).is_none());
        let point = records[1].point;
        assert!(left.near(point, Distance::miles(500.0), 9, None).all(|town| &*town.name == "Austin"));
        assert_eq!((towns.areas(), towns.find(area, "Marfa").map(Town::len)), (vec![(area, 3)], Some(1)));
    }
}
