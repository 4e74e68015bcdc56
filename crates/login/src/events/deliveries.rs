//! Lists the deliveries of events in the outbox, and queues test events.

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use signpost_auth::{Event, EventKind};
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_platform::accounts::{Account, Environment};
use signpost_store::{Row, Store, Stored, Values, params, rows, sql};

use super::queue;
use super::sample::{SampleEntropy, sample_event};
use crate::domains::Domain;
use crate::ids::{DomainId, EventId};

/// Start of a query for list items. The deliveries have the alias `d`.
const ITEM: &str = sql!(
    "SELECT ",
    DeliveryRow::COLUMN_LIST,
    ", (SELECT e.disabled_at FROM endpoints AS e
        WHERE e.account = d.account AND e.environment = d.environment AND e.endpoint = d.endpoint)
     FROM deliveries AS d "
);

const LIST: &str = sql!(ITEM, "WHERE ($1 = '' OR d.state = $1) ORDER BY d.id DESC LIMIT $2");

/// Lists the events of an account. Uses the index by account.
const LIST_OF_ACCOUNT: &str = sql!(
    ITEM,
    "WHERE d.account = $1 AND d.environment = $2 AND d.id < $3 AND ($4 = '' OR d.state = $4)
     ORDER BY d.id DESC LIMIT $5"
);

/// Lists the events of an account after an ID. Uses the index by account.
const LIST_OF_ACCOUNT_AFTER: &str =
    sql!(DeliveryRow::SELECT, " WHERE account = $1 AND environment = $2 AND id > $3 ORDER BY id LIMIT $4");

const FIND: &str = sql!(ITEM, "WHERE d.id = $1");

const FIND_OF_ACCOUNT: &str = sql!(ITEM, "WHERE d.id = $1 AND d.account = $2 AND d.environment = $3");

/// A text that is greater than every event ID.
const AFTER_ALL_IDS: &str = "zzzz";

const COUNT_FAILED_UP_TO: &str =
    "SELECT COUNT(*) FROM (SELECT 1 FROM deliveries WHERE state = 'failed' LIMIT $1) AS found";

const COUNT_FAILED_OF_DOMAIN: &str =
    "SELECT COUNT(*) FROM (SELECT 1 FROM deliveries WHERE state = 'failed' AND domain_id = $2 LIMIT $1) AS found";

const LIST_NEWEST: &str = sql!(DeliveryRow::SELECT, " WHERE id < $1 ORDER BY id DESC LIMIT $2");

/// Lists failed events. Uses the small index of failed deliveries.
const LIST_FAILED: &str = sql!(DeliveryRow::SELECT, " WHERE state = 'failed' AND id < $1 ORDER BY id DESC LIMIT $2");

const LIST_FAILED_OF: &str =
    sql!(DeliveryRow::SELECT, " WHERE state = 'failed' AND id < $1 AND domain_id = $3 ORDER BY id DESC LIMIT $2");

const LIST_FAILED_AT_ENDPOINT: &str = sql!(
    DeliveryRow::SELECT,
    " WHERE state = 'failed' AND id < $1 AND account = $3 AND environment = $4 AND endpoint = $5
     ORDER BY id DESC LIMIT $2"
);

/// Lists pending events. Uses the index of pending deliveries by the time of their next attempt.
const LIST_WAITING: &str =
    sql!(DeliveryRow::SELECT, " WHERE state || '' = 'pending' ORDER BY next_attempt_at LIMIT $1");

/// Lists events for an endpoint that wait after a failed attempt. Uses their index by account,
/// endpoint and time.
const LIST_REFUSED_BY: &str = sql!(
    DeliveryRow::SELECT,
    " WHERE state = 'pending' AND in_backoff = 1 AND environment || ' ' || account = $2 AND endpoint = $3
     ORDER BY next_attempt_at, id LIMIT $1"
);

/// Lists events for an endpoint that are ready for an attempt. Uses their index by account,
/// endpoint and time.
const LIST_READY_FOR: &str = sql!(
    DeliveryRow::SELECT,
    " WHERE state = 'pending' AND in_backoff = 0 AND environment || ' ' || account = $2 AND endpoint = $3
     ORDER BY next_attempt_at, id LIMIT $1"
);

/// Lists the events after an ID. Uses the primary key, so that frequent polling is cheap.
const LIST_AFTER: &str = sql!(
    DeliveryRow::SELECT,
    " WHERE id > $1 AND ($2 = '' OR domain_id = $2) AND ($3 = '' OR environment = $3) AND ($4 = '' OR account = $4)
     ORDER BY id LIMIT $5"
);

