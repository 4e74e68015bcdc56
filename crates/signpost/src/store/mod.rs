//! The database: SQLite by default, PostgreSQL for several replicas.
//!
//! A write is a *value*: a list of [`Step`]s that happen together or not at all. That is what lets SQLite put the
//! writes of many requests into one commit, and it is why each feature writes its SQL once, in its own `sql.rs`. The
//! price: nothing can be decided in Rust in mid-transaction, so races are settled in the `WHERE`.

mod backup;
mod changes;
mod file;
pub mod id;
mod lock;
mod migrate;
mod moving;
mod postgres;
mod readiness;
mod row;
mod sqlite;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};

pub use changes::{Change, Changes};
pub use lock::lock;
pub use migrate::{Migrated, Newer};
pub use moving::Moved;
use readiness::LastWrite;
pub use row::{Row, Value};

/// A handle on the database; cheap to clone.
#[derive(Clone)]
pub struct Store {
    engine: Engine,
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

/// One statement of a write.
#[derive(Clone, Debug)]
pub struct Step {
    sql: &'static str,
    params: Vec<Value>,
    must: bool,
    alike: Option<&'static str>,
}

/// How a write ended.
#[derive(Debug, PartialEq)]
pub enum Written {
    /// All steps happened and are on disk; the rows are the last step's.
    Committed(Vec<Row>),
    /// The step at this position had to change a row and changed none; nothing happened.
    Refused(usize),
}

/// The database cannot serve this request now: the disk is full, the file is locked, too much waits.
#[derive(Debug, thiserror::Error)]
#[error("the database cannot be used now: {0}")]
pub struct Unavailable(pub String);

/// There is no database in the place where an embedded one was looked for.
#[derive(Debug, thiserror::Error)]
#[error("there is no signpost database at {0}")]
pub struct Missing(pub String);

/// Whether an address is that of a PostgreSQL server.
pub(crate) fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

/// A step that may change any number of rows.
#[must_use]
pub fn step(sql: &'static str, params: Vec<Value>) -> Step {
    Step { sql, params, must: false, alike: None }
}

/// A step that must change a row, or the whole write is refused.
#[must_use]
pub fn must(sql: &'static str, params: Vec<Value>) -> Step {
    Step { sql, params, must: true, alike: None }
}

/// The values behind `$1`, `$2`, ….
macro_rules! params {
    ($($value:expr),* $(,)?) => { vec![$($crate::store::Value::from($value)),*] };
}
pub(crate) use params;

impl Step {
    /// Where many writes of this one step wait, PostgreSQL does them as one statement, which takes an array for each
    /// value and changes a row for each.
    #[must_use]
    pub fn alike(self, sql: &'static str) -> Self {
        Self { alike: Some(sql), ..self }
    }
}

impl Written {
    /// Whether the write happened.
    #[must_use]
    pub fn is_committed(&self) -> bool {
        matches!(self, Self::Committed(_))
    }
}

impl Store {
    /// Opens the database, or makes it where an embedded one is not there yet, and brings its tables up to date.
    ///
    /// # Errors
    /// Where the address is not one we know, the file cannot be opened, or a newer program wrote it ([`Newer`]).
    pub fn open(url: &str) -> Result<Self> {
        Self::open_with(url, sqlite::Sqlite::open)
    }

    /// Opens a database that is there, and brings its tables up to date. One on a server is there where the server is.
    ///
    /// # Errors
    /// [`Missing`] where an embedded one is not there, or as [`Store::open`].
    pub fn open_existing(url: &str) -> Result<Self> {
        Self::open_with(url, sqlite::Sqlite::open_existing)
    }

    fn open_with(url: &str, embedded: fn(&str) -> Result<sqlite::Sqlite>) -> Result<Self> {
        let engine = match url.strip_prefix("sqlite:") {
            Some(file) => Engine::Sqlite(embedded(file)?),
            None if is_postgres(url) => Engine::Postgres(postgres::Postgres::open(url)?),
            None => bail!("a database address begins with sqlite: or postgres://"),
        };
        Ok(Self { engine, writes: Arc::default() })
    }

    /// Brings the tables of a database that is there up to date and says what that did; with `contract` also takes away
    /// what only older programs use.
    ///
    /// # Errors
    /// As [`Store::open_existing`], or where an older server is connected and `contract` is asked for.
    pub async fn migrate(url: &str, contract: bool) -> Result<Migrated> {
        match url.strip_prefix("sqlite:") {
            Some(file) => sqlite::migrate(file),
            None => postgres::migrate(url, contract).await,
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
            _ => bail!("only an embedded database is copied this way: use pg_dump for PostgreSQL"),
        }
    }

    /// The rows of one query.
    ///
    /// # Errors
    /// [`Unavailable`], or a fault of the statement.
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
    pub async fn look(&self, sql: &'static str, params: Vec<Value>) -> Result<Option<Row>> {
        let step = step(sql, params);
        let rows = match &self.engine {
            Engine::Sqlite(sqlite) => match sqlite.look(&step) {
                Some(rows) => rows?,
                None => sqlite.read(step).await?,
            },
            Engine::Postgres(postgres) => postgres.read(step).await?,
        };
        Ok(rows.into_iter().next())
    }

    /// All steps or none; answers once they are on disk.
    ///
    /// # Errors
    /// [`Unavailable`], or a fault of a statement; nothing happened then.
    pub async fn write(&self, steps: impl Into<Vec<Step>>) -> Result<Written> {
        let written = match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.write(steps.into()).await,
            Engine::Postgres(postgres) => postgres.write(steps.into()).await,
        };
        self.writes.ended(&written);
        written
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
                Written::Committed(rows) => Ok(rows),
                Written::Refused(_) => Ok(Vec::new()),
            },
            Engine::Postgres(postgres) => postgres.read(step(shared, params)).await,
        }
    }

    /// What other processes change from now on, as far as the database can tell: an embedded one has no others, and none.
    #[must_use]
    pub fn changes(&self) -> Option<Changes> {
        match &self.engine {
            Engine::Sqlite(_) => None,
            Engine::Postgres(postgres) => Some(postgres.changes()),
        }
    }

    /// Finishes what waits and closes; later calls are [`Unavailable`].
    pub async fn close(&self) {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.close().await,
            Engine::Postgres(postgres) => postgres.close().await,
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Store")
    }
}
