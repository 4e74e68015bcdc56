//! PostgreSQL, for more than one machine: a few connections on a thread of their own.
//!
//! Every write is serializable, as SQLite's are, and one that lost to another is run again as it was given, which is why
//! a write is a value: so the races that a `WHERE` settles there are settled here too. What waits together is committed
//! together, as there. A read is one statement, which sees one moment anyway; so is a claim, which passes over what
//! another takes.

mod address;
mod connection;
mod group;
mod not_ready;
mod pulse;
mod value;

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc as told;

use anyhow::{Context, Error, Result};
use tokio::sync::{Mutex, broadcast, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::changes::{self, ChangeFeed, StoreChange};
use crate::migrate::{self, Migrated, Migration};
use crate::row::Row;
use crate::step::{ReplySender, Step, Unavailable, WriteOutcome};
use address::PostgresAddress;
use connection::{Connection, named};
use not_ready::mark_not_ready;
use pulse::{Pulse, gone};

pub use address::{is_postgres, is_postgres_url};
pub use not_ready::DatabaseNotReady;

/// How many connections a process reads with. One more writes, for the more a commit holds the better; another does the
/// writes that are so large that nobody should wait for them; and one listens.
const READERS: usize = 6;
const READS: &str = "SET default_transaction_isolation = 'read committed'";
const WRITES: &str = "SET default_transaction_isolation = 'serializable'";
/// How many requests may wait for a connection; later ones wait for a place.
const WAITING: usize = 1024;
/// How many reads one connection takes at once, and how many steps of writes are committed together.
const READ_AT_ONCE: usize = 8;
const WRITE_AT_ONCE: usize = 128;

type Read = (Step, ReplySender<Vec<Row>>);
type Write = (Vec<Step>, ReplySender<WriteOutcome>);

/// The queues to the connections. They end when the last handle is gone or the store is closed.
#[derive(Clone)]
pub(super) struct Postgres {
    queues: Arc<std::sync::Mutex<Option<Queues>>>,
    thread: Arc<Mutex<Option<std::thread::JoinHandle<()>>>>,
    changes: broadcast::Sender<StoreChange>,
    pulse: Pulse,
}

#[derive(Clone)]
struct Queues {
    reads: mpsc::Sender<Read>,
    writes: mpsc::Sender<Write>,
    large: mpsc::Sender<Write>,
}

/// The ends of the queues, and of what is told.
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
    /// Connects, and brings the tables up to date.
    ///
    /// # Errors
    /// [`DatabaseNotReady`] among the causes, if a later attempt may succeed.
    pub(super) fn open(url: &str, migrations: &'static [Migration]) -> Result<Self> {
        let address = PostgresAddress::parse(url, migrations)?;
        let is_exposed = address.is_exposed();
        let ((to_reads, reads), (to_writes, writes)) = (mpsc::channel(WAITING), mpsc::channel(WAITING));
        let (to_large, large) = mpsc::channel(WAITING);
        let (changes, _) = broadcast::channel(changes::WAITING);
        let (state, pulse) = watch::channel(Some(Instant::now()));
        let work = Work { address, migrations, reads, writes, large, changes: changes.clone(), state };
        let (told, opened) = told::channel();
        let run = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let done = runtime.map_err(Error::from).map(|runtime| runtime.block_on(serve(work, &told)));
            if let Err(error) = done {
                drop(told.send(Err(error)));
            }
        };
        let thread = std::thread::Builder::new().name("store-postgres".to_owned()).spawn(run)?;
        opened.recv().context("the database's thread ended")??;
        if is_exposed {
            tracing::warn!("the connection to the database is not encrypted: add sslmode=verify-full to its URL");
        }
        let queues = Queues { reads: to_reads, writes: to_writes, large: to_large };
        let (queues, thread) = (Arc::new(std::sync::Mutex::new(Some(queues))), Arc::new(Mutex::new(Some(thread))));
        Ok(Self { queues, thread, changes, pulse })
    }

    pub(super) async fn read(&self, step: Step) -> Result<Vec<Row>> {
        let (reply, rows) = oneshot::channel();
        self.queues()?.reads.send((step, reply)).await.map_err(|_| closed())?;
        rows.await.map_err(|_| closed())?
    }

    pub(super) async fn write(&self, steps: Vec<Step>) -> Result<WriteOutcome> {
        let (reply, written) = oneshot::channel();
        let Queues { writes, large, .. } = self.queues()?;
        let queue = if steps.len() > WRITE_AT_ONCE { large } else { writes };
        queue.send((steps, reply)).await.map_err(|_| closed())?;
        written.await.map_err(|_| closed())?
    }

    /// What changes from now on.
    pub(super) fn changes(&self) -> ChangeFeed {
        let rest = self.changes.subscribe();
        let is_heard = self.pulse.borrow().is_none();
        ChangeFeed { first: is_heard.then_some(StoreChange::Heard), rest }
    }

    fn queues(&self) -> Result<Queues> {
        self.queues.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone().ok_or_else(closed)
    }

    /// Waits until what was queued is done.
    pub(super) async fn close(&self) {
        drop(self.queues.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take());
        if let Some(thread) = self.thread.lock().await.take() {
            drop(tokio::task::spawn_blocking(move || drop(thread.join())).await);
        }
    }
}

