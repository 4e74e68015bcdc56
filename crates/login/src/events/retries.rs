//! Queues events for another delivery: failed events, or a single event in any state. Each write
//! changes a few hundred events at most, so that logins do not wait for it.

use anyhow::Result;
use jiff::Timestamp;
use serde_json::json;
use signpost_platform::accounts::Account;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{Statement, Store, Value, WriteOutcome, params, sql};

use super::due_sql::is_free;
use crate::ids::{DomainId, EventId};

/// Maximum events in a write.
const PER_WRITE: u32 = 250;
/// Maximum writes of a retry, some seconds in total. Events that fail again in this time cannot prolong it.
const MAX_WRITES: u32 = 400;
/// Maximum events of a retry. If it reaches this number, there may be more.
pub const MAX_RETRIED: usize = (PER_WRITE * MAX_WRITES) as usize;

const SET_PENDING: &str = "
    UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_at = $1, ended_at = NULL, leased_until = NULL,
                          in_backoff = 0";

const RETRY_ONE: &str = sql!(
    SET_PENDING,
    " WHERE id = $2 AND ",
    is_free!("leased_until", "$1"),
    " AND ($3 = '' OR account = $3)
        AND ($4 = '' OR environment = $4)
      RETURNING id"
);

/// Retries failed events after the last retried event, by an index of failed events. The state is checked again with
/// the lock, because another server may have retried the event.
macro_rules! failed {
    ($filter:literal) => {
        sql!(
            SET_PENDING,
            " WHERE id IN (SELECT id FROM deliveries
                           WHERE state = 'failed'",
            $filter,
            " AND id > $2 AND ",
            is_free!("leased_until", "$1"),
            " ORDER BY id LIMIT $3) AND state = 'failed'
              RETURNING id"
        )
    };
}

const RETRY_ALL: &str = failed!("");
const RETRY_OF_DOMAIN: &str = failed!(" AND domain_id = $4");
const RETRY_OF_ACCOUNT: &str = failed!(" AND account = $4 AND environment = $5");

/// The statements of a retry. Public for the test of their query plans.
pub const RETRY_STATEMENTS: [&str; 4] = [RETRY_ONE, RETRY_ALL, RETRY_OF_DOMAIN, RETRY_OF_ACCOUNT];

/// The selection of events to retry.
#[derive(Clone, Copy, Debug)]
pub enum RetryScope<'a> {
    /// A single event in any state, if it belongs to the account or no account is given.
    One(&'a EventId, Option<&'a Account>),
    /// All failed events.
    Failed,
    /// All failed events of a domain.
    FailedOfDomain(&'a DomainId),
    /// All failed events of an account.
    FailedOfAccount(&'a Account),
}

/// Queues events for another delivery with new attempts, up to [`MAX_RETRIED`], except those that are being sent. Adds
/// an entry to the audit log if there are any. Returns the number of events.
///
/// # Errors
/// Returns an error if the database is unavailable. Earlier writes of the retry stay in effect.
pub async fn retry(store: &Store, scope: RetryScope<'_>, actor: &Actor, now: Timestamp) -> Result<usize> {
    let mut retried = 0;
    let mut reached = String::new();
    for written in 0..MAX_WRITES {
        let (sql, params) = scope.statement(&reached, now);
        let mut statements = vec![Statement::expect_row(sql, params)];
        if written == 0 {
            // The audit entry precedes the other statement, because a write returns the rows of its last statement.
            let (object, account) = scope.object();
            statements.insert(0, insert_entry(actor, account, Action::DeliveryRetried, object, &json!({}), now));
        }
        let WriteOutcome::Committed(rows) = store.write(statements).await? else { break };
        retried += rows.len();
        if rows.len() < PER_WRITE as usize {
            break;
        }
        let ids = rows.iter().map(|row| row.text(0)).collect::<Result<Vec<_>>>()?;
        ids.into_iter().max().unwrap_or_default().clone_into(&mut reached);
    }
    Ok(retried)
}

impl RetryScope<'_> {
    fn statement(self, reached: &str, now: Timestamp) -> (&'static str, Vec<Value>) {
        match self {
            Self::One(id, account) => {
                let name = account.map_or("", |account| account.name.as_str());
                let environment = account.map_or("", |account| account.environment.as_str());
                (RETRY_ONE, params![now, id, name, environment])
            }
            Self::Failed => (RETRY_ALL, params![now, reached, PER_WRITE]),
            Self::FailedOfDomain(domain) => (RETRY_OF_DOMAIN, params![now, reached, PER_WRITE, domain]),
            Self::FailedOfAccount(of) => (RETRY_OF_ACCOUNT, params![now, reached, PER_WRITE, &of.name, of.environment]),
        }
    }

    /// Returns the object of the audit entry, and its account.
    fn object(&self) -> (&str, Option<&Account>) {
        match self {
            Self::One(id, account) => (id.as_str(), *account),
            Self::Failed => ("failed", None),
            Self::FailedOfDomain(domain) => (domain.as_str(), None),
            Self::FailedOfAccount(account) => ("failed", Some(account)),
        }
    }
}
