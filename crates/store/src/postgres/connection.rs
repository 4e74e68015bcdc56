//! Runs statements on a PostgreSQL connection: independent reads, single writes, and groups of
//! writes in one transaction.

use std::collections::HashMap;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use anyhow::{Context, Error, Result, bail};
use futures_util::future::{MaybeDone, maybe_done, poll_fn};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;

use super::group::{StatementBatch, StatementResult, WriteGroup, write_outcome};
use super::value;
use crate::random::random;
use crate::row::{Row, Value};
use crate::statement::{Statement, Unavailable, WriteOutcome};

/// Maximum number of attempts of a write that conflicts with another transaction.
const MAX_ATTEMPTS: u32 = 20;
/// Maximum number of attempts of a group of writes, before each write runs in a separate
/// transaction.
const MAX_GROUP_ATTEMPTS: u32 = 3;
/// Maximum number of statements that are sent before the first reply is awaited.
const MAX_PIPELINED: usize = 256;

/// A connection with its prepared statements.
pub(super) struct Connection {
    pub(super) client: Client,
    prepared: HashMap<&'static str, tokio_postgres::Statement>,
}

impl Connection {
    pub(super) fn new(client: Client) -> Self {
        Self { client, prepared: HashMap::new() }
    }

    /// Runs independent reads. A failure affects only its read.
    pub(super) async fn read_all(&mut self, statements: &[Statement]) -> Vec<Result<Vec<Row>>> {
        let mut prepare_errors = Vec::with_capacity(statements.len());
        for statement in statements {
            prepare_errors.push(self.prepare(&[statement.sql]).await.err());
        }
        let prepared = statements.iter().zip(&prepare_errors).filter(|(_, error)| error.is_none());
        let mut replies =
            await_replies(prepared.map(|(statement, _)| self.send(statement)).collect()).await.into_iter();
        let results = prepare_errors.into_iter().map(|error| match error {
            Some(error) => Err(error),
            None => Ok(replies.next().context("each statement has a reply")??.1),
        });
        results.collect()
    }

    /// Runs writes of different requests, in a single transaction if they do not conflict. Each
    /// write has the outcome that it would have in a separate transaction.
    pub(super) async fn write_all(&mut self, writes: &[Vec<Statement>]) -> Vec<Result<WriteOutcome>> {
        if writes.len() > 1 {
            for attempt in 0..MAX_GROUP_ATTEMPTS {
                match self.run_together(writes).await {
                    Ok(Some(written)) => return written.into_iter().map(Ok).collect(),
                    // It is unknown if the transaction was committed.
                    Err(error) if self.client.is_closed() => {
                        return writes.iter().map(|_| Err(Unavailable(format!("{error:#}")).into())).collect();
                    }
                    Err(error) if is_conflict(&error) => pause(attempt).await,
                    Ok(None) | Err(_) => break,
                }
            }
        }
        let mut written = Vec::with_capacity(writes.len());
        for write in writes {
            written.push(self.write(write).await);
        }
        written
    }

    async fn write(&mut self, write: &Vec<Statement>) -> Result<WriteOutcome> {
        for attempt in 0..MAX_ATTEMPTS {
            match self.run_separately(write).await {
                Err(error) if is_conflict(&error) => pause(attempt).await,
                done => return done,
            }
        }
        bail!(Unavailable("too many concurrent writes".to_owned()))
    }

    async fn run_separately(&mut self, write: &Vec<Statement>) -> Result<WriteOutcome> {
        // A single statement is atomic.
        if let [statement] = write.as_slice() {
            self.prepare(&[statement.sql]).await?;
            return Ok(write_outcome(write, [self.run(statement).await?].into()));
        }
        let written = self.run_together(std::slice::from_ref(write)).await?;
        written.and_then(|mut written| written.pop()).context("one write")
    }

    /// Runs several writes in a single transaction. Returns `None` if a write was refused after it
    /// had changed a row: the transaction is rolled back, and each write must run separately.
    async fn run_together(&mut self, writes: &[Vec<Statement>]) -> Result<Option<Vec<WriteOutcome>>> {
        let group = WriteGroup::new(writes);
        let mut texts: Vec<&'static str> = group.batch.iter().map(|batch| batch.sql).collect();
        texts.extend(group.unbatched.iter().copied().flatten().map(|statement| statement.sql));
        self.prepare(&texts).await?;
        if let Some(batch) = &group.batch
            && group.unbatched.is_empty()
        {
            // A single statement is atomic, and needs only one round trip.
            let done = self.run_batch(batch).await?;
            return Ok(Some(group.outcomes(writes, vec![done])?.0));
        }
        let may_roll_back =
            group.unbatched.iter().any(|write| write.len() > 1 && write.iter().any(|statement| statement.expects_row));
        let done = match self.run_all(&group, !may_roll_back).await {
            Ok(done) => done,
            Err(error) => {
                self.client.batch_execute("ROLLBACK").await?;
                return Err(error);
            }
        };
        let (written, must_roll_back) = group.outcomes(writes, done)?;
        if may_roll_back {
            self.client.batch_execute(if must_roll_back { "ROLLBACK" } else { "COMMIT" }).await?;
        }
        // If the group has only one write, rolling it back is its outcome.
        Ok((!must_roll_back || writes.len() == 1).then_some(written))
    }

