//! The outbox as its operator sees it: what waits, what failed, and sending it again.

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde::Serialize;

use crate::account::Environment;
use crate::id::{DomainId, EventId};
use crate::store::{Row, Store, Written, params, step};

const LIST: &str = "
    SELECT id, account, environment, domain_id, url, state, attempts, created_at, next_attempt_at, ended_at, last_status,
           last_error, body
    FROM deliveries WHERE ($1 = '' OR state = $1) AND ($2 = '' OR id = $2) ORDER BY created_at DESC, id DESC LIMIT $3";

const RETRY: &str = "
    UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_at = $1, ended_at = NULL, leased_until = NULL
    WHERE (id = $2 OR ($2 = '' AND state = 'failed')) AND (leased_until IS NULL OR leased_until <= $1)
    RETURNING id";

/// An event and what became of it.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Listed {
    pub id: EventId,
    pub account: String,
    pub environment: Environment,
    pub domain_id: DomainId,
    pub url: String,
    pub state: String,
    pub attempts: i64,
    pub created_at: Timestamp,
    /// When it is sent next; of one that is over, when it was sent last.
    pub next_attempt_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_status: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// What every attempt sends; shown for one event alone.
    #[serde(skip)]
    pub body: String,
}

impl Store {
    /// The newest events of a state, or of every state.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn anyones_deliveries(&self, state: Option<&str>, most: u32) -> Result<Vec<Listed>> {
        let params = params![state.unwrap_or_default(), "", i64::from(most)];
        self.read(LIST, params).await?.iter().map(listed).collect()
    }

    /// One event.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn anyones_delivery(&self, id: &EventId) -> Result<Option<Listed>> {
        self.read_one(LIST, params!["", id, 1_i64]).await?.as_ref().map(listed).transpose()
    }

    /// Sends an event again as soon as may be, or all that failed; what is being sent just now is left alone. Returns
    /// how many those are. Their attempts count anew.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn retry_deliveries(&self, id: Option<&EventId>, now: Timestamp) -> Result<usize> {
        let id = id.map_or("", EventId::as_str);
        match self.write([step(RETRY, params![now, id])]).await? {
            Written::Committed(rows) => Ok(rows.len()),
            Written::Refused(_) => Ok(0),
        }
    }
}

fn listed(row: &Row) -> Result<Listed> {
    Ok(Listed {
        id: EventId::parse(row.text(0)?).context("deliveries.id")?,
        account: row.text(1)?.to_owned(),
        environment: Environment::parse(row.text(2)?).context("deliveries.environment")?,
        domain_id: DomainId::parse(row.text(3)?).context("deliveries.domain_id")?,
        url: row.text(4)?.to_owned(),
        state: row.text(5)?.to_owned(),
        attempts: row.int(6)?,
        created_at: row.time(7)?,
        next_attempt_at: row.time(8)?,
        ended_at: row.opt_time(9)?,
        last_status: row.opt_int(10)?,
        last_error: row.opt_text(11)?.map(str::to_owned),
        body: row.text(12)?.to_owned(),
    })
}
