//! ATMs that their source no longer lists.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use signpost_locator::{Atm, AtmId, AtmStatus, Distance, Record, StatusReason, StatusReport, merge};

use super::facts::AtmFilter;
use super::moment::Moment;
use super::snapshot::{CatalogueEntry, Snapshot};
use super::stored::StoredAtm;

/// Maximum time since its source removed an ATM that is still shown.
const SHOWN: SignedDuration = SignedDuration::from_hours(90 * 24);
/// Maximum distance between the rows of an ATM, unless they share a number.
const SAME_MACHINE: Distance = Distance::metres(25.0);

/// An ATM that its source removed at most 90 days ago.
#[derive(Debug)]
pub struct UnlistedAtm {
    /// The ATM as its source last listed it.
    pub entry: CatalogueEntry,
    /// The name of the source, on one line.
    pub source: String,
    /// The time of its removal by the source.
    pub removed_at: Timestamp,
}

impl UnlistedAtm {
    /// The status of an ATM that is no longer listed.
    pub const STATUS: StatusReport<'static> =
        StatusReport { status: AtmStatus::Unknown, reason: StatusReason::NothingReported, as_of: None };

    /// Returns the ATM of a removed row. `None` if the row is listed, if it was removed more than 90 days ago, and if the
    /// source was deleted: then the ATM was removed by the operator, not by the source.
    #[must_use]
    pub fn of_row(snapshot: &Snapshot, row: &StoredAtm, now: Timestamp) -> Option<Self> {
        let removed_at = row.removed_at.filter(|at| now.duration_since(*at) <= SHOWN)?;
        let source = snapshot.source(&row.source)?;
        let record: Record = serde_json::from_str(&row.record).ok()?;
        let source_name = source.name.as_str().into();
        let entry = CatalogueEntry::of_row(Atm { id: row.id, source: source_name, record: record.into() })?;
        Some(Self { entry, source: signpost_text::clean_line(&source.name).into_owned(), removed_at })
    }
}

/// Returns the ATM that a removed row was part of, if other sources still list it.
#[must_use]
pub fn find_successor(moment: &Moment<'_>, removed: &StoredAtm) -> Option<AtmId> {
    let record: Record = serde_json::from_str(&removed.record).ok()?;
    let near = moment.nearest(record.point, SAME_MACHINE, 1, &AtmFilter::default());
    let successor = &moment.snapshot().found(*near.first()?).atm;
    let claim = successor.claims.iter().find(|claim| *claim.source != *removed.source)?;
    let rows = [
        Atm { id: removed.id, source: removed.source.as_str().into(), record: record.into() },
        Atm { id: claim.id, source: claim.source.clone(), record: successor.record.clone() },
    ];
    (merge(rows.into(), &BTreeSet::new()).len() == 1).then_some(successor.id)
}
