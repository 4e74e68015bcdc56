//! Deliveries in the database.

use anyhow::{Context, Result};
use jiff::Timestamp;
use url::Url;

use super::{Attempt, Delivery, Outcome, endpoint};
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

/// Takes what is due, oldest first, but of one endpoint only so many at once: what is leased already counts, so a slow
/// endpoint fills its own places and nobody else's. A disabled one has one place, once an hour.
const CLAIM: &str = "
    UPDATE deliveries SET leased_until = $1, attempts = attempts + 1
    WHERE id IN (
        SELECT id FROM (
            SELECT d.id, d.leased_until, d.next_attempt_at,
                   ROW_NUMBER() OVER (PARTITION BY d.endpoint, e.disabled_at
                                      ORDER BY COALESCE(d.leased_until, 0) > $2 DESC, d.next_attempt_at, d.id) AS place,
                   CASE WHEN e.disabled_at IS NULL THEN $3 ELSE 1 END AS places
            FROM deliveries AS d
            LEFT JOIN endpoints AS e ON e.account = d.account AND e.environment = d.environment
                                    AND e.endpoint = d.endpoint AND e.disabled_at IS NOT NULL
            WHERE d.state = 'pending' AND d.next_attempt_at <= $2
              AND (e.disabled_at IS NULL OR e.next_probe_at <= $2)
        ) AS due
        WHERE place <= places AND (leased_until IS NULL OR leased_until <= $2)
        ORDER BY next_attempt_at, id LIMIT $4
    ) AND (leased_until IS NULL OR leased_until <= $2)
    RETURNING id, domain_id, environment, url, body, attempts, account";

/// Names the lease: an attempt that outlived it has no say any more.
const END: &str = "
    UPDATE deliveries
    SET state = $1, next_attempt_at = COALESCE($2, next_attempt_at), ended_at = $3, last_status = $4, last_error = $5,
        last_answer = $8, leased_until = NULL
    WHERE id = $6 AND leased_until = $7 AND state = 'pending'";

const FREE: &str = "UPDATE deliveries SET leased_until = NULL WHERE state = 'pending' AND leased_until IS NOT NULL";

/// An attempt that ended, to be remembered.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Ended<'a> {
    pub id: &'a EventId,
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

    /// Takes deliveries that are due until `leased_until`: at most `most`, and of one endpoint at most `of_endpoint`.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn claim_deliveries(
        &self,
        now: Timestamp,
        leased_until: Timestamp,
        of_endpoint: u32,
        most: u32,
    ) -> Result<Vec<Delivery>> {
        match self.write([step(CLAIM, params![leased_until, now, of_endpoint, most])]).await? {
            Written::Committed(rows) => rows.into_iter().map(Delivery::try_from).collect(),
            Written::Refused(_) => Ok(Vec::new()),
        }
    }

    /// Remembers how an attempt ended. False where its lease was over.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn end_attempt(&self, ended: Ended<'_>) -> Result<bool> {
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
        Ok(self.write([must(END, params)]).await?.is_committed())
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

impl TryFrom<Row> for Delivery {
    type Error = anyhow::Error;

    fn try_from(row: Row) -> Result<Self> {
        Ok(Self {
            id: EventId::parse(row.text(0)?).context("deliveries.id")?,
            domain_id: DomainId::parse(row.text(1)?).context("deliveries.domain_id")?,
            environment: Environment::parse(row.text(2)?).context("deliveries.environment")?,
            url: row.text(3)?.parse().context("deliveries.url")?,
            account: row.text(6)?.to_owned(),
            body: row.text(4)?.to_owned(),
            attempts: u32::try_from(row.int(5)?).context("deliveries.attempts")?,
        })
    }
}
