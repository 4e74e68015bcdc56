//! The handle on the database, whichever engine keeps the rows.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use jiff::Timestamp;
use tokio::time::timeout;

use crate::changes::ChangeFeed;
use crate::file_state::FileState;
use crate::migrate::Migrated;
use crate::readiness::LastWrite;
use crate::row::{Row, Value};
use crate::schema::Schema;
use crate::step::{Step, WriteError, WriteOutcome, params, step};
use crate::watched::WatchedVersion;
use crate::{backup, postgres, sqlite};

/// How long a read and a write are waited for.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
const READ: &str = "SELECT at FROM probe";
const WRITE: &str = "UPDATE probe SET at = $1";
const CLOCK: &str = "SELECT CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)";

/// How many times a measurement is made, unless that takes too long: what counts is what the database can do, not what else
/// the machine did at one moment.
const MEASUREMENTS: u32 = 5;
/// After how long no other one begins.
const MEASURING_TIME: Duration = Duration::from_secs(1);

/// How long the database takes, at its best of a few times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreLatency {
    /// For a read of one row.
    pub read: Duration,
    /// For a write that is on disk.
    pub write: Duration,
}

/// A handle on the database; cheap to clone.
#[derive(Clone)]
pub struct Store {
    engine: Engine,
    pub(super) schema: &'static Schema,
    writes: Arc<LastWrite>,
}

/// What keeps the rows.
#[derive(Clone)]
enum Engine {
    /// A file, or memory, inside this process.
    Sqlite(sqlite::Sqlite),
    /// A server that several processes share.
    Postgres(postgres::Postgres),
}

impl Store {
    /// Opens the database, or makes it where an embedded one is not there yet, and brings its tables up to date.
    ///
    /// # Errors
    /// Where the address is not one we know, the file cannot be opened, or a newer program wrote it ([`Newer`](crate::Newer));
    /// with [`DatabaseNotReady`](crate::DatabaseNotReady) among the causes, if a later attempt may succeed.
    pub fn open(url: &str, schema: &'static Schema) -> Result<Self> {
        Self::open_with(url, schema, sqlite::Sqlite::open)
    }

    /// Opens a database that is there, and brings its tables up to date. One on a server is there where the server is.
    ///
    /// # Errors
    /// [`Missing`](crate::Missing) where an embedded one is not there, or as [`Store::open`].
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

    /// Brings the tables of a database that is there up to date and says what that did; with `contract` also takes away
    /// what only older programs use.
    ///
    /// # Errors
    /// As [`Store::open_existing`], or where an older server is connected and `contract` is asked for.
    pub async fn migrate(url: &str, schema: &'static Schema, contract: bool) -> Result<Migrated> {
        match url.strip_prefix("sqlite:") {
            Some(file) => sqlite::migrate(file, schema.migrations),
            None => postgres::migrate(url, schema.migrations, contract).await,
        }
    }

    /// Copies an embedded database into a new file, whole and as of one moment, while others read and write it.
    /// Returns its size in bytes.
    ///
    /// # Errors
    /// Where the file is there already or cannot be written, or the database is not an embedded one.
    pub fn backup(url: &str, to: &Path) -> Result<u64> {
        match url.strip_prefix("sqlite:") {
            Some(file) if file != ":memory:" => backup::backup(Path::new(file), to),
            _ => bail!("only an embedded database can be copied this way; use pg_dump for PostgreSQL"),
        }
    }

