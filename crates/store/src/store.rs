//! The handle of the database, for both engines.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use tokio::time::timeout;

use crate::changes::ChangeFeed;
use crate::file_state::FileState;
use crate::migrate::Migrated;
use crate::readiness::LastWrite;
use crate::row::{Row, Value};
use crate::schema::Schema;
use crate::statement::{Statement, WriteError, WriteOutcome, params};
use crate::watched::TableVersion;
use crate::{backup, postgres, sqlite};

/// Timeout of the read and the write of a readiness check.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
const READ: &str = "SELECT at FROM probe";
const WRITE: &str = "UPDATE probe SET at = $1";
const CLOCK: &str = "SELECT CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)";

/// Number of measurements, unless they take too long. The best shows the latency of the database rather than the load
/// of the machine.
const MEASUREMENTS: u32 = 5;
/// Maximum time until the start of the last measurement.
const MEASURING_TIME: Duration = Duration::from_secs(1);

/// The latency of the database, as the best of a few measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreLatency {
    /// Latency of a read of a single row.
    pub read: Duration,
    /// Latency of a write, until it is on disk.
    pub write: Duration,
}

/// A handle of the database; cheap to clone.
#[derive(Clone)]
pub struct Store {
    engine: Engine,
    pub(super) schema: &'static Schema,
    writes: Arc<LastWrite>,
}

/// The engine of the database.
#[derive(Clone)]
enum Engine {
    /// A file, or memory, inside this process.
    Sqlite(sqlite::Sqlite),
    /// A server that several processes share.
    Postgres(postgres::Postgres),
}

impl Store {
    /// Opens the database, creates an embedded database if there is none, and runs the migrations.
    ///
    /// # Errors
    /// If the URL is invalid, the database cannot be opened, or a newer program wrote it
    /// ([`DatabaseTooNew`](crate::DatabaseTooNew)); with [`DatabaseNotReady`](crate::DatabaseNotReady) among the
    /// causes, if a later attempt may succeed.
    pub fn open(url: &str, schema: &'static Schema) -> Result<Self> {
        Self::open_with(url, schema, sqlite::Sqlite::open)
    }

    /// Opens an existing database, and runs the migrations.
    ///
    /// # Errors
    /// [`DatabaseMissing`](crate::DatabaseMissing) if there is no embedded database, or the errors of [`Store::open`].
    pub fn open_existing(url: &str, schema: &'static Schema) -> Result<Self> {
        Self::open_with(url, schema, sqlite::Sqlite::open_existing)
    }

    fn open_with(
        url: &str,
        schema: &'static Schema,
        embedded: fn(&str, &'static Schema) -> Result<sqlite::Sqlite>,
    ) -> Result<Self> {
        let engine = match url.strip_prefix("sqlite:") {
            Some(file) => Engine::Sqlite(embedded(file, schema)?),
            None if postgres::is_postgres(url) => Engine::Postgres(postgres::Postgres::open(url, schema.migrations)?),
            None => bail!("a database URL starts with sqlite: or postgres://"),
        };
        Ok(Self { engine, schema, writes: Arc::default() })
    }

    /// Runs the migrations of an existing database; with `contract` also those that remove tables and columns that only
    /// older programs use.
    ///
    /// # Errors
    /// The errors of [`Store::open_existing`], or with `contract` if an older server is connected.
    pub async fn migrate(url: &str, schema: &'static Schema, contract: bool) -> Result<Migrated> {
        match url.strip_prefix("sqlite:") {
            Some(file) => sqlite::migrate(file, schema.migrations),
            None => postgres::migrate(url, schema.migrations, contract).await,
        }
    }

    /// Copies a snapshot of an embedded database to a new file, while others may read and write it. Returns its size in
    /// bytes.
    ///
    /// # Errors
    /// If the file exists already or cannot be written, or the database is not embedded.
    pub fn backup(url: &str, to: &Path) -> Result<u64> {
        match url.strip_prefix("sqlite:") {
            Some(file) if file != ":memory:" => backup::backup(Path::new(file), to),
            _ => bail!("only an embedded database can be copied this way; use pg_dump for PostgreSQL"),
        }
    }

    /// Returns the rows of a query.
    ///
    /// # Errors
    /// [`Unavailable`](crate::Unavailable), or an error of the statement.
    pub async fn read(&self, sql: &'static str, params: Vec<Value>) -> Result<Vec<Row>> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.read(Statement::new(sql, params)).await,
            Engine::Postgres(postgres) => postgres.read(Statement::new(sql, params)).await,
        }
    }

