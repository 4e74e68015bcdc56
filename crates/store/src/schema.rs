//! Describes the database schema of a program: migrations, tables and columns.

use crate::migrate::Migration;

/// The database schema of a program. Its migrations must also create two tables for this crate:
/// `moves` (`source`, `begun_at`, `reached`, `ended_at`), and `probe`, with a single row (`at`).
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// The migrations, in order. A released migration is never edited.
    pub migrations: &'static [Migration],
    /// The tables with any number of rows, in the order in which they are copied to another
    /// database.
    pub tables: &'static [StoredTable],
    /// The single-row tables, each with the column to copy to another database.
    pub single_rows: &'static [(&'static str, &'static str)],
    /// The tables that are read far more often than they change, so that requests may use cached
    /// rows; see [`Store::table_version`](crate::Store::table_version).
    pub watched: &'static [&'static str],
}

/// A table with any number of rows.
#[derive(Clone, Copy, Debug)]
pub struct StoredTable {
    /// The table name.
    pub name: &'static str,
    /// The columns of the primary key.
    pub key: &'static [&'static str],
    /// All columns: first the columns that an `INSERT` sets, then the columns that later writes
    /// set, then the columns that are never read.
    pub columns: &'static [Column],
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The column name.
    pub name: &'static str,
    /// The type of the values.
    pub kind: ColumnKind,
}

/// The type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// The SQL type `TEXT`.
    Text,
    /// The SQL type `BIGINT`, for integers, times and booleans.
    Integer,
}
