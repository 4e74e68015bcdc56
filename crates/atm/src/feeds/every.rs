//! The database column type of a feed's fetch interval.

use std::time::Duration;

use anyhow::{Context, Result};
use signpost_store::column::Wrapper;
use signpost_store::{Column, ColumnKind, ReadColumns, Value, Values, WriteColumns};

/// The column `every_ms`: the interval in milliseconds, or null.
pub(super) struct EveryMs(Option<Duration>);

impl Wrapper<Option<Duration>> for EveryMs {
    fn wrap(value: Option<Duration>) -> Self {
        Self(value)
    }

    fn into_wrapped(self) -> Option<Duration> {
        self.0
    }
}

impl ReadColumns for EveryMs {
    const COLUMNS: &'static [Column] = &[Column { name: "every_ms", kind: ColumnKind::Integer }];

    fn read(values: &mut Values) -> Result<Self> {
        let millis: Option<i64> = values.next_column()?;
        let Some(millis) = millis else { return Ok(Self(None)) };
        let millis = u64::try_from(millis).context("atm_feeds.every_ms")?;
        Ok(Self(Some(Duration::from_millis(millis))))
    }
}

impl WriteColumns for EveryMs {
    fn write(self, values: &mut Vec<Value>) {
        // An interval beyond the column's range is stored as the maximum, because both are practically infinite.
        let millis = self.0.map(|every| i64::try_from(every.as_millis()).unwrap_or(i64::MAX));
        values.push(millis.into());
    }
}
