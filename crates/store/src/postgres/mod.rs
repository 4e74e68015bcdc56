//! The PostgreSQL engine, which runs statements over a few connections on a separate thread.
//!
//! Writes are serializable, as with SQLite, and a write that conflicts with another is retried. This is possible
//! because a write is a value. A `WHERE` that prevents a race with SQLite also prevents it here. Waiting writes are
//! committed together. A read is a single statement, and sees a snapshot. A claim is a single statement too, and skips
//! rows that another server has locked.

mod address;
mod connection;
mod group;
mod listener;
mod not_ready;
mod value;

use std::fmt;
use std::sync::Arc;

use anyhow::{Context, Error, Result};
use tokio::sync::{Mutex, broadcast, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::changes::{self, ChangeFeed, StoreChange};
use crate::migrate::{self, Migrated, Migration};
use crate::row::Row;
use crate::statement::{ReplySender, Statement, Unavailable, WriteOutcome};
use address::PostgresAddress;
use connection::{Connection, classify_error};
use listener::{ConnectionHealth, wait_until_lost};
use not_ready::mark_not_ready;

pub use address::{is_postgres, is_postgres_url};
pub use not_ready::DatabaseNotReady;

/// Number of connections for reads. Three more connections are for small writes, which are
/// committed together; for large writes, which must not delay small writes; and for notifications.
const READERS: usize = 6;
const READ_SETTINGS: &str = "SET default_transaction_isolation = 'read committed'";
const WRITE_SETTINGS: &str = "SET default_transaction_isolation = 'serializable'";
/// Maximum number of requests that are queued for a connection. Later requests wait for space in
/// the queue.
const QUEUE_CAPACITY: usize = 1024;
/// Maximum number of reads that a connection runs at the same time.
const MAX_READ_BATCH: usize = 8;
/// Maximum number of statements that are committed together.
const MAX_WRITE_BATCH: usize = 128;

type Read = (Statement, ReplySender<Vec<Row>>);
type Write = (Vec<Statement>, ReplySender<WriteOutcome>);

/// A handle of the connections. They are closed when the last handle is dropped or the store is
/// closed.
#[derive(Clone)]
pub(super) struct Postgres {
    queues: Arc<std::sync::Mutex<Option<Queues>>>,
    thread: Arc<Mutex<Option<std::thread::JoinHandle<()>>>>,
    changes: broadcast::Sender<StoreChange>,
    health: ConnectionHealth,
}

#[derive(Clone)]
struct Queues {
    reads: mpsc::Sender<Read>,
    writes: mpsc::Sender<Write>,
    large: mpsc::Sender<Write>,
}

/// The receivers of the queues, and the senders of changes, for the thread of the connections.
struct Work {
    address: PostgresAddress,
    migrations: &'static [Migration],
    reads: mpsc::Receiver<Read>,
    writes: mpsc::Receiver<Write>,
    large: mpsc::Receiver<Write>,
    changes: broadcast::Sender<StoreChange>,
    state: watch::Sender<Option<Instant>>,
}

impl Postgres {
    /// Connects to the server and runs the migrations.
    ///
    /// # Errors
    /// Returns an error with [`DatabaseNotReady`] among its causes if a later attempt may succeed.
    pub(super) fn open(url: &str, migrations: &'static [Migration]) -> Result<Self> {
        let address = PostgresAddress::parse(url, migrations)?;
        let is_exposed = address.is_exposed();
        let (to_reads, reads) = mpsc::channel(QUEUE_CAPACITY);
        let (to_writes, writes) = mpsc::channel(QUEUE_CAPACITY);
        let (to_large, large) = mpsc::channel(QUEUE_CAPACITY);
        let (changes, _) = broadcast::channel(changes::FEED_CAPACITY);
        let (state, health) = watch::channel(Some(Instant::now()));
        let work = Work { address, migrations, reads, writes, large, changes: changes.clone(), state };
        let (report, opened) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new().name("store-postgres".to_owned()).spawn(move || {
            match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime.block_on(serve(work, &report)),
                Err(error) => drop(report.send(Err(error.into()))),
            }
        })?;
        opened.recv().context("the database's thread ended")??;
        if is_exposed {
            tracing::warn!("the connection to the database is not encrypted: add sslmode=verify-full to its URL");
        }
        let queues = Queues { reads: to_reads, writes: to_writes, large: to_large };
        let queues = Arc::new(std::sync::Mutex::new(Some(queues)));
        Ok(Self { queues, thread: Arc::new(Mutex::new(Some(thread))), changes, health })
    }

    pub(super) async fn read(&self, statement: Statement) -> Result<Vec<Row>> {
        let (reply, rows) = oneshot::channel();
        self.queues()?.reads.send((statement, reply)).await.map_err(|_| closed())?;
        rows.await.map_err(|_| closed())?
    }

    pub(super) async fn write(&self, statements: Vec<Statement>) -> Result<WriteOutcome> {
        let (reply, written) = oneshot::channel();
        let Queues { writes, large, .. } = self.queues()?;
        let queue = if statements.len() > MAX_WRITE_BATCH { large } else { writes };
        queue.send((statements, reply)).await.map_err(|_| closed())?;
        written.await.map_err(|_| closed())?
    }

    /// Returns a feed of the changes from now on.
    pub(super) fn changes(&self) -> ChangeFeed {
        let rest = self.changes.subscribe();
        let is_connected = self.health.borrow().is_none();
        ChangeFeed { first: is_connected.then_some(StoreChange::Connected), rest }
    }

    fn queues(&self) -> Result<Queues> {
        self.queues.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone().ok_or_else(closed)
    }

    /// Waits until all queued requests are done, and closes the connections.
    pub(super) async fn close(&self) {
        drop(self.queues.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take());
        if let Some(thread) = self.thread.lock().await.take() {
            drop(tokio::task::spawn_blocking(move || drop(thread.join())).await);
        }
    }
}

