//! Tracks failing endpoints. After days of failures an endpoint is disabled: it gets a single
//! attempt per hour until an attempt succeeds.

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::json;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_platform::accounts::{Account, Environment};
use signpost_store::{Row, Statement, Store, Stored, params, rows, sql};

use super::{Attempt, Delivery, DeliveryOutcome, endpoint_from_url};

/// Duration of uninterrupted failures until an endpoint is disabled.
const DISABLE_AFTER: SignedDuration = SignedDuration::from_hours(5 * 24);
/// Interval of the attempts at a disabled endpoint.
const PROBE_INTERVAL: SignedDuration = SignedDuration::from_hours(1);

const FAILED: &str =
    sql!(EndpointRow::INSERT, " ON CONFLICT (account, environment, endpoint) DO UPDATE SET next_probe_at = $5");

/// Disables an endpoint. Changes the row only once, so that only the first of several concurrent
/// attempts reports the change.
const DISABLED: &str = "
    UPDATE endpoints SET disabled_at = $4
    WHERE account = $1 AND environment = $2 AND endpoint = $3 AND disabled_at IS NULL AND failing_since <= $5
    RETURNING disabled_at";

const SUCCEEDED: &str = "
    DELETE FROM endpoints WHERE account = $1 AND environment = $2 AND endpoint = $3 RETURNING disabled_at";

/// Lists failing endpoints, by the index on the start of the failures.
const LIST: &str = sql!(EndpointRow::SELECT, " ORDER BY failing_since, endpoint LIMIT $1");

const FIND: &str = sql!(EndpointRow::SELECT, " WHERE account = $1 AND environment = $2 AND endpoint = $3");

const COUNT_UP_TO: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM endpoints LIMIT $1) AS failing";

/// Lists disabled endpoints, by the index on the start of the failures, because few endpoints are
/// disabled.
const LIST_DISABLED: &str =
    sql!(EndpointRow::SELECT, " WHERE disabled_at IS NOT NULL ORDER BY failing_since, endpoint LIMIT $1");

const COUNT_DISABLED: &str = "SELECT COUNT(*) FROM endpoints WHERE disabled_at IS NOT NULL";

rows! {
    /// The row of an endpoint whose last attempt failed.
    #[derive(Debug)]
    #[expect(missing_docs, reason = "the names are those of FailingEndpoint")]
    pub struct EndpointRow in "endpoints" by [account, environment, endpoint] {
        pub account: Account,
        pub endpoint: String,
        pub failing_since: Timestamp,
        pub next_probe_at: Timestamp,
    } mutable {
        pub disabled_at: Option<Timestamp>,
    }
}

/// A failing endpoint in a list for integrators or operators.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct FailingEndpoint {
    pub account: String,
    pub environment: Environment,
    /// The scheme, host and port of the URL.
    pub endpoint: String,
    pub failing_since: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_at: Option<Timestamp>,
    /// The time of the next attempt, if the endpoint is disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_probe_at: Option<Timestamp>,
}

/// Returns the statements that record the effect of an attempt on its endpoint, for the write that ends the attempt, so
/// that no second probe starts in between. The row of the last statement is the change of the endpoint.
pub(crate) fn endpoint_statements(
    delivery: &Delivery,
    attempt: &Attempt,
    outcome: DeliveryOutcome,
    now: Timestamp,
) -> Vec<Statement> {
    let Delivery { account, environment, url, .. } = delivery;
    let endpoint = endpoint_from_url(url);
    match outcome {
        DeliveryOutcome::Delivered if delivery.failed_before => {
            vec![Statement::new(SUCCEEDED, params![account, *environment, &endpoint])]
        }
        DeliveryOutcome::Delivered => Vec::new(),
        // The status 410 ends the delivery of this event, and is not a failure of the endpoint.
        DeliveryOutcome::Failed | DeliveryOutcome::Retry(_) if attempt.status == Some(410) => Vec::new(),
        DeliveryOutcome::Failed | DeliveryOutcome::Retry(_) => vec![
            Statement::new(FAILED, params![account, *environment, &endpoint, now, now + PROBE_INTERVAL]),
            Statement::new(DISABLED, params![account, *environment, &endpoint, now, now - DISABLE_AFTER]),
        ],
    }
}

/// Records in the log and in the audit log that an attempt disabled or enabled its endpoint, by the rows from its end.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn report_change(
    store: &Store,
    delivery: &Delivery,
    outcome: DeliveryOutcome,
    rows: &[Row],
    now: Timestamp,
) -> Result<()> {
    let Some(row) = rows.first() else { return Ok(()) };
    if row.opt_time(0)?.is_none() {
        return Ok(());
    }
    let action = match outcome {
        DeliveryOutcome::Delivered => Action::EndpointEnabled,
        DeliveryOutcome::Failed | DeliveryOutcome::Retry(_) => Action::EndpointDisabled,
    };
    let account = Account { name: delivery.account.clone(), environment: delivery.environment };
    let endpoint = endpoint_from_url(&delivery.url);
    tracing::warn!(endpoint, account = account.name, "{}", action.as_str());
    let entry = insert_entry(&Actor::Server, Some(&account), action, &endpoint, &json!({}), now);
    store.write([entry]).await?;
    Ok(())
}

/// Returns the failing endpoints, oldest failures first.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_failing(store: &Store, max: u32) -> Result<Vec<FailingEndpoint>> {
    read_failing(store, LIST, max).await
}

/// Returns the disabled endpoints, oldest failures first.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_disabled(store: &Store, max: u32) -> Result<Vec<FailingEndpoint>> {
    read_failing(store, LIST_DISABLED, max).await
}

async fn read_failing(store: &Store, sql: &'static str, max: u32) -> Result<Vec<FailingEndpoint>> {
    let rows = store.read(sql, params![max]).await?;
    rows.into_iter().map(|row| EndpointRow::from_row(row).map(FailingEndpoint::from)).collect()
}

/// Returns the number of failing endpoints, at most `max`.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn count_failing_up_to(store: &Store, max: u32) -> Result<u32> {
    Ok(u32::try_from(store.count(COUNT_UP_TO, params![max]).await?)?)
}

/// Returns the failing endpoint with this origin in an account. `None` if its last attempt
/// succeeded.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_failing(store: &Store, account: &Account, endpoint: &str) -> Result<Option<FailingEndpoint>> {
    match store.read_one(FIND, params![&account.name, account.environment, endpoint]).await? {
        Some(row) => Ok(Some(EndpointRow::from_row(row)?.into())),
        None => Ok(None),
    }
}

/// Returns the number of disabled endpoints.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn count_disabled(store: &Store) -> Result<i64> {
    store.count(COUNT_DISABLED, params![]).await
}

impl FailingEndpoint {
    /// Returns the account of the endpoint.
    #[must_use]
    pub fn owner(&self) -> Account {
        Account { name: self.account.clone(), environment: self.environment }
    }
}

impl From<EndpointRow> for FailingEndpoint {
    fn from(row: EndpointRow) -> Self {
        Self {
            account: row.account.name,
            environment: row.account.environment,
            endpoint: row.endpoint,
            failing_since: row.failing_since,
            disabled_at: row.disabled_at,
            next_probe_at: row.disabled_at.map(|_| row.next_probe_at),
        }
    }
}
