//! SQLite: one thread writes, others read. Writes that wait together are committed together.

mod log_keeper;
mod near;
mod opening;
mod table_watch;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Error, Result, anyhow};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, Statement};
use tokio::sync::{Mutex, mpsc, oneshot};

use self::log_keeper::LogKeeper;
use self::near::{FileChanges, NearConnections};
use self::opening::{IfMissing, open_first};
use self::table_watch::TableWatch;
use self::writer::WriterSurroundings;
use crate::file::{DatabaseFile, find_refusal};
use crate::file_state::FileState;
use crate::migrate::{self, Migrated, Migration};
use crate::row::{Row, Value};
use crate::schema::Schema;
use crate::step::{ReplySender, Step, Unavailable, WriteOutcome};
use crate::watched::{WatchedClock, WatchedVersion};

/// How many requests may wait for the writer, and for each reader; later ones wait for a place.
const WAITING: usize = 1024;
/// How many threads read. Each holds a connection and its own cache of statements.
const READERS: usize = 2;
/// How many connections wait for requests that look a row up themselves.
const NEAR: usize = 4;
/// How much of the file the writer keeps in memory, and each of the other connections: what these read is in the system's
/// cache, and a walk through the catalogue would leave all of theirs full.
const WRITER_CACHE_KIB: i64 = 16 * 1024;
const READER_CACHE_KIB: i64 = 2 * 1024;

enum Job {
    Read(Step, ReplySender<Vec<Row>>),
    Write(Vec<Step>, ReplySender<WriteOutcome>),
    Close,
}

/// The queues to the threads. The threads end when the last handle is gone.
#[derive(Clone)]
pub(super) struct Sqlite {
    writer: mpsc::Sender<Job>,
    /// The writer's own queue where the database is in memory: no other connection can see that one.
    reader: mpsc::Sender<Job>,
    near: Arc<NearConnections>,
    threads: Arc<Mutex<Vec<thread::JoinHandle<()>>>>,
    /// None where the database is in memory.
    file: Option<DatabaseFile>,
    watched: WatchedClock,
}

pub(super) use self::opening::{find_owner, has_database, is_refused, unopened};

/// Brings the tables of a file up to date, and says what that did.
pub(super) fn migrate(file: &str, migrations: &[Migration]) -> Result<Migrated> {
    migrate::run(&mut open_first(file, IfMissing::Refuse)?, migrations).map_err(|error| unopened(error, file))
}

impl Sqlite {
    /// Opens a file, which is created if there is none.
    pub(super) fn open(file: &str, schema: &'static Schema) -> Result<Self> {
        Self::over(open_first(file, IfMissing::Create)?, file, schema)
    }

    /// Opens a file that is a database of this program already.
    pub(super) fn open_existing(file: &str, schema: &'static Schema) -> Result<Self> {
        Self::over(open_first(file, IfMissing::Refuse)?, file, schema)
    }

    fn over(mut connection: Connection, file: &str, schema: &'static Schema) -> Result<Self> {
        migrate::run(&mut connection, schema.migrations).map_err(|error| unopened(error, file))?.log();
        keep_pages(&connection, WRITER_CACHE_KIB)?;
        let connect = || {
            let connection = opening::connect(file)?;
            keep_pages(&connection, READER_CACHE_KIB)?;
            anyhow::Ok(connection)
        };
        let (writer, jobs) = mpsc::channel(WAITING);
        let watched = WatchedClock::default();
        let watch = TableWatch::on(&mut connection, schema.watched, watched.clone())?;
        let mut log = None;
        if file != ":memory:" {
            // The log is kept short beside the commits.
            connection.pragma_update(None, "wal_autocheckpoint", 0)?;
            log = Some(LogKeeper::start(connect()?)?);
        }
        let changes = FileChanges::default();
        let around = WriterSurroundings { watch, changes: changes.clone(), log };
        let mut threads = vec![spawn("store-writer", move || writer::run(&connection, around, jobs))?];
        let mut near = Vec::new();
        let reader = if file == ":memory:" {
            writer.clone()
        } else {
            for _ in 0..NEAR {
                near.push(connect()?);
            }
            let (reader, jobs) = mpsc::channel(WAITING);
            let jobs = Arc::new(Mutex::new(jobs));
            for _ in 0..READERS {
                let (connection, jobs) = (connect()?, Arc::clone(&jobs));
                threads.push(spawn("store-reader", move || read_loop(&connection, &jobs))?);
            }
            reader
        };
        let file = (file != ":memory:").then(|| DatabaseFile::opened(Path::new(file)));
        let near = Arc::new(NearConnections::new(near, changes));
        Ok(Self { writer, reader, near, threads: Arc::new(Mutex::new(threads)), file, watched })
    }

    /// Whether the file is where it was opened and has room.
    pub(super) fn check_file(&self) -> Result<(), String> {
        self.file.as_ref().map_or(Ok(()), |file| file.check().map_err(str::to_owned))
    }

    pub(super) fn watched_version(&self) -> WatchedVersion {
        self.watched.now()
    }

