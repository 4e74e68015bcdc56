//! Imports the ATMs of a source.

use anyhow::Result;
use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::import::{self, Import, ImportError, NothingUsable, Options};
use signpost_locator::{ArcStr, Record, Region};
use signpost_store::Store;

use super::plan::{Coverage, ImportCounts, plan};
use super::source::Source;
use super::sql::{self, Conflict, ImportSteps};

/// Maximum attempts of an import after conflicts with others: each attempt compares the source again.
const MAX_ATTEMPTS: usize = 10;

/// The content of a file.
#[derive(Debug)]
pub struct FileContents {
    /// The outcome of each row, without the ATMs.
    pub import: Import,
    /// The ATMs as they are stored: the reference of the source and the record.
    pub rows: Vec<(String, String)>,
}

/// The rules of an import.
#[derive(Clone, Copy, Debug)]
pub struct ImportRules {
    /// Whether the document is the complete source or a part.
    pub extent: Coverage,
    /// Whether to import the document even if it removes too many ATMs.
    pub force: bool,
    /// Whether to change nothing.
    pub dry_run: bool,
    /// Maximum number of ATMs of the source, including removed ATMs.
    pub max_atms: usize,
}

/// The error of an import after which a source would have too many ATMs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a source of this kind can have at most {max} ATMs, removed ones included")]
pub struct TooManyAtms {
    max: usize,
}

impl FileContents {
    /// Reads a file. Blocks the thread until it ends or is cancelled.
    ///
    /// # Errors
    /// [`ImportError`] if nothing in the file can be used.
    ///
    /// # Panics
    /// Never: a record can be written as JSON.
    pub fn from_bytes(bytes: &[u8], options: &Options, gazetteer: &Gazetteer) -> Result<Self, ImportError> {
        let mut import = import::read_with_places(bytes, options, gazetteer)?;
        let mut rows = Vec::with_capacity(import.rows.len());
        for row in std::mem::take(&mut import.rows) {
            options.cancel.check()?;
            let record = with_time_zone(row.record, gazetteer);
            rows.push((row.key, serde_json::to_string(&record).expect("a record has only strings and finite numbers")));
        }
        Ok(Self { import, rows })
    }

    /// Checks that the file has an ATM that can be used, or a removed ATM.
    ///
    /// # Errors
    /// [`NothingUsable`], with the reason, if it has none.
    pub fn check_usable(&self) -> Result<(), NothingUsable> {
        if self.rows.is_empty() && self.import.gone.is_empty() { Err(NothingUsable::of(&self.import)) } else { Ok(()) }
    }
}

/// Compares the content of a file with the stored rows of its source, and stores the changes in one transaction.
///
/// # Errors
/// The errors of [`apply_with`].
pub async fn apply(
    store: &Store,
    source: &Source,
    contents: &FileContents,
    rules: ImportRules,
) -> Result<ImportCounts> {
    apply_with(store, source, contents, rules, |_| ImportSteps::default()).await
}

/// Imports like [`apply`], and writes the statements that `steps` returns in the transaction. If another import was
/// committed since the comparison, the source is compared again, at most [`MAX_ATTEMPTS`] times in all. A refused
/// statement is not tried again.
///
/// # Errors
/// [`RemovalLimitExceeded`](super::plan::RemovalLimitExceeded) and [`TooManyAtms`]; [`Conflict`] if each attempt
/// conflicted with another import; [`RequiredStatementRefused`](sql::RequiredStatementRefused) if a required statement
/// of `steps` was refused; or the errors of [`Store::write`].
pub async fn apply_with(
    store: &Store,
    source: &Source,
    contents: &FileContents,
    rules: ImportRules,
    steps: impl Fn(ImportCounts) -> ImportSteps,
) -> Result<ImportCounts> {
    for _ in 1..MAX_ATTEMPTS {
        match try_apply(store, source, contents, rules, &steps).await {
            Err(error) if error.is::<Conflict>() => {}
            done => return done,
        }
    }
    try_apply(store, source, contents, rules, &steps).await
}

async fn try_apply(
    store: &Store,
    source: &Source,
    contents: &FileContents,
    rules: ImportRules,
    steps: impl Fn(ImportCounts) -> ImportSteps,
) -> Result<ImportCounts> {
    let version = sql::read_version(store).await?;
    let kept = sql::read_source(store, &source.name).await?;
    let known = kept.len();
    let plan = plan(&kept, &contents.rows, &contents.import.gone, rules.extent, rules.force)?;
    drop(kept);
    let changes = plan.changes;
    anyhow::ensure!(known + plan.new <= rules.max_atms, TooManyAtms { max: rules.max_atms });
    if !rules.dry_run {
        sql::import(store, source, plan, version, steps(changes)).await?;
        let ImportCounts { added, changed, unchanged, removed } = changes;
        tracing::info!(source = source.name, added, changed, unchanged, removed, "ATMs imported");
    }
    Ok(changes)
}

/// Returns the record with the time zone of its location, unless the source has set one.
fn with_time_zone(record: Record, gazetteer: &Gazetteer) -> Record {
    if record.time_zone.is_some() {
        return record;
    }
    let region = record.address.region.as_deref().and_then(Region::parse);
    let zone = gazetteer.time_zone(record.point, region).or_else(|| gazetteer.time_zone(record.point, None));
    Record { time_zone: zone.map(ArcStr::from), ..record }
}
