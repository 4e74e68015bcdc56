//! Deliveries in the database.

use std::collections::HashMap;

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::Value;
use signpost_platform::accounts::{Account, Environment};
use signpost_store::{Row, Step, Store, Stored, WriteOutcome, must, params, step};
use url::Url;

use super::due_sql::{CLAIM_SHARED, DUE_SHARED, READY, READY_SHARED, READY_TOO_FAR, READY_TOO_FAR_SHARED};
use super::slots::{DueDelivery, MAX_ENDPOINTS_PER_LOOK, MAX_PER_ENDPOINT};
use super::{Attempt, AttemptSlots, ClaimedDelivery, Delivery, DeliveryOutcome, DeliveryRow, endpoint_from_url};
use crate::ids::{DomainId, EventId};

pub use super::due_sql::{CLAIM, DUE, NEXT};

/// Names the lease: an attempt that outlived it has no say any more. `NOT IN` leads along the primary key, as above.
/// Public for the test that counts its steps.
pub const END: &str = "
    UPDATE deliveries
    SET state = $1, next_attempt_at = COALESCE($2, next_attempt_at), ended_at = $3, last_status = $4, last_error = $5,
        last_answer = $8, past_attempts = $9, leased_until = NULL, in_backoff = CASE WHEN $1 = 'pending' THEN 1 ELSE 0 END
    WHERE id = $6 AND leased_until = $7 AND state NOT IN ('delivered', 'failed')";

/// The same for many that wait, which are known by `$6`.
const END_MANY: &str = "
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

const FREE: &str =
    "UPDATE deliveries SET leased_until = NULL WHERE state || '' = 'pending' AND leased_until IS NOT NULL";

const WAITING: &str = "
    SELECT COUNT(*), MIN(created_at) FROM deliveries WHERE state || '' = 'pending'";

const WAITING_UP_TO: &str =
    "SELECT COUNT(*) FROM (SELECT 1 FROM deliveries WHERE state || '' = 'pending' LIMIT $1) AS found";

/// When there is something to do.
#[derive(Clone, Copy, Debug)]
pub struct Upcoming {
    /// Whether an event is ready for an attempt.
    pub is_ready: bool,
    /// When the first wait for a further attempt is over.
    pub backoff_until: Option<Timestamp>,
    /// When the last one is.
    pub last_backoff_until: Option<Timestamp>,
}

/// What was taken.
#[derive(Debug)]
pub struct Claim {
    /// It, oldest first where one server takes.
    pub taken: Vec<ClaimedDelivery>,
    /// Whether another look may find more.
    pub more: MoreDue,
}

/// What is due and was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoreDue {
    /// Nothing that has a place.
    None,
    /// Perhaps something for endpoints that were not looked at.
    NotLookedAt,
    /// What was chosen and another server may have taken first.
    Chosen,
}

/// An attempt that ended, to be remembered.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct EndedAttempt<'a> {
    pub id: &'a str,
    pub leased_until: Timestamp,
    pub attempt: &'a Attempt,
    /// All that are stored, this one included.
    pub past_attempts: String,
    pub outcome: DeliveryOutcome,
    pub now: Timestamp,
}

/// The step that queues a body.
pub(crate) fn queue(
    id: &EventId,
    account: &Account,
    domain: &DomainId,
    url: &Url,
    body: String,
    now: Timestamp,
) -> Step {
    let row = DeliveryRow {
        id: id.clone(),
        account: account.name.clone(),
        environment: account.environment,
        domain_id: domain.clone(),
        url: url.to_string(),
        endpoint: endpoint_from_url(url),
        body,
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
    must(DeliveryRow::INSERT, row.params())
}

/// When there is something to do.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_upcoming(store: &Store, now: Timestamp) -> Result<Upcoming> {
    let row = store.read_one(NEXT, params![now]).await?.context("it is one row")?;
    Ok(Upcoming {
        is_ready: row.opt_int(0)?.is_some(),
        backoff_until: row.opt_int(1)?.map(nearest_time),
        last_backoff_until: row.opt_int(2)?.map(nearest_time),
    })
}

/// Returns the time of this many milliseconds since 1970, or the first or last time that there is. A time that no server
/// stores must stop no other delivery.
fn nearest_time(millis: i64) -> Timestamp {
    let outside = if millis < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_millisecond(millis).unwrap_or(outside)
}

