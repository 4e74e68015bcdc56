//! The audit log in the database.

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::Value;
use signpost_store::column::Via;
use signpost_store::{Step, Store, Stored, must, params, random, sql, texts};

use super::{Action, Actor, AuditEntry};
use crate::accounts::audit::AuditId;
use crate::accounts::{Account, Environment, KeyId};

/// Of a key whose account nobody has named.
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

/// The environment of an entry, which is empty where the entry belongs to no account.
pub(super) struct AnyEnvironment(Option<Environment>);

impl Via<Option<Environment>> for AnyEnvironment {
    fn wrap(value: Option<Environment>) -> Self {
        Self(value)
    }

    fn unwrap_via(self) -> Option<Environment> {
        self.0
    }
}

texts! {
    AnyEnvironment: |any| any.0.map_or("", Environment::as_str), |text| match text {
        "" => Ok(AnyEnvironment(None)),
        text => Ok(AnyEnvironment(Some(Environment::parse(text).context("is no environment")?))),
    };
}

/// The step that adds an entry, to be written with what it tells of.
#[must_use]
pub fn insert_entry(
    actor: &Actor,
    account: Option<&Account>,
    action: Action,
    object: &str,
    details: &Value,
    now: Timestamp,
) -> Step {
    let (name, environment) = account.map_or(("", ""), |account| (&account.name, account.environment.as_str()));
    let id = AuditId::new(now, random());
    let params = params![&id, now, name, environment, actor.to_string(), action.as_str(), object, details.to_string()];
    must(AuditEntry::INSERT, params)
}

/// The same of an API key.
#[must_use]
pub fn insert_key_entry(actor: &Actor, action: Action, key: &KeyId, details: &Value, now: Timestamp) -> Step {
    let id = AuditId::new(now, random());
    let params = params![&id, now, actor.to_string(), action.as_str(), key, details.to_string()];
    must(ADD_ON_KEY, params)
}

/// Entries since `since`, oldest first, those behind `after`; empty texts choose all.
///
/// # Errors
/// As [`Store::read`].
pub async fn list(
    store: &Store,
    after: Option<&AuditId>,
    since: Timestamp,
    account: &str,
    action: &str,
    most: u32,
) -> Result<Vec<AuditEntry>> {
    let after = after.map_or("", AuditId::as_str);
    let rows = store.read(LIST, params![after, since, account, action, most]).await?;
    rows.into_iter().map(AuditEntry::from_row).collect()
}

/// Entries older than `before`, newest first: of one action, or of all. Along an index, however many there are.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_before(store: &Store, before: Option<&AuditId>, action: &str, most: u32) -> Result<Vec<AuditEntry>> {
    // Every id there is comes before this text.
    let before = before.map_or("zzzz", AuditId::as_str);
    let rows = match action {
        "" => store.read(BEFORE, params![before, most]).await?,
        action => store.read(BEFORE_OF_ACTION, params![before, most, action]).await?,
    };
    rows.into_iter().map(AuditEntry::from_row).collect()
}

/// The newest entries since `since`, newest first.
///
/// # Errors
/// As [`Store::read`].
pub async fn list_newest(
    store: &Store,
    since: Timestamp,
    account: &str,
    action: &str,
    most: u32,
) -> Result<Vec<AuditEntry>> {
    let rows = store.read(NEWEST, params![since, account, action, most]).await?;
    rows.into_iter().map(AuditEntry::from_row).collect()
}

#[cfg(test)]
mod tests {
    use signpost_store::{ColumnType, Value};

    use super::*;

    #[test]
    fn an_environment_that_nobody_wrote_is_not_read_as_none() {
        let read = |text: &str| AnyEnvironment::from_value(Value::from(text)).map(|any| any.0);
        assert_eq!(read("").unwrap(), None);
        assert_eq!(read("live").unwrap(), Some(Environment::Live));
        assert!(read("elsewhere").is_err());
    }
}
