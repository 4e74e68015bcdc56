//! Brings the tables up to date. Each migration runs once, whole or not at all.

use anyhow::{Context, Result};
use rusqlite::{Connection, TransactionBehavior};
use tokio_postgres::IsolationLevel;

/// Every change of the tables since the first, in order; a released one is never edited.
const MIGRATIONS: &[Migration] = &[
    Migration::Both(include_str!("../../migrations/0001_first.sql")),
    Migration::Both(include_str!("../../migrations/0002_sources.sql")),
    Migration::Both(include_str!("../../migrations/0003_lifecycle.sql")),
    Migration::Both(include_str!("../../migrations/0004_complete.sql")),
    Migration::Postgres(include_str!("../../migrations/0005_told.postgres.sql")),
    Migration::Both(include_str!("../../migrations/0006_waiting.sql")),
];

/// One change of the tables.
enum Migration {
    /// One text for both databases.
    Both(&'static str),
    /// What an embedded database has no need of.
    Postgres(&'static str),
}

/// A newer program wrote this database.
#[derive(Debug, thiserror::Error)]
#[error(
    "the database is of a newer signpost (its tables are version {found}, this program knows {known}): \
     update the program; nothing was changed"
)]
pub struct Newer {
    /// The version found.
    pub found: i64,
    /// The newest version this program knows.
    pub known: i64,
}

/// The same on PostgreSQL; of replicas that start together one runs them and the others wait.
pub(super) async fn run_on(client: &mut tokio_postgres::Client) -> Result<()> {
    let transaction = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted).start().await?;
    transaction.batch_execute("SELECT pg_advisory_xact_lock(6073411870224)").await?;
    transaction.batch_execute("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)").await?;
    let row = transaction.query_one("SELECT COALESCE(MAX(version), 0) FROM schema_version", &[]).await?;
    let (found, known) = (row.try_get::<_, i64>(0)?, i64::try_from(MIGRATIONS.len())?);
    if found > known {
        return Err(Newer { found, known }.into());
    }
    for (version, Migration::Both(sql) | Migration::Postgres(sql)) in
        (1_i64..).zip(MIGRATIONS).skip(usize::try_from(found)?)
    {
        transaction.batch_execute(sql).await.with_context(|| format!("migration {version}"))?;
        transaction.execute("INSERT INTO schema_version (version) VALUES ($1)", &[&version]).await?;
    }
    Ok(transaction.commit().await?)
}

/// Runs what is missing.
pub(super) fn run(connection: &mut Connection) -> Result<()> {
    // Takes the write lock first, so that of two programs that start together one waits for the other.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)")?;
    let found: i64 = transaction.query_row("SELECT COALESCE(MAX(version), 0) FROM schema_version", [], |r| r.get(0))?;
    let known = i64::try_from(MIGRATIONS.len())?;
    if found > known {
        return Err(Newer { found, known }.into());
    }
    for (version, migration) in (1..).zip(MIGRATIONS).skip(usize::try_from(found)?) {
        if let Migration::Both(sql) = migration {
            transaction.execute_batch(sql).with_context(|| format!("migration {version}"))?;
        }
        transaction.execute("INSERT INTO schema_version (version) VALUES (?1)", [version])?;
    }
    Ok(transaction.commit()?)
}
