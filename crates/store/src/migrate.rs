//! Runs schema migrations. Each migration runs once, in a transaction.
//!
//! During an update, servers of two versions share a database. Therefore a migration either *expands*: it adds tables
//! and columns that older servers do not need, and runs when a server starts; or it *contracts*: it removes tables and
//! columns that only older servers use, and runs when the operator requests it after those servers
//! have stopped. An embedded database has a single server, so that both kinds run when it starts.

use anyhow::{Context, Result, bail};
use rusqlite::{Connection, TransactionBehavior};
use serde::Serialize;
use tokio_postgres::{Client, IsolationLevel, Transaction};

use crate::application_id;

/// Prefix of the PostgreSQL application name of server connections. The version follows it, and the
/// operator can see it.
pub(super) const SERVER: &str = "signpost/";

/// The table of applied migrations. Only databases of this program have it.
pub(super) const APPLIED: &str = "CREATE TABLE IF NOT EXISTS applied_migrations (version BIGINT NOT NULL)";
/// The table of migrations that a program must support to use the database.
const REQUIRED: &str = "CREATE TABLE IF NOT EXISTS required_migrations (version BIGINT NOT NULL)";
/// Returns `true` if an unreleased version of this program created the tables.
const FIND_UNRELEASED: &str = "SELECT to_regclass('schema_needed') IS NOT NULL";

/// A schema migration.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// The SQL statements for PostgreSQL.
    pub postgres: &'static str,
    /// The SQL statements for SQLite, or `None` if an embedded database does not need the
    /// migration.
    pub sqlite: Option<&'static str>,
    /// Set if the migration removes tables or columns that older programs use.
    pub contracts: bool,
}

/// Error that a newer program migrated this database, so that this program cannot use it.
#[derive(Debug, thiserror::Error)]
#[error(
    "a newer signpost has changed this database (its tables require version {needed}, this program supports {known}): \
     update the program; nothing was changed"
)]
pub struct DatabaseTooNew {
    /// The schema version that the database requires.
    pub needed: i64,
    /// The newest schema version that this program supports.
    pub known: i64,
}

/// Error that an unreleased version of this program created the database.
#[derive(Debug, thiserror::Error)]
#[error(
    "an unreleased version of signpost created this database, and no released version can use it: begin with another \
     data folder or database; nothing was changed"
)]
pub struct DatabaseUnreleased;

/// The result of running migrations.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Migrated {
    /// The newest version that was applied before.
    pub from: i64,
    /// The newest version that is applied now.
    pub to: i64,
    /// The versions of the contracting migrations that can run once older servers have stopped.
    #[serde(rename = "waiting")]
    pub pending: Vec<i64>,
}

impl Migrated {
    /// Logs the version change if existing tables were changed.
    pub(super) fn log(&self) {
        let Self { from, to, .. } = self;
        if *from > 0 && from != to {
            tracing::info!(from, to, "database migrated");
        }
    }
}

impl Migration {
    /// Creates an expanding migration with the same SQL statements for both engines.
    #[must_use]
    pub const fn expands(sql: &'static str) -> Self {
        Self { postgres: sql, sqlite: Some(sql), contracts: false }
    }
}

/// Returns the version of the newest of these migrations.
pub(super) fn newest_version(migrations: &[Migration]) -> i64 {
    version_of(migrations.len())
}

fn version_of(position: usize) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}

/// Returns the migrations to run and their result. Contracting migrations are excluded unless
/// `contract` is set.
fn due_migrations(
    list: &[Migration],
    applied: &[i64],
    needed: i64,
    contract: bool,
) -> Result<(Vec<(i64, Migration)>, Migrated), DatabaseTooNew> {
    let known = version_of(list.len());
    if needed > known {
        return Err(DatabaseTooNew { needed, known });
    }
    let numbered = (1..).zip(list.iter().copied()).filter(|(version, _)| !applied.contains(version));
    let (due, pending): (Vec<_>, Vec<_>) = numbered.partition(|(_, migration)| contract || !migration.contracts);
    let from = applied.iter().copied().max().unwrap_or(0);
    let to = due.iter().map(|(version, _)| *version).chain([from]).max().unwrap_or(from);
    Ok((due, Migrated { from, to, pending: pending.into_iter().map(|(version, _)| version).collect() }))
}

