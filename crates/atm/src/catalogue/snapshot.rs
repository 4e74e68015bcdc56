//! One state of the catalogue, ready to be searched; never changed once built.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use jiff::civil::Date;
use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{AtmId, Coin, Country, Index, Machine, Near, Point, Record, Region, Reported, fold, merge};

use super::advice::AdviceTable;
use super::countries::countries;
use super::facts::{Coins, Facts};
use super::hours::{HoursBook, HoursTable};
use super::report_table::ReportTable;
use super::source::{SAMPLE, Source};
use super::sql::StoredCatalogue;
use super::towns::Towns;

/// A machine of the catalogue, and which of the hours are its own.
#[derive(Debug)]
pub struct CatalogueEntry {
    /// The machine, by all that is said of it.
    pub machine: Machine,
    pub(crate) hours: Option<u32>,
    /// The number of what people are told there.
    pub(super) advice: u32,
    /// On which day one of its rows changed last.
    pub(crate) changed: Option<Date>,
}

/// One state of the catalogue, and what people report of its machines. Reports come while the machines stay as they are: so
/// the one is shared by the states of the other.
#[derive(Clone, Debug)]
pub struct Snapshot {
    parts: Arc<SnapshotParts>,
    pub(super) reports: ReportTable,
    /// The towns without the machines that are gone by reports, made for the first who asks.
    pub(super) towns_left: Arc<OnceLock<Towns>>,
}

/// The machines of a [`Snapshot`].
#[derive(Debug)]
pub struct SnapshotParts {
    version: i64,
    /// By id, so that equal distances are told apart by position.
    pub(super) entries: Vec<CatalogueEntry>,
    /// The positions of machines by the numbers of their other rows.
    merged: HashMap<AtmId, u32>,
    /// The positions of the machines that are not gone, and where they are: a search sees no others.
    pub(super) present: Vec<u32>,
    /// What is known of those that are present.
    pub(crate) facts: Vec<Facts>,
    pub(crate) coins: Coins,
    pub(crate) index: Index,
    pub(crate) hours: HoursTable,
    pub(super) advice: AdviceTable,
    /// The positions of the machines of a city, by region and folded name.
    cities: HashMap<(Region, String), Vec<u32>>,
    /// How many machines have an address in a region.
    regions: BTreeMap<Region, usize>,
    sources: Vec<Source>,
    data_as_of: Option<Timestamp>,
    countries: Option<BTreeSet<Country>>,
    /// Made for the first who asks.
    towns: OnceLock<Towns>,
}

impl Deref for Snapshot {
    type Target = SnapshotParts;

    fn deref(&self) -> &SnapshotParts {
        &self.parts
    }
}

impl Snapshot {
    /// Sorts what the database keeps: rows of several sources that are one machine become one. It is under no advisories
    /// yet: [`Snapshot::advised`], and nobody has reported anything: [`Snapshot::reported`].
    #[must_use]
    pub fn build(stored: StoredCatalogue) -> Self {
        let StoredCatalogue { version, atms, changed, apart, sources } = stored;
        let changed_on = |row: AtmId| Some(changed[changed.binary_search_by_key(&row, |(id, _)| *id).ok()?].1);
        let mut book = HoursBook::default();
        let machines = merge(atms, &apart).into_iter();
        let entries: Vec<CatalogueEntry> = machines
            .map(|machine| {
                let changed = machine.claims.iter().filter_map(|claim| changed_on(claim.id)).max();
                CatalogueEntry { hours: book.number(&machine.record), machine, advice: 0, changed }
            })
            .collect();
        let records = || entries.iter().map(|entry| &*entry.machine.record);
        let is_present = |(at, record): (u32, &Record)| (record.reported != Reported::PermanentlyClosed).then_some(at);
        let present: Vec<u32> = (0..).zip(records()).filter_map(is_present).collect();
        let present_entries = || present.iter().map(|at| &entries[*at as usize]);
        let points: Vec<Point> = present_entries().map(|entry| entry.machine.record.point).collect();
        let coins = Coins::from_records(records());
        let facts = present_entries().map(|entry| coins.facts(&entry.machine.record, entry.hours)).collect();
        let (mut cities, mut regions) = (HashMap::<_, Vec<u32>>::new(), BTreeMap::new());
        for (at, record) in (0..).zip(records()) {
            let Some(region) = record.address.region.as_deref().and_then(Region::parse) else { continue };
            *regions.entry(region).or_default() += 1;
            if let Some(city) = &record.address.city {
                cities.entry((region, fold(city))).or_default().push(at);
            }
        }
        let others = |(at, entry): (u32, &CatalogueEntry)| {
            let id = entry.machine.id;
            let rows: Vec<AtmId> = entry.machine.claims.iter().map(|claim| claim.id).filter(|row| *row != id).collect();
            rows.into_iter().map(move |row| (row, at))
        };
        let merged = (0..).zip(&entries).flat_map(others).collect();
        let newest_import = sources.iter().map(|source| source.imported_at).max();
        let data_as_of = records().filter_map(Record::known_at).max().or(newest_import).map(whole_seconds);
        let (index, hours) = (Index::build(&points), book.table());
        let advice = AdviceTable::default();
        let countries = countries(&present_entries().map(|entry| &*entry.machine.record).collect::<Vec<_>>(), &index);
        let parts = SnapshotParts {
            version,
            entries,
            merged,
            present,
            facts,
            coins,
            index,
            hours,
            advice,
            cities,
            regions,
            sources,
            data_as_of,
            countries,
            towns: OnceLock::new(),
        };
        Self { parts: Arc::new(parts), reports: ReportTable::default(), towns_left: Arc::default() }
    }

