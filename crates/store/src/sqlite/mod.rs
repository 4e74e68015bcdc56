//! The SQLite engine: one thread writes, and several threads read. Waiting writes are committed
//! together.

mod change_tracker;
mod inline_reads;
mod opening;
mod wal_checkpointer;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Error, Result, anyhow};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode};
use tokio::sync::{Mutex, mpsc, oneshot};

use self::change_tracker::ChangeTracker;
use self::inline_reads::{FileChanges, InlineReadPool};
use self::opening::{IfMissing, open_first};
use self::wal_checkpointer::WalCheckpointer;
use self::writer::WriterContext;
use crate::file::{DatabaseFile, find_access_error};
use crate::file_state::FileState;
use crate::migrate::{self, Migrated, Migration};
use crate::row::{Row, Value};
use crate::schema::Schema;
use crate::statement::{ReplySender, Statement, Unavailable, WriteOutcome};
use crate::watched::{TableVersion, TableVersionClock};

/// Maximum number of requests that are queued for the writer, and for the readers. Later requests
/// wait for space in the queue.
const QUEUE_CAPACITY: usize = 1024;
/// Number of reader threads, each with a connection and a cache of prepared statements.
const READERS: usize = 2;
/// Number of connections for reads on the thread of a request.
const INLINE_CONNECTIONS: usize = 4;
/// Size of the page cache of the writer, in KiB.
const WRITER_CACHE_KIB: i64 = 16 * 1024;
/// Size of the page cache of each other connection, in KiB. It is small because the operating
/// system caches the file too, and because a scan of a large table would fill every cache.
const READER_CACHE_KIB: i64 = 2 * 1024;

enum Job {
    Read(Statement, ReplySender<Vec<Row>>),
    Write(Vec<Statement>, ReplySender<WriteOutcome>),
    Close,
}

/// A handle of the database threads. The threads end when the last handle is dropped.
#[derive(Clone)]
pub(super) struct Sqlite {
    writer: mpsc::Sender<Job>,
    /// The queue of the readers. For a database in memory it is the queue of the writer, because
    /// other connections do not see the database.
    reader: mpsc::Sender<Job>,
    inline: Arc<InlineReadPool>,
    threads: Arc<Mutex<Vec<thread::JoinHandle<()>>>>,
    /// `None` if the database is in memory.
    file: Option<DatabaseFile>,
    tables: TableVersionClock,
}

pub(super) use self::opening::{find_owner, has_database, is_refused, open_error};

/// Runs the migrations of a database file.
pub(super) fn migrate(file: &str, migrations: &[Migration]) -> Result<Migrated> {
    migrate::run(&mut open_first(file, IfMissing::Refuse)?, migrations).map_err(|error| open_error(error, file))
}

impl Sqlite {
    /// Opens a database file, and creates it if it does not exist.
    pub(super) fn open(file: &str, schema: &'static Schema) -> Result<Self> {
        Self::with_connection(open_first(file, IfMissing::Create)?, file, schema)
    }

    /// Opens a database file that already exists and belongs to this program.
    pub(super) fn open_existing(file: &str, schema: &'static Schema) -> Result<Self> {
        Self::with_connection(open_first(file, IfMissing::Refuse)?, file, schema)
    }