/// Brings the tables up to date, and says what that did.
pub(super) async fn migrate(url: &str, migrations: &[Migration], contract: bool) -> Result<Migrated> {
    let mut client = connect_to_migrate(&PostgresAddress::parse(url, migrations)?).await?;
    migrate::run_on(&mut client, migrations, contract).await
}

/// A migration may take longer than a request.
async fn connect_to_migrate(address: &PostgresAddress) -> Result<tokio_postgres::Client> {
    let connected = address.connect("SET statement_timeout = 0").await;
    connected.map_err(mark_not_ready).context("cannot connect to the database")
}

fn closed() -> Error {
    Unavailable("it is closed".to_owned()).into()
}

fn away() -> Error {
    Unavailable("the database does not respond".to_owned()).into()
}

/// Opens the connections and lets each take what waits.
async fn serve(work: Work, told: &told::Sender<Result<()>>) {
    let Work { address, migrations, reads, writes, large, changes, state } = work;
    let opened = async {
        let mut client = connect_to_migrate(&address).await?;
        // A standby accepts connections, and no tables.
        let migrated = migrate::run_on(&mut client, migrations, false).await.map_err(mark_not_ready)?;
        migrated.log();
        anyhow::Ok(())
    };
    let opened = opened.await;
    let failed = opened.is_err();
    // A migration may have taken long: whoever asks now has not waited yet.
    state.send_replace(Some(Instant::now()));
    let pulse = state.subscribe();
    tokio::spawn(pulse::run(address.clone(), changes, state));
    drop(told.send(opened));
    if failed {
        return;
    }
    let mut queues = JoinSet::new();
    queues.spawn(read(address.clone(), reads, pulse.clone()));
    for writes in [writes, large] {
        queues.spawn(write(address.clone(), writes, pulse.clone()));
    }
    while queues.join_next().await.is_some() {}
}

/// Answers what waits, a few reads at a time, with the idle connection that was used last: a server with few requests opens
/// few connections, and prepares its statements on these alone.
async fn read(address: PostgresAddress, mut jobs: mpsc::Receiver<Read>, pulse: Pulse) {
    let mut idle: Vec<Option<Connection>> = (0..READERS).map(|_| None).collect();
    let mut busy = JoinSet::new();
    loop {
        tokio::select! {
            Some(ended) = busy.join_next() => idle.push(ended.unwrap_or_default()),
            batch = receive_batch(&mut jobs, READ_AT_ONCE, |_| 1), if !idle.is_empty() => {
                let Some((steps, replies)) = batch else { break };
                let held = idle.pop().flatten();
                busy.spawn(answer_reads(held, address.clone(), steps, replies, pulse.clone()));
            }
        }
    }
    while busy.join_next().await.is_some() {}
}

