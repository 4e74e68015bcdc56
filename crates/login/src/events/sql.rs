//! Queries and statements for deliveries: queueing events, leasing due deliveries, and recording
//! attempts.

use std::collections::HashMap;

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::Value;
use signpost_auth::Event;
use signpost_platform::accounts::{Account, Environment};
use signpost_store::{Row, Statement, Store, Stored, WriteOutcome, params};
use url::Url;

use super::due_sql::{CLAIM_SHARED, DUE_SHARED, READY, READY_SHARED, READY_TOO_FAR, READY_TOO_FAR_SHARED};
use super::slots::{DueDelivery, MAX_ENDPOINTS_PER_SCAN, MAX_PER_ENDPOINT};
use super::{Attempt, AttemptSlots, ClaimedDelivery, Delivery, DeliveryOutcome, DeliveryRow, endpoint_from_url};
use crate::ids::{DomainId, EventId};

pub use super::due_sql::{CLAIM, DUE, NEXT};

/// Records the end of an attempt. Compares the lease, so that an attempt that outlived its lease
/// changes nothing. `NOT IN` makes the planner use the primary key. Public for the test that counts
/// its steps.
pub const END_ATTEMPT: &str = "
    UPDATE deliveries
    SET state = $1, next_attempt_at = COALESCE($2, next_attempt_at), ended_at = $3, last_status = $4, last_error = $5,
        last_answer = $8, past_attempts = $9, leased_until = NULL, in_backoff = CASE WHEN $1 = 'pending' THEN 1 ELSE 0 END
    WHERE id = $6 AND leased_until = $7 AND state NOT IN ('delivered', 'failed')";

/// Ends a batch of attempts, and returns the IDs, `$6`.
const END_ATTEMPTS: &str = "
    UPDATE deliveries
    SET state = e.state, next_attempt_at = COALESCE(e.next_attempt_at, deliveries.next_attempt_at), ended_at = e.ended_at,
        last_status = e.status, last_error = e.error, last_answer = e.answer,
        past_attempts = e.past_attempts, leased_until = NULL,
        in_backoff = CASE WHEN e.state = 'pending' THEN 1 ELSE 0 END
    FROM unnest($1::TEXT[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::TEXT[], $6::TEXT[], $7::BIGINT[], $8::TEXT[],
                $9::TEXT[])
         AS e (state, next_attempt_at, ended_at, status, error, id, leased_until, answer, past_attempts)
    WHERE deliveries.id = e.id AND deliveries.leased_until = e.leased_until
      AND deliveries.state NOT IN ('delivered', 'failed')
    RETURNING deliveries.id";

const FREE_LEASES: &str =
    "UPDATE deliveries SET leased_until = NULL WHERE state || '' = 'pending' AND leased_until IS NOT NULL";

const COUNT_WAITING: &str = "
    SELECT COUNT(*), MIN(created_at) FROM deliveries WHERE state || '' = 'pending'";

const WAITING_UP_TO: &str =
    "SELECT COUNT(*) FROM (SELECT 1 FROM deliveries WHERE state || '' = 'pending' LIMIT $1) AS found";

/// The times of the next attempts.
#[derive(Clone, Copy, Debug)]
pub struct UpcomingAttempts {
    /// Whether an event is ready for an attempt.
    pub is_ready: bool,
    /// The first end of a wait for a further attempt.
    pub backoff_until: Option<Timestamp>,
    /// The last end of a wait for a further attempt.
    pub last_backoff_until: Option<Timestamp>,
}

/// The result of leasing due deliveries.
#[derive(Debug)]
pub struct Claim {
    /// The deliveries, oldest first on a single server.
    pub deliveries: Vec<ClaimedDelivery>,
    /// Whether due events may be left.
    pub more: MoreDue,
}

/// Describes due events that were not leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoreDue {
    /// No event that could get a slot is left.
    None,
    /// Events of endpoints that were not examined may be left.
    NotExamined,
    /// Some of the chosen events were not leased. Another server may have leased them first.
    NotLeased,
}

/// The record of an attempt that has ended.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct EndedAttempt<'a> {
    pub id: &'a str,
    pub leased_until: Timestamp,
    pub attempt: &'a Attempt,
    /// All stored attempts, including this attempt.
    pub past_attempts: String,
    pub outcome: DeliveryOutcome,
    pub now: Timestamp,
}

/// Returns the statement that queues an event, for the write of its cause.
///
/// # Errors
/// Returns an error if the event cannot be serialized, which never happens in practice.
pub fn queue(
    id: &EventId,
    event: &Event,
    account: &Account,
    domain: &DomainId,
    url: &Url,
    now: Timestamp,
) -> Result<Statement> {
    let row = DeliveryRow {
        id: id.clone(),
        account: account.name.clone(),
        environment: account.environment,
        domain_id: domain.clone(),
        url: url.to_string(),
        endpoint: endpoint_from_url(url),
        body: serde_json::to_string(event).context("an event is JSON")?,
        state: "pending".to_owned(),
        attempts: 0,
        created_at: now,
        next_attempt_at: now,
        ended_at: None,
        last_status: None,
        last_error: None,
        last_answer: None,
        past_attempts: None,
    };
    Ok(Statement::expect_row(DeliveryRow::INSERT, row.params()))
}

/// Returns the times of the next attempts.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_upcoming(store: &Store, now: Timestamp) -> Result<UpcomingAttempts> {
    let row = store.read_one(NEXT, params![now]).await?.context("it is one row")?;
    Ok(UpcomingAttempts {
        is_ready: row.opt_int(0)?.is_some(),
        backoff_until: row.opt_int(1)?.map(nearest_time),
        last_backoff_until: row.opt_int(2)?.map(nearest_time),
    })
}