/// Runs the migrations of a database.
pub(super) async fn migrate(url: &str, migrations: &[Migration], contract: bool) -> Result<Migrated> {
    let mut client = connect_to_migrate(&PostgresAddress::parse(url, migrations)?).await?;
    migrate::run_postgres(&mut client, migrations, contract).await
}

/// Opens a connection without a statement timeout, because a migration may take longer than a
/// request.
async fn connect_to_migrate(address: &PostgresAddress) -> Result<tokio_postgres::Client> {
    let connected = address.connect("SET statement_timeout = 0").await;
    connected.map_err(mark_not_ready).context("cannot connect to the database")
}

fn closed() -> Error {
    Unavailable("it is closed".to_owned()).into()
}

fn not_responding() -> Error {
    Unavailable("the database does not respond".to_owned()).into()
}

/// Runs the migrations, sends their result to `report`, and processes the queues.
async fn serve(work: Work, report: &std::sync::mpsc::Sender<Result<()>>) {
    let Work { address, migrations, reads, writes, large, changes, state } = work;
    let opened = open_and_migrate(&address, migrations).await;
    let failed = opened.is_err();
    // The duration of a migration must not count as loss of the connection.
    state.send_replace(Some(Instant::now()));
    let health = state.subscribe();
    tokio::spawn(listener::run(address.clone(), changes, state));
    drop(report.send(opened));
    if failed {
        return;
    }
    let mut queues = JoinSet::new();
    queues.spawn(read(address.clone(), reads, health.clone()));
    for writes in [writes, large] {
        queues.spawn(write(address.clone(), writes, health.clone()));
    }
    while queues.join_next().await.is_some() {}
}

async fn open_and_migrate(address: &PostgresAddress, migrations: &[Migration]) -> Result<()> {
    let mut client = connect_to_migrate(address).await?;
    // A standby server accepts connections, but not the creation of tables.
    migrate::run_postgres(&mut client, migrations, false).await.map_err(mark_not_ready)?.log();
    Ok(())
}

/// Processes the queue of reads in batches. Prefers the idle connection that was used last, so that
/// a server with few requests opens few connections and prepares its statements only on these.
async fn read(address: PostgresAddress, mut jobs: mpsc::Receiver<Read>, health: ConnectionHealth) {
    let mut idle: Vec<Option<Connection>> = (0..READERS).map(|_| None).collect();
    let mut busy = JoinSet::new();
    loop {
        tokio::select! {
            Some(ended) = busy.join_next() => idle.push(ended.unwrap_or_default()),
            batch = receive_batch(&mut jobs, MAX_READ_BATCH, |_| 1), if !idle.is_empty() => {
                let Some((statements, replies)) = batch else { break };
                let held = idle.pop().flatten();
                busy.spawn(run_read_batch(held, address.clone(), statements, replies, health.clone()));
            }
        }
    }
    while busy.join_next().await.is_some() {}
}