    /// Begins a transaction, runs the batch and all other statements, and commits if `commit` is
    /// set. The statements are pipelined.
    async fn run_all(&self, group: &WriteGroup<'_>, commit: bool) -> Result<Vec<StatementResult>> {
        let mut statements = vec![self.send_control("BEGIN")];
        statements.extend(
            group.batch.iter().map(|batch| -> Sent<'_> { Box::pin(maybe_done(Box::pin(self.run_batch(batch)))) }),
        );
        statements.extend(group.unbatched.iter().copied().flatten().map(|statement| self.send(statement)));
        statements.extend(commit.then(|| self.send_control("COMMIT")));
        let mut done = Vec::with_capacity(statements.len());
        let mut statements = statements.into_iter();
        loop {
            let sent: Vec<Sent<'_>> = statements.by_ref().take(MAX_PIPELINED).collect();
            if sent.is_empty() {
                break;
            }
            // Later statements fail because of the first failure.
            done.extend(await_replies(sent).await.into_iter().collect::<Result<Vec<_>>>()?);
        }
        done.remove(0);
        done.truncate(done.len() - usize::from(commit));
        Ok(done)
    }

    fn send<'a>(&'a self, statement: &'a Statement) -> Sent<'a> {
        Box::pin(maybe_done(Box::pin(self.run(statement))))
    }

    fn send_control<'a>(&'a self, sql: &'static str) -> Sent<'a> {
        Box::pin(maybe_done(Box::pin(async move {
            self.client.batch_execute(sql).await?;
            Ok((0, Vec::new()))
        })))
    }

    /// Runs a batch as one statement, which returns the keys of the statements that changed a row.
    async fn run_batch(&self, batch: &StatementBatch<'_>) -> Result<StatementResult> {
        let prepared = self.prepared.get(batch.sql).context("the statement is prepared")?;
        let columns: Vec<Vec<&Value>> = (0..prepared.params().len())
            .map(|index| {
                batch.statements.iter().map(|statement| statement.params.get(index).unwrap_or(&Value::Null)).collect()
            })
            .collect();
        let params: Vec<&(dyn ToSql + Sync)> = columns.iter().map(|column| column as &(dyn ToSql + Sync)).collect();
        to_statement_result(&self.client.query(prepared, &params).await?)
    }

    async fn prepare(&mut self, texts: &[&'static str]) -> Result<()> {
        for &sql in texts {
            if !self.prepared.contains_key(sql) {
                let prepared = self.client.prepare(sql).await.with_context(|| sql)?;
                self.prepared.insert(sql, prepared);
            }
        }
        Ok(())
    }

    async fn run(&self, statement: &Statement) -> Result<StatementResult> {
        let prepared = self.prepared.get(statement.sql).context("the statement is prepared")?;
        // The SQL text may use fewer parameters than the statement has values.
        let params: Vec<&(dyn ToSql + Sync)> =
            statement.params.iter().take(prepared.params().len()).map(|value| value as &(dyn ToSql + Sync)).collect();
        if prepared.columns().is_empty() {
            return Ok((self.client.execute(prepared, &params).await?, Vec::new()));
        }
        to_statement_result(&self.client.query(prepared, &params).await?)
    }
}

fn to_statement_result(found: &[tokio_postgres::Row]) -> Result<StatementResult> {
    let rows = found.iter().map(value::row).collect::<Result<Vec<_>>>()?;
    Ok((u64::try_from(rows.len())?, rows))
}

type RunningStatement<'a> = Pin<Box<dyn Future<Output = Result<StatementResult>> + Send + 'a>>;
/// A statement that is sent when it is first polled.
type Sent<'a> = Pin<Box<MaybeDone<RunningStatement<'a>>>>;

/// Sends the statements in order, then awaits their results.
async fn await_replies(mut sent: Vec<Sent<'_>>) -> Vec<Result<StatementResult>> {
    poll_fn(|context| {
        for statement in &mut sent {
            let _sent = statement.as_mut().poll(context);
        }
        Poll::Ready(())
    })
    .await;
    let mut replies = Vec::with_capacity(sent.len());
    for statement in &mut sent {
        statement.as_mut().await;
        replies.push(statement.as_mut().take_output().context("the reply is complete").flatten());
    }
    replies
}

/// Waits before the next attempt, longer with each attempt and with jitter.
async fn pause(attempt: u32) {
    let spread = u64::from(u32::from_be_bytes(random()) % 1000);
    tokio::time::sleep(Duration::from_micros(200 * u64::from(attempt) + spread)).await;
}

fn postgres_error(error: &Error) -> Option<&tokio_postgres::Error> {
    error.chain().find_map(|cause| cause.downcast_ref())
}

/// Returns `true` if the transaction conflicted with another transaction, so that a retry may
/// succeed.
fn is_conflict(error: &Error) -> bool {
    let conflicts = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
    postgres_error(error).and_then(tokio_postgres::Error::code).is_some_and(|state| conflicts.contains(state))
}

/// Converts temporary failures to [`Unavailable`]. Other errors are returned unchanged.
pub(super) fn classify_error(error: Error) -> Error {
    let Some(failed) = postgres_error(&error) else { return error };
    let is_temporary = failed.code().is_none_or(|state| {
        // Connection exceptions, insufficient resources, operator intervention and system errors;
        // also a read-only standby.
        ["08", "53", "57", "58", "25006"].iter().any(|class| state.code().starts_with(class))
    });
    if !is_temporary {
        return error;
    }
    // The `Display` text of tokio_postgres errors omits the cause.
    match failed.as_db_error() {
        Some(reason) => Unavailable(format!("{} (SQLSTATE {})", reason.message(), reason.code().code())).into(),
        None => Unavailable(format!("{error:#}")).into(),
    }
}