/// Returns the time for milliseconds since 1970, or the minimum or maximum time. An invalid time in a row must not stop
/// other deliveries.
fn nearest_time(millis: i64) -> Timestamp {
    let outside = if millis < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(millis).unwrap_or(outside)
}

/// Returns the number of pending events, and the creation time of the oldest.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn count_waiting(store: &Store) -> Result<(i64, Option<Timestamp>)> {
    let row = store.read_one(COUNT_WAITING, params![]).await?.context("COUNT is one row")?;
    Ok((row.int(0)?, row.opt_time(1)?))
}

/// Returns the number of pending events, at most `max`, in a time that does not depend on their number.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn count_waiting_up_to(store: &Store, max: u32) -> Result<u32> {
    Ok(u32::try_from(store.count(WAITING_UP_TO, params![max]).await?)?)
}

/// Makes the first `max` events with an ended wait ready. Returns the number of events.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn make_ready(store: &Store, now: Timestamp, max: u32) -> Result<usize> {
    Ok(store.claim(READY, READY_SHARED, params![now, max]).await?.len())
}

/// Makes the last `max` events ready that wait until after `latest`. Returns the number of events.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn make_ready_beyond(store: &Store, latest: Timestamp, now: Timestamp, max: u32) -> Result<usize> {
    Ok(store.claim(READY_TOO_FAR, READY_TOO_FAR_SHARED, params![now, max, latest]).await?.len())
}

/// Leases due deliveries until `leased_until`, at most as many as there are free slots.
///
/// # Errors
/// Returns an error if the database is unavailable, or a row cannot be identified.
pub async fn claim(store: &Store, now: Timestamp, leased_until: Timestamp, slots: &mut AttemptSlots) -> Result<Claim> {
    let free = u32::try_from(slots.free())?;
    let params = params![now, MAX_PER_ENDPOINT, free, MAX_ENDPOINTS_PER_SCAN, slots.to_parameter()];
    let mut due = Vec::new();
    let mut positions = HashMap::new();
    for row in store.read_per_engine(DUE, DUE_SHARED, params).await? {
        let owner = row.text(0)?.to_owned();
        match (row.opt_text(1)?, row.opt_text(2)?) {
            (Some(id), _) => due.push(DueDelivery { id: id.to_owned(), owner }),
            (None, endpoint) => {
                positions.insert(owner, endpoint.unwrap_or_default().to_owned());
            }
        }
    }
    let has_more = slots.record_positions(positions);
    let chosen = slots.choose(due);
    if chosen.is_empty() {
        let more = if has_more { MoreDue::NotExamined } else { MoreDue::None };
        return Ok(Claim { deliveries: Vec::new(), more });
    }
    let ids: Value = chosen.into_iter().map(|due| due.id).collect();
    let rows = store.claim(CLAIM, CLAIM_SHARED, params![leased_until, now, ids.to_string()]).await?;
    Ok(Claim { deliveries: rows.iter().map(read_claimed).collect::<Result<_>>()?, more: MoreDue::NotLeased })
}

/// Records the end of an attempt, in a write with the statements of `judged` about its endpoint. Returns the rows of
/// the last statement, or `None` if the lease of the attempt has ended.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn end_attempt(store: &Store, ended: EndedAttempt<'_>, judged: Vec<Statement>) -> Result<Option<Vec<Row>>> {
    let EndedAttempt { id, leased_until, attempt, past_attempts, outcome, now } = ended;
    let (state, next, ended_at) = match outcome {
        DeliveryOutcome::Delivered => ("delivered", None, Some(now)),
        DeliveryOutcome::Retry(at) => ("pending", Some(at), None),
        DeliveryOutcome::Failed => ("failed", None, Some(now)),
    };
    let status = attempt.status.map(i64::from);
    let error = attempt.error.as_ref();
    let answer = attempt.answer.as_ref();
    let params = params![state, next, ended_at, status, error, id, leased_until, answer, past_attempts];
    let statements: Vec<Statement> =
        [Statement::expect_row(END_ATTEMPT, params).batched(END_ATTEMPTS, 5)].into_iter().chain(judged).collect();
    match store.write(statements).await? {
        WriteOutcome::Committed(rows) => Ok(Some(rows)),
        WriteOutcome::Refused(_) => Ok(None),
    }
}

/// Ends the leases of a previous process. Only for a database that no other process uses.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn free_leases(store: &Store) -> Result<()> {
    store.write([Statement::new(FREE_LEASES, params![])]).await?;
    Ok(())
}

/// Parses a leased row. Only the columns that identify it must be valid; other errors affect only this delivery.
fn read_claimed(row: &Row) -> Result<ClaimedDelivery> {
    let attempts = row.int(5).and_then(|attempts| u32::try_from(attempts).context("deliveries.attempts"));
    let (attempts, delivery) = match attempts {
        Ok(attempts) => (attempts, read_delivery(row)),
        // The number of attempts is unknown: this is the last attempt.
        Err(error) => (u32::MAX, Err(error)),
    };
    let owner = format!("{} {}", row.text(2)?, row.text(6)?);
    let past_attempts = row.opt_text(8)?.map(str::to_owned);
    Ok(ClaimedDelivery { id: row.text(0)?.to_owned(), owner, attempts, past_attempts, delivery })
}

fn read_delivery(row: &Row) -> Result<Delivery> {
    Ok(Delivery {
        id: EventId::parse(row.text(0)?).context("deliveries.id")?,
        domain_id: DomainId::parse(row.text(1)?).context("deliveries.domain_id")?,
        environment: Environment::parse(row.text(2)?).context("deliveries.environment")?,
        url: row.text(3)?.parse().context("deliveries.url")?,
        account: row.text(6)?.to_owned(),
        body: row.text(4)?.to_owned(),
        failed_before: row.int(7)? == 1,
    })
}
