//! The writer thread of an embedded database, which commits the writes of many requests together.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use anyhow::{Context, Error, Result, anyhow};
use rusqlite::Connection;
use tokio::sync::mpsc;

use super::change_tracker::{ChangeTracker, FILE_VERSION};
use super::inline_reads::FileChanges;
use super::wal_checkpointer::{COPY, CheckpointAction, MEASURE, WalCheckpointer, WalLength};
use super::{Job, classify_error, closed, execute, parameter_positions};
use crate::row::Row;
use crate::statement::{ReplySender, Statement, Unavailable, WriteOutcome};

/// Maximum number of requests that share a commit.
const MAX_BATCH: usize = 256;

/// The state that the writer shares with other threads.
pub(super) struct WriterContext {
    pub(super) tracker: ChangeTracker,
    pub(super) changes: FileChanges,
    /// `None` for a database in memory, which has no write-ahead log.
    pub(super) checkpointer: Option<WalCheckpointer>,
}

/// Commits queued writes until the store is closed.
pub(super) fn run(connection: &Connection, context: WriterContext, mut queue: mpsc::Receiver<Job>) {
    let WriterContext { tracker, changes, mut checkpointer } = context;
    let mut writer = Writer { connection, statements: HashMap::new(), tracker };
    let mut jobs = Vec::with_capacity(MAX_BATCH);
    let mut replies = Vec::with_capacity(MAX_BATCH);
    while queue.blocking_recv_many(&mut jobs, MAX_BATCH) > 0 {
        let is_closing = jobs.iter().any(|job| matches!(job, Job::Close));
        let done = writer.commit(jobs.drain(..), &mut replies);
        let file = connection.path().unwrap_or_default();
        let done = done.map_err(|error| classify_error(error, file));
        changes.record();
        for reply in replies.drain(..) {
            reply.send(&done, file);
        }
        if is_closing {
            break;
        }
        if let Some(checkpointer) = &mut checkpointer {
            writer.checkpoint(checkpointer);
        }
    }
    if let Some(checkpointer) = checkpointer {
        checkpointer.end();
    }
}

/// The connection with its prepared statements. They are found by the address of the SQL text,
/// which is faster than comparing texts of a kilobyte.
struct Writer<'c> {
    connection: &'c Connection,
    statements: HashMap<(*const u8, usize), Prepared<'c>>,
    tracker: ChangeTracker,
}

struct Prepared<'c> {
    statement: rusqlite::Statement<'c>,
    positions: Vec<usize>,
    /// Set if the statement changes a watched table.
    changes_watched: bool,
}

/// A result that is sent after the commit. `None` if the transaction had already ended before the
/// job ran.
enum PendingReply {
    Read(ReplySender<Vec<Row>>, Option<Result<Vec<Row>>>),
    Write(ReplySender<WriteOutcome>, Option<Result<WriteOutcome>>),
}

impl PendingReply {
    fn send(self, done: &Result<()>, file: &str) {
        match self {
            Self::Read(reply, result) => drop(reply.send(final_result(done, result, file))),
            Self::Write(reply, result) => drop(reply.send(final_result(done, result, file))),
        }
    }
}

/// Returns the result of a job, given the outcome of the commit.
fn final_result<T>(done: &Result<()>, result: Option<Result<T>>, file: &str) -> Result<T> {
    if let Err(error) = done {
        return Err(copy_error(error));
    }
    match result {
        Some(result) => result.map_err(|error| classify_error(error, file)),
        None => Err(closed()),
    }
}

/// Copies the error of a commit for each of the requests that shared it.
fn copy_error(error: &Error) -> Error {
    match error.downcast_ref::<Unavailable>() {
        Some(Unavailable(reason)) => Unavailable(reason.clone()).into(),
        None => anyhow!("{error:#}"),
    }
}

