//! An immutable snapshot of the catalogue with the indexes for searches.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use jiff::civil::Date;
use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{
    Atm, AtmId, Coin, Country, DataDates, Distance, Index, IndexMatch, MergedAtm, Point, Record, Region, ReportedState,
    fold, merge,
};

use super::advice::AdviceTable;
use super::countries::AtmCountries;
use super::facts::{Coins, Facts};
use super::hours::{HoursTable, HoursTableBuilder};
use super::report_table::ReportTable;
use super::source::{SAMPLE, Source};
use super::sql::StoredCatalogue;
use super::towns::Towns;

/// Maximum distance between an ATM and a place that is preferred to other places with its name because of the ATM.
const NEAR_PLACE_DISTANCE: Distance = Distance::miles(50.0);

/// An ATM of the catalogue.
#[derive(Debug)]
pub struct CatalogueEntry {
    /// The ATM, merged from the rows of its sources.
    pub atm: MergedAtm,
    /// The index of its opening hours in the [`HoursTable`].
    pub(crate) hours: Option<u32>,
    /// The index of its advisory set in the [`AdviceTable`].
    pub(super) advice: u32,
    /// The day on which any of its rows last changed.
    pub(crate) changed: Option<Date>,
}

impl CatalogueEntry {
    /// Creates an entry from a single row that is not in the catalogue, without opening hours and advisories.
    pub(crate) fn of_row(row: Atm) -> Option<Self> {
        let atm = merge(vec![row], &BTreeSet::new()).pop()?;
        Some(Self { atm, hours: None, advice: 0, changed: None })
    }
}

/// A snapshot of the catalogue with the reports about its ATMs. Snapshots share the ATMs, because reports change more
/// often.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) parts: Arc<SnapshotParts>,
    pub(super) reports: ReportTable,
    /// The towns without the ATMs that are gone according to reports, created on first use.
    pub(super) towns_left: Arc<OnceLock<Towns>>,
}

/// The ATMs of a [`Snapshot`] and their indexes, shared between snapshots with different reports.
#[derive(Debug)]
pub struct SnapshotParts {
    version: i64,
    /// The ATMs, sorted by ID. The index sorts ATMs at equal distances by position, so they are ordered by ID.
    pub(super) entries: Vec<CatalogueEntry>,
    /// The positions of merged ATMs by the IDs of their rows other than the first.
    merged: HashMap<AtmId, u32>,
    /// The positions of the ATMs that are not permanently closed, in the order of `facts` and `index`.
    pub(super) present: Vec<u32>,
    /// The properties of the ATMs in `present`.
    pub(crate) facts: Vec<Facts>,
    pub(crate) coins: Coins,
    pub(crate) index: Index,
    pub(crate) hours: HoursTable,
    pub(super) advice: AdviceTable,
    /// The positions of the ATMs of each city, by region and folded name.
    cities: HashMap<(Region, String), Vec<u32>>,
    /// The number of ATMs with an address in each region.
    regions: BTreeMap<Region, usize>,
    sources: Vec<Source>,
    /// The newest and oldest date of all ATMs.
    dates: DataDates,
    /// The newest and oldest date of the rows of each source.
    source_dates: HashMap<Arc<str>, DataDates>,
    /// The next time when an ATM closes permanently, by its end date.
    next_end: Option<Timestamp>,
    pub(super) countries: AtmCountries,
    /// All towns, created on first use.
    towns: OnceLock<Towns>,
}

impl Deref for Snapshot {
    type Target = SnapshotParts;

    fn deref(&self) -> &SnapshotParts {
        &self.parts
    }
}

