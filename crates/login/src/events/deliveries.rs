//! The outbox as its operator sees it: what waits, what failed, and sending it again.

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_platform::accounts::{Account, Environment};
use signpost_store::{Row, Store, Stored, Values, params, rows, sql};

use super::queue_test;
use crate::domains::Domain;
use crate::ids::{DomainId, EventId};

/// An event as it is listed, of the rows `d`.
const ITEM: &str = sql!(
    "SELECT ",
    DeliveryRow::COLUMN_LIST,
    ", (SELECT e.disabled_at FROM endpoints AS e
        WHERE e.account = d.account AND e.environment = d.environment AND e.endpoint = d.endpoint)
     FROM deliveries AS d "
);

const LIST: &str = sql!(ITEM, "WHERE ($1 = '' OR d.state = $1) ORDER BY d.id DESC LIMIT $2");

/// Along the index of an account's.
const LIST_OF: &str = sql!(
    ITEM,
    "WHERE d.account = $1 AND d.environment = $2 AND d.id < $3 AND ($4 = '' OR d.state = $4)
     ORDER BY d.id DESC LIMIT $5"
);

const FIND: &str = sql!(ITEM, "WHERE d.id = $1");

const FIND_OF: &str = sql!(ITEM, "WHERE d.id = $1 AND d.account = $2 AND d.environment = $3");

const COUNT_FAILED: &str = "SELECT COUNT(*) FROM deliveries WHERE state = 'failed'";

/// Every id there is comes before this text.
const AFTER_ALL: &str = "zzzz";

const COUNT_FAILED_UP_TO: &str =
    "SELECT COUNT(*) FROM (SELECT 1 FROM deliveries WHERE state = 'failed' LIMIT $1) AS found";

const COUNT_FAILED_OF_UP_TO: &str =
    "SELECT COUNT(*) FROM (SELECT 1 FROM deliveries WHERE state = 'failed' AND domain_id = $2 LIMIT $1) AS found";

const LIST_NEWEST: &str =
    sql!("SELECT ", DeliveryRow::COLUMN_LIST, " FROM deliveries WHERE id < $1 ORDER BY id DESC LIMIT $2");

/// Along the index of those that failed, which are few among all.
const LIST_FAILED: &str = sql!(
    "SELECT ",
    DeliveryRow::COLUMN_LIST,
    " FROM deliveries WHERE state = 'failed' AND id < $1 ORDER BY id DESC LIMIT $2"
);

const LIST_FAILED_OF: &str = sql!(
    "SELECT ",
    DeliveryRow::COLUMN_LIST,
    " FROM deliveries WHERE state = 'failed' AND id < $1 AND domain_id = $3 ORDER BY id DESC LIMIT $2"
);

const LIST_FAILED_TO: &str = sql!(
    "SELECT ",
    DeliveryRow::COLUMN_LIST,
    " FROM deliveries
     WHERE state = 'failed' AND id < $1 AND account = $3 AND environment = $4 AND endpoint = $5
     ORDER BY id DESC LIMIT $2"
);

/// Along the index of those that wait, the one that waits the longest for its attempt first.
const LIST_WAITING: &str = sql!(
    "SELECT ",
    DeliveryRow::COLUMN_LIST,
    " FROM deliveries WHERE state || '' = 'pending' ORDER BY next_attempt_at LIMIT $1"
);

/// Along the index of what failed at an endpoint and waits for its next attempt, the first of which comes first.
const LIST_REFUSED_BY: &str = sql!(
    "SELECT ",
    DeliveryRow::COLUMN_LIST,
    " FROM deliveries
     WHERE state = 'pending' AND in_backoff = 1 AND environment || ' ' || account = $2 AND endpoint = $3
     ORDER BY next_attempt_at, id LIMIT $1"
);

/// The same of what is ready for an attempt.
const LIST_READY_FOR: &str = sql!(
    "SELECT ",
    DeliveryRow::COLUMN_LIST,
    " FROM deliveries
     WHERE state = 'pending' AND in_backoff = 0 AND environment || ' ' || account = $2 AND endpoint = $3
     ORDER BY next_attempt_at, id LIMIT $1"
);

/// Along the primary key, so that who asks again and again costs little.
const LIST_AFTER: &str = sql!(
    "SELECT ",
    DeliveryRow::COLUMN_LIST,
    " FROM deliveries
     WHERE id > $1 AND ($2 = '' OR domain_id = $2) AND ($3 = '' OR environment = $3) AND ($4 = '' OR account = $4)
     ORDER BY id LIMIT $5"
);