    /// The rows of one query.
    ///
    /// # Errors
    /// [`Unavailable`](crate::Unavailable), or a fault of the statement.
    pub async fn read(&self, sql: &'static str, params: Vec<Value>) -> Result<Vec<Row>> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.read(step(sql, params)).await,
            Engine::Postgres(postgres) => postgres.read(step(sql, params)).await,
        }
    }

    /// The first row of one query.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn read_one(&self, sql: &'static str, params: Vec<Value>) -> Result<Option<Row>> {
        Ok(self.read(sql, params).await?.into_iter().next())
    }

    /// The row that an index leads to, or none. It is read where the request runs, if a connection is free there: from
    /// memory that takes less time than handing it to a thread. Not for queries that walk through a table.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn read_by_index(&self, sql: &'static str, params: Vec<Value>) -> Result<Option<Row>> {
        Ok(self.read_few_by_index(sql, params).await?.into_iter().next())
    }

    /// The few rows that indexes lead to, read in the same way.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn read_few_by_index(&self, sql: &'static str, params: Vec<Value>) -> Result<Vec<Row>> {
        let step = step(sql, params);
        match &self.engine {
            Engine::Sqlite(sqlite) => match sqlite.read_by_index(&step) {
                Some(rows) => rows,
                None => sqlite.read(step).await,
            },
            Engine::Postgres(postgres) => postgres.read(step).await,
        }
    }

    /// All steps or none; answers once they are on disk.
    ///
    /// # Errors
    /// [`Unavailable`](crate::Unavailable), or a fault of a statement; nothing happened then.
    pub async fn write(&self, steps: impl Into<Vec<Step>>) -> Result<WriteOutcome> {
        let written = match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.write(steps.into()).await,
            Engine::Postgres(postgres) => postgres.write(steps.into()).await,
        };
        self.writes.ended(&written, Instant::now());
        written
    }

    /// Performs all steps or none. Returns when they are on disk.
    ///
    /// # Errors
    /// [`WriteError::Conflict`] if a required step changed no row, or a failure of the database.
    pub async fn commit(&self, steps: impl Into<Vec<Step>>) -> Result<(), WriteError> {
        match self.write(steps).await? {
            WriteOutcome::Committed(_) => Ok(()),
            WriteOutcome::Refused(_) => Err(WriteError::Conflict),
        }
    }

    /// The rows of one query, whose text the databases do not share.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn pick(&self, alone: &'static str, shared: &'static str, params: Vec<Value>) -> Result<Vec<Row>> {
        match &self.engine {
            Engine::Sqlite(_) => self.read(alone, params).await,
            Engine::Postgres(_) => self.read(shared, params).await,
        }
    }

    /// A statement that takes rows for this process, and gives them. Where several processes share the database the
    /// second text is used, which may pass over what another is taking (`FOR UPDATE SKIP LOCKED`).
    ///
    /// # Errors
    /// As [`Store::write`]. Where the connection is cut, rows may have been taken that nobody was given.
    pub async fn claim(&self, alone: &'static str, shared: &'static str, params: Vec<Value>) -> Result<Vec<Row>> {
        match &self.engine {
            Engine::Sqlite(sqlite) => match sqlite.write(vec![step(alone, params)]).await? {
                WriteOutcome::Committed(rows) => Ok(rows),
                WriteOutcome::Refused(_) => Ok(Vec::new()),
            },
            Engine::Postgres(postgres) => postgres.read(step(shared, params)).await,
        }
    }

    /// What other processes change from now on, as far as the database can tell: an embedded one has no others, and none.
    #[must_use]
    pub fn changes(&self) -> Option<ChangeFeed> {
        match &self.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(postgres) => Some(postgres.changes()),
        }
    }

    /// The state of the watched tables, before they are read: what is read then may be kept with it and go into later
    /// writes as [`Step::as_of`](crate::Step::as_of), which are refused where any process may have changed the tables
    /// since. `None` where other processes' changes are told instead ([`Store::changes`]).
    #[must_use]
    pub fn watched_version(&self) -> Option<WatchedVersion> {
        match &self.engine {
            Engine::Sqlite(sqlite) => Some(sqlite.watched_version()),
            Engine::Postgres(_) => None,
        }
    }

    /// The state that an embedded database is in, before it is read: what is read then is good for as long as this says the
    /// same. Commits of this process change it before they are acknowledged, those of another within a quarter of a
    /// millisecond. `None` where changes are told instead ([`Store::changes`]), or nobody can say at this moment.
    #[must_use]
    pub fn file_state(&self) -> Option<FileState> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.file_state(),
            Engine::Postgres(_) => None,
        }
    }

    /// How long a read and a write take, of a row that is there for this alone.
    ///
    /// # Errors
    /// As [`Store::read`] and [`Store::write`].
    pub async fn measure(&self, now: Timestamp) -> Result<StoreLatency> {
        let (mut latency, begun) = (StoreLatency { read: Duration::MAX, write: Duration::MAX }, Instant::now());
        for _ in 0..MEASUREMENTS {
            let asked = Instant::now();
            self.read(READ, params![]).await?;
            latency.read = latency.read.min(asked.elapsed());
            let told = Instant::now();
            self.write([step(WRITE, params![now])]).await?;
            latency.write = latency.write.min(told.elapsed());
            if begun.elapsed() > MEASURING_TIME {
                break;
            }
        }
        Ok(latency)
    }

    /// The clock of a database on a server; `None` where the database is embedded and has none of its own.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn read_clock(&self) -> Result<Option<Timestamp>> {
        let Engine::Postgres(postgres) = &self.engine else { return Ok(None) };
        let rows = postgres.read(step(CLOCK, params![])).await?;
        let milliseconds = rows.first().map(|row| row.int(0)).transpose()?;
        Ok(milliseconds.map(Timestamp::from_millisecond).transpose()?)
    }

    /// Finishes what waits and closes; later calls are [`Unavailable`](crate::Unavailable).
    pub async fn close(&self) {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.close().await,
            Engine::Postgres(postgres) => postgres.close().await,
        }
    }

    /// Whether the database can be read and written, and an embedded one is still where it was opened.
    ///
    /// # Errors
    /// Why not, in words that may be told to anybody.
    pub async fn check_ready(&self, now: Timestamp) -> Result<(), String> {
        if let Engine::Sqlite(sqlite) = &self.engine {
            sqlite.check_file()?;
        }
        let read = timeout(PROBE_TIMEOUT, self.read(READ, params![])).await;
        let read = read.map_err(|_| "the database does not respond".to_owned())?;
        read.map_err(|_| "the database cannot be read".to_owned())?;
        if !self.writes.is_fresh(Instant::now())
            && let Ok(trying) = Arc::clone(&self.writes.trying).try_lock_owned()
        {
            let store = self.clone();
            let tried = tokio::spawn(async move {
                drop(store.write([step(WRITE, params![now])]).await);
                drop(trying);
            });
            // One that still waits for its turn, behind a large import, has not failed.
            drop(timeout(PROBE_TIMEOUT, tried).await);
        }
        self.writes.check()
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Store")
    }
}