impl Snapshot {
    /// Builds a snapshot from the rows of the database. Advisories ([`Snapshot::with_advisories`]) and reports
    /// ([`Snapshot::with_reports`]) must be added separately.
    #[must_use]
    pub fn build(stored: StoredCatalogue) -> Self {
        let StoredCatalogue { version, atms, changed, next_end, apart, sources } = stored;
        let mut hours = HoursTableBuilder::default();
        let entries = merge(atms, &apart).into_iter().map(|atm| {
            let changed = last_change(&atm, &changed);
            CatalogueEntry { hours: hours.number(&atm.record), atm, advice: 0, changed }
        });
        let entries: Vec<CatalogueEntry> = entries.collect();
        let mut present = Vec::new();
        let mut merged = HashMap::new();
        let mut cities: HashMap<_, Vec<u32>> = HashMap::new();
        let mut regions = BTreeMap::new();
        for (at, entry) in (0..).zip(&entries) {
            let MergedAtm { id, record, claims } = &entry.atm;
            if record.reported != ReportedState::PermanentlyClosed {
                present.push(at);
            }
            merged.extend(claims.iter().filter(|claim| claim.id != *id).map(|claim| (claim.id, at)));
            let Some(region) = record.address.region.as_deref().and_then(Region::parse) else { continue };
            *regions.entry(region).or_default() += 1;
            if let Some(city) = &record.address.city {
                cities.entry((region, fold(city))).or_default().push(at);
            }
        }
        let present_entries: Vec<&CatalogueEntry> = present.iter().map(|at| &entries[*at as usize]).collect();
        let coins = Coins::from_records(entries.iter().map(|entry| &*entry.atm.record));
        let facts = present_entries.iter().map(|entry| coins.facts(&entry.atm.record, entry.hours)).collect();
        let records: Vec<&Record> = present_entries.iter().map(|entry| &*entry.atm.record).collect();
        let index = Index::build(&records.iter().map(|record| record.point).collect::<Vec<_>>());
        let countries = AtmCountries::of_records(&records, &index);
        let entry_dates = entries.iter().map(|entry| entry.atm.known_at()).collect();
        let mut source_dates: HashMap<Arc<str>, DataDates> = HashMap::new();
        for claim in entries.iter().flat_map(|entry| &entry.atm.claims) {
            match source_dates.get_mut(&claim.source) {
                Some(dates) => dates.add(claim.known_at),
                None => {
                    source_dates.insert(Arc::clone(&claim.source), DataDates::from_iter([claim.known_at]));
                }
            }
        }
        let parts = SnapshotParts {
            version,
            entries,
            merged,
            present,
            facts,
            coins,
            index,
            hours: hours.build(),
            advice: AdviceTable::default(),
            cities,
            regions,
            sources,
            dates: entry_dates,
            source_dates,
            next_end,
            countries,
            towns: OnceLock::new(),
        };
        Self { parts: Arc::new(parts), reports: ReportTable::default(), towns_left: Arc::default() }
    }

    /// Returns the ATMs with an address in a city that are not gone, sorted by ID.
    pub fn in_city(&self, region: Region, city: &str) -> impl Iterator<Item = &CatalogueEntry> {
        let positions = self.cities.get(&(region, fold(city))).map_or(&[][..], Vec::as_slice);
        positions.iter().map(|at| &self.entries[*at as usize]).filter(|entry| !self.is_gone(entry))
    }

    /// Returns the towns of the ATMs that are not gone. The first call creates them, and blocks the thread for a while.
    #[must_use]
    pub fn towns(&self, places: &Gazetteer) -> &Towns {
        let all = self.towns.get_or_init(|| {
            let records: Vec<&Record> = self.entries.iter().map(|entry| &*entry.atm.record).collect();
            Towns::build(&records, places)
        });
        if !self.reports.has_gone() {
            return all;
        }
        self.towns_left.get_or_init(|| all.without(self.reports.gone().filter_map(|id| self.position(id))))
    }

    /// Returns `true` if an ATM is at most 50 miles from a point. Always returns `false` if all ATMs are in a single
    /// country, because their locations then do not help to choose between places with equal names.
    #[must_use]
    pub fn has_atms_near(&self, point: Point) -> bool {
        if !self.countries.are_several {
            return false;
        }
        let near = self.index.nearest(point, NEAR_PLACE_DISTANCE, 1, |at| !self.is_gone(self.present_entry(at)));
        !near.is_empty()
    }
}