/// Runs a batch of reads and sends the replies. Returns the connection if it can be reused.
async fn run_read_batch(
    mut held: Option<Connection>,
    address: PostgresAddress,
    statements: Vec<Statement>,
    replies: Vec<ReplySender<Vec<Row>>>,
    mut health: ConnectionHealth,
) -> Option<Connection> {
    let rows = tokio::select! {
        biased;
        rows = read_with_retry(&mut held, &address, &statements) => rows,
        () = wait_until_lost(&mut health) => Err(not_responding()),
    };
    // Do not reuse a connection that may still be running a statement.
    let held = held.filter(|_| rows.is_ok());
    send_replies(replies, rows);
    held
}

/// Runs reads, and retries them once if the server closed the connection since its last use.
async fn read_with_retry(
    held: &mut Option<Connection>,
    address: &PostgresAddress,
    statements: &[Statement],
) -> Result<Vec<Result<Vec<Row>>>> {
    let mut rows = connected(held, address, READ_SETTINGS).await?.read_all(statements).await;
    if held.as_ref().is_none_or(|held| held.client.is_closed()) {
        let failed: Vec<usize> = (0..statements.len()).filter(|index| rows[*index].is_err()).collect();
        let to_retry: Vec<Statement> = failed.iter().map(|index| statements[*index].clone()).collect();
        let answers = connected(held, address, READ_SETTINGS).await?.read_all(&to_retry).await;
        for (index, answer) in failed.into_iter().zip(answers) {
            rows[index] = answer;
        }
    }
    Ok(rows)
}

/// Processes a queue of writes, and commits waiting writes together.
async fn write(address: PostgresAddress, mut jobs: mpsc::Receiver<Write>, mut health: ConnectionHealth) {
    let mut held = None;
    loop {
        let Some((writes, replies)) = receive_batch(&mut jobs, MAX_WRITE_BATCH, Vec::len).await else { return };
        let written = tokio::select! {
            biased;
            written = async { anyhow::Ok(connected(&mut held, &address, WRITE_SETTINGS).await?.write_all(&writes).await) } => {
                written
            }
            () = wait_until_lost(&mut health) => Err(not_responding()),
        };
        // Do not reuse a connection that may still be running a commit.
        held = held.filter(|_| written.is_ok());
        send_replies(replies, written);
    }
}

/// Receives the next job, and further queued jobs up to a total size of `max`. Returns `None` if
/// the queue is closed.
async fn receive_batch<J, A>(
    jobs: &mut mpsc::Receiver<(J, ReplySender<A>)>,
    max: usize,
    size: impl Fn(&J) -> usize,
) -> Option<(Vec<J>, Vec<ReplySender<A>>)> {
    let (first, reply) = jobs.recv().await?;
    let mut taken = size(&first);
    let mut batch = vec![first];
    let mut replies = vec![reply];
    while taken < max {
        let Ok((job, reply)) = jobs.try_recv() else { break };
        taken += size(&job);
        batch.push(job);
        replies.push(reply);
    }
    Some((batch, replies))
}

fn send_replies<A>(replies: Vec<ReplySender<A>>, answers: Result<Vec<Result<A>>>) {
    match answers {
        Ok(answers) => {
            for (reply, answer) in replies.into_iter().zip(answers) {
                drop(reply.send(answer.map_err(classify_error)));
            }
        }
        Err(_) => {
            for reply in replies {
                drop(reply.send(Err(not_responding())));
            }
        }
    }
}

/// Returns the current connection, or opens a new connection if it is closed.
async fn connected<'a>(
    held: &'a mut Option<Connection>,
    address: &PostgresAddress,
    setting: &str,
) -> Result<&'a mut Connection> {
    let usable = held.take().filter(|connection| !connection.client.is_closed());
    let connection = match usable {
        Some(connection) => connection,
        None => Connection::new(address.connect(setting).await.map_err(|_| not_responding())?),
    };
    Ok(held.insert(connection))
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Postgres")
    }
}
