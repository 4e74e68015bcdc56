//! The one thread that writes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use anyhow::{Context, Error, Result, anyhow};
use rusqlite::{Connection, Statement};
use tokio::sync::mpsc;

use super::log_keeper::{COPY, LogCare, LogKeeper, LogLength, MEASURE};
use super::near::FileChanges;
use super::table_watch::{FILE_VERSION, TableWatch};
use super::{Job, closed, execute, named, places};
use crate::row::Row;
use crate::step::{ReplySender, Step, Unavailable, WriteOutcome};

/// How many requests share one commit at most.
const BATCH: usize = 256;

/// What the writer tells of its commits, and who keeps its log.
pub(super) struct WriterSurroundings {
    pub(super) watch: TableWatch,
    pub(super) changes: FileChanges,
    /// None of a database in memory, which has no log.
    pub(super) log: Option<LogKeeper>,
}

/// Commits what waits until the store is closed.
pub(super) fn run(connection: &Connection, around: WriterSurroundings, mut waiting: mpsc::Receiver<Job>) {
    let WriterSurroundings { watch, changes, mut log } = around;
    let mut writer = Writer { connection, statements: HashMap::new(), watch };
    let (mut jobs, mut held) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
    while waiting.blocking_recv_many(&mut jobs, BATCH) > 0 {
        let end = jobs.iter().any(|job| matches!(job, Job::Close));
        let done = writer.commit(jobs.drain(..), &mut held);
        let file = connection.path().unwrap_or_default();
        let done = done.map_err(|error| named(error, file));
        changes.note();
        held.drain(..).for_each(|answer| answer.tell(&done, file));
        if end {
            break;
        }
        if let Some(log) = &mut log {
            writer.care_for(log);
        }
    }
    log.into_iter().for_each(LogKeeper::end);
}

/// The connection and the statements it has prepared, known by where their text is: finding one costs no look at a
/// text of a kilobyte.
struct Writer<'c> {
    connection: &'c Connection,
    statements: HashMap<(*const u8, usize), Prepared<'c>>,
    watch: TableWatch,
}

struct Prepared<'c> {
    statement: Statement<'c>,
    places: Vec<usize>,
    /// Whether it changes a watched table.
    touches: bool,
}

/// A result that may be told once the commit has happened; none where the transaction had ended before.
enum Held {
    Read(ReplySender<Vec<Row>>, Option<Result<Vec<Row>>>),
    Write(ReplySender<WriteOutcome>, Option<Result<WriteOutcome>>),
}

impl Held {
    fn tell(self, done: &Result<()>, file: &str) {
        match self {
            Self::Read(reply, result) => drop(reply.send(told(done, result, file))),
            Self::Write(reply, result) => drop(reply.send(told(done, result, file))),
        }
    }
}

fn told<T>(done: &Result<()>, result: Option<Result<T>>, file: &str) -> Result<T> {
    match (done, result) {
        (Ok(()), Some(result)) => result.map_err(|error| named(error, file)),
        (Ok(()), None) => Err(closed()),
        (Err(error), _) => Err(again(error)),
    }
}

/// The commit's error, once more for each request that shared it.
fn again(error: &Error) -> Error {
    match error.downcast_ref::<Unavailable>() {
        Some(Unavailable(reason)) => Unavailable(reason.clone()).into(),
        None => anyhow!("{error:#}"),
    }
}