/// The statements of this module, except those for the command line. Public for the test of their
/// query plans.
pub const DELIVERY_STATEMENTS: [&str; 13] = [
    FIND,
    FIND_OF_ACCOUNT,
    LIST_OF_ACCOUNT,
    LIST_OF_ACCOUNT_AFTER,
    COUNT_FAILED_UP_TO,
    COUNT_FAILED_OF_DOMAIN,
    LIST_NEWEST,
    LIST_FAILED,
    LIST_FAILED_OF,
    LIST_FAILED_AT_ENDPOINT,
    LIST_WAITING,
    LIST_REFUSED_BY,
    LIST_READY_FOR,
];

rows! {
    /// An event and the state of its delivery.
    #[derive(Debug, Serialize)]
    #[expect(missing_docs, reason = "the names are self-explanatory")]
    pub struct DeliveryRow in "deliveries" by [id] {
        pub id: EventId,
        pub account: String,
        pub environment: Environment,
        pub domain_id: DomainId,
        pub url: String,
        /// Scheme, host and port of the URL.
        #[serde(skip)]
        pub endpoint: String,
        /// The body of every attempt; not shown in lists.
        #[serde(skip)]
        pub body: String,
        pub state: String,
        pub attempts: i64,
        pub created_at: Timestamp,
        /// The time of the next attempt, or of the last attempt if the delivery has ended.
        pub next_attempt_at: Timestamp,
    } mutable {
        #[serde(skip_serializing_if = "Option::is_none")]
        pub ended_at: Option<Timestamp>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub last_status: Option<i64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub last_error: Option<String>,
        /// The start of the last response body, for public endpoints.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub last_answer: Option<String>,
        /// The last attempts, parsed by [`attempts`](super::attempts).
        #[serde(skip)]
        pub past_attempts: Option<String>,
    } internal {
        leased_until: Option<Timestamp>,
        in_backoff: i64,
    }
}

/// An event in a list, with the state of its endpoint.
#[derive(Debug, Serialize)]
pub struct DeliveryListItem {
    /// The row of the event.
    #[serde(flatten)]
    pub delivery: DeliveryRow,
    /// The time since when the endpoint gets only one attempt per hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint_disabled_at: Option<Timestamp>,
}

/// The filter for a list of an account's events.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct DeliveryFilter<'a> {
    pub state: Option<&'a str>,
    pub before: Option<&'a EventId>,
    pub limit: u32,
}

/// The domain, environment and account that a list of events is limited to.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct DeliveryScope {
    pub domain: Option<DomainId>,
    pub environment: Option<Environment>,
    pub account: Option<String>,
}

/// Returns the events after `after` in the order of their IDs.
///
/// IDs start with the time, and an event may be stored slightly later than an event with a greater ID.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_after(store: &Store, after: &EventId, of: &DeliveryScope, max: u32) -> Result<Vec<DeliveryRow>> {
    let DeliveryScope { domain, environment, account } = of;
    let domain = domain.as_ref().map_or("", DomainId::as_str);
    let environment = environment.map_or("", Environment::as_str);
    let account = account.as_deref().unwrap_or_default();
    read_rows(store.read(LIST_AFTER, params![after, domain, environment, account, i64::from(max)]).await?)
}

/// Returns the newest events of a state, or of all states.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_all(store: &Store, state: Option<&str>, max: u32) -> Result<Vec<DeliveryListItem>> {
    let rows = store.read(LIST, params![state.unwrap_or_default(), max]).await?;
    rows.into_iter().map(read_item).collect()
}

/// Returns the events of an account, newest first.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list(store: &Store, account: &Account, filter: &DeliveryFilter<'_>) -> Result<Vec<DeliveryListItem>> {
    let DeliveryFilter { state, before, limit } = filter;
    let before = before.map_or(AFTER_ALL_IDS, EventId::as_str);
    let params = params![&account.name, account.environment, before, state.unwrap_or_default(), *limit];
    store.read(LIST_OF_ACCOUNT, params).await?.into_iter().map(read_item).collect()
}

/// Returns the events of an account after `after`, in the order of their IDs.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_of_account_after(
    store: &Store,
    account: &Account,
    after: Option<&EventId>,
    max: u32,
) -> Result<Vec<DeliveryRow>> {
    let after = after.map_or("", EventId::as_str);
    read_rows(store.read(LIST_OF_ACCOUNT_AFTER, params![&account.name, account.environment, after, max]).await?)
}

/// Returns the event with this ID if it belongs to the account.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find(store: &Store, account: &Account, id: &EventId) -> Result<Option<DeliveryListItem>> {
    store.read_one(FIND_OF_ACCOUNT, params![id, &account.name, account.environment]).await?.map(read_item).transpose()
}

/// Returns the event with this ID regardless of account. Callers must authorize access by other means.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_in_any_account(store: &Store, id: &EventId) -> Result<Option<DeliveryListItem>> {
    store.read_one(FIND, params![id]).await?.map(read_item).transpose()
}

