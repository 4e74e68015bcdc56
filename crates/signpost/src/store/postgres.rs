//! PostgreSQL, for more than one machine: a few connections on a thread of their own, each doing one request at a time.
//!
//! Every transaction is serializable, as SQLite's are: a write that lost to another is run again as it was given, which
//! is why a write is a value. So the races that a `WHERE` settles there are settled here too.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::mpsc as told;
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use bytes::BytesMut;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, NoTls, Statement};

use super::{Row, Step, Unavailable, Value, Written, migrate};

/// How many connections a process has.
const CONNECTIONS: usize = 8;
/// How many requests may wait for one; later ones wait for a place.
const WAITING: usize = 1024;
/// How often a write that lost to another is run again.
const ATTEMPTS: u32 = 20;
/// How long a connection may take to stand, and a request to be answered.
const CONNECT: Duration = Duration::from_secs(5);
const STATEMENT: &str = "SET statement_timeout = '20s'; SET idle_in_transaction_session_timeout = '20s';
                         SET default_transaction_isolation = 'serializable'";

type Reply<T> = oneshot::Sender<Result<T>>;

enum Job {
    Read(Step, Reply<Vec<Row>>),
    Write(Vec<Step>, Reply<Written>),
}

/// The queue to the connections. They end when the last handle is gone or the store is closed.
#[derive(Clone)]
pub(super) struct Postgres {
    jobs: Arc<Mutex<Option<mpsc::Sender<Job>>>>,
    thread: Arc<Mutex<Option<std::thread::JoinHandle<()>>>>,
}

impl Postgres {
    /// Connects, and brings the tables up to date.
    pub(super) fn open(url: &str) -> Result<Self> {
        let mut config = Config::from_str(url).context("the database's address cannot be read")?;
        if config.get_ssl_mode() == SslMode::Require {
            bail!("sslmode=require is not possible yet: use a socket, or a network of your own");
        }
        config.connect_timeout(CONNECT).ssl_mode(SslMode::Disable);
        if config.get_application_name().is_none() {
            config.application_name("signpost");
        }
        let (jobs, waiting) = mpsc::channel(WAITING);
        let (ready, opened) = told::channel();
        let run = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let done = runtime.map_err(Error::from).map(|runtime| runtime.block_on(serve(config, waiting, &ready)));
            if let Err(error) = done {
                drop(ready.send(Err(error)));
            }
        };
        let thread = std::thread::Builder::new().name("store-postgres".to_owned()).spawn(run)?;
        opened.recv().context("the database's thread ended")??;
        Ok(Self { jobs: Arc::new(Mutex::new(Some(jobs))), thread: Arc::new(Mutex::new(Some(thread))) })
    }

    pub(super) async fn read(&self, step: Step) -> Result<Vec<Row>> {
        let (reply, rows) = oneshot::channel();
        self.send(Job::Read(step, reply)).await?;
        rows.await.map_err(|_| closed())?
    }

    pub(super) async fn write(&self, steps: Vec<Step>) -> Result<Written> {
        let (reply, written) = oneshot::channel();
        self.send(Job::Write(steps, reply)).await?;
        written.await.map_err(|_| closed())?
    }

    async fn send(&self, job: Job) -> Result<()> {
        let jobs = self.jobs.lock().await.clone().ok_or_else(closed)?;
        jobs.send(job).await.map_err(|_| closed())
    }

    /// Waits until what was queued is done.
    pub(super) async fn close(&self) {
        drop(self.jobs.lock().await.take());
        if let Some(thread) = self.thread.lock().await.take() {
            drop(tokio::task::spawn_blocking(move || drop(thread.join())).await);
        }
    }
}

fn closed() -> Error {
    Unavailable("it is closed".to_owned()).into()
}

