//! An immutable snapshot of the catalogue, sorted for searches.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use jiff::civil::Date;
use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::{
    AtmId, Coin, Country, Index, IndexMatch, MergedAtm, Record, Region, ReportedState, fold, merge,
};

use super::advice::AdviceTable;
use super::countries::countries;
use super::facts::{Coins, Facts};
use super::hours::{HoursTable, HoursTableBuilder};
use super::report_table::ReportTable;
use super::source::{SAMPLE, Source};
use super::sql::StoredCatalogue;
use super::towns::Towns;

/// An ATM of the catalogue.
#[derive(Debug)]
pub struct CatalogueEntry {
    /// The ATM, merged from its rows.
    pub atm: MergedAtm,
    /// The number of its opening hours.
    pub(crate) hours: Option<u32>,
    /// The number of its set of advisories.
    pub(super) advice: u32,
    /// The day of the last change of its rows.
    pub(crate) changed: Option<Date>,
}

/// A snapshot of the catalogue with the reports about its ATMs. Reports change more often than ATMs, so snapshots share
/// the ATMs.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) parts: Arc<SnapshotParts>,
    pub(super) reports: ReportTable,
    /// The towns without the ATMs that are gone by reports, created on first use.
    pub(super) towns_left: Arc<OnceLock<Towns>>,
}

/// The ATMs of a [`Snapshot`].
#[derive(Debug)]
pub struct SnapshotParts {
    version: i64,
    /// By ID, so that ATMs at equal distances are sorted by position.
    pub(super) entries: Vec<CatalogueEntry>,
    /// The positions of ATMs by the IDs of their other rows.
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
    data_as_of: Option<Timestamp>,
    countries: Option<BTreeSet<Country>>,
    /// Created on first use.
    towns: OnceLock<Towns>,
}

impl Deref for Snapshot {
    type Target = SnapshotParts;

    fn deref(&self) -> &SnapshotParts {
        &self.parts
    }
}

impl Snapshot {
    /// Merges and sorts the rows of the database. The snapshot has no advisories ([`Snapshot::with_advisories`]) and no
    /// reports ([`Snapshot::with_reports`]) yet.
    #[must_use]
    pub fn build(stored: StoredCatalogue) -> Self {
        let StoredCatalogue { version, atms, changed, apart, sources } = stored;
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
        let countries = countries(&records, &index);
        let newest_record = entries.iter().filter_map(|entry| entry.atm.record.known_at()).max();
        let newest_import = sources.iter().map(|source| source.imported_at).max();
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
            data_as_of: newest_record.or(newest_import).map(whole_seconds),
            countries,
            towns: OnceLock::new(),
        };
        Self { parts: Arc::new(parts), reports: ReportTable::default(), towns_left: Arc::default() }
    }

    /// Returns the ATMs with an address in a city that are not gone, by ID.
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

    /// Returns all ATMs, by ID.
    #[must_use]
    pub fn entries(&self) -> &[CatalogueEntry] {
        &self.entries
    }

    /// Returns the ATM with this ID, or with a row of this ID.
    #[must_use]
    pub fn get(&self, id: AtmId) -> Option<&CatalogueEntry> {
        self.entries.get(self.position(id)?)
    }

    /// Returns the position of the ATM with this ID, or with a row of this ID.
    #[must_use]
    pub fn position(&self, id: AtmId) -> Option<usize> {
        let own = self.entries.binary_search_by_key(&id, |entry| entry.atm.id).ok();
        own.or_else(|| self.merged.get(&id).map(|at| *at as usize))
    }

    /// Returns the ATM that a search found.
    #[must_use]
    pub fn found(&self, near: IndexMatch) -> &CatalogueEntry {
        self.present_entry(near.at)
    }

    /// Returns the ATM at a position of the index.
    pub(crate) fn present_entry(&self, at: u32) -> &CatalogueEntry {
        &self.entries[self.present[at as usize] as usize]
    }

    /// Returns the regions in addresses, by country and code, with their numbers of ATMs.
    pub fn regions(&self) -> impl Iterator<Item = (Region, usize)> {
        self.regions.iter().map(|(region, count)| (*region, *count))
    }

    /// Returns the cities in addresses: region, folded name, and the name in the address of the first ATM.
    pub fn cities(&self) -> impl Iterator<Item = (Region, &str, &str)> {
        self.cities.iter().filter_map(|((region, folded), atms)| {
            let first = &self.entries[*atms.first()? as usize].atm.record.address;
            Some((*region, folded.as_str(), first.city.as_deref()?.trim()))
        })
    }

    /// Returns when an ATM was last reported or checked by its source, or else when the last import was.
    #[must_use]
    pub fn data_as_of(&self) -> Option<Timestamp> {
        self.data_as_of
    }

    /// Returns the countries with ATMs. `None` if the country of an ATM is unknown.
    #[must_use]
    pub fn countries(&self) -> Option<&BTreeSet<Country>> {
        self.countries.as_ref()
    }

    /// Returns `true` if a record has this coin.
    #[must_use]
    pub fn has_coin(&self, coin: &Coin) -> bool {
        self.coins.contains(coin)
    }

    /// Returns the coins in records, in no order.
    pub fn coins(&self) -> impl Iterator<Item = Coin> {
        self.coins.iter()
    }

    /// Returns the sources.
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

/// Returns the day on which a row of an ATM last changed, given the day of each row by ID.
fn last_change(machine: &MergedAtm, changed: &[(AtmId, Date)]) -> Option<Date> {
    let positions = machine.claims.iter().map(|claim| changed.binary_search_by_key(&claim.id, |(id, _)| *id));
    positions.flatten().map(|at| changed[at].1).max()
}

/// Returns a time without its fraction of a second.
fn whole_seconds(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}