    /// Returns the first row of a query.
    ///
    /// # Errors
    /// The errors of [`Store::read`].
    pub async fn read_one(&self, sql: &'static str, params: Vec<Value>) -> Result<Option<Row>> {
        Ok(self.read(sql, params).await?.into_iter().next())
    }

    /// Returns the result of a `SELECT COUNT(*)`.
    ///
    /// # Errors
    /// The errors of [`Store::read`].
    pub async fn count(&self, sql: &'static str, params: Vec<Value>) -> Result<i64> {
        self.read_one(sql, params).await?.context("COUNT is one row")?.int(0)
    }

    /// Returns the first row of a query by index. It runs on the thread of the request if a connection is free: faster
    /// than passing it to another thread. Not for queries that scan a table.
    ///
    /// # Errors
    /// The errors of [`Store::read`].
    pub async fn read_by_index(&self, sql: &'static str, params: Vec<Value>) -> Result<Option<Row>> {
        Ok(self.read_few_by_index(sql, params).await?.into_iter().next())
    }

    /// Returns the few rows of a query by index, read as by [`Store::read_by_index`].
    ///
    /// # Errors
    /// The errors of [`Store::read`].
    pub async fn read_few_by_index(&self, sql: &'static str, params: Vec<Value>) -> Result<Vec<Row>> {
        let statement = Statement::new(sql, params);
        match &self.engine {
            Engine::Sqlite(sqlite) => match sqlite.read_by_index(&statement) {
                Some(rows) => rows,
                None => sqlite.read(statement).await,
            },
            Engine::Postgres(postgres) => postgres.read(statement).await,
        }
    }

