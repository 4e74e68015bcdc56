//! SQL statements that write and read the audit log.

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::Value;
use signpost_store::column::Wrapper;
use signpost_store::{Statement, Store, Stored, params, random, sql, text_columns};

use super::{Action, Actor, AuditEntry};
use crate::accounts::audit::AuditId;
use crate::accounts::{Account, Environment, KeyId};

/// Inserts an entry about an API key, with the account that owns the key.
const ADD_ON_KEY: &str = sql!(
    "INSERT INTO audit (",
    AuditEntry::COLUMN_LIST,
    ") SELECT $1, $2, account, environment, $3, $4, $5, $6 FROM api_keys WHERE id = $5"
);

const LIST: &str = sql!(
    AuditEntry::SELECT,
    " WHERE id > $1 AND at >= $2 AND ($3 = '' OR account = $3) AND ($4 = '' OR action = $4) ORDER BY id LIMIT $5"
);

const NEWEST: &str = sql!(
    AuditEntry::SELECT,
    " WHERE at >= $1 AND ($2 = '' OR account = $2) AND ($3 = '' OR action = $3) ORDER BY id DESC LIMIT $4"
);

const BEFORE: &str = sql!(AuditEntry::SELECT, " WHERE id < $1 ORDER BY id DESC LIMIT $2");

const BEFORE_OF_ACTION: &str = sql!(AuditEntry::SELECT, " WHERE id < $1 AND action = $3 ORDER BY id DESC LIMIT $2");

/// Stores the environment of an entry, with an empty text for entries without an environment.
pub(super) struct AnyEnvironment(Option<Environment>);

impl Wrapper<Option<Environment>> for AnyEnvironment {
    fn wrap(value: Option<Environment>) -> Self {
        Self(value)
    }

    fn into_wrapped(self) -> Option<Environment> {
        self.0
    }
}

text_columns! {
    AnyEnvironment: |any| any.0.map_or("", Environment::as_str), |text| match text {
        "" => Ok(AnyEnvironment(None)),
        text => Ok(AnyEnvironment(Some(Environment::parse(text).context("is no environment")?))),
    };
}

/// Returns the statement that inserts an entry, to be committed together with the change.
#[must_use]
pub fn insert_entry(
    actor: &Actor,
    account: Option<&Account>,
    action: Action,
    object: &str,
    details: &Value,
    now: Timestamp,
) -> Statement {
    let name = account.map_or("", |account| account.name.as_str());
    let environment = account.map_or("", |account| account.environment.as_str());
    let id = AuditId::new(now, random());
    let params = params![&id, now, name, environment, actor.to_string(), action.as_str(), object, details.to_string()];
    Statement::expect_row(AuditEntry::INSERT, params)
}

/// Returns the statement that inserts an entry about an API key.
#[must_use]
pub fn insert_key_entry(actor: &Actor, action: Action, key: &KeyId, details: &Value, now: Timestamp) -> Statement {
    let id = AuditId::new(now, random());
    let params = params![&id, now, actor.to_string(), action.as_str(), key, details.to_string()];
    Statement::expect_row(ADD_ON_KEY, params)
}

/// Returns the entries that were created at or after `since` and follow the entry `after`, oldest
/// first. An empty account or action matches every entry.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub async fn list(
    store: &Store,
    after: Option<&AuditId>,
    since: Timestamp,
    account: &str,
    action: &str,
    limit: u32,
) -> Result<Vec<AuditEntry>> {
    let after = after.map_or("", AuditId::as_str);
    let rows = store.read(LIST, params![after, since, account, action, limit]).await?;
    rows.into_iter().map(AuditEntry::from_row).collect()
}

/// Returns the entries that precede `before`, newest first, by index. An empty `action` matches
/// every action.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub async fn list_before(store: &Store, before: Option<&AuditId>, action: &str, limit: u32) -> Result<Vec<AuditEntry>> {
    // This text sorts after every ID.
    let before = before.map_or("zzzz", AuditId::as_str);
    let rows = match action {
        "" => store.read(BEFORE, params![before, limit]).await?,
        action => store.read(BEFORE_OF_ACTION, params![before, limit, action]).await?,
    };
    rows.into_iter().map(AuditEntry::from_row).collect()
}

/// Returns the latest entries that were created at or after `since`, newest first.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub async fn list_newest(
    store: &Store,
    since: Timestamp,
    account: &str,
    action: &str,
    limit: u32,
) -> Result<Vec<AuditEntry>> {
    let rows = store.read(NEWEST, params![since, account, action, limit]).await?;
    rows.into_iter().map(AuditEntry::from_row).collect()
}

#[cfg(test)]
mod tests {
    use signpost_store::{ColumnType, Value};

    use super::*;

    #[test]
    fn an_unknown_environment_is_an_error() {
        let read = |text: &str| AnyEnvironment::from_value(Value::from(text)).map(|any| any.0);
        assert_eq!(read("").unwrap(), None);
        assert_eq!(read("live").unwrap(), Some(Environment::Live));
        assert!(read("elsewhere").is_err());
    }
}
