//! The outbox as its operator sees it: what waits, what failed, and sending it again.

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde::Serialize;
use signpost_platform::accounts::{Account, Environment};
use signpost_store::{Row, Store, WriteOutcome, params, step};

use crate::ids::{DomainId, EventId};

const LIST: &str = "
    SELECT d.id, d.account, d.environment, d.domain_id, d.url, d.state, d.attempts, d.created_at, d.next_attempt_at,
           d.ended_at, d.last_status, d.last_error, d.body, d.last_answer, e.disabled_at
    FROM deliveries AS d
    LEFT JOIN endpoints AS e
           ON e.account = d.account AND e.environment = d.environment AND e.endpoint = d.endpoint
    WHERE ($1 = '' OR d.state = $1) AND ($2 = '' OR d.id = $2) AND ($4 = '' OR d.account = $4)
      AND ($5 = '' OR d.environment = $5) AND ($6 = '' OR d.id < $6)
    ORDER BY d.id DESC LIMIT $3";

const RETRY: &str = "
    UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_at = $1, ended_at = NULL, leased_until = NULL,
                          in_backoff = 0
    WHERE (id = $2 OR ($2 = '' AND state = 'failed')) AND (leased_until IS NULL OR leased_until <= $1)
      AND ($3 = '' OR account = $3) AND ($4 = '' OR environment = $4)
    RETURNING id";

/// An event and what became of it.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct DeliveryListItem {
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
    /// The beginning of what a public endpoint said last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_answer: Option<String>,
    /// Since when the endpoint is left alone but for one attempt an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint_disabled_at: Option<Timestamp>,
    /// What every attempt sends; shown for one event alone.
    #[serde(skip)]
    pub body: String,
}

/// Which events of an account.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct DeliveryFilter<'a> {
    pub state: Option<&'a str>,
    pub before: Option<&'a EventId>,
    pub most: u32,
}

/// The newest events of a state, or of every state.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_all(store: &Store, state: Option<&str>, most: u32) -> Result<Vec<DeliveryListItem>> {
    let params = params![state.unwrap_or_default(), "", i64::from(most), "", "", ""];
    store.read(LIST, params).await?.iter().map(read_item).collect()
}

/// An account's events, newest first.
///
/// # Errors
/// As [`Store::read`].
pub async fn list(store: &Store, account: &Account, filter: &DeliveryFilter<'_>) -> Result<Vec<DeliveryListItem>> {
    let DeliveryFilter { state, before, most } = filter;
    let (name, before) = (&account.name, before.map_or("", EventId::as_str));
    let params = params![state.unwrap_or_default(), "", i64::from(*most), name, account.environment, before];
    store.read(LIST, params).await?.iter().map(read_item).collect()
}

/// An account's event.
///
/// # Errors
/// As [`Store::read`].
pub async fn find(store: &Store, account: &Account, id: &EventId) -> Result<Option<DeliveryListItem>> {
    let params = params!["", id, 1_i64, &account.name, account.environment, ""];
    store.read_one(LIST, params).await?.as_ref().map(read_item).transpose()
}

/// One event.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_in_any_account(store: &Store, id: &EventId) -> Result<Option<DeliveryListItem>> {
    store.read_one(LIST, params!["", id, 1_i64, "", "", ""]).await?.as_ref().map(read_item).transpose()
}

/// Sends an event again as soon as may be, or all that failed, of an account or of all; what is being sent just now is left alone. Returns
/// how many those are. Their attempts count anew.
///
/// # Errors
/// As [`Store::write`].
pub async fn retry(store: &Store, account: Option<&Account>, id: Option<&EventId>, now: Timestamp) -> Result<usize> {
    let id = id.map_or("", EventId::as_str);
    let (name, environment) = account.map_or(("", ""), |of| (&of.name, of.environment.as_str()));
    match store.write([step(RETRY, params![now, id, name, environment])]).await? {
        WriteOutcome::Committed(rows) => Ok(rows.len()),
        WriteOutcome::Refused(_) => Ok(0),
    }
}

fn read_item(row: &Row) -> Result<DeliveryListItem> {
    Ok(DeliveryListItem {
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
        last_answer: row.opt_text(13)?.map(str::to_owned),
        endpoint_disabled_at: row.opt_time(14)?,
        body: row.text(12)?.to_owned(),
    })
}
