//! Takes over what a source says, from wherever it came.

use anyhow::Result;
use signpost_locator::gazetteer::Gazetteer;
use signpost_locator::import::Import;
use signpost_locator::{Record, Region};

use super::{Changes, Extent, Source, plan};
use crate::store::Store;

/// How what a source says is taken over.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Whether it is all that the source has.
    pub extent: Extent,
    /// Whether more of its machines may go than is likely.
    pub force: bool,
    /// Whether nothing is to be changed.
    pub dry_run: bool,
}

/// Compares what was read with what is kept of the source, and keeps what is new, whole or not at all.
///
/// # Errors
/// Where too many machines would be gone, where another import came between, or as [`Store::write`].
pub async fn take_over(
    store: &Store,
    gazetteer: &Gazetteer,
    source: &Source,
    import: &Import,
    terms: Terms,
) -> Result<Changes> {
    let row = |row: &signpost_locator::import::Row| {
        Ok((row.key.clone(), serde_json::to_string(&in_its_time_zone(&row.record, gazetteer))?))
    };
    let rows = import.rows.iter().map(row).collect::<Result<Vec<_>>>()?;
    let version = store.catalogue_version().await?;
    let plan = plan(&store.kept(&source.name).await?, rows, &import.gone, terms.extent, terms.force)?;
    let changes = plan.changes;
    if !terms.dry_run {
        store.import(source, plan, version).await?;
    }
    Ok(changes)
}

/// The record with the time zone of its place, where its source did not name one.
fn in_its_time_zone(record: &Record, gazetteer: &Gazetteer) -> Record {
    let mut record = record.clone();
    if record.time_zone.is_none() {
        let region = record.address.region.as_deref().and_then(Region::parse);
        let zone = gazetteer.time_zone(record.point, region).or_else(|| gazetteer.time_zone(record.point, None));
        record.time_zone = zone.map(ToOwned::to_owned);
    }
    record
}