    /// Reads at once, on this thread; `None` where no connection is free, or the database is closed.
    pub(super) fn read_by_index(&self, step: &Step) -> Option<Result<Vec<Row>>> {
        if self.writer.is_closed() { None } else { self.near.read(step) }
    }

    /// The state that the file is in; `None` where it is in memory, closed, or nobody is free to say.
    pub(super) fn file_state(&self) -> Option<FileState> {
        if self.writer.is_closed() { None } else { self.near.file_state() }
    }

    pub(super) async fn read(&self, step: Step) -> Result<Vec<Row>> {
        let (reply, rows) = oneshot::channel();
        self.reader.send(Job::Read(step, reply)).await.map_err(|_| closed())?;
        rows.await.map_err(|_| closed())?
    }

    pub(super) async fn write(&self, steps: Vec<Step>) -> Result<WriteOutcome> {
        let (reply, written) = oneshot::channel();
        self.writer.send(Job::Write(steps, reply)).await.map_err(|_| closed())?;
        written.await.map_err(|_| closed())?
    }

    /// Waits until what was queued is on disk and the files are closed.
    pub(super) async fn close(&self) {
        let Self { writer, reader, threads, .. } = self;
        let mut threads: Vec<_> = threads.lock().await.drain(..).collect();
        // Only the last connection moves the log into the database, so the writer's is closed when all others are.
        let readers = threads.split_off(threads.len().min(1));
        for _ in &readers {
            // A queue that is closed already needs no sign to end.
            drop(reader.send(Job::Close).await);
        }
        join(readers).await;
        self.near.close();
        drop(writer.send(Job::Close).await);
        join(threads).await;
    }
}

async fn join(threads: Vec<thread::JoinHandle<()>>) {
    let wait = || threads.into_iter().for_each(|thread| drop(thread.join()));
    drop(tokio::task::spawn_blocking(wait).await);
}

fn closed() -> Error {
    Unavailable("it is closed".to_owned()).into()
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<thread::JoinHandle<()>> {
    Ok(thread::Builder::new().name(name.to_owned()).spawn(run)?)
}

/// How much of the file a connection keeps in memory.
fn keep_pages(connection: &Connection, kib: i64) -> Result<()> {
    Ok(connection.pragma_update(None, "cache_size", -kib)?)
}

fn read_loop(connection: &Connection, jobs: &Mutex<mpsc::Receiver<Job>>) {
    // The lock is held while waiting for a job, not while doing it.
    let next = || jobs.blocking_lock().blocking_recv();
    while let Some(Job::Read(step, reply)) = next() {
        drop(reply.send(rows(connection, &step)));
    }
}

/// Tells the faults of the machine, which pass, from the faults of the program, and those of the file from both.
fn named(error: Error, file: &str) -> Error {
    let code = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
    match code {
        Some(ErrorCode::DiskFull) => Unavailable("the disk is full".to_owned()).into(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Unavailable("it is locked".to_owned()).into(),
        code if is_refused(code) => {
            let reason = find_refusal(Path::new(file)).unwrap_or_else(|| "disk error".to_owned());
            Unavailable(format!("{reason}: {error}")).into()
        }
        _ if is_broken(error.downcast_ref()) => error.context(broken(file)),
        _ => error,
    }
}

/// Whether a file is no database, or not all of one.
pub(super) fn is_broken(error: Option<&rusqlite::Error>) -> bool {
    let code = error.and_then(rusqlite::Error::sqlite_error_code);
    matches!(code, Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

/// What is said of such a file, whoever opened it.
pub(super) fn broken(file: &str) -> String {
    format!("the database {file} is corrupt: restore a backup, or choose another database")
}

fn rows(connection: &Connection, step: &Step) -> Result<Vec<Row>> {
    let rows = run(connection, step).map(|(_, rows)| rows);
    rows.map_err(|error| named(error, connection.path().unwrap_or_default()))
}

fn run(connection: &Connection, step: &Step) -> Result<(usize, Vec<Row>)> {
    let mut statement = connection.prepare_cached(step.sql)?;
    let places = places(&statement)?;
    execute(&mut statement, &places, step)
}

/// Where among a step's values those of a statement are: `$2` is a name to SQLite, which numbers parameters as they
/// appear; elsewhere it is the second.
fn places(statement: &Statement<'_>) -> Result<Vec<usize>> {
    let place = |index| {
        let number = statement.parameter_name(index).and_then(|name| name.strip_prefix('$')?.parse::<usize>().ok());
        number.and_then(|number| number.checked_sub(1)).context("a parameter of a statement has no number")
    };
    (1..=statement.parameter_count()).map(place).collect()
}

fn execute(statement: &mut Statement<'_>, places: &[usize], step: &Step) -> Result<(usize, Vec<Row>)> {
    for (at, place) in places.iter().enumerate() {
        let value = step.params.get(*place);
        let value = value.with_context(|| format!("a parameter of this statement has no value: {}", step.sql))?;
        statement.raw_bind_parameter(at + 1, value)?;
    }
    let columns = statement.column_count();
    if columns == 0 {
        return Ok((statement.raw_execute()?, Vec::new()));
    }
    let mut found = statement.raw_query();
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
