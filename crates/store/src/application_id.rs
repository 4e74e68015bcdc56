//! Which program an SQLite database belongs to: the application ID in its header.

use rusqlite::Connection;

/// Application ID of a database of this program: "sgnp" in ASCII.
const APPLICATION_ID: i32 = 0x7367_6e70;

/// All tables, and the one that every database of this program has, also from before it had an application ID. Other
/// programs have a table of this name with other columns.
const COUNT_TABLES: &str = "
    SELECT COUNT(*), COUNT(CASE WHEN sql = 'CREATE TABLE schema_version (version BIGINT NOT NULL)' THEN 1 END)
    FROM sqlite_master WHERE type = 'table'";

/// The program that a database belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatabaseOwner {
    /// This program, whose tables it has.
    Signpost,
    /// No program yet: it has no tables. A process that was killed while it created a database leaves one.
    Unclaimed,
    /// Another program.
    Other,
}

impl DatabaseOwner {
    /// Reads the application ID and the names of the tables.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let id = read_id(connection)?;
        let (all, ours): (i64, i64) = connection.query_row(COUNT_TABLES, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let is_known = id == APPLICATION_ID || id == 0;
        Ok(match (is_known, all, ours) {
            (true, _, 1) => Self::Signpost,
            (true, 0, _) => Self::Unclaimed,
            _ => Self::Other,
        })
    }
}

/// Writes the application ID, if it is not there: databases from before there was one get it when they are migrated.
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

    #[test]
    fn a_database_belongs_to_the_program_that_its_header_and_tables_name() {
        const OURS: &str = "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL);";
        let other = "PRAGMA application_id = 252006673;";
        for (sql, expected) in [
            (String::new(), DatabaseOwner::Unclaimed),
            (OURS.to_owned(), DatabaseOwner::Signpost),
            (format!("PRAGMA application_id = {APPLICATION_ID};"), DatabaseOwner::Unclaimed),
            (format!("PRAGMA application_id = {APPLICATION_ID}; {OURS}"), DatabaseOwner::Signpost),
            ("CREATE TABLE bookmarks (n);".to_owned(), DatabaseOwner::Other),
            ("CREATE TABLE schema_version (version, name);".to_owned(), DatabaseOwner::Other),
            (other.to_owned(), DatabaseOwner::Other),
            (format!("{other} {OURS}"), DatabaseOwner::Other),
        ] {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(&sql).unwrap();
            assert_eq!(DatabaseOwner::read(&connection), Ok(expected), "{sql}");
        }
    }
}