/// How many events wait, and since when the oldest does.
///
/// # Errors
/// As [`Store::read`].
pub async fn count_waiting(store: &Store) -> Result<(i64, Option<Timestamp>)> {
    let row = store.read_one(WAITING, params![]).await?.context("COUNT is one row")?;
    Ok((row.int(0)?, row.opt_time(1)?))
}

/// How many events wait, counted no further than `most`: of many it takes no longer than of few.
///
/// # Errors
/// As [`Store::read`].
pub async fn count_waiting_up_to(store: &Store, most: u32) -> Result<u32> {
    let row = store.read_one(WAITING_UP_TO, params![most]).await?.context("COUNT is one row")?;
    Ok(u32::try_from(row.int(0)?)?)
}

/// Makes events ready whose wait is over, the first `most` of them. Returns how many those were.
///
/// # Errors
/// As [`Store::write`].
pub async fn make_ready(store: &Store, now: Timestamp, most: u32) -> Result<usize> {
    Ok(store.claim(READY, READY_SHARED, params![now, most]).await?.len())
}

/// Makes events ready that wait until after `latest`, the last `most` of them. Returns how many those were.
///
/// # Errors
/// As [`Store::write`].
pub async fn make_ready_beyond(store: &Store, latest: Timestamp, now: Timestamp, most: u32) -> Result<usize> {
    Ok(store.claim(READY_TOO_FAR, READY_TOO_FAR_SHARED, params![now, most, latest]).await?.len())
}

/// Takes deliveries that are due until `leased_until`, as far as `slots` go.
///
/// # Errors
/// As [`Store::read`] and [`Store::write`].
pub async fn claim(store: &Store, now: Timestamp, leased_until: Timestamp, slots: &mut AttemptSlots) -> Result<Claim> {
    let most = u32::try_from(slots.free())?;
    let params = params![now, MAX_PER_ENDPOINT, most, MAX_ENDPOINTS_PER_LOOK, slots.known()];
    let (mut due, mut reached) = (Vec::new(), HashMap::new());
    for row in store.pick(DUE, DUE_SHARED, params).await? {
        let owner = row.text(0)?.to_owned();
        match (row.opt_text(1)?, row.opt_text(2)?) {
            (Some(id), _) => due.push(DueDelivery { id: id.to_owned(), owner }),
            (None, endpoint) => drop(reached.insert(owner, endpoint.unwrap_or_default().to_owned())),
        }
    }
    let is_more = slots.reached(reached);
    let chosen = slots.choose(due);
    if chosen.is_empty() {
        let more = if is_more { MoreDue::NotLookedAt } else { MoreDue::None };
        return Ok(Claim { taken: Vec::new(), more });
    }
    let ids: Value = chosen.into_iter().map(|due| due.id).collect();
    let rows = store.claim(CLAIM, CLAIM_SHARED, params![leased_until, now, ids.to_string()]).await?;
    Ok(Claim { taken: rows.iter().map(read_claimed).collect::<Result<_>>()?, more: MoreDue::Chosen })
}

/// Remembers how an attempt ended, and with it what `judged` says of the endpoint, whose rows it gives. `None` where
/// its lease was over.
///
/// # Errors
/// As [`Store::write`].
pub async fn end_attempt(store: &Store, ended: EndedAttempt<'_>, judged: Vec<Step>) -> Result<Option<Vec<Row>>> {
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
    let steps: Vec<Step> = [must(END, params).alike(END_MANY, 5)].into_iter().chain(judged).collect();
    match store.write(steps).await? {
        WriteOutcome::Committed(rows) => Ok(Some(rows)),
        WriteOutcome::Refused(_) => Ok(None),
    }
}

/// Ends the leases of a process that is gone. Only for a database that this process has for itself.
///
/// # Errors
/// As [`Store::write`].
pub async fn free_leases(store: &Store) -> Result<()> {
    store.write([step(FREE, params![])]).await?;
    Ok(())
}

/// What leads to the row must be readable; what else is wrong with it is wrong with this delivery alone.
fn read_claimed(row: &Row) -> Result<ClaimedDelivery> {
    let attempts = row.int(5).and_then(|attempts| u32::try_from(attempts).context("deliveries.attempts"));
    let (attempts, delivery) = match attempts {
        Ok(attempts) => (attempts, read_delivery(row)),
        // Nobody knows how many there may still be: this is the last.
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
