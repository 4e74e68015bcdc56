//! What a program keeps in its database.

use crate::migrate::Migration;

/// What a program keeps in its database. Its migrations make two tables of the store's own besides: `moves` (`source`,
/// `begun_at`, `reached`, `ended_at`), and `probe` of one row (`at`).
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// Every change of the tables since the first, in order; a released one is never edited.
    pub migrations: &'static [Migration],
    /// Every table of many rows, in the order in which they are moved.
    pub tables: &'static [StoredTable],
    /// Tables of one row, each with the column of it that is moved.
    pub single_rows: &'static [(&'static str, &'static str)],
    /// Tables that are read far more often than they change: a request may know their rows from memory
    /// ([`Store::watched_version`](crate::Store::watched_version)).
    pub watched: &'static [&'static str],
}

/// A table of many rows.
#[derive(Clone, Copy, Debug)]
pub struct StoredTable {
    /// Its name.
    pub name: &'static str,
    /// The columns of its primary key.
    pub key: &'static [&'static str],
    /// All of its columns: first those that an insert sets, then those that later writes set, then those that no row
    /// holds.
    pub columns: &'static [Column],
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What is in it.
    pub kind: Kind,
}

/// What is in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `TEXT`
    Text,
    /// `BIGINT`: a whole number, a time or a truth.
    Integer,
}