    /// The parts, to be added to while nobody else has them.
    pub(super) fn parts_mut(&mut self) -> Option<&mut SnapshotParts> {
        Arc::get_mut(&mut self.parts)
    }

    /// The machines whose address is in a city, by id, those that are gone left out.
    pub fn in_city(&self, region: Region, city: &str) -> impl Iterator<Item = &CatalogueEntry> {
        let found = self.cities.get(&(region, fold(city))).into_iter().flatten();
        let entries = found.map(|at| &self.entries[*at as usize]);
        entries.filter(|entry| !self.is_gone(entry))
    }

    /// The towns of its machines that are not gone. The first call makes them, which takes a processor for a while.
    #[must_use]
    pub fn towns(&self, places: &Gazetteer) -> &Towns {
        let all = self.towns.get_or_init(|| {
            let records: Vec<&Record> = self.entries.iter().map(|entry| &*entry.machine.record).collect();
            Towns::build(&records, places)
        });
        if !self.reports.has_gone() {
            return all;
        }
        self.towns_left.get_or_init(|| all.without(self.reports.gone().filter_map(|id| self.position(id))))
    }

    /// The same, where they were made already.
    #[must_use]
    pub fn made_towns(&self) -> Option<&Towns> {
        if self.reports.has_gone() { self.towns_left.get() } else { self.towns.get() }
    }
}

impl SnapshotParts {
    /// Which change of the catalogue this is.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.version
    }

    /// How many machines there are, the permanently closed ones too.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether the machines are the built-in fictional ones.
    #[must_use]
    pub fn is_sample(&self) -> bool {
        self.sources.iter().any(|source| source.name == SAMPLE)
    }

    /// Every machine, by id.
    #[must_use]
    pub fn entries(&self) -> &[CatalogueEntry] {
        &self.entries
    }

    /// The machine with this number, which may be that of any of its rows.
    #[must_use]
    pub fn get(&self, id: AtmId) -> Option<&CatalogueEntry> {
        self.entries.get(self.position(id)?)
    }

    /// The position of that machine.
    #[must_use]
    pub fn position(&self, id: AtmId) -> Option<usize> {
        let own = self.entries.binary_search_by_key(&id, |entry| entry.machine.id).ok();
        own.or_else(|| self.merged.get(&id).map(|at| *at as usize))
    }

    /// The machine that a search found.
    #[must_use]
    pub fn found(&self, near: Near) -> &CatalogueEntry {
        self.present_at(near.at)
    }

    pub(crate) fn present_at(&self, at: u32) -> &CatalogueEntry {
        &self.entries[self.present[at as usize] as usize]
    }

    /// The regions that addresses name, by country and code, and how many machines each has.
    pub fn regions(&self) -> impl Iterator<Item = (Region, usize)> {
        self.regions.iter().map(|(region, count)| (*region, *count))
    }

    /// The cities that addresses name: region, folded name, and the name as its first machine writes it.
    pub fn cities(&self) -> impl Iterator<Item = (Region, &str, &str)> {
        self.cities.iter().filter_map(|((region, folded), atms)| {
            let first = &self.entries[*atms.first()? as usize].machine.record.address;
            Some((*region, folded.as_str(), first.city.as_deref()?.trim()))
        })
    }

    /// When the newest report or check of any machine was; where none has a date, when the newest import was.
    #[must_use]
    pub fn data_as_of(&self) -> Option<Timestamp> {
        self.data_as_of
    }

    /// The countries that have machines; `None` where the country of a machine is not known.
    #[must_use]
    pub fn countries(&self) -> Option<&BTreeSet<Country>> {
        self.countries.as_ref()
    }

    /// Whether any machine says anything of a coin.
    #[must_use]
    pub fn has_coin(&self, coin: &Coin) -> bool {
        self.coins.contains(coin)
    }

    /// The coins that machines say anything of, in no order.
    pub fn coins(&self) -> impl Iterator<Item = Coin> {
        self.coins.iter()
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

/// Without the fraction, which says nothing of data.
fn whole_seconds(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}
