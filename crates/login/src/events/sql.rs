//! Deliveries in the database.

use std::collections::HashMap;

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::Value;
use signpost_platform::accounts::{Account, Environment};
use signpost_store::{Row, Step, Store, Stored, WriteOutcome, must, params, step};
use url::Url;

use super::slots::{DueDelivery, MAX_ENDPOINTS_PER_LOOK, MAX_PER_ENDPOINT};
use super::{Attempt, AttemptSlots, ClaimedDelivery, Delivery, DeliveryOutcome, DeliveryRow, endpoint_from_url};
use crate::ids::{DomainId, EventId};

/// Along the indexes `deliveries_next`, which knows what waits as `state || '' = 'pending'` and is no way to anything else,
/// and `deliveries_backoff`. In this order with the first of each, for a planner would look at everything for a minimum.
/// Public for the test that counts its steps.
pub const NEXT: &str = "
    SELECT (SELECT next_attempt_at FROM deliveries
            WHERE state || '' = 'pending' AND (leased_until IS NULL OR leased_until <= $1)
            ORDER BY next_attempt_at LIMIT 1),
           (SELECT next_attempt_at FROM deliveries WHERE state = 'pending' AND in_backoff = 1
            ORDER BY next_attempt_at LIMIT 1)";

macro_rules! ready {
    ($lock:literal) => {
        concat!(
            "UPDATE deliveries SET in_backoff = 0
             WHERE id IN (
                 SELECT id FROM deliveries WHERE state = 'pending' AND in_backoff = 1 AND next_attempt_at <= $1
                 ORDER BY next_attempt_at LIMIT $2 ",
            $lock,
            ")
             RETURNING id"
        )
    };
}

const READY: &str = ready!("");
const READY_SHARED: &str = ready!("FOR UPDATE SKIP LOCKED");

/// What is due and has a place at its endpoint, oldest first, and of owners with more endpoints than are looked at the
/// last one that was. Only reads, so that nobody who writes waits for it.
///
/// The recursions go along the index `deliveries_ready`, from owner to owner and in each from endpoint to endpoint: an
/// endpoint for which everything waits for its next attempt is not among them, an owner without a free place neither,
/// and a long queue to one endpoint costs no more than a short one. Of each endpoint the oldest are looked at: what is
/// leased is among them, for it was the oldest when it was taken. It counts, so a slow endpoint fills its own places and
/// nobody else's. A disabled one has one place, once an hour. The databases differ in how to read a list and how to take
/// the first few of each.
macro_rules! due {
    ($list:literal, $first_of_each:literal) => {
        concat!(
            "WITH RECURSIVE known (owner, word, reached) AS (
                 SELECT k.value ->> 0, k.value ->> 1, k.value ->> 2 FROM ",
            $list,
            " AS k
             ), owners (owner) AS (
                 SELECT (SELECT q.environment || ' ' || q.account FROM deliveries AS q
                         WHERE q.state = 'pending' AND q.in_backoff = 0
                         ORDER BY q.environment || ' ' || q.account LIMIT 1)
                 UNION ALL
                 SELECT (SELECT q.environment || ' ' || q.account FROM deliveries AS q
                         WHERE q.state = 'pending' AND q.in_backoff = 0
                           AND q.environment || ' ' || q.account > o.owner
                         ORDER BY q.environment || ' ' || q.account LIMIT 1)
                 FROM owners AS o WHERE o.owner IS NOT NULL
             ), looked_at (owner, endpoint, number) AS (
                 SELECT o.owner,
                        (SELECT q.endpoint FROM deliveries AS q
                         WHERE q.state = 'pending' AND q.in_backoff = 0 AND q.environment || ' ' || q.account = o.owner
                           AND q.endpoint > COALESCE(k.reached, '') ORDER BY q.endpoint LIMIT 1), 1
                 FROM owners AS o LEFT JOIN known AS k ON k.owner = o.owner
                 WHERE o.owner IS NOT NULL AND COALESCE(k.word, '') <> 'full'
                 UNION ALL
                 SELECT l.owner,
                        (SELECT q.endpoint FROM deliveries AS q
                         WHERE q.state = 'pending' AND q.in_backoff = 0 AND q.environment || ' ' || q.account = l.owner
                           AND q.endpoint > l.endpoint ORDER BY q.endpoint LIMIT 1), l.number + 1
                 FROM looked_at AS l WHERE l.endpoint IS NOT NULL AND l.number < $4
             ), due AS (
                 SELECT l.owner, d.id, d.next_attempt_at, d.leased_until,
                        ROW_NUMBER() OVER (PARTITION BY l.owner, l.endpoint
                                           ORDER BY COALESCE(d.leased_until, 0) > $1 DESC, d.next_attempt_at, d.id)
                            AS place,
                        CASE WHEN e.disabled_at IS NULL THEN $2 ELSE 1 END AS places
                 FROM looked_at AS l
                 LEFT JOIN endpoints AS e ON e.environment || ' ' || e.account = l.owner AND e.endpoint = l.endpoint
                                         AND e.disabled_at IS NOT NULL ",
            $first_of_each,
            " WHERE l.endpoint IS NOT NULL AND (e.disabled_at IS NULL OR e.next_probe_at <= $1)
             ), oldest AS (
                 SELECT owner, id, next_attempt_at,
                        ROW_NUMBER() OVER (PARTITION BY owner ORDER BY next_attempt_at, id) AS place
                 FROM due WHERE place <= places AND (leased_until IS NULL OR leased_until <= $1)
             )
             SELECT owner, id, NULL AS endpoint, next_attempt_at FROM oldest WHERE place <= $3
             UNION ALL
             SELECT owner, NULL, endpoint, 0 FROM looked_at WHERE number = $4 AND endpoint IS NOT NULL
             ORDER BY 4, 2"
        )
    };
}

