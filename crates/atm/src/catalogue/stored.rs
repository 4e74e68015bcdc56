//! The database rows of ATMs.

use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use signpost_locator::AtmId;
use signpost_store::column::Wrapper;
use signpost_store::{Column, ColumnKind, ReadColumns, Value, Values, WriteColumns, rows};

use crate::atm_number::AtmIdColumn;

rows! {
    /// The database row of an ATM. It is also shown as the ATM's history.
    #[derive(Clone, Debug, Serialize)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct StoredAtm in "atms" by [id] {
        #[serde(skip)]
        pub id: AtmId as AtmIdColumn,
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
    /// A row of an ATM that must not be merged with rows of other sources.
    #[derive(Clone, Copy, Debug)]
    #[expect(missing_docs, reason = "the name is self-explanatory")]
    pub struct UnmergedAtm in "atm_apart" by [id] {
        pub id: AtmId as AtmIdColumn,
    }
}

/// The column `ref`. A field of the row cannot have this name, because `ref` is a keyword of Rust.
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
