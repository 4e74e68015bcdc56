//! Sends events again that had all their attempts, or one whatever became of it. Of many a few hundred are written at a time,
//! so that logins wait for none of it.

use anyhow::Result;
use jiff::Timestamp;
use serde_json::json;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_platform::accounts::{Account, Environment};
use signpost_store::{Store, Value, WriteOutcome, must, params, sql};

use super::due_sql::is_free;
use crate::ids::{DomainId, EventId};

/// How many events a write sends again.
const PER_WRITE: u32 = 250;
/// How many such writes one retry makes. They take some seconds, so that a request has its answer in time. What fails again
/// meanwhile cannot keep it going.
const MAX_WRITES: u32 = 400;
/// How many events one retry sends again. Where it is that many, more may be left.
pub const MOST_RETRIED: usize = (PER_WRITE * MAX_WRITES) as usize;

const AGAIN: &str = "
    UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_at = $1, ended_at = NULL, leased_until = NULL,
                          in_backoff = 0";

const ONE: &str = sql!(
    AGAIN,
    " WHERE id = $2 AND ",
    is_free!("leased_until", "$1"),
    " AND ($3 = '' OR account = $3)
        AND ($4 = '' OR environment = $4)
      RETURNING id"
);

/// Along the index of those that failed, and of these behind the last one that was sent again. What an event is, is asked
/// once more where it is locked: another server may have sent it again meanwhile.
const ALL: &str = sql!(
    AGAIN,
    " WHERE id IN (SELECT id FROM deliveries
                   WHERE state = 'failed' AND id > $2 AND ",
    is_free!("leased_until", "$1"),
    " ORDER BY id LIMIT $3) AND state = 'failed'
      RETURNING id"
);

const OF_DOMAIN: &str = sql!(
    AGAIN,
    " WHERE id IN (SELECT id FROM deliveries
                   WHERE state = 'failed' AND domain_id = $4 AND id > $2 AND ",
    is_free!("leased_until", "$1"),
    " ORDER BY id LIMIT $3) AND state = 'failed'
      RETURNING id"
);

const OF_ACCOUNT: &str = sql!(
    AGAIN,
    " WHERE id IN (SELECT id FROM deliveries
                   WHERE state = 'failed' AND account = $4 AND environment = $5 AND id > $2 AND ",
    is_free!("leased_until", "$1"),
    " ORDER BY id LIMIT $3) AND state = 'failed'
      RETURNING id"
);

/// What it asks of the database. Public for the test of how each finds its rows.
pub const RETRY_STATEMENTS: [&str; 4] = [ONE, ALL, OF_DOMAIN, OF_ACCOUNT];

/// Which events are sent again.
#[derive(Clone, Copy, Debug)]
pub enum RetryChoice<'a> {
    /// This one, whatever its state, where it is of this account or none is named.
    One(&'a EventId, Option<&'a Account>),
    /// All that failed.
    Failed,
    /// All of a domain that failed.
    FailedOfDomain(&'a DomainId),
    /// All of an account that failed.
    FailedOfAccount(&'a Account),
}

/// Sends an event again as soon as possible, or those that failed, up to [`MOST_RETRIED`] of them; what is being sent just now is
/// left alone. Returns how many those are. Their attempts count anew. The audit log says who did it, where there were any.
///
/// # Errors
/// As [`Store::write`]. What was written before it stays so.
pub async fn retry(store: &Store, which: RetryChoice<'_>, actor: &Actor, now: Timestamp) -> Result<usize> {
    let (mut retried, mut reached) = (0, String::new());
    for written in 0..MAX_WRITES {
        let (sql, params) = which.statement(&reached, now);
        let mut steps = vec![must(sql, params)];
        if written == 0 {
            // In front: the rows are those of the last step.
            let (object, account) = which.object();
            steps.insert(0, insert_entry(actor, account, Action::DeliveryRetried, object, &json!({}), now));
        }
        let WriteOutcome::Committed(rows) = store.write(steps).await? else { break };
        retried += rows.len();
        if rows.len() < PER_WRITE as usize {
            break;
        }
        let ids = rows.iter().map(|row| row.text(0)).collect::<Result<Vec<_>>>()?;
        ids.into_iter().max().unwrap_or_default().clone_into(&mut reached);
    }
    Ok(retried)
}

impl RetryChoice<'_> {
    fn statement(self, reached: &str, now: Timestamp) -> (&'static str, Vec<Value>) {
        match self {
            Self::One(id, account) => {
                let (name, environment) =
                    account.map_or(("", ""), |of| (&of.name, Environment::as_str(of.environment)));
                (ONE, params![now, id, name, environment])
            }
            Self::Failed => (ALL, params![now, reached, PER_WRITE]),
            Self::FailedOfDomain(domain) => (OF_DOMAIN, params![now, reached, PER_WRITE, domain]),
            Self::FailedOfAccount(of) => (OF_ACCOUNT, params![now, reached, PER_WRITE, &of.name, of.environment]),
        }
    }

    /// On what the audit log says that it was done, and whose that is.
    fn object(&self) -> (&str, Option<&Account>) {
        match self {
            Self::One(id, account) => (id.as_str(), *account),
            Self::Failed => ("failed", None),
            Self::FailedOfDomain(domain) => (domain.as_str(), None),
            Self::FailedOfAccount(account) => ("failed", Some(account)),
        }
    }
}