/// How each of them is asked, but for what the command line lists. Public for the test of how each finds its rows.
pub const DELIVERY_STATEMENTS: [&str; 12] = [
    FIND,
    FIND_OF,
    LIST_OF,
    COUNT_FAILED_UP_TO,
    COUNT_FAILED_OF_UP_TO,
    LIST_NEWEST,
    LIST_FAILED,
    LIST_FAILED_OF,
    LIST_FAILED_TO,
    LIST_WAITING,
    LIST_REFUSED_BY,
    LIST_READY_FOR,
];

rows! {
    /// An event and what became of it.
    #[derive(Debug, Serialize)]
    #[expect(missing_docs, reason = "the names say it")]
    pub struct DeliveryRow in "deliveries" by [id] {
        pub id: EventId,
        pub account: String,
        pub environment: Environment,
        pub domain_id: DomainId,
        pub url: String,
        /// Scheme, host and port of the URL.
        #[serde(skip)]
        pub endpoint: String,
        /// What every attempt sends; shown for one event alone.
        #[serde(skip)]
        pub body: String,
        pub state: String,
        pub attempts: i64,
        pub created_at: Timestamp,
        /// When it is sent next; of one that is over, when it was sent last.
        pub next_attempt_at: Timestamp,
    } later {
        #[serde(skip_serializing_if = "Option::is_none")]
        pub ended_at: Option<Timestamp>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub last_status: Option<i64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub last_error: Option<String>,
        /// The beginning of what a public endpoint said last.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub last_answer: Option<String>,
        /// The last attempts, which [`attempts`](super::attempts) reads.
        #[serde(skip)]
        pub past_attempts: Option<String>,
    } beside {
        leased_until: Option<Timestamp>,
        in_backoff: i64,
    }
}

/// An event as it is listed.
#[derive(Debug, Serialize)]
pub struct DeliveryListItem {
    /// Its row.
    #[serde(flatten)]
    pub delivery: DeliveryRow,
    /// Since when the endpoint is left alone but for one attempt an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint_disabled_at: Option<Timestamp>,
}

/// Which events of an account.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct DeliveryFilter<'a> {
    pub state: Option<&'a str>,
    pub before: Option<&'a EventId>,
    pub most: u32,
}

/// Whose events.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub struct DeliveryScope {
    pub domain: Option<DomainId>,
    pub environment: Option<Environment>,
    pub account: Option<String>,
}

/// The events behind one in the order of their ids, oldest first. Reads only: what becomes of them stays as it is.
///
/// Ids begin with the time, and an event may be written a moment after one with a later id.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_after(store: &Store, after: &EventId, of: &DeliveryScope, most: u32) -> Result<Vec<DeliveryRow>> {
    let DeliveryScope { domain, environment, account } = of;
    let domain = domain.as_ref().map_or("", DomainId::as_str);
    let environment = environment.map_or("", Environment::as_str);
    let account = account.as_deref().unwrap_or_default();
    let rows = store.read(LIST_AFTER, params![after, domain, environment, account, i64::from(most)]).await?;
    read_rows(rows)
}

/// The newest events of a state, or of every state.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_all(store: &Store, state: Option<&str>, most: u32) -> Result<Vec<DeliveryListItem>> {
    let rows = store.read(LIST, params![state.unwrap_or_default(), most]).await?;
    rows.into_iter().map(read_item).collect()
}

/// An account's events, newest first.
///
/// # Errors
/// As [`Store::read`].
pub async fn list(store: &Store, account: &Account, filter: &DeliveryFilter<'_>) -> Result<Vec<DeliveryListItem>> {
    let DeliveryFilter { state, before, most } = filter;
    let (before, state) = (before.map_or(AFTER_ALL, EventId::as_str), state.unwrap_or_default());
    let params = params![&account.name, account.environment, before, state, *most];
    store.read(LIST_OF, params).await?.into_iter().map(read_item).collect()
}

/// An account's event.
///
/// # Errors
/// As [`Store::read`].
pub async fn find(store: &Store, account: &Account, id: &EventId) -> Result<Option<DeliveryListItem>> {
    store.read_one(FIND_OF, params![id, &account.name, account.environment]).await?.map(read_item).transpose()
}

/// One event.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_in_any_account(store: &Store, id: &EventId) -> Result<Option<DeliveryListItem>> {
    store.read_one(FIND, params![id]).await?.map(read_item).transpose()
}