    fn with_connection(mut connection: Connection, file: &str, schema: &'static Schema) -> Result<Self> {
        migrate::run(&mut connection, schema.migrations).map_err(|error| open_error(error, file))?.log();
        set_cache_size(&connection, WRITER_CACHE_KIB)?;
        let (writer, jobs) = mpsc::channel(QUEUE_CAPACITY);
        let tables = TableVersionClock::default();
        let tracker = ChangeTracker::attach(&mut connection, schema.watched, tables.clone())?;
        let mut checkpointer = None;
        if file != ":memory:" {
            // The checkpoint thread copies the write-ahead log instead.
            connection.pragma_update(None, "wal_autocheckpoint", 0)?;
            checkpointer = Some(WalCheckpointer::start(connect_reader(file)?)?);
        }
        let changes = FileChanges::default();
        let context = WriterContext { tracker, changes: changes.clone(), checkpointer };
        let mut threads = vec![spawn("store-writer", move || writer::run(&connection, context, jobs))?];
        let mut inline = Vec::new();
        let reader = if file == ":memory:" {
            writer.clone()
        } else {
            for _ in 0..INLINE_CONNECTIONS {
                inline.push(connect_reader(file)?);
            }
            let (reader, jobs) = mpsc::channel(QUEUE_CAPACITY);
            let jobs = Arc::new(Mutex::new(jobs));
            for _ in 0..READERS {
                let connection = connect_reader(file)?;
                let jobs = Arc::clone(&jobs);
                threads.push(spawn("store-reader", move || read_loop(&connection, &jobs))?);
            }
            reader
        };
        let file = (file != ":memory:").then(|| DatabaseFile::opened(Path::new(file)));
        let inline = Arc::new(InlineReadPool::new(inline, changes));
        Ok(Self { writer, reader, inline, threads: Arc::new(Mutex::new(threads)), file, tables })
    }

    /// Checks that the file is still at its path, and that the file system has free space.
    pub(super) fn check_file(&self) -> Result<(), String> {
        match &self.file {
            Some(file) => file.check().map_err(str::to_owned),
            None => Ok(()),
        }
    }

    pub(super) fn table_version(&self) -> TableVersion {
        self.tables.now()
    }

    /// Runs a query on this thread. Returns `None` if no connection is free or the database is
    /// closed.
    pub(super) fn read_by_index(&self, statement: &Statement) -> Option<Result<Vec<Row>>> {
        if self.writer.is_closed() { None } else { self.inline.read(statement) }
    }

    /// Returns the state of the file. Returns `None` if the database is in memory or closed, or if
    /// no connection is free.
    pub(super) fn file_state(&self) -> Option<FileState> {
        if self.writer.is_closed() { None } else { self.inline.file_state() }
    }

    pub(super) async fn read(&self, statement: Statement) -> Result<Vec<Row>> {
        let (reply, rows) = oneshot::channel();
        self.reader.send(Job::Read(statement, reply)).await.map_err(|_| closed())?;
        rows.await.map_err(|_| closed())?
    }

    pub(super) async fn write(&self, statements: Vec<Statement>) -> Result<WriteOutcome> {
        let (reply, written) = oneshot::channel();
        self.writer.send(Job::Write(statements, reply)).await.map_err(|_| closed())?;
        written.await.map_err(|_| closed())?
    }

    /// Waits until all queued writes are on disk and the files are closed.
    pub(super) async fn close(&self) {
        let Self { writer, reader, threads, .. } = self;
        let mut threads: Vec<_> = threads.lock().await.drain(..).collect();
        // SQLite copies the write-ahead log to the database when the last connection is closed, so
        // the writer is closed last.
        let readers = threads.split_off(threads.len().min(1));
        for _ in &readers {
            // Fails if the queue is already closed.
            drop(reader.send(Job::Close).await);
        }
        join(readers).await;
        self.inline.close();
        drop(writer.send(Job::Close).await);
        join(threads).await;
    }
}

async fn join(threads: Vec<thread::JoinHandle<()>>) {
    let joined = tokio::task::spawn_blocking(|| {
        for thread in threads {
            drop(thread.join());
        }
    });
    drop(joined.await);
}

