//! Conversions of an ATM's ID: the database column type, and the parser for URLs.

use anyhow::{Context, Result};
use signpost_locator::AtmId;
use signpost_store::column::Wrapper;
use signpost_store::{ColumnKind, ColumnType, Value};

/// The database column type of an [`AtmId`].
#[derive(Debug)]
pub struct AtmIdColumn(AtmId);

/// Parses the ID of an ATM in a URL: a decimal number without a sign or leading zeros.
pub(crate) fn parse_atm_id(text: &str) -> Option<AtmId> {
    if text.starts_with(['0', '+']) {
        return None;
    }
    AtmId::new(text.parse().ok()?)
}

impl From<AtmIdColumn> for Value {
    fn from(number: AtmIdColumn) -> Self {
        Self::Int(i64::try_from(number.0.get()).expect("an id is at most 2^53"))
    }
}

impl ColumnType for AtmIdColumn {
    const KIND: ColumnKind = ColumnKind::Integer;

    fn from_value(value: Value) -> Result<Self> {
        let number = u64::try_from(i64::from_value(value)?)?;
        AtmId::new(number).map(Self).context("is not the id of an ATM")
    }
}

impl Wrapper<AtmId> for AtmIdColumn {
    fn wrap(value: AtmId) -> Self {
        Self(value)
    }

    fn into_wrapped(self) -> AtmId {
        self.0
    }
}