impl<'c> Writer<'c> {
    /// Runs the jobs in a single transaction, which is on disk when this returns. Replies must not
    /// be sent earlier.
    fn commit(&mut self, jobs: impl Iterator<Item = Job>, replies: &mut Vec<PendingReply>) -> Result<()> {
        let begun = self.control("BEGIN IMMEDIATE");
        let file_version = if begun.is_ok() { self.file_version().ok() } else { None };
        self.tracker.begin(file_version);
        for job in jobs {
            // SQLite rolls back the transaction if the disk is full. Later jobs must not run
            // outside a transaction.
            let is_open = begun.is_ok() && !self.connection.is_autocommit();
            replies.push(match job {
                Job::Read(statement, reply) => {
                    PendingReply::Read(reply, is_open.then(|| self.run(&statement).map(|(_, rows)| rows)))
                }
                Job::Write(statements, reply) => PendingReply::Write(reply, is_open.then(|| self.write(&statements))),
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
        self.tracker.end();
        done
    }

    /// Runs all statements or none. A savepoint isolates the failure of a request from the other
    /// requests in the transaction.
    fn write(&mut self, statements: &[Statement]) -> Result<WriteOutcome> {
        // A single statement is atomic.
        if let [statement] = statements {
            return self.run_one(0, statement);
        }
        self.control("SAVEPOINT request")?;
        let result = self.run_all(statements);
        if !matches!(result, Ok(WriteOutcome::Committed(_))) && !self.connection.is_autocommit() {
            self.control("ROLLBACK TO request")?;
        }
        if !self.connection.is_autocommit() {
            self.control("RELEASE request")?;
        }
        result
    }

    /// Runs statements in order, and stops at the first that is refused or fails.
    fn run_all(&mut self, statements: &[Statement]) -> Result<WriteOutcome> {
        let mut outcome = WriteOutcome::Committed(Vec::new());
        for (position, statement) in statements.iter().enumerate() {
            outcome = self.run_one(position, statement)?;
            if !outcome.is_committed() {
                break;
            }
        }
        Ok(outcome)
    }

    fn control(&mut self, sql: &'static str) -> Result<()> {
        self.prepared(sql)?.statement.raw_execute()?;
        Ok(())
    }

    /// Limits the length of the write-ahead log. Called after the replies of the last batch were
    /// sent.
    fn checkpoint(&mut self, checkpointer: &mut WalCheckpointer) {
        // A failed checkpoint is retried after the next batch, as in SQLite.
        let Ok(length) = self.wal_length() else { return };
        if checkpointer.next_action(length) == CheckpointAction::Copy {
            drop(self.pragma_row(COPY));
        }
    }

    fn wal_length(&mut self) -> Result<WalLength> {
        let (pages, copied) = self.pragma_row(MEASURE)?;
        Ok(WalLength { pages, copied })
    }

    /// Returns the second and third columns of the row that a checkpoint pragma returns.
    fn pragma_row(&mut self, sql: &'static str) -> Result<(i64, i64)> {
        let mut rows = self.prepared(sql)?.statement.raw_query();
        let row = rows.next()?.context("the log's length is one row")?;
        Ok((row.get(1)?, row.get(2)?))
    }

    fn file_version(&mut self) -> Result<i64> {
        let mut rows = self.prepared(FILE_VERSION)?.statement.raw_query();
        Ok(rows.next()?.context("a version is one row")?.get(0)?)
    }

    fn run_one(&mut self, position: usize, statement: &Statement) -> Result<WriteOutcome> {
        if !self.tracker.permits(statement) {
            return Ok(WriteOutcome::Refused(position));
        }
        Ok(write_outcome(position, statement, self.run(statement)?))
    }

    fn run(&mut self, statement: &Statement) -> Result<(usize, Vec<Row>)> {
        let Prepared { statement: prepared, positions, changes_watched } = self.prepared(statement.sql)?;
        let done = execute(prepared, positions, statement);
        // Clears the bound values, because they would occupy the small-allocation memory of the
        // connection.
        prepared.clear_bindings();
        if *changes_watched {
            self.tracker.record_change();
        }
        done
    }

    fn prepared(&mut self, sql: &'static str) -> Result<&mut Prepared<'c>> {
        Ok(match self.statements.entry((sql.as_ptr(), sql.len())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(entry) => {
                let (statement, changes_watched) = self.tracker.observe(|| self.connection.prepare(sql));
                let statement = statement?;
                let positions = parameter_positions(&statement)?;
                entry.insert(Prepared { statement, positions, changes_watched })
            }
        })
    }
}

fn write_outcome(position: usize, statement: &Statement, (changed, rows): (usize, Vec<Row>)) -> WriteOutcome {
    if statement.expects_row && changed == 0 { WriteOutcome::Refused(position) } else { WriteOutcome::Committed(rows) }
}