/// Opens the connections and lets each take what waits.
async fn serve(config: Config, jobs: mpsc::Receiver<Job>, ready: &told::Sender<Result<()>>) {
    let opened = async {
        let (mut client, _) = connect(&config).await.context("cannot connect to the database")?;
        migrate::run_on(&mut client).await
    };
    let opened = opened.await;
    let failed = opened.is_err();
    drop(ready.send(opened));
    if failed {
        return;
    }
    let (config, jobs, mut connections) = (Arc::new(config), Arc::new(Mutex::new(jobs)), JoinSet::new());
    for _ in 0..CONNECTIONS {
        connections.spawn(work(Arc::clone(&config), Arc::clone(&jobs)));
    }
    while connections.join_next().await.is_some() {}
}

/// A connection and the statements it has prepared.
struct Connection {
    client: Client,
    prepared: HashMap<&'static str, Statement>,
}

async fn connect(config: &Config) -> Result<(Client, tokio::task::JoinHandle<()>)> {
    let (client, connection) = config.connect(NoTls).await?;
    let running = tokio::spawn(async move { drop(connection.await) });
    client.batch_execute(STATEMENT).await?;
    Ok((client, running))
}

/// Does what waits, one after the other; connects anew where the connection is gone.
async fn work(config: Arc<Config>, jobs: Arc<Mutex<mpsc::Receiver<Job>>>) {
    let mut held: Option<Connection> = None;
    loop {
        let Some(job) = jobs.lock().await.recv().await else { return };
        match job {
            Job::Read(step, reply) => {
                let mut rows = read(&mut held, &config, &step).await;
                // A connection may have been cut since it was used last; what only reads is asked for once more.
                if rows.is_err() && held.as_ref().is_none_or(|connection| connection.client.is_closed()) {
                    rows = read(&mut held, &config, &step).await;
                }
                drop(reply.send(rows.map_err(named)));
            }
            Job::Write(steps, reply) => {
                let written = match connected(&mut held, &config).await {
                    Some(connection) => connection.write(&steps).await.map_err(named),
                    None => Err(away()),
                };
                drop(reply.send(written));
            }
        }
    }
}

async fn read(held: &mut Option<Connection>, config: &Config, step: &Step) -> Result<Vec<Row>> {
    match connected(held, config).await {
        Some(connection) => connection.read(step).await,
        None => Err(away()),
    }
}

/// The connection, made anew where it is gone; none where the database does not answer.
async fn connected<'a>(held: &'a mut Option<Connection>, config: &Config) -> Option<&'a mut Connection> {
    if held.as_ref().is_none_or(|connection| connection.client.is_closed()) {
        let made = tokio::time::timeout(CONNECT, connect(config)).await;
        *held = made.ok().and_then(Result::ok).map(|(client, _)| Connection { client, prepared: HashMap::new() });
    }
    held.as_mut()
}

fn away() -> Error {
    Unavailable("the database does not answer".to_owned()).into()
}

impl Connection {
    async fn read(&mut self, step: &Step) -> Result<Vec<Row>> {
        for attempt in 0..ATTEMPTS {
            match self.run(step).await {
                Err(error) if is_conflict(&error) => pause(attempt).await,
                done => return done.map(|(_, rows)| rows),
            }
        }
        bail!(Unavailable("too many write at once".to_owned()))
    }

    async fn write(&mut self, steps: &[Step]) -> Result<Written> {
        for attempt in 0..ATTEMPTS {
            match self.together(steps).await {
                Err(error) if is_conflict(&error) => pause(attempt).await,
                done => return done,
            }
        }
        bail!(Unavailable("too many write at once".to_owned()))
    }