/// Runs the migrations on PostgreSQL. If several servers start at the same time, one runs the
/// migrations and the others wait.
pub(super) async fn run_postgres(client: &mut Client, migrations: &[Migration], contract: bool) -> Result<Migrated> {
    let transaction = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted).start().await?;
    transaction.batch_execute("SELECT pg_advisory_xact_lock(6073411870224)").await?;
    if transaction.query_one(FIND_UNRELEASED, &[]).await?.try_get(0)? {
        bail!(DatabaseUnreleased);
    }
    transaction.batch_execute(&format!("{APPLIED}; {REQUIRED}")).await?;
    let applied = transaction.query("SELECT version FROM applied_migrations", &[]).await?;
    let applied = applied.iter().map(|row| row.try_get(0)).collect::<Result<Vec<i64>, _>>()?;
    let needed = transaction.query_one("SELECT COALESCE(MAX(version), 0) FROM required_migrations", &[]).await?;
    let (due, migrated) = due_migrations(migrations, &applied, needed.try_get(0)?, contract)?;
    for (version, migration) in due {
        if migration.contracts {
            check_no_older_server(&transaction, version).await?;
            transaction.execute("INSERT INTO required_migrations (version) VALUES ($1)", &[&version]).await?;
        }
        transaction.batch_execute(migration.postgres).await.with_context(|| format!("migration {version}"))?;
        transaction.execute("INSERT INTO applied_migrations (version) VALUES ($1)", &[&version]).await?;
    }
    transaction.commit().await?;
    Ok(migrated)
}

/// Checks that no older server is connected, because a contracting migration would break it.
async fn check_no_older_server(transaction: &Transaction<'_>, version: i64) -> Result<()> {
    let connected = "SELECT DISTINCT application_name FROM pg_stat_activity
                     WHERE datname = current_database() AND application_name LIKE 'signpost/%'";
    for row in transaction.query(connected, &[]).await? {
        let name: String = row.try_get(0)?;
        if name.strip_prefix(SERVER).and_then(|known| known.parse::<i64>().ok()).is_none_or(|known| known < version) {
            bail!("a server of an older version ({name}) is connected: update or stop it first; nothing was changed");
        }
    }
    Ok(())
}

/// Runs the migrations on SQLite.
pub(super) fn run(connection: &mut Connection, migrations: &[Migration]) -> Result<Migrated> {
    run_list(connection, migrations, true)
}

fn run_list(connection: &mut Connection, list: &[Migration], contract: bool) -> Result<Migrated> {
    // Acquires the write lock first, so that the second of two concurrent starts waits.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(&format!("{APPLIED}; {REQUIRED}"))?;
    let applied = transaction
        .prepare("SELECT version FROM applied_migrations")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<Vec<i64>, _>>()?;
    let needed =
        transaction.query_row("SELECT COALESCE(MAX(version), 0) FROM required_migrations", [], |row| row.get(0))?;
    let (due, migrated) = due_migrations(list, &applied, needed, contract)?;
    application_id::write_id(&transaction)?;
    for (version, migration) in due {
        if let Some(sql) = migration.sqlite {
            transaction.execute_batch(sql).with_context(|| format!("migration {version}"))?;
        }
        if migration.contracts {
            transaction.execute("INSERT INTO required_migrations (version) VALUES (?1)", [version])?;
        }
        transaction.execute("INSERT INTO applied_migrations (version) VALUES (?1)", [version])?;
    }
    transaction.commit()?;
    Ok(migrated)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &[Migration] = &[Migration::expands("CREATE TABLE words (old TEXT)")];
    const NEW: &[Migration] = &[
        OLD[0],
        Migration::expands("ALTER TABLE words ADD COLUMN new TEXT"),
        Migration { contracts: true, ..Migration::expands("ALTER TABLE words DROP COLUMN old") },
        Migration::expands("CREATE TABLE others (id TEXT)"),
    ];

    #[test]
    fn older_program_works_until_tables_are_contracted() {
        let mut database = Connection::open_in_memory().unwrap();
        assert_eq!(run_list(&mut database, OLD, false).unwrap(), Migrated { from: 0, to: 1, pending: vec![] });
        let expanded = Migrated { from: 1, to: 4, pending: vec![3] };
        assert_eq!(run_list(&mut database, NEW, false).unwrap(), expanded);
        // The older program restarts and runs its statements.
        run_list(&mut database, OLD, false).unwrap();
        database.execute("INSERT INTO words (old) VALUES ('a')", []).unwrap();
        let contracted = Migrated { from: 4, to: 4, pending: vec![] };
        assert_eq!(run_list(&mut database, NEW, true).unwrap(), contracted);
        let refused = run_list(&mut database, OLD, false).unwrap_err();
        assert_eq!(refused.downcast_ref::<DatabaseTooNew>().map(|newer| (newer.needed, newer.known)), Some((3, 1)));
        run_list(&mut database, NEW, false).unwrap();
        database.execute("INSERT INTO words (new) VALUES ('a')", []).unwrap();
    }
}
