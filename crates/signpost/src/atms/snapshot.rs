//! One state of the catalogue, ready to be searched; never changed once built.

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use jiff::Timestamp;
use signpost_locator::{Atm, AtmId, Distance, Index, Near, Point, Region, Reported, fold};

use super::{SAMPLE, Stored};

/// Where machines come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// What its licence wants to be said.
    pub attribution: String,
    /// When it was last imported.
    pub imported_at: Timestamp,
}

/// One state of the catalogue.
#[derive(Debug)]
pub struct Snapshot {
    version: i64,
    /// By id, so that equal distances are told apart by position.
    atms: Vec<Atm>,
    /// The positions of the machines that are not gone, and where they are: a search sees no others.
    present: Vec<u32>,
    index: Index,
    /// The positions of the machines of a city, by region and folded name.
    cities: HashMap<(Region, String), Vec<u32>>,
    /// How many machines have an address in a region.
    regions: BTreeMap<Region, usize>,
    sources: Vec<Source>,
}

impl Snapshot {
    /// Sorts what the database keeps.
    ///
    /// # Errors
    /// Where a stored record cannot be read.
    pub fn build(stored: Stored) -> Result<Self> {
        let Stored { version, mut atms, sources } = stored;
        atms.sort_by_key(|atm| atm.id);
        let is_present = |(at, atm): (u32, &Atm)| (atm.record.reported != Reported::PermanentlyClosed).then_some(at);
        let present: Vec<_> = (0..).zip(&atms).filter_map(is_present).collect();
        let points: Vec<_> = present.iter().map(|at| atms[*at as usize].record.point).collect();
        let (mut cities, mut regions) = (HashMap::<_, Vec<u32>>::new(), BTreeMap::new());
        for (at, atm) in (0..).zip(&atms) {
            let address = &atm.record.address;
            let Some(region) = address.region.as_deref().and_then(Region::parse) else { continue };
            *regions.entry(region).or_default() += 1;
            if let Some(city) = &address.city {
                cities.entry((region, fold(city))).or_default().push(at);
            }
        }
        Ok(Self { version, index: Index::build(&points), present, atms, cities, regions, sources })
    }

    /// Which change of the catalogue this is.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.version
    }

    /// How many machines there are, the permanently closed ones too.
    #[must_use]
    pub fn len(&self) -> usize {
        self.atms.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.atms.is_empty()
    }

    /// Whether the machines are the built-in fictional ones.
    #[must_use]
    pub fn is_sample(&self) -> bool {
        self.sources.iter().any(|source| source.name == SAMPLE)
    }

    /// Every machine, by id.
    #[must_use]
    pub fn atms(&self) -> &[Atm] {
        &self.atms
    }

    /// The machine with this number.
    #[must_use]
    pub fn get(&self, id: AtmId) -> Option<&Atm> {
        self.atms.binary_search_by_key(&id, |atm| atm.id).ok().map(|at| &self.atms[at])
    }

    /// The machine that a search found.
    #[must_use]
    pub fn at(&self, near: Near) -> &Atm {
        self.present_at(near.at)
    }

    /// The `most` nearest machines within `radius` that are not gone and that `keep` wants, nearest first, then by id.
    pub fn nearest(&self, from: Point, radius: Distance, most: usize, keep: impl Fn(&Atm) -> bool) -> Vec<Near> {
        self.index.nearest(from, radius, most, |at| keep(self.present_at(at)))
    }

    /// The `most` nearest of what [`Snapshot::within`] would return, and how many that is.
    pub fn nearest_and_count(
        &self,
        from: Point,
        radius: Distance,
        most: usize,
        keep: impl Fn(&Atm) -> bool,
    ) -> (Vec<Near>, usize) {
        self.index.nearest_and_count(from, radius, most, |at| keep(self.present_at(at)))
    }

    /// All machines within `radius` that are not gone and that `keep` wants, nearest first, then by id.
    pub fn within(&self, from: Point, radius: Distance, keep: impl Fn(&Atm) -> bool) -> Vec<Near> {
        self.index.within(from, radius, |at| keep(self.present_at(at)))
    }

    fn present_at(&self, at: u32) -> &Atm {
        &self.atms[self.present[at as usize] as usize]
    }

    /// The machines whose address is in a city, by id, those that are gone left out.
    pub fn in_city(&self, region: Region, city: &str) -> impl Iterator<Item = &Atm> {
        let found = self.cities.get(&(region, fold(city))).into_iter().flatten();
        let atms = found.map(|at| &self.atms[*at as usize]);
        atms.filter(|atm| atm.record.reported != Reported::PermanentlyClosed)
    }

    /// The regions that addresses name, by country and code, and how many machines each has.
    pub fn regions(&self) -> impl Iterator<Item = (Region, usize)> {
        self.regions.iter().map(|(region, count)| (*region, *count))
    }

    /// The cities that addresses name: region, folded name, and the name as its first machine writes it.
    pub fn cities(&self) -> impl Iterator<Item = (Region, &str, &str)> {
        self.cities.iter().filter_map(|((region, folded), atms)| {
            let first = &self.atms[*atms.first()? as usize].record.address;
            Some((*region, folded.as_str(), first.city.as_deref()?.trim()))
        })
    }

    /// Where the machines come from.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter()
    }

    /// The source of this name.
    #[must_use]
    pub fn source(&self, name: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.name == name)
    }

    /// What the licences of all sources want to be said.
    pub fn attribution(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|source| source.attribution.as_str())
    }
}