impl<'c> Writer<'c> {
    /// Runs what waits in one transaction, whose end is on disk when this returns; nobody is answered before.
    fn commit(&mut self, jobs: impl Iterator<Item = Job>, held: &mut Vec<Held>) -> Result<()> {
        let begun = self.control("BEGIN IMMEDIATE");
        let file_version = begun.is_ok().then(|| self.file_version().ok()).flatten();
        self.watch.begin(file_version);
        for job in jobs {
            // A full disk ends the whole transaction: a later job must not run outside of it.
            let open = begun.is_ok() && !self.connection.is_autocommit();
            held.push(match job {
                Job::Read(step, reply) => Held::Read(reply, open.then(|| self.run(&step).map(|(_, rows)| rows))),
                Job::Write(steps, reply) => Held::Write(reply, open.then(|| self.together(&steps))),
                Job::Close => continue,
            });
        }
        let done = begun.and_then(|()| {
            if self.connection.is_autocommit() {
                return Err(Unavailable("the disk is full or failing".to_owned()).into());
            }
            self.control("COMMIT")
        });
        if !self.connection.is_autocommit() {
            drop(self.control("ROLLBACK"));
        }
        self.watch.end();
        done
    }

    /// All steps or none: a savepoint keeps one request's failure from its neighbours in the batch.
    fn together(&mut self, steps: &[Step]) -> Result<WriteOutcome> {
        // One statement alone is whole or nothing by itself.
        if let [step] = steps {
            return self.run_one(0, step);
        }
        self.control("SAVEPOINT request")?;
        let result =
            steps.iter().enumerate().try_fold(WriteOutcome::Committed(Vec::new()), |last, (position, step)| {
                if last.is_committed() { self.run_one(position, step) } else { Ok(last) }
            });
        if !matches!(result, Ok(WriteOutcome::Committed(_))) && !self.connection.is_autocommit() {
            self.control("ROLLBACK TO request")?;
        }
        if !self.connection.is_autocommit() {
            self.control("RELEASE request")?;
        }
        result
    }

    fn control(&mut self, sql: &'static str) -> Result<()> {
        self.prepared(sql)?.statement.raw_execute()?;
        Ok(())
    }

    /// Keeps the log short, once whoever waited for the last batch has been answered.
    fn care_for(&mut self, log: &mut LogKeeper) {
        // What cannot be measured or copied now is tried again after the next batch, as SQLite's own way would.
        let Ok(length) = self.log_length() else { return };
        if log.care(length) == LogCare::Copy {
            drop(self.control_row(COPY));
        }
    }

    fn log_length(&mut self) -> Result<LogLength> {
        let (pages, copied) = self.control_row(MEASURE)?;
        Ok(LogLength { pages, copied })
    }

    /// The second and third column of the row that a question about the log answers.
    fn control_row(&mut self, sql: &'static str) -> Result<(i64, i64)> {
        let mut rows = self.prepared(sql)?.statement.raw_query();
        let row = rows.next()?.context("the log's length is one row")?;
        Ok((row.get(1)?, row.get(2)?))
    }

    fn file_version(&mut self) -> Result<i64> {
        let mut rows = self.prepared(FILE_VERSION)?.statement.raw_query();
        Ok(rows.next()?.context("a version is one row")?.get(0)?)
    }

    fn run_one(&mut self, position: usize, step: &Step) -> Result<WriteOutcome> {
        if !self.watch.lets(step) {
            return Ok(WriteOutcome::Refused(position));
        }
        Ok(written(position, step, self.run(step)?))
    }

    fn run(&mut self, step: &Step) -> Result<(usize, Vec<Row>)> {
        let Prepared { statement, places, touches } = self.prepared(step.sql)?;
        let (done, touches) = (execute(statement, places, step), *touches);
        // Values that stay bound use up the connection's own memory for small things, and each other one is the system's.
        statement.clear_bindings();
        if touches {
            self.watch.touch();
        }
        done
    }

    fn prepared(&mut self, sql: &'static str) -> Result<&mut Prepared<'c>> {
        Ok(match self.statements.entry((sql.as_ptr(), sql.len())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let (statement, touches) = self.watch.watch(|| self.connection.prepare(sql));
                let statement = statement?;
                let places = places(&statement)?;
                place.insert(Prepared { statement, places, touches })
            }
        })
    }
}

fn written(position: usize, step: &Step, (changed, rows): (usize, Vec<Row>)) -> WriteOutcome {
    if step.must && changed == 0 { WriteOutcome::Refused(position) } else { WriteOutcome::Committed(rows) }
}