/// Chooses the events that are due. Public for the test that counts its steps.
pub const DUE: &str = due!(
    "json_each($5)",
    "JOIN deliveries AS d ON d.id IN (
         SELECT q.id FROM deliveries AS q
         WHERE q.state = 'pending' AND q.in_backoff = 0 AND q.environment || ' ' || q.account = l.owner
           AND q.endpoint = l.endpoint AND q.next_attempt_at <= $1
         ORDER BY q.next_attempt_at, q.id LIMIT 2 * $2)"
);

const DUE_SHARED: &str = due!(
    "json_array_elements(CAST(CAST($5 AS TEXT) AS JSON))",
    "CROSS JOIN LATERAL (
         SELECT q.id, q.next_attempt_at, q.leased_until FROM deliveries AS q
         WHERE q.state = 'pending' AND q.in_backoff = 0 AND q.environment || ' ' || q.account = l.owner
           AND q.endpoint = l.endpoint AND q.next_attempt_at <= $1
         ORDER BY q.next_attempt_at, q.id LIMIT 2 * $2) AS d"
);

/// Takes what was chosen. It is asked once more what it is, where it is locked: another server may have taken it, and
/// delivered it, meanwhile. `NOT IN` and `+ 0` keep the indexes of what waits out of it, in which a planner
/// would read everything.
macro_rules! claim {
    ($chosen:literal, $lock:literal) => {
        concat!(
            "UPDATE deliveries SET leased_until = $1, attempts = attempts + 1
             WHERE id IN (
                 SELECT id FROM deliveries
                 WHERE ",
            $chosen,
            " AND state NOT IN ('delivered', 'failed') AND next_attempt_at + 0 <= $2
                   AND (leased_until IS NULL OR leased_until <= $2) ",
            $lock,
            ")
             RETURNING id, domain_id, environment, url, body, attempts, account,
                       CASE WHEN EXISTS (SELECT 1 FROM endpoints AS f
                                         WHERE f.account = deliveries.account AND f.endpoint = deliveries.endpoint
                                           AND f.environment = deliveries.environment) THEN 1 ELSE 0 END,
                       past_attempts"
        )
    };
}

/// Takes the lease of chosen events. Public for the test that counts its steps.
pub const CLAIM: &str = claim!("id IN (SELECT c.value FROM json_each($3) AS c)", "");

/// Of several servers none waits for what another is taking. The ids are an array, which leads along the primary key: of a
/// set of rows a planner without statistics would look through everything that waits.
const CLAIM_SHARED: &str = claim!(
    "id = ANY (ARRAY(SELECT c.value FROM json_array_elements_text(CAST(CAST($3 AS TEXT) AS JSON)) AS c))",
    "FOR UPDATE SKIP LOCKED"
);

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
    /// When the next attempt is due; none where nothing waits.
    pub attempt_at: Option<Timestamp>,
    /// When the first wait for a further attempt is over.
    pub backoff_until: Option<Timestamp>,
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
    let row = store.read_one(NEXT, params![now]).await?.context("MIN is one row")?;
    Ok(Upcoming { attempt_at: row.opt_time(0)?, backoff_until: row.opt_time(1)? })
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
