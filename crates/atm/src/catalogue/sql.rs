//! Database access for the catalogue: reads and imports of ATMs and their sources.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use anyhow::{Context, Result};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::json;
use signpost_locator::{Atm, AtmId, Record, RecordInterner, sample};
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{Row, Statement, Store, Stored, WriteOutcome, params, sql};
use tokio::sync::mpsc;

use super::plan::{Plan, StoredRecord};
use super::source::{SAMPLE, Source};
use super::stored::{StoredAtm, UnmergedAtm};

const VERSION: &str = "SELECT version FROM catalogue";

/// Selects one page of ATMs. A single query for all rows would permanently increase the memory of the process.
const ATMS: &str = sql!(StoredAtm::SELECT, " WHERE removed_at IS NULL AND id > $1 ORDER BY id LIMIT 1000");

/// Maximum number of pages that are read in advance of the parser.
const MAX_WAITING_PAGES: usize = 2;

const SOURCES: &str = sql!(Source::SELECT, " ORDER BY name");

const OF_SOURCE: &str = sql!(StoredAtm::SELECT, " WHERE source = $1");

const HISTORY: &str = sql!(StoredAtm::SELECT, " WHERE id = $1");

/// Counts the ATMs of each source with indexes only, without reading a record.
const COUNTS: &str = "
    SELECT source, COUNT(*),
           (SELECT COUNT(*) FROM atms AS gone WHERE gone.source = atms.source AND gone.removed_at IS NOT NULL)
    FROM atms GROUP BY source";

/// Increments the version if it is still the version of the plan. The second of two concurrent imports updates no row
/// and is rejected.
const ADVANCE: &str = "UPDATE catalogue SET version = version + 1 WHERE version = $1";

/// A new row gets the highest ID plus one. Rows are never deleted, so IDs are never reused.
const UPSERT: &str = sql!(
    "INSERT INTO atms (",
    StoredAtm::COLUMN_LIST,
    ") VALUES ((SELECT COALESCE(MAX(id), 0) + 1 FROM atms), $1, $2, $3, $4, $4, NULL)
     ON CONFLICT (source, ref) DO UPDATE SET record = $3, updated_at = $4, removed_at = NULL"
);

const REMOVE: &str = "UPDATE atms SET removed_at = $1 WHERE source = $2 AND ref = $3";

const REMOVE_ALL: &str = "UPDATE atms SET removed_at = $1 WHERE source = $2 AND removed_at IS NULL";

const PUT_SOURCE: &str = sql!(Source::INSERT, " ON CONFLICT (name) DO UPDATE SET attribution = $2, imported_at = $3");

const PREVENT_MERGE: &str = sql!(UnmergedAtm::INSERT, " ON CONFLICT (id) DO NOTHING");

const ALLOW_MERGE: &str = "DELETE FROM atm_apart WHERE id = $1";

const DROP_SOURCE: &str = "DELETE FROM atm_sources WHERE name = $1";

/// Resets the state of the feed for this source, so that the next fetch is unconditional and returns the whole
/// document.
const RESET_FEED: &str = "UPDATE atm_feeds SET etag = NULL, last_modified = NULL, synced_to = NULL WHERE name = $1";

/// Increments the version if nothing was ever stored.
const FIRST: &str = "
    UPDATE catalogue SET version = version + 1 WHERE version = 0 AND NOT EXISTS (SELECT 1 FROM atms)";

/// Constant age of the fictional ATMs: new enough for a known status, and older than any user report.
const SAMPLE_AGE: SignedDuration = SignedDuration::from_hours(100 * 24);

/// The contents of the catalogue tables, without removed ATMs.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct StoredCatalogue {
    pub version: i64,
    pub atms: Vec<Atm>,
    /// The day on which each row last changed, by ID.
    pub changed: Vec<(AtmId, Date)>,
    /// The next time when an ATM closes permanently, by its end date.
    pub next_end: Option<Timestamp>,
    /// The rows that must not be merged with rows of other sources.
    pub apart: BTreeSet<AtmId>,
    pub sources: Vec<Source>,
}

/// Additional statements in the transaction of an import.
#[derive(Debug, Default)]
pub struct ImportSteps {
    /// The audit log entry, and statements that must succeed for the import.
    pub others: Vec<Statement>,
    /// The new state of the feed, if the import comes from the source's feed. Any other import resets the feed state,
    /// because a later "not modified" reply would no longer match the stored ATMs.
    pub feed: Option<Statement>,
}

/// The error of an import that conflicts with a concurrent import.
#[derive(Debug, thiserror::Error)]
#[error("another import ran at the same time; nothing was changed, try again")]
pub struct Conflict;