    /// All steps or none.
    async fn together(&mut self, steps: &[Step]) -> Result<Written> {
        // One statement alone is whole or nothing by itself.
        if let [step] = steps {
            let (changed, rows) = self.run(step).await?;
            return Ok(written(0, step, changed, rows));
        }
        self.client.batch_execute("BEGIN").await?;
        let mut last = Written::Committed(Vec::new());
        for (position, step) in steps.iter().enumerate() {
            match self.run(step).await {
                Ok((changed, rows)) => last = written(position, step, changed, rows),
                Err(error) => {
                    self.client.batch_execute("ROLLBACK").await?;
                    return Err(error);
                }
            }
            if !last.is_committed() {
                self.client.batch_execute("ROLLBACK").await?;
                return Ok(last);
            }
        }
        self.client.batch_execute("COMMIT").await?;
        Ok(last)
    }

    async fn run(&mut self, step: &Step) -> Result<(u64, Vec<Row>)> {
        let statement = if let Some(statement) = self.prepared.get(step.sql) {
            statement.clone()
        } else {
            let made = self.client.prepare(step.sql).await.with_context(|| step.sql)?;
            self.prepared.insert(step.sql, made.clone());
            made
        };
        // A statement may use fewer values than the step has.
        let params: Vec<&(dyn ToSql + Sync)> =
            step.params.iter().take(statement.params().len()).map(|value| value as &(dyn ToSql + Sync)).collect();
        if statement.columns().is_empty() {
            return Ok((self.client.execute(&statement, &params).await?, Vec::new()));
        }
        let found = self.client.query(&statement, &params).await?;
        let rows = found.iter().map(row).collect::<Result<Vec<_>>>()?;
        Ok((u64::try_from(rows.len())?, rows))
    }
}

fn written(position: usize, step: &Step, changed: u64, rows: Vec<Row>) -> Written {
    if step.must && changed == 0 { Written::Refused(position) } else { Written::Committed(rows) }
}

/// A little longer each time, and not in step with the others.
async fn pause(attempt: u32) {
    let spread = u64::from(u32::from_be_bytes(crate::id::random()) % 1000);
    tokio::time::sleep(Duration::from_micros(200 * u64::from(attempt) + spread)).await;
}

fn row(row: &tokio_postgres::Row) -> Result<Row> {
    let value = |(at, column): (usize, &tokio_postgres::Column)| {
        Ok(match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(at)?.map_or(Value::Null, Value::Int),
            Type::INT4 => row.try_get::<_, Option<i32>>(at)?.map_or(Value::Null, |int| Value::Int(int.into())),
            Type::TEXT | Type::VARCHAR => row.try_get::<_, Option<String>>(at)?.map_or(Value::Null, Value::Text),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(at)?.map_or(Value::Null, Value::Blob),
            ref other => bail!("no table of ours holds {other}"),
        })
    };
    Ok(Row(row.columns().iter().enumerate().map(value).collect::<Result<_>>()?))
}

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(int) if *ty == Type::INT4 => i32::try_from(*int)?.to_sql(ty, out),
            Self::Int(int) => int.to_sql(&Type::INT8, out),
            Self::Text(text) => text.to_sql(ty, out),
            Self::Blob(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn state(error: &Error) -> Option<&SqlState> {
    error.chain().find_map(|cause| cause.downcast_ref::<tokio_postgres::Error>()).and_then(tokio_postgres::Error::code)
}

/// Whether another transaction was first, so that the same once more may succeed.
fn is_conflict(error: &Error) -> bool {
    let conflicts = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
    state(error).is_some_and(|state| conflicts.contains(state))
}

/// Tells the faults of the machine, which pass, from the faults of the program.
fn named(error: Error) -> Error {
    let failed = error.chain().find_map(|cause| cause.downcast_ref::<tokio_postgres::Error>());
    let Some(failed) = failed else { return error };
    let passes = failed.code().is_none_or(|state| {
        // Connection lost, out of resources, stopped by its operator, a fault of its system.
        ["08", "53", "57", "58"].iter().any(|class| state.code().starts_with(class))
    });
    if passes { Unavailable(format!("{failed}")).into() } else { anyhow!("{error:#}: {failed:?}") }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Postgres")
    }
}