/// Answers these reads. Returns the connection if it can be used again.
async fn answer_reads(
    mut held: Option<Connection>,
    address: PostgresAddress,
    steps: Vec<Step>,
    replies: Vec<ReplySender<Vec<Row>>>,
    mut pulse: Pulse,
) -> Option<Connection> {
    let rows = tokio::select! {
        biased;
        rows = read_again(&mut held, &address, &steps) => rows,
        () = gone(&mut pulse) => Err(away()),
    };
    // What was under way when the database went is not waited for when it is back.
    let held = held.filter(|_| rows.is_ok());
    send_replies(replies, rows);
    held
}

/// A connection may have been cut since it was used last; what only reads is asked for once more.
async fn read_again(
    held: &mut Option<Connection>,
    address: &PostgresAddress,
    steps: &[Step],
) -> Result<Vec<Result<Vec<Row>>>> {
    let mut rows = connected(held, address, READS).await?.read_all(steps).await;
    if held.as_ref().is_none_or(|held| held.client.is_closed()) {
        let failed = |at: &usize| rows[*at].is_err();
        let failed: Vec<usize> = (0..steps.len()).filter(failed).collect();
        let again: Vec<Step> = failed.iter().map(|at| steps[*at].clone()).collect();
        let answers = connected(held, address, READS).await?.read_all(&again).await;
        for (at, answer) in failed.into_iter().zip(answers) {
            rows[at] = answer;
        }
    }
    Ok(rows)
}

/// Commits what waits, as much as there is.
async fn write(address: PostgresAddress, mut jobs: mpsc::Receiver<Write>, mut pulse: Pulse) {
    let mut held = None;
    loop {
        let Some((writes, replies)) = receive_batch(&mut jobs, WRITE_AT_ONCE, Vec::len).await else { return };
        let written = tokio::select! {
            biased;
            written = async { anyhow::Ok(connected(&mut held, &address, WRITES).await?.write_all(&writes).await) } => {
                written
            }
            () = gone(&mut pulse) => Err(away()),
        };
        // Neither is a connection used again on which a commit may be under way.
        held = held.filter(|_| written.is_ok());
        send_replies(replies, written);
    }
}

/// The next job and those behind it, as long as there are and they are small; none at the end.
async fn receive_batch<J, A>(
    jobs: &mut mpsc::Receiver<(J, ReplySender<A>)>,
    most: usize,
    size: impl Fn(&J) -> usize,
) -> Option<(Vec<J>, Vec<ReplySender<A>>)> {
    let (first, reply) = jobs.recv().await?;
    let mut taken = size(&first);
    let (mut all, mut replies) = (vec![first], vec![reply]);
    while taken < most {
        let Ok((job, reply)) = jobs.try_recv() else { break };
        taken += size(&job);
        all.push(job);
        replies.push(reply);
    }
    Some((all, replies))
}

fn send_replies<A>(replies: Vec<ReplySender<A>>, answers: Result<Vec<Result<A>>>) {
    match answers {
        Ok(answers) => {
            replies.into_iter().zip(answers).for_each(|(reply, answer)| drop(reply.send(answer.map_err(named))));
        }
        Err(_) => replies.into_iter().for_each(|reply| drop(reply.send(Err(away())))),
    }
}

/// The connection, made anew where it is gone.
async fn connected<'a>(
    held: &'a mut Option<Connection>,
    address: &PostgresAddress,
    setting: &str,
) -> Result<&'a mut Connection> {
    let usable = held.take().filter(|connection| !connection.client.is_closed());
    let connection = match usable {
        Some(connection) => connection,
        None => Connection::new(address.connect(setting).await.map_err(|_| away())?),
    };
    Ok(held.insert(connection))
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Postgres")
    }
}
