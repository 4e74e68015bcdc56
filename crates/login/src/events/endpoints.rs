//! Endpoints that only fail: after days of it they are left alone but for one attempt an hour, until one succeeds.

use anyhow::{Context, Result};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::json;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_platform::accounts::{Account, Environment};
use signpost_store::{Row, Step, Store, Stored, params, rows, sql, step};

use super::{Attempt, Delivery, DeliveryOutcome, endpoint_from_url};

/// How long an endpoint may do nothing but fail.
const DISABLE_AFTER: SignedDuration = SignedDuration::from_hours(5 * 24);
/// How often a disabled one is tried.
const PROBE_INTERVAL: SignedDuration = SignedDuration::from_hours(1);

const FAILED: &str =
    sql!(EndpointRow::INSERT, " ON CONFLICT (account, environment, endpoint) DO UPDATE SET next_probe_at = $5");

/// Changes a row once: of attempts that end together one disables the endpoint, and tells.
const DISABLED: &str = "
    UPDATE endpoints SET disabled_at = $4
    WHERE account = $1 AND environment = $2 AND endpoint = $3 AND disabled_at IS NULL AND failing_since <= $5
    RETURNING disabled_at";

const SUCCEEDED: &str = "
    DELETE FROM endpoints WHERE account = $1 AND environment = $2 AND endpoint = $3 RETURNING disabled_at";

/// Along the index of when they began to fail.
const LIST: &str = sql!(EndpointRow::SELECT, " ORDER BY failing_since, endpoint LIMIT $1");

const FIND: &str = sql!(EndpointRow::SELECT, " WHERE account = $1 AND environment = $2 AND endpoint = $3");

const COUNT_UP_TO: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM endpoints LIMIT $1) AS failing";

/// Along the index of when they began to fail too: few are disabled, so that no index is of those alone.
const LIST_DISABLED: &str =
    sql!(EndpointRow::SELECT, " WHERE disabled_at IS NOT NULL ORDER BY failing_since, endpoint LIMIT $1");

const COUNT_DISABLED: &str = "SELECT COUNT(*) FROM endpoints WHERE disabled_at IS NOT NULL";

rows! {
    /// An endpoint's row, which is there while it only fails.
    #[derive(Debug)]
    #[expect(missing_docs, reason = "the names are those of FailingEndpoint")]
    pub struct EndpointRow in "endpoints" by [account, environment, endpoint] {
        pub account: Account,
        pub endpoint: String,
        pub failing_since: Timestamp,
        pub next_probe_at: Timestamp,
    } later {
        pub disabled_at: Option<Timestamp>,
    }
}

/// An endpoint whose last attempt failed, and all before it since then.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct FailingEndpoint {
    pub account: String,
    pub environment: Environment,
    /// Scheme, host and port.
    pub endpoint: String,
    pub failing_since: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_at: Option<Timestamp>,
    /// When it is tried next, once it is disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_probe_at: Option<Timestamp>,
}

/// The steps that remember whether an endpoint still only fails, in the write that ends the attempt: between the two
/// nobody must take a second probe. None where there is nothing to remember. The last one's row is the endpoint's change.
pub(crate) fn judge_endpoint(
    delivery: &Delivery,
    attempt: &Attempt,
    outcome: DeliveryOutcome,
    now: Timestamp,
) -> Vec<Step> {
    let endpoint = endpoint_from_url(&delivery.url);
    let (account, environment) = (&delivery.account, delivery.environment);
    match outcome {
        DeliveryOutcome::Delivered if delivery.failed_before => {
            vec![step(SUCCEEDED, params![account, environment, &endpoint])]
        }
        DeliveryOutcome::Delivered => Vec::new(),
        // What an endpoint that is gone says ends that delivery, and tells nothing of the endpoint.
        DeliveryOutcome::Failed | DeliveryOutcome::Retry(_) if attempt.status == Some(410) => Vec::new(),
        DeliveryOutcome::Failed | DeliveryOutcome::Retry(_) => vec![
            step(FAILED, params![account, environment, &endpoint, now, now + PROBE_INTERVAL]),
            step(DISABLED, params![account, environment, &endpoint, now, now - DISABLE_AFTER]),
        ],
    }
}

/// Says in log and audit where the end of an attempt, which gave these rows, disabled its endpoint or enabled it.
///
/// # Errors
/// As [`Store::write`].
pub async fn report_change(
    store: &Store,
    delivery: &Delivery,
    outcome: DeliveryOutcome,
    rows: &[Row],
    now: Timestamp,
) -> Result<()> {
    let disabled_at = rows.first().map(|row| row.opt_time(0)).transpose()?.flatten();
    let action = match (outcome, disabled_at) {
        (_, None) => return Ok(()),
        (DeliveryOutcome::Delivered, Some(_)) => Action::EndpointEnabled,
        (DeliveryOutcome::Failed | DeliveryOutcome::Retry(_), Some(_)) => Action::EndpointDisabled,
    };
    let (account, environment) = (&delivery.account, delivery.environment);
    let endpoint = endpoint_from_url(&delivery.url);
    tracing::warn!(endpoint, account, "{}", action.as_str());
    let account = Account { name: account.clone(), environment };
    let entry = insert_entry(&Actor::Server, Some(&account), action, &endpoint, &json!({}), now);
    store.write([entry]).await?;
    Ok(())
}

/// The endpoints that fail, those first that do so the longest, at most `most` of them.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_failing(store: &Store, most: u32) -> Result<Vec<FailingEndpoint>> {
    read_failing(store, LIST, most).await
}

/// Those of them that are disabled, at most `most`.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_disabled(store: &Store, most: u32) -> Result<Vec<FailingEndpoint>> {
    read_failing(store, LIST_DISABLED, most).await
}

async fn read_failing(store: &Store, sql: &'static str, most: u32) -> Result<Vec<FailingEndpoint>> {
    let rows = store.read(sql, params![most]).await?;
    rows.into_iter().map(|row| EndpointRow::from_row(row).map(FailingEndpoint::from)).collect()
}

/// How many endpoints fail, counted as far as `most`.
///
/// # Errors
/// As [`Store::read`].
pub async fn count_failing_up_to(store: &Store, most: u32) -> Result<u32> {
    let count = store.read_one(COUNT_UP_TO, params![most]).await?.context("COUNT is one row")?.int(0)?;
    Ok(u32::try_from(count)?)
}

/// An endpoint of an account, where it fails.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_failing(store: &Store, account: &Account, endpoint: &str) -> Result<Option<FailingEndpoint>> {
    let row = store.read_one(FIND, params![&account.name, account.environment, endpoint]).await?;
    Ok(row.map(EndpointRow::from_row).transpose()?.map(FailingEndpoint::from))
}

/// How many endpoints are disabled.
///
/// # Errors
/// As [`Store::read`].
pub async fn count_disabled(store: &Store) -> Result<i64> {
    store.read_one(COUNT_DISABLED, params![]).await?.context("COUNT is one row")?.int(0)
}

impl FailingEndpoint {
    /// Whose it is.
    #[must_use]
    pub fn owner(&self) -> Account {
        Account { name: self.account.clone(), environment: self.environment }
    }
}

impl From<EndpointRow> for FailingEndpoint {
    fn from(row: EndpointRow) -> Self {
        let EndpointRow { account: Account { name, environment }, endpoint, failing_since, next_probe_at, disabled_at } =
            row;
        let next_probe_at = disabled_at.map(|_| next_probe_at);
        Self { account: name, environment, endpoint, failing_since, disabled_at, next_probe_at }
    }
}
