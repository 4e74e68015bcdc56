//! The rows of ATMs.

use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use signpost_locator::AtmId;
use signpost_store::column::Wrapper;
use signpost_store::{Column, ColumnKind, ReadColumns, Value, Values, WriteColumns, rows};

use crate::atm_number::AtmNumber;

rows! {
    /// The row of an ATM, also shown as its history.
    #[derive(Clone, Debug, Serialize)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct StoredAtm in "atms" by [id] {
        #[serde(skip)]
        pub id: AtmId as AtmNumber,
        pub source: String,
        #[serde(rename = "ref")]
        pub reference: String as Reference,
        #[serde(skip)]
        pub record: String,
        pub first_seen: Timestamp,
        pub updated_at: Timestamp,
    } mutable {
        #[serde(skip_serializing_if = "Option::is_none")]
        pub removed_at: Option<Timestamp>,
    }
}

rows! {
    /// An ATM with a row that is never merged with another source.
    #[derive(Clone, Copy, Debug)]
    #[expect(missing_docs, reason = "the name is self-explanatory")]
    pub struct UnmergedAtm in "atm_apart" by [id] {
        pub id: AtmId as AtmNumber,
    }
}

/// The column `ref`. Its name is a keyword.
struct Reference(String);

impl ReadColumns for Reference {
    const COLUMNS: &'static [Column] = &[Column { name: "ref", kind: ColumnKind::Text }];

    fn read(values: &mut Values) -> Result<Self> {
        values.next_column().map(Self)
    }
}

impl WriteColumns for Reference {
    fn write(self, values: &mut Vec<Value>) {
        values.push(self.0.into());
    }
}

impl Wrapper<String> for Reference {
    fn wrap(value: String) -> Self {
        Self(value)
    }

    fn into_wrapped(self) -> String {
        self.0
    }
}