    /// Runs all statements or none. Returns when they are on disk.
    ///
    /// # Errors
    /// [`Unavailable`](crate::Unavailable), or an error of a statement; nothing was written then.
    pub async fn write(&self, statements: impl Into<Vec<Statement>>) -> Result<WriteOutcome> {
        let written = match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.write(statements.into()).await,
            Engine::Postgres(postgres) => postgres.write(statements.into()).await,
        };
        self.writes.record(&written, Instant::now());
        written
    }

    /// Runs all statements or none. Returns when they are on disk.
    ///
    /// # Errors
    /// [`WriteError::Conflict`] if a required statement changed no row, or a failure of the database.
    pub async fn commit(&self, statements: impl Into<Vec<Statement>>) -> Result<(), WriteError> {
        match self.write(statements).await? {
            WriteOutcome::Committed(_) => Ok(()),
            WriteOutcome::Refused(_) => Err(WriteError::Conflict),
        }
    }

    /// Returns the rows of a query that differs between the engines.
    ///
    /// # Errors
    /// The errors of [`Store::read`].
    pub async fn read_per_engine(
        &self,
        sqlite: &'static str,
        postgres: &'static str,
        params: Vec<Value>,
    ) -> Result<Vec<Row>> {
        match &self.engine {
            Engine::Sqlite(_) => self.read(sqlite, params).await,
            Engine::Postgres(_) => self.read(postgres, params).await,
        }
    }

    /// Runs a statement that claims rows for this process, and returns them. The statement of PostgreSQL may skip rows
    /// that another process claims (`FOR UPDATE SKIP LOCKED`).
    ///
    /// # Errors
    /// The errors of [`Store::write`]. If the connection is lost, rows may have been claimed without being returned.
    pub async fn claim(&self, sqlite: &'static str, postgres: &'static str, params: Vec<Value>) -> Result<Vec<Row>> {
        match &self.engine {
            Engine::Sqlite(engine) => match engine.write(vec![Statement::new(sqlite, params)]).await? {
                WriteOutcome::Committed(rows) => Ok(rows),
                WriteOutcome::Refused(_) => Ok(Vec::new()),
            },
            Engine::Postgres(engine) => engine.read(Statement::new(postgres, params)).await,
        }
    }

    /// Returns the future changes of other processes; `None` for an embedded database, because it has one server.
    #[must_use]
    pub fn changes(&self) -> Option<ChangeFeed> {
        match &self.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(postgres) => Some(postgres.changes()),
        }
    }

    /// Returns the version of the watched tables. Rows that are read afterwards may be cached with it, and used in
    /// later writes with [`Statement::if_unchanged`](crate::Statement::if_unchanged), which are refused if any process
    /// may have changed the tables since. `None` if the database notifies of changes instead ([`Store::changes`]).
    #[must_use]
    pub fn table_version(&self) -> Option<TableVersion> {
        match &self.engine {
            Engine::Sqlite(sqlite) => Some(sqlite.table_version()),
            Engine::Postgres(_) => None,
        }
    }

    /// Returns the state of an embedded database. Rows that are read afterwards are valid as long as this returns an
    /// equal state. Commits of this process change it before they are acknowledged, commits of another process within a
    /// quarter of a millisecond. `None` if the database notifies of changes instead ([`Store::changes`]), or the state
    /// cannot be determined now.
    #[must_use]
    pub fn file_state(&self) -> Option<FileState> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.file_state(),
            Engine::Postgres(_) => None,
        }
    }

    /// Measures the latency of a read and a write of a row for this purpose.
    ///
    /// # Errors
    /// The errors of [`Store::read`] and [`Store::write`].
    pub async fn measure(&self, now: Timestamp) -> Result<StoreLatency> {
        let mut latency = StoreLatency { read: Duration::MAX, write: Duration::MAX };
        let start = Instant::now();
        for _ in 0..MEASUREMENTS {
            let read_start = Instant::now();
            self.read(READ, params![]).await?;
            latency.read = latency.read.min(read_start.elapsed());
            let write_start = Instant::now();
            self.write([Statement::new(WRITE, params![now])]).await?;
            latency.write = latency.write.min(write_start.elapsed());
            if start.elapsed() > MEASURING_TIME {
                break;
            }
        }
        Ok(latency)
    }

    /// Returns the time of the database server; `None` for an embedded database.
    ///
    /// # Errors
    /// The errors of [`Store::read`].
    pub async fn read_clock(&self) -> Result<Option<Timestamp>> {
        let Engine::Postgres(postgres) = &self.engine else { return Ok(None) };
        let rows = postgres.read(Statement::new(CLOCK, params![])).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some(Timestamp::from_millisecond(row.int(0)?)?))
    }

    /// Completes the waiting requests and closes the database. Later calls return [`Unavailable`](crate::Unavailable).
    pub async fn close(&self) {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.close().await,
            Engine::Postgres(postgres) => postgres.close().await,
        }
    }

    /// Checks that the database can be read and written, and that an embedded database is still at its path.
    ///
    /// # Errors
    /// The reason, without confidential parts.
    pub async fn check_ready(&self, now: Timestamp) -> Result<(), String> {
        if let Engine::Sqlite(sqlite) = &self.engine {
            sqlite.check_file()?;
        }
        let read = timeout(PROBE_TIMEOUT, self.read(READ, params![])).await;
        let read = read.map_err(|_| "the database does not respond".to_owned())?;
        read.map_err(|_| "the database cannot be read".to_owned())?;
        if !self.writes.is_fresh(Instant::now())
            && let Ok(trying) = Arc::clone(&self.writes.probe_lock).try_lock_owned()
        {
            let store = self.clone();
            let attempt = tokio::spawn(async move {
                drop(store.write([Statement::new(WRITE, params![now])]).await);
                drop(trying);
            });
            // A write that still waits in the queue, such as after a large import, has not failed.
            drop(timeout(PROBE_TIMEOUT, attempt).await);
        }
        self.writes.check()
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Store")
    }
}
