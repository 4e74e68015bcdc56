//! Identifies the program that created an SQLite database by the application ID in the database
//! header.

use rusqlite::Connection;

/// Application ID of the databases of this program: "sgnp" in ASCII.
const APPLICATION_ID: i32 = 0x7367_6e70;

/// Counts all tables, the tables that only this program creates, and the tables that only its
/// unreleased versions created. Tables of other programs may have these names, but they have other
/// columns.
const COUNT_TABLES: &str = "
    SELECT COUNT(*), COUNT(CASE WHEN name = 'applied_migrations' THEN 1 END),
           COUNT(CASE WHEN sql = 'CREATE TABLE schema_version (version BIGINT NOT NULL)' THEN 1 END)
    FROM sqlite_master WHERE type = 'table'";

/// The program that created a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatabaseOwner {
    /// This program created the database.
    Signpost,
    /// The database has no tables, because it is new or because the process was killed while it
    /// created the tables.
    Unclaimed,
    /// An unreleased version of this program created the database.
    Unreleased,
    /// Another program created the database.
    Other,
}

impl DatabaseOwner {
    /// Determines the owner from the application ID and the names of the tables.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let id = read_id(connection)?;
        let (all, ours, unreleased): (i64, i64, i64) =
            connection.query_row(COUNT_TABLES, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(match id {
            APPLICATION_ID if ours == 1 => Self::Signpost,
            APPLICATION_ID | 0 if unreleased == 1 => Self::Unreleased,
            APPLICATION_ID | 0 if all == 0 => Self::Unclaimed,
            _ => Self::Other,
        })
    }
}

/// Writes the application ID to the database header unless it is already there.
pub(super) fn write_id(connection: &Connection) -> rusqlite::Result<()> {
    if read_id(connection)? == APPLICATION_ID {
        return Ok(());
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID)
}

fn read_id(connection: &Connection) -> rusqlite::Result<i32> {
    connection.query_row("PRAGMA application_id", [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::APPLIED;

    #[test]
    fn database_owner_follows_from_header_and_tables() {
        let unreleased = "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL);";
        let other = "PRAGMA application_id = 252006673;";
        let own = format!("PRAGMA application_id = {APPLICATION_ID};");
        for (sql, expected) in [
            (String::new(), DatabaseOwner::Unclaimed),
            (own.clone(), DatabaseOwner::Unclaimed),
            (format!("{own} {APPLIED};"), DatabaseOwner::Signpost),
            (format!("{own} CREATE TABLE bookmarks (n);"), DatabaseOwner::Other),
            (unreleased.to_owned(), DatabaseOwner::Unreleased),
            (format!("{own} {unreleased}"), DatabaseOwner::Unreleased),
            (format!("{APPLIED};"), DatabaseOwner::Other),
            ("CREATE TABLE bookmarks (n);".to_owned(), DatabaseOwner::Other),
            ("CREATE TABLE schema_version (version, name);".to_owned(), DatabaseOwner::Other),
            (other.to_owned(), DatabaseOwner::Other),
            (format!("{other} {APPLIED};"), DatabaseOwner::Other),
        ] {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(&sql).unwrap();
            assert_eq!(DatabaseOwner::read(&connection), Ok(expected), "{sql}");
        }
    }
}
