//! Deliveries in the database.

use anyhow::{Context, Result};
use jiff::Timestamp;
use url::Url;

use super::{Attempt, Claimed, Delivery, Outcome, endpoint};
use crate::account::{Account, Environment};
use crate::id::{DomainId, EventId};
use crate::store::{Row, Step, Store, Written, must, params, step};

const QUEUE: &str = "
    INSERT INTO deliveries (id, account, environment, domain_id, url, endpoint, body, state, attempts, created_at,
                            next_attempt_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', 0, $8, $8)";

const NEXT: &str = "
    SELECT MIN(next_attempt_at) FROM deliveries
    WHERE state = 'pending' AND (leased_until IS NULL OR leased_until <= $1)";

/// Takes what is due, oldest first, but of one account's endpoint only so many at once: what is leased already counts,
/// so a slow endpoint fills its own places and nobody else's. A disabled one has one place, once an hour.
///
/// The recursion goes from endpoint to endpoint along the index `deliveries_pending`, so that a long queue to one of
/// them costs no more than a short one (three questions instead of one comparison of rows, for which SQLite would walk
/// through the whole queue). Of each the oldest are looked at: what is leased is among them, for it was the oldest when
/// it was taken. What was chosen is asked once more what it is, where it is locked: another server may have taken it, and
/// delivered it, meanwhile. The databases differ in how to take the first few of each.
macro_rules! claim {
    ($first_of_each:literal, $lock:literal) => {
        concat!(
            "WITH RECURSIVE waiting (id) AS (
                 SELECT (SELECT id FROM deliveries WHERE state = 'pending'
                         ORDER BY endpoint, account, environment LIMIT 1)
                 UNION ALL
                 SELECT COALESCE(
                     (SELECT n.id FROM deliveries AS n
                      WHERE n.state = 'pending' AND n.endpoint = d.endpoint AND n.account = d.account
                        AND n.environment > d.environment ORDER BY n.environment LIMIT 1),
                     (SELECT n.id FROM deliveries AS n
                      WHERE n.state = 'pending' AND n.endpoint = d.endpoint AND n.account > d.account
                      ORDER BY n.account, n.environment LIMIT 1),
                     (SELECT n.id FROM deliveries AS n WHERE n.state = 'pending' AND n.endpoint > d.endpoint
                      ORDER BY n.endpoint, n.account, n.environment LIMIT 1))
                 FROM waiting JOIN deliveries AS d ON d.id = waiting.id
             ), due AS (
                 SELECT d.id, d.next_attempt_at, d.leased_until,
                        ROW_NUMBER() OVER (PARTITION BY g.id ORDER BY COALESCE(d.leased_until, 0) > $2 DESC,
                                           d.next_attempt_at, d.id) AS place,
                        CASE WHEN e.disabled_at IS NULL THEN $3 ELSE 1 END AS places
                 FROM waiting JOIN deliveries AS g ON g.id = waiting.id
                 LEFT JOIN endpoints AS e ON e.endpoint = g.endpoint AND e.account = g.account
                                         AND e.environment = g.environment AND e.disabled_at IS NOT NULL ",
            $first_of_each,
            " WHERE e.disabled_at IS NULL OR e.next_probe_at <= $2
             )
             UPDATE deliveries SET leased_until = $1, attempts = attempts + 1
             WHERE id IN (
                 SELECT id FROM deliveries
                 WHERE id IN (SELECT id FROM due
                              WHERE place <= places AND (leased_until IS NULL OR leased_until <= $2)
                              ORDER BY next_attempt_at, id LIMIT $4)
                   AND state = 'pending' AND next_attempt_at <= $2
                   AND (leased_until IS NULL OR leased_until <= $2) ",
            $lock,
            ")
             RETURNING id, domain_id, environment, url, body, attempts, account,
                       CASE WHEN EXISTS (SELECT 1 FROM endpoints AS f
                                         WHERE f.account = deliveries.account AND f.endpoint = deliveries.endpoint
                                           AND f.environment = deliveries.environment) THEN 1 ELSE 0 END"
        )
    };
}

const CLAIM: &str = claim!(
    "JOIN deliveries AS d ON d.id IN (
         SELECT q.id FROM deliveries AS q
         WHERE q.state = 'pending' AND q.endpoint = g.endpoint AND q.account = g.account
           AND q.environment = g.environment AND q.next_attempt_at <= $2
         ORDER BY q.next_attempt_at, q.id LIMIT 2 * $3)",
    ""
);

