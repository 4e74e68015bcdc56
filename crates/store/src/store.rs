//! The database handle, independent of the engine.

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

/// Timeout of the test read and of the test write of a readiness check.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
const PROBE_READ: &str = "SELECT at FROM probe";
const PROBE_WRITE: &str = "UPDATE probe SET at = $1";
const SERVER_TIME: &str = "SELECT CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)";

/// Maximum number of measurements. The fastest measurement reflects the latency of the database
/// rather than the load on the machine.
const MEASUREMENTS: u32 = 5;
/// Time limit for starting another measurement.
const MEASURING_TIME: Duration = Duration::from_secs(1);

/// The latency of the database, the minimum of a few measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreLatency {
    /// Latency of reading a single row.
    pub read: Duration,
    /// Latency of a write until it is on disk.
    pub write: Duration,
}

/// A handle to the database. It is cheap to clone.
#[derive(Clone)]
pub struct Store {
    engine: Engine,
    pub(super) schema: &'static Schema,
    writes: Arc<LastWrite>,
}

/// The database engine.
#[derive(Clone)]
enum Engine {
    /// A database in this process, in a file or in memory.
    Sqlite(sqlite::Sqlite),
    /// A database server that several processes share.
    Postgres(postgres::Postgres),
}

impl Store {
    /// Opens the database and runs the migrations. Creates an embedded database if there is none.
    ///
    /// # Errors
    /// Returns an error if the URL is invalid or the database cannot be opened, or
    /// [`DatabaseTooNew`](crate::DatabaseTooNew) if a newer program migrated it. The causes include
    /// [`DatabaseNotReady`](crate::DatabaseNotReady) if a later attempt may succeed.
    pub fn open(url: &str, schema: &'static Schema) -> Result<Self> {
        Self::open_with(url, schema, sqlite::Sqlite::open)
    }

    /// Opens an existing database and runs the migrations.
    ///
    /// # Errors
    /// Returns [`DatabaseMissing`](crate::DatabaseMissing) if there is no embedded database, or the
    /// errors of [`Store::open`].
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

    /// Runs the migrations of an existing database. With `contract`, this includes the migrations
    /// that remove tables and columns that only older programs use.
    ///
    /// # Errors
    /// Returns the errors of [`Store::open_existing`]. With `contract`, also returns an error if an
    /// older server is connected.
    pub async fn migrate(url: &str, schema: &'static Schema, contract: bool) -> Result<Migrated> {
        match url.strip_prefix("sqlite:") {
            Some(file) => sqlite::migrate(file, schema.migrations),
            None => postgres::migrate(url, schema.migrations, contract).await,
        }
    }

    /// Copies a snapshot of an embedded database to a new file while other processes may read and
    /// write the database. Returns the size of the copy in bytes.
    ///
    /// # Errors
    /// Returns an error if the file already exists or cannot be written, or if the database is not
    /// embedded.
    pub fn backup(url: &str, to: &Path) -> Result<u64> {
        match url.strip_prefix("sqlite:") {
            Some(file) if file != ":memory:" => backup::backup(Path::new(file), to),
            _ => bail!("only an embedded database can be copied this way; use pg_dump for PostgreSQL"),
        }
    }