/// Returns the number of failed events, at most `max`, in a time that does not depend on their number.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn count_failed_up_to(store: &Store, max: u32) -> Result<u32> {
    Ok(u32::try_from(store.count(COUNT_FAILED_UP_TO, params![max]).await?)?)
}

/// Returns the number of failed events of a domain, at most `max`.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn count_failed_of_domain(store: &Store, domain: &DomainId, max: u32) -> Result<u32> {
    Ok(u32::try_from(store.count(COUNT_FAILED_OF_DOMAIN, params![max, domain]).await?)?)
}

/// Returns the events that failed at an endpoint of an account and are older than `before`, newest first.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_failed_at_endpoint(
    store: &Store,
    (account, endpoint): (&Account, &str),
    before: Option<&EventId>,
    max: u32,
) -> Result<Vec<DeliveryRow>> {
    let before = before.map_or(AFTER_ALL_IDS, EventId::as_str);
    let params = params![before, max, &account.name, account.environment, endpoint];
    read_rows(store.read(LIST_FAILED_AT_ENDPOINT, params).await?)
}

/// Returns the events of a domain, or of all domains, that failed and are older than `before`, newest first.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_failed(
    store: &Store,
    domain: Option<&DomainId>,
    before: Option<&EventId>,
    max: u32,
) -> Result<Vec<DeliveryRow>> {
    let before = before.map_or(AFTER_ALL_IDS, EventId::as_str);
    read_rows(match domain {
        Some(domain) => store.read(LIST_FAILED_OF, params![before, max, domain]).await?,
        None => store.read(LIST_FAILED, params![before, max]).await?,
    })
}

/// Returns the pending events in the order of their next attempts.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_waiting(store: &Store, max: u32) -> Result<Vec<DeliveryRow>> {
    read_rows(store.read(LIST_WAITING, params![max]).await?)
}

/// Returns the pending events of an account for an endpoint: first those that wait after a failed attempt, then those
/// that are ready for an attempt.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_waiting_for(
    store: &Store,
    (account, endpoint): (&Account, &str),
    max: u32,
) -> Result<Vec<DeliveryRow>> {
    let owner = format!("{} {}", account.environment, account.name);
    let mut rows = store.read(LIST_REFUSED_BY, params![max, &owner, endpoint]).await?;
    let left = max.saturating_sub(u32::try_from(rows.len())?);
    rows.extend(store.read(LIST_READY_FOR, params![left, owner, endpoint]).await?);
    read_rows(rows)
}

/// Returns the events of all accounts that are older than `before`, newest first.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_newest(store: &Store, before: Option<&EventId>, max: u32) -> Result<Vec<DeliveryRow>> {
    let before = before.map_or(AFTER_ALL_IDS, EventId::as_str);
    read_rows(store.read(LIST_NEWEST, params![before, max]).await?)
}

fn read_rows(rows: Vec<Row>) -> Result<Vec<DeliveryRow>> {
    rows.into_iter().map(DeliveryRow::from_row).collect()
}

/// Queues a test event of a domain, with an entry in the audit log. Returns the ID of the event.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn send_test_event(
    store: &Store,
    domain: &Domain,
    id: EventId,
    actor: &Actor,
    now: Timestamp,
) -> Result<EventId> {
    let event = Event {
        id: id.to_string(),
        event: EventKind::Test,
        timestamp: now.to_string(),
        session_id: String::new(),
        data: None,
        user: None,
    };
    send(store, domain, id, &event, actor, now).await
}

/// Queues a sample event of a kind, like a test event. Callers must not send samples of other kinds than test events to
/// live domains, because a receiver takes them for real events.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn send_sample_event(
    store: &Store,
    domain: &Domain,
    kind: &EventKind,
    entropy: SampleEntropy,
    actor: &Actor,
    now: Timestamp,
) -> Result<EventId> {
    let (id, event) = sample_event(kind, &domain.name, domain.handler, now, entropy);
    send(store, domain, id, &event, actor, now).await
}

async fn send(
    store: &Store,
    domain: &Domain,
    id: EventId,
    event: &Event,
    actor: &Actor,
    now: Timestamp,
) -> Result<EventId> {
    let mut details = json!({ "event": id });
    if event.event != EventKind::Test {
        details["kind"] = event.event.as_str().into();
    }
    let entry = insert_entry(actor, Some(&domain.account), Action::TestEventSent, domain.id.as_str(), &details, now);
    let queued = queue(&id, event, &domain.account, &domain.id, domain.events_url(), now)?;
    store.write([entry, queued]).await?;
    Ok(id)
}

fn read_item(row: Row) -> Result<DeliveryListItem> {
    let endpoint_disabled_at = row.opt_time(DeliveryRow::READ).context("endpoints.disabled_at")?;
    let delivery = DeliveryRow::from_values(&mut Values::new(DeliveryRow::TABLE, row))?;
    Ok(DeliveryListItem { delivery, endpoint_disabled_at })
}