/// The error of an import if a required statement of its transaction fails. A retry would fail too.
#[derive(Debug, thiserror::Error)]
#[error("a condition of this import is no longer met; nothing was changed, start again")]
pub struct RequiredStatementRefused;

/// The number of ATMs of a source.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct SourceCount {
    pub source: String,
    pub machines: i64,
    pub gone: i64,
}

/// Returns the version of the catalogue.
///
/// # Errors
/// The errors of [`Store::read`].
pub async fn read_version(store: &Store) -> Result<i64> {
    store.read_one(VERSION, params![]).await?.context("catalogue is one row")?.int(0)
}

/// Reads the whole catalogue. ATMs with an end date up to `now` are permanently closed.
///
/// # Errors
/// The errors of [`Store::read`], or if a record cannot be read.
pub async fn read_catalogue(store: &Store, now: Timestamp) -> Result<StoredCatalogue> {
    // If an import is committed between these reads, the version is outdated and the next check reloads the catalogue.
    let version = read_version(store).await?;
    let sources = store.read(SOURCES, params![]).await?.into_iter().map(Source::from_row).collect::<Result<_>>()?;
    let AtmReader { atms, changed, next_end, .. } = read_atms(store, now).await?;
    let mut apart = BTreeSet::new();
    for row in store.read(UnmergedAtm::SELECT, params![]).await? {
        apart.insert(UnmergedAtm::from_row(row)?.id);
    }
    Ok(StoredCatalogue { version, atms, changed, next_end, apart, sources })
}

/// Reads all ATMs, sorted by ID. Another thread parses each page while the next page is read.
async fn read_atms(store: &Store, now: Timestamp) -> Result<AtmReader> {
    let (pages, mut waiting) = mpsc::channel::<Vec<Row>>(MAX_WAITING_PAGES);
    let parsed = tokio::task::spawn_blocking(move || -> Result<AtmReader> {
        let mut reader = AtmReader::default();
        while let Some(page) = waiting.blocking_recv() {
            page.into_iter().try_for_each(|row| reader.add(row, now))?;
        }
        Ok(reader)
    });
    let mut after = 0_i64;
    loop {
        let page = store.read(ATMS, params![after]).await?;
        let Some(last) = page.last() else { break };
        after = last.int(0)?;
        // The receiver is closed if a row could not be parsed.
        if pages.send(page).await.is_err() {
            break;
        }
    }
    drop(pages);
    parsed.await.context("could not read the catalogue")?
}

/// The parsed ATMs, and the interned values that they share.
#[derive(Default)]
struct AtmReader {
    atms: Vec<Atm>,
    changed: Vec<(AtmId, Date)>,
    next_end: Option<Timestamp>,
    /// The interned names of sources.
    names: HashSet<Arc<str>>,
    parts: RecordInterner,
}

impl AtmReader {
    /// Parses a row of [`ATMS`] and adds its ATM.
    fn add(&mut self, row: Row, now: Timestamp) -> Result<()> {
        let StoredAtm { id, source: name, record, updated_at, .. } = StoredAtm::from_row(row)?;
        self.changed.push((id, TimeZone::UTC.to_datetime(updated_at).date()));
        let source = self.names.get(name.as_str()).cloned().unwrap_or_else(|| name.into());
        self.names.insert(Arc::clone(&source));
        let mut record: Box<Record> =
            serde_json::from_str(&record).with_context(|| format!("the record of ATM {id}"))?;
        if &*source == SAMPLE {
            record.reported_at = now.checked_sub(SAMPLE_AGE).ok();
        }
        if let Some(end) = record.close_if_ended(now) {
            self.next_end = Some(self.next_end.map_or(end, |next| next.min(end)));
        }
        self.parts.intern(&mut record);
        self.atms.push(Atm { id, source, record });
        Ok(())
    }
}

/// Reads the stored rows of a source, by reference.
///
/// # Errors
/// The errors of [`Store::read`].
pub async fn read_source(store: &Store, source: &str) -> Result<BTreeMap<String, StoredRecord>> {
    let rows = store.read(OF_SOURCE, params![source]).await?.into_iter().map(|row| {
        let StoredAtm { reference, record, removed_at, .. } = StoredAtm::from_row(row)?;
        Ok((reference, StoredRecord { record, is_gone: removed_at.is_some() }))
    });
    rows.collect()
}