    /// Returns the rows of a query.
    ///
    /// # Errors
    /// Returns [`Unavailable`](crate::Unavailable), or the error of the statement.
    pub async fn read(&self, sql: &'static str, params: Vec<Value>) -> Result<Vec<Row>> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.read(Statement::new(sql, params)).await,
            Engine::Postgres(postgres) => postgres.read(Statement::new(sql, params)).await,
        }
    }

    /// Returns the first row of a query, if any.
    ///
    /// # Errors
    /// Returns the errors of [`Store::read`].
    pub async fn read_one(&self, sql: &'static str, params: Vec<Value>) -> Result<Option<Row>> {
        Ok(self.read(sql, params).await?.into_iter().next())
    }

    /// Returns the result of a `SELECT COUNT(*)` query.
    ///
    /// # Errors
    /// Returns the errors of [`Store::read`].
    pub async fn count(&self, sql: &'static str, params: Vec<Value>) -> Result<i64> {
        self.read_one(sql, params).await?.context("COUNT is one row")?.int(0)
    }

    /// Returns the first row of a query that uses an index. It runs on the calling thread if a
    /// connection is free, which is faster than passing it to a reader thread. Not suitable for
    /// queries that scan a table.
    ///
    /// # Errors
    /// Returns the errors of [`Store::read`].
    pub async fn read_by_index(&self, sql: &'static str, params: Vec<Value>) -> Result<Option<Row>> {
        Ok(self.read_few_by_index(sql, params).await?.into_iter().next())
    }

    /// Returns the few rows of a query that uses an index. It may run on the calling thread, like
    /// [`Store::read_by_index`].
    ///
    /// # Errors
    /// Returns the errors of [`Store::read`].
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

    /// Runs all statements or none. Returns once they are on disk.
    ///
    /// # Errors
    /// Returns [`Unavailable`](crate::Unavailable), or the error of a statement. Nothing is written
    /// in these cases.
    pub async fn write(&self, statements: impl Into<Vec<Statement>>) -> Result<WriteOutcome> {
        let written = match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.write(statements.into()).await,
            Engine::Postgres(postgres) => postgres.write(statements.into()).await,
        };
        self.writes.record(&written, Instant::now());
        written
    }

    /// Runs all statements or none. Returns once they are on disk.
    ///
    /// # Errors
    /// Returns [`WriteError::Conflict`] if a statement that must change a row changed none, or the
    /// error of the database.
    pub async fn commit(&self, statements: impl Into<Vec<Statement>>) -> Result<(), WriteError> {
        match self.write(statements).await? {
            WriteOutcome::Committed(_) => Ok(()),
            WriteOutcome::Refused(_) => Err(WriteError::Conflict),
        }
    }

    /// Returns the rows of a query with a different SQL text for each engine.
    ///
    /// # Errors
    /// Returns the errors of [`Store::read`].
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

    /// Runs a statement that claims rows for this process, and returns the claimed rows. The
    /// statement for PostgreSQL may skip rows that another process is claiming
    /// (`FOR UPDATE SKIP LOCKED`).
    ///
    /// # Errors
    /// Returns the errors of [`Store::write`]. If the connection is lost, rows may have been
    /// claimed without being returned.
    pub async fn claim(&self, sqlite: &'static str, postgres: &'static str, params: Vec<Value>) -> Result<Vec<Row>> {
        match &self.engine {
            Engine::Sqlite(engine) => match engine.write(vec![Statement::new(sqlite, params)]).await? {
                WriteOutcome::Committed(rows) => Ok(rows),
                WriteOutcome::Refused(_) => Ok(Vec::new()),
            },
            Engine::Postgres(engine) => engine.read(Statement::new(postgres, params)).await,
        }
    }

    /// Returns a feed of the future changes by other processes. `None` for an embedded database,
    /// which has a single server.
    #[must_use]
    pub fn changes(&self) -> Option<ChangeFeed> {
        match &self.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(postgres) => Some(postgres.changes()),
        }
    }

    /// Returns the current version of the watched tables. Rows that are read afterwards may be
    /// cached with this version and used in later writes with
    /// [`Statement::if_unchanged`](crate::Statement::if_unchanged), which are refused if any
    /// process may have changed the tables since. `None` if the database reports changes instead
    /// ([`Store::changes`]).
    #[must_use]
    pub fn table_version(&self) -> Option<TableVersion> {
        match &self.engine {
            Engine::Sqlite(sqlite) => Some(sqlite.table_version()),
            Engine::Postgres(_) => None,
        }
    }

    /// Returns the state of the file of an embedded database. Rows that are read afterwards are
    /// valid as long as this method returns an equal state. It changes before a commit of this
    /// process is acknowledged, and within a quarter of a millisecond after a commit of another
    /// process. `None` if the database reports changes instead ([`Store::changes`]), or if the
    /// state cannot be determined at the moment.
    #[must_use]
    pub fn file_state(&self) -> Option<FileState> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.file_state(),
            Engine::Postgres(_) => None,
        }
    }

    /// Measures the latency of reading and of writing a row of the table `probe`.
    ///
    /// # Errors
    /// Returns the errors of [`Store::read`] and [`Store::write`].
    pub async fn measure(&self, now: Timestamp) -> Result<StoreLatency> {
        let mut latency = StoreLatency { read: Duration::MAX, write: Duration::MAX };
        let start = Instant::now();
        for _ in 0..MEASUREMENTS {
            let read_start = Instant::now();
            self.read(PROBE_READ, params![]).await?;
            latency.read = latency.read.min(read_start.elapsed());
            let write_start = Instant::now();
            self.write([Statement::new(PROBE_WRITE, params![now])]).await?;
            latency.write = latency.write.min(write_start.elapsed());
            if start.elapsed() > MEASURING_TIME {
                break;
            }
        }
        Ok(latency)
    }

    /// Returns the current time of the database server. `None` for an embedded database.
    ///
    /// # Errors
    /// Returns the errors of [`Store::read`].
    pub async fn read_clock(&self) -> Result<Option<Timestamp>> {
        let Engine::Postgres(postgres) = &self.engine else { return Ok(None) };
        let rows = postgres.read(Statement::new(SERVER_TIME, params![])).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some(Timestamp::from_millisecond(row.int(0)?)?))
    }

    /// Completes all pending requests and closes the database. Later calls return
    /// [`Unavailable`](crate::Unavailable).
    pub async fn close(&self) {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.close().await,
            Engine::Postgres(postgres) => postgres.close().await,
        }
    }

    /// Checks that the database can be read and written, and that an embedded database is still at
    /// its path.
    ///
    /// # Errors
    /// Returns the reason the database is not ready, without confidential parts.
    pub async fn check_ready(&self, now: Timestamp) -> Result<(), String> {
        if let Engine::Sqlite(sqlite) = &self.engine {
            sqlite.check_file()?;
        }
        let read = timeout(PROBE_TIMEOUT, self.read(PROBE_READ, params![])).await;
        let read = read.map_err(|_| "the database does not respond".to_owned())?;
        read.map_err(|_| "the database cannot be read".to_owned())?;
        if !self.writes.is_fresh(Instant::now())
            && let Ok(trying) = Arc::clone(&self.writes.probe_lock).try_lock_owned()
        {
            let store = self.clone();
            let attempt = tokio::spawn(async move {
                drop(store.write([Statement::new(PROBE_WRITE, params![now])]).await);
                drop(trying);
            });
            // A write that is still queued, for example behind a large import, has not failed.
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
