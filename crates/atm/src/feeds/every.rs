//! How often a feed is fetched, as its column holds it.

use std::time::Duration;

use anyhow::{Context, Result};
use signpost_store::column::Via;
use signpost_store::{Column, Kind, ReadColumns, Value, Values, WriteColumns};

/// The column `every_ms`.
pub(super) struct EveryMs(Option<Duration>);

impl Via<Option<Duration>> for EveryMs {
    fn wrap(value: Option<Duration>) -> Self {
        Self(value)
    }

    fn unwrap_via(self) -> Option<Duration> {
        self.0
    }
}

impl ReadColumns for EveryMs {
    const COLUMNS: &'static [Column] = &[Column { name: "every_ms", kind: Kind::Integer }];

    fn read(values: &mut Values) -> Result<Self> {
        let millis: Option<i64> = values.next_column()?;
        let millis = millis.map(u64::try_from).transpose().context("atm_feeds.every_ms")?;
        Ok(Self(millis.map(Duration::from_millis)))
    }
}

impl WriteColumns for EveryMs {
    fn write(self, values: &mut Vec<Value>) {
        // What does not fit is later than any time: such a feed is fetched once either way.
        let millis = |every: Duration| i64::try_from(every.as_millis()).unwrap_or(i64::MAX);
        values.push(self.0.map(millis).into());
    }
}