/// Writes the changes of an import and the statements in `steps` in one transaction. The first import deletes the
/// sample ATMs.
///
/// # Errors
/// [`Conflict`] if another import was committed since the plan was computed; [`RequiredStatementRefused`] if a required
/// statement of `steps` fails; or the errors of [`Store::write`].
pub async fn import(store: &Store, source: &Source, plan: Plan, version: i64, steps: ImportSteps) -> Result<()> {
    let Source { name, attribution, imported_at: now } = source;
    let mut statements = vec![
        Statement::expect_row(ADVANCE, params![version]),
        Statement::new(PUT_SOURCE, params![name, attribution, *now]),
    ];
    if name != SAMPLE {
        statements.push(Statement::new(REMOVE_ALL, params![*now, SAMPLE]));
        statements.push(Statement::new(DROP_SOURCE, params![SAMPLE]));
    }
    statements.extend(plan.upserts.into_iter().map(|(reference, record)| upsert(name, reference, record, *now)));
    statements
        .extend(plan.removals.into_iter().map(|reference| Statement::new(REMOVE, params![*now, name, reference])));
    statements.push(steps.feed.unwrap_or_else(|| Statement::new(RESET_FEED, params![name])));
    statements.extend(steps.others);
    commit(store, statements).await
}

/// Fills a new, empty catalogue with the fictional sample ATMs.
///
/// # Errors
/// The errors of [`Store::write`].
pub async fn fill_with_sample(store: &Store, now: Timestamp) -> Result<()> {
    if read_version(store).await? > 0 {
        return Ok(());
    }
    let mut statements = vec![Statement::expect_row(FIRST, params![])];
    statements.push(Statement::new(PUT_SOURCE, params![SAMPLE, "Fictional sample machines, made by Signpost", now]));
    for record in sample::records() {
        let reference = record.source_ref.as_deref().context("a sample machine has a reference")?;
        statements.push(upsert(SAMPLE, reference.to_owned(), serde_json::to_string(&record)?, now));
    }
    // The write is rejected if another process has already filled the catalogue with identical samples.
    store.write(statements).await?;
    Ok(())
}

/// Forbids or allows the merging of rows with rows of other sources. `audit_entry` is written in the same transaction.
///
/// # Errors
/// The errors of [`Store::write`], or [`Conflict`] with a concurrent import.
pub async fn set_apart(store: &Store, rows: &[AtmId], apart: bool, audit_entry: Statement) -> Result<()> {
    let mut statements = vec![Statement::expect_row(ADVANCE, params![read_version(store).await?])];
    for row in rows {
        let sql = if apart { PREVENT_MERGE } else { ALLOW_MERGE };
        statements.push(Statement::new(sql, UnmergedAtm { id: *row }.params()));
    }
    statements.push(audit_entry);
    commit(store, statements).await
}

/// Deletes a source and all its ATMs, resets its feed, and writes an audit log entry. The IDs are not reused.
///
/// # Errors
/// The errors of [`Store::write`], or [`Conflict`] with a concurrent import.
pub async fn delete_source(store: &Store, name: &str, by: &Actor, machines: i64, now: Timestamp) -> Result<()> {
    let version = read_version(store).await?;
    let audit_entry = insert_entry(by, None, Action::AtmsForgotten, name, &json!({ "machines": machines }), now);
    let statements = vec![
        Statement::expect_row(ADVANCE, params![version]),
        Statement::new(REMOVE_ALL, params![now, name]),
        Statement::new(DROP_SOURCE, params![name]),
        Statement::new(RESET_FEED, params![name]),
        audit_entry,
    ];
    commit(store, statements).await
}

/// Writes statements in a transaction. The first statement must increment the version.
async fn commit(store: &Store, statements: Vec<Statement>) -> Result<()> {
    match store.write(statements).await? {
        WriteOutcome::Committed(_) => Ok(()),
        WriteOutcome::Refused(0) => Err(Conflict.into()),
        WriteOutcome::Refused(_) => Err(RequiredStatementRefused.into()),
    }
}

/// Returns the row of an ATM, even if it was removed.
///
/// # Errors
/// The errors of [`Store::read`].
pub async fn find_history(store: &Store, id: AtmId) -> Result<Option<StoredAtm>> {
    let row = store.read_one(HISTORY, params![i64::try_from(id.get())?]).await?;
    row.map(StoredAtm::from_row).transpose()
}

/// Returns the number of ATMs of each source.
///
/// # Errors
/// The errors of [`Store::read`].
pub async fn count_by_source(store: &Store) -> Result<Vec<SourceCount>> {
    let mut counts = Vec::new();
    for row in store.read(COUNTS, params![]).await? {
        let gone = row.int(2)?;
        counts.push(SourceCount { source: row.text(0)?.to_owned(), machines: row.int(1)? - gone, gone });
    }
    Ok(counts)
}

fn upsert(source: &str, reference: String, record: String, now: Timestamp) -> Statement {
    Statement::expect_row(UPSERT, params![source, reference, record, now])
}