fn closed() -> Error {
    Unavailable("it is closed".to_owned()).into()
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<thread::JoinHandle<()>> {
    Ok(thread::Builder::new().name(name.to_owned()).spawn(run)?)
}

/// Opens a further connection to a database file.
fn connect_reader(file: &str) -> Result<Connection> {
    let connection = opening::connect(file)?;
    set_cache_size(&connection, READER_CACHE_KIB)?;
    Ok(connection)
}

fn set_cache_size(connection: &Connection, kib: i64) -> Result<()> {
    Ok(connection.pragma_update(None, "cache_size", -kib)?)
}

fn read_loop(connection: &Connection, jobs: &Mutex<mpsc::Receiver<Job>>) {
    loop {
        // The mutex is locked while waiting for a job, but not while running it.
        let job = jobs.blocking_lock().blocking_recv();
        let Some(Job::Read(statement, reply)) = job else { return };
        drop(reply.send(rows(connection, &statement)));
    }
}

/// Converts temporary failures to [`Unavailable`], adds the path to the error of a corrupt file,
/// and returns other errors unchanged.
fn classify_error(error: Error, file: &str) -> Error {
    let code = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
    match code {
        Some(ErrorCode::DiskFull) => Unavailable("the disk is full".to_owned()).into(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Unavailable("it is locked".to_owned()).into(),
        code if is_refused(code) => {
            let reason = find_access_error(Path::new(file)).unwrap_or_else(|| "disk error".to_owned());
            Unavailable(format!("{reason}: {error}")).into()
        }
        _ if is_corrupt(error.downcast_ref()) => error.context(corrupt_message(file)),
        _ => error,
    }
}

/// Returns `true` if the error means that the file is corrupt or not a database.
pub(super) fn is_corrupt(error: Option<&rusqlite::Error>) -> bool {
    let code = error.and_then(rusqlite::Error::sqlite_error_code);
    matches!(code, Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

/// Returns the error message for a corrupt file.
pub(super) fn corrupt_message(file: &str) -> String {
    format!("the database {file} is corrupt: restore a backup, or choose another database")
}

fn rows(connection: &Connection, statement: &Statement) -> Result<Vec<Row>> {
    let rows = run(connection, statement).map(|(_, rows)| rows);
    rows.map_err(|error| classify_error(error, connection.path().unwrap_or_default()))
}

fn run(connection: &Connection, statement: &Statement) -> Result<(usize, Vec<Row>)> {
    let mut prepared = connection.prepare_cached(statement.sql)?;
    let positions = parameter_positions(&prepared)?;
    execute(&mut prepared, &positions, statement)
}

/// Returns the position in a [`Statement`] of each parameter of a prepared statement. SQLite treats
/// `$2` as a name and numbers parameters in order of appearance; PostgreSQL treats it as the second
/// value.
fn parameter_positions(prepared: &rusqlite::Statement<'_>) -> Result<Vec<usize>> {
    let positions = (1..=prepared.parameter_count()).map(|index| {
        let number: usize = prepared.parameter_name(index)?.strip_prefix('$')?.parse().ok()?;
        number.checked_sub(1)
    });
    positions.collect::<Option<_>>().context("a parameter of a statement has no number")
}

fn execute(
    prepared: &mut rusqlite::Statement<'_>,
    positions: &[usize],
    statement: &Statement,
) -> Result<(usize, Vec<Row>)> {
    for (index, position) in positions.iter().enumerate() {
        let value = statement.params.get(*position);
        let value = value.with_context(|| format!("a parameter of this statement has no value: {}", statement.sql))?;
        prepared.raw_bind_parameter(index + 1, value)?;
    }
    let columns = prepared.column_count();
    if columns == 0 {
        return Ok((prepared.raw_execute()?, Vec::new()));
    }
    let mut found = prepared.raw_query();
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        rows.push(Row((0..columns).map(|column| value(row.get_ref(column)?)).collect::<Result<_>>()?));
    }
    Ok((rows.len(), rows))
}

fn value(column: ValueRef<'_>) -> Result<Value> {
    Ok(match column {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(int) => Value::Int(int),
        ValueRef::Text(text) => Value::Text(std::str::from_utf8(text)?.to_owned()),
        ValueRef::Blob(blob) => Value::Blob(blob.to_vec()),
        ValueRef::Real(_) => return Err(anyhow!("unsupported column type: floating point")),
    })
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(int) => ValueRef::Integer(*int),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(blob) => ValueRef::Blob(blob),
        }))
    }
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sqlite")
    }
}