impl SnapshotParts {
    /// Returns the version of the catalogue.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.version
    }

    /// Returns the number of ATMs, including permanently closed ATMs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if there are no ATMs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns `true` if the ATMs are the fictional samples.
    #[must_use]
    pub fn is_sample(&self) -> bool {
        self.sources.iter().any(|source| source.name == SAMPLE)
    }

    /// Returns all ATMs, sorted by ID.
    #[must_use]
    pub fn entries(&self) -> &[CatalogueEntry] {
        &self.entries
    }

    /// Returns the ATM that has this ID or a merged row with this ID.
    #[must_use]
    pub fn get(&self, id: AtmId) -> Option<&CatalogueEntry> {
        self.entries.get(self.position(id)?)
    }

    /// Returns the position of the ATM that has this ID or a merged row with this ID.
    #[must_use]
    pub fn position(&self, id: AtmId) -> Option<usize> {
        let own = self.entries.binary_search_by_key(&id, |entry| entry.atm.id).ok();
        own.or_else(|| self.merged.get(&id).map(|at| *at as usize))
    }

    /// Returns the ATM of a search result.
    #[must_use]
    pub fn found(&self, near: IndexMatch) -> &CatalogueEntry {
        self.present_entry(near.at)
    }

    /// Returns the ATM at a position of the index.
    pub(crate) fn present_entry(&self, position: u32) -> &CatalogueEntry {
        &self.entries[self.present[position as usize] as usize]
    }

    /// Returns the regions in addresses with their numbers of ATMs, sorted by country and code.
    pub fn regions(&self) -> impl Iterator<Item = (Region, usize)> {
        self.regions.iter().map(|(region, count)| (*region, *count))
    }

    /// Returns the cities in addresses, each with its region, its folded name, and its name as written in the address
    /// of the first ATM.
    pub fn cities(&self) -> impl Iterator<Item = (Region, &str, &str)> {
        self.cities.iter().filter_map(|((region, folded), atms)| {
            let first = &self.entries[*atms.first()? as usize].atm.record.address;
            Some((*region, folded.as_str(), first.city.as_deref()?.trim()))
        })
    }

    /// Returns the newest and oldest date on which the sources reported or checked the ATMs.
    #[must_use]
    pub fn dates(&self) -> DataDates {
        self.dates
    }

    /// Returns the newest and oldest date of the rows of a source.
    #[must_use]
    pub fn dates_of_source(&self, name: &str) -> DataDates {
        self.source_dates.get(name).copied().unwrap_or_default()
    }

    /// Returns the time of the last import of any source.
    #[must_use]
    pub fn imported_at(&self) -> Option<Timestamp> {
        self.sources.iter().map(|source| source.imported_at).max()
    }

    /// Returns the next time when an ATM closes permanently, by its end date.
    pub(super) fn next_end(&self) -> Option<Timestamp> {
        self.next_end
    }

    /// Returns `true` if an ATM has reached its end date since the snapshot was read.
    pub(super) fn is_outdated(&self, now: Timestamp) -> bool {
        self.next_end.is_some_and(|end| end <= now)
    }

    /// Returns the countries with ATMs, or `None` if the country of any ATM is unknown.
    #[must_use]
    pub fn countries(&self) -> Option<&BTreeSet<Country>> {
        self.countries.all()
    }

    /// Returns `true` if any record lists this coin.
    #[must_use]
    pub fn has_coin(&self, coin: &Coin) -> bool {
        self.coins.contains(coin)
    }

    /// Returns the coins listed in records, in no particular order.
    pub fn coins(&self) -> impl Iterator<Item = Coin> {
        self.coins.iter()
    }

    /// Returns the sources of the ATMs, sorted by name.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter()
    }

    /// Returns the source with this name.
    #[must_use]
    pub fn source(&self, name: &str) -> Option<&Source> {
        self.sources.iter().find(|source| source.name == name)
    }

    /// Returns the attributions that the licences of all sources require.
    pub fn attribution(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|source| source.attribution.as_str())
    }
}

/// Returns the day on which any row of an ATM last changed. `changed` is the day of each row, sorted by ID.
fn last_change(machine: &MergedAtm, changed: &[(AtmId, Date)]) -> Option<Date> {
    let positions = machine.claims.iter().map(|claim| changed.binary_search_by_key(&claim.id, |(id, _)| *id));
    positions.flatten().map(|at| changed[at].1).max()
}