/// How many events failed for good.
///
/// # Errors
/// As [`Store::read`].
pub async fn count_failed(store: &Store) -> Result<i64> {
    store.read_one(COUNT_FAILED, params![]).await?.context("COUNT is one row")?.int(0)
}

/// The same, counted no further than `most`: of many it takes no longer than of few.
///
/// # Errors
/// As [`Store::read`].
pub async fn count_failed_up_to(store: &Store, most: u32) -> Result<u32> {
    let row = store.read_one(COUNT_FAILED_UP_TO, params![most]).await?.context("COUNT is one row")?;
    Ok(u32::try_from(row.int(0)?)?)
}

/// The same of one domain.
///
/// # Errors
/// As [`Store::read`].
pub async fn count_failed_of_up_to(store: &Store, domain: &DomainId, most: u32) -> Result<u32> {
    let row = store.read_one(COUNT_FAILED_OF_UP_TO, params![most, domain]).await?.context("COUNT is one row")?;
    Ok(u32::try_from(row.int(0)?)?)
}

/// Events that failed for good at an endpoint of an account, the newest first; those older than `before`.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_failed_to(
    store: &Store,
    (account, endpoint): (&Account, &str),
    before: Option<&EventId>,
    most: u32,
) -> Result<Vec<DeliveryRow>> {
    let before = before.map_or(AFTER_ALL, EventId::as_str);
    let params = params![before, most, &account.name, account.environment, endpoint];
    read_rows(store.read(LIST_FAILED_TO, params).await?)
}

/// Events that failed for good, of a domain or of all, the newest first; those older than `before`.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_failed(
    store: &Store,
    domain: Option<&DomainId>,
    before: Option<&EventId>,
    most: u32,
) -> Result<Vec<DeliveryRow>> {
    let before = before.map_or(AFTER_ALL, EventId::as_str);
    read_rows(match domain {
        Some(domain) => store.read(LIST_FAILED_OF, params![before, most, domain]).await?,
        None => store.read(LIST_FAILED, params![before, most]).await?,
    })
}

/// Events that wait, in the order in which they are sent.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_waiting(store: &Store, most: u32) -> Result<Vec<DeliveryRow>> {
    read_rows(store.read(LIST_WAITING, params![most]).await?)
}

/// Events of an account that wait for an endpoint: what it refused, in the order in which it is sent again, then what had no
/// attempt since.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_waiting_for(
    store: &Store,
    (account, endpoint): (&Account, &str),
    most: u32,
) -> Result<Vec<DeliveryRow>> {
    let owner = format!("{} {}", account.environment, account.name);
    let mut rows = store.read(LIST_REFUSED_BY, params![most, &owner, endpoint]).await?;
    let left = most.saturating_sub(u32::try_from(rows.len())?);
    rows.extend(store.read(LIST_READY_FOR, params![left, owner, endpoint]).await?);
    read_rows(rows)
}

/// Events of all accounts, the newest first; those older than `before`.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_newest(store: &Store, before: Option<&EventId>, most: u32) -> Result<Vec<DeliveryRow>> {
    let before = before.map_or(AFTER_ALL, EventId::as_str);
    read_rows(store.read(LIST_NEWEST, params![before, most]).await?)
}

fn read_rows(rows: Vec<Row>) -> Result<Vec<DeliveryRow>> {
    rows.into_iter().map(|row| DeliveryRow::from_values(&mut Values::new(DeliveryRow::TABLE, row))).collect()
}

/// Queues a test event of a domain, and says so in the audit log. Gives its id.
///
/// # Errors
/// As [`Store::write`].
pub async fn send_test_event(
    store: &Store,
    domain: &Domain,
    id: EventId,
    actor: &Actor,
    now: Timestamp,
) -> Result<EventId> {
    let entry = insert_entry(
        actor,
        Some(&domain.account),
        Action::TestEventSent,
        domain.id.as_str(),
        &json!({ "event": id }),
        now,
    );
    store.write([entry, queue_test(&id, domain, now)?]).await?;
    Ok(id)
}

fn read_item(row: Row) -> Result<DeliveryListItem> {
    let endpoint_disabled_at = row.opt_time(DeliveryRow::READ).context("endpoints.disabled_at")?;
    let delivery = DeliveryRow::from_values(&mut Values::new(DeliveryRow::TABLE, row))?;
    Ok(DeliveryListItem { delivery, endpoint_disabled_at })
}
