//! The id of a machine in the database.

use anyhow::{Context, Result};
use signpost_locator::AtmId;
use signpost_store::column::Via;
use signpost_store::{ColumnType, Kind, Value};

/// The id of a machine, as its column holds it.
#[derive(Debug)]
pub struct AtmNumber(AtmId);

/// Reads the id of a machine as it stands in an address: a number in its one spelling, without a sign or a zero before it.
pub(crate) fn parse_atm_id(text: &str) -> Option<AtmId> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| is_plain).and_then(AtmId::new)
}

impl From<AtmNumber> for Value {
    fn from(number: AtmNumber) -> Self {
        Self::Int(i64::try_from(number.0.get()).expect("an id is at most 2^53"))
    }
}

impl ColumnType for AtmNumber {
    const KIND: Kind = Kind::Integer;

    fn from_value(value: Value) -> Result<Self> {
        let number = u64::try_from(i64::from_value(value)?)?;
        AtmId::new(number).map(Self).context("is not the id of an ATM")
    }
}

impl Via<AtmId> for AtmNumber {
    fn wrap(value: AtmId) -> Self {
        Self(value)
    }

    fn unwrap_via(self) -> AtmId {
        self.0
    }
}