/// Of several servers none waits for what another is taking.
const CLAIM_SHARED: &str = claim!(
    "CROSS JOIN LATERAL (
         SELECT q.id, q.next_attempt_at, q.leased_until FROM deliveries AS q
         WHERE q.state = 'pending' AND q.endpoint = g.endpoint AND q.account = g.account
           AND q.environment = g.environment AND q.next_attempt_at <= $2
         ORDER BY q.next_attempt_at, q.id LIMIT 2 * $3) AS d",
    "FOR UPDATE SKIP LOCKED"
);

/// Names the lease: an attempt that outlived it has no say any more.
const END: &str = "
    UPDATE deliveries
    SET state = $1, next_attempt_at = COALESCE($2, next_attempt_at), ended_at = $3, last_status = $4, last_error = $5,
        last_answer = $8, leased_until = NULL
    WHERE id = $6 AND leased_until = $7 AND state = 'pending'";

/// The same for many that wait.
const END_MANY: &str = "
    UPDATE deliveries
    SET state = e.state, next_attempt_at = COALESCE(e.next_attempt_at, deliveries.next_attempt_at), ended_at = e.ended_at,
        last_status = e.status, last_error = e.error, last_answer = e.answer, leased_until = NULL
    FROM unnest($1::TEXT[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::TEXT[], $6::TEXT[], $7::BIGINT[], $8::TEXT[])
         AS e (state, next_attempt_at, ended_at, status, error, id, leased_until, answer)
    WHERE deliveries.id = e.id AND deliveries.leased_until = e.leased_until AND deliveries.state = 'pending'";

const FREE: &str = "UPDATE deliveries SET leased_until = NULL WHERE state = 'pending' AND leased_until IS NOT NULL";

/// An attempt that ended, to be remembered.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Ended<'a> {
    pub id: &'a str,
    pub leased_until: Timestamp,
    pub attempt: &'a Attempt,
    pub outcome: Outcome,
    pub now: Timestamp,
}

/// The step that queues a body.
pub(super) fn queue(
    id: &EventId,
    account: &Account,
    domain: &DomainId,
    url: &Url,
    body: String,
    now: Timestamp,
) -> Step {
    let params = params![id, &account.name, account.environment, domain, url, endpoint(url), body, now];
    must(QUEUE, params)
}

impl Store {
    /// When the next attempt is due; `None` where nothing waits.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn next_delivery_at(&self, now: Timestamp) -> Result<Option<Timestamp>> {
        let row = self.read_one(NEXT, params![now]).await?.context("MIN is one row")?;
        row.opt_time(0)
    }

    /// Takes deliveries that are due until `leased_until`: at most `most`, and of one account's endpoint at most `of_endpoint`.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn claim_deliveries(
        &self,
        now: Timestamp,
        leased_until: Timestamp,
        of_endpoint: u32,
        most: u32,
    ) -> Result<Vec<Claimed>> {
        let rows = self.claim(CLAIM, CLAIM_SHARED, params![leased_until, now, of_endpoint, most]).await?;
        rows.iter().map(claimed).collect()
    }

    /// Remembers how an attempt ended, and with it what `judged` says of the endpoint, whose rows it gives. `None` where
    /// its lease was over.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn end_attempt(&self, ended: Ended<'_>, judged: Vec<Step>) -> Result<Option<Vec<Row>>> {
        let Ended { id, leased_until, attempt, outcome, now } = ended;
        let (state, next, ended_at) = match outcome {
            Outcome::Delivered => ("delivered", None, Some(now)),
            Outcome::Retry(at) => ("pending", Some(at), None),
            Outcome::Failed => ("failed", None, Some(now)),
        };
        let status = attempt.status.map(i64::from);
        let error = attempt.error.as_ref();
        let answer = attempt.answer.as_ref();
        let params = params![state, next, ended_at, status, error, id, leased_until, answer];
        let steps: Vec<Step> = [must(END, params).alike(END_MANY)].into_iter().chain(judged).collect();
        match self.write(steps).await? {
            Written::Committed(rows) => Ok(Some(rows)),
            Written::Refused(_) => Ok(None),
        }
    }

    /// Ends the leases of a process that is gone. Only for a database that this process has for itself.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn free_deliveries(&self) -> Result<()> {
        self.write([step(FREE, params![])]).await?;
        Ok(())
    }
}

/// What leads to the row must be readable; what else is wrong with it is wrong with this delivery alone.
fn claimed(row: &Row) -> Result<Claimed> {
    Ok(Claimed {
        id: row.text(0)?.to_owned(),
        attempts: u32::try_from(row.int(5)?).context("deliveries.attempts")?,
        delivery: delivery(row),
    })
}

fn delivery(row: &Row) -> Result<Delivery> {
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
