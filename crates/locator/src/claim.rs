//! The provenance of a merged ATM: its rows, and the parts of its record that come from each row.

use std::sync::Arc;

use arcstr::ArcStr;
use jiff::Timestamp;

use crate::atm::{Atm, AtmId, Record, ReportedState};
use crate::tri::Tri;

/// The names of the parts of a record.
const PART_NAMES: [&str; 12] = [
    "location", "name", "operator", "brand", "address", "hours", "status", "services", "coins", "phone", "website",
    "more",
];
/// The indexes of parts in [`PART_NAMES`].
pub(crate) const ADDRESS: usize = 4;
pub(crate) const STATUS: usize = 6;
pub(crate) const SERVICES: usize = 7;
pub(crate) const COINS: usize = 8;

/// A row of a merged ATM, with the parts of the merged record that come from it.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceClaim {
    /// The ID of the row.
    pub id: AtmId,
    /// The name of its source.
    pub source: Arc<str>,
    /// The source's identifier of the ATM.
    pub source_ref: Option<ArcStr>,
    /// The URL of the ATM's page at the source.
    pub url: Option<ArcStr>,
    /// The date of the newest report or verification in the row.
    pub known_at: Option<Timestamp>,
    /// The parts of the merged record that come from this row.
    pub parts: ClaimParts,
}

impl SourceClaim {
    /// Creates the claim of a row, initially without parts.
    pub(crate) fn of(atm: &Atm) -> Self {
        let record = &atm.record;
        Self {
            id: atm.id,
            source: Arc::clone(&atm.source),
            source_ref: record.source_ref.clone(),
            url: record.more.as_ref().and_then(|more| more.source_url.clone()),
            known_at: record.known_at(),
            parts: ClaimParts::default(),
        }
    }
}

/// A set of parts of a record, such as `address` and `hours`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClaimParts(u16);

impl ClaimParts {
    /// Returns the parts that a record contains. An undated in-service state does not count as a status.
    pub(crate) fn of(record: &Record) -> Self {
        let has_status = match record.reported {
            ReportedState::Unknown => false,
            ReportedState::InService => record.reported_at.is_some(),
            _ => true,
        };
        let known = [
            true,
            record.name.is_some(),
            record.operator.is_some(),
            record.brand.is_some(),
            !record.address.is_empty(),
            record.hours.is_some(),
            has_status,
            record.buy != Tri::Unknown || record.sell != Tri::Unknown,
            !record.coins.is_empty(),
            record.phone.is_some(),
            record.website.is_some(),
            record.more.is_some(),
        ];
        Self((0..).zip(known).map(|(at, known)| u16::from(known) << at).sum())
    }

    /// Returns the names of the parts.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        PART_NAMES.into_iter().enumerate().filter(move |(at, _)| self.has(*at)).map(|(_, name)| name)
    }

    pub(crate) fn has(self, index: usize) -> bool {
        self.0 & (1 << index) != 0
    }

    /// Returns the parts of `self` that are not in `other`.
    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}
