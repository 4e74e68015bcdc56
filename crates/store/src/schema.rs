//! The tables of a program.

use crate::migrate::Migration;

/// The tables of a program. Its migrations must also create two tables for the store: `moves` (`source`, `begun_at`,
/// `reached`, `ended_at`), and `probe` with one row (`at`).
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// The migrations, in order. Released migrations are never edited.
    pub migrations: &'static [Migration],
    /// The tables of many rows, in the order of the move.
    pub tables: &'static [StoredTable],
    /// The single-row tables, each with the column that is moved.
    pub single_rows: &'static [(&'static str, &'static str)],
    /// Tables that are read far more often than they change, so that requests may use cached rows
    /// ([`Store::table_version`](crate::Store::table_version)).
    pub watched: &'static [&'static str],
}

/// A table of many rows.
#[derive(Clone, Copy, Debug)]
pub struct StoredTable {
    /// Its name.
    pub name: &'static str,
    /// The columns of its primary key.
    pub key: &'static [&'static str],
    /// All columns: first those that an insert sets, then those that later writes set, then those that are not read.
    pub columns: &'static [Column],
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// The type of its values.
    pub kind: ColumnKind,
}

/// The type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// `TEXT`
    Text,
    /// `BIGINT`: an integer, a time or a boolean.
    Integer,
}
