//! The audit log in the database.

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::Value;
use signpost_store::{Row, Step, Store, must, params, random};

use super::{Action, Actor, AuditEntry};
use crate::accounts::audit::AuditId;
use crate::accounts::{Account, Environment, KeyId};

const ADD: &str = "
    INSERT INTO audit (id, at, account, environment, actor, action, object, details)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

/// Of a key whose account nobody has named.
const ADD_ON_KEY: &str = "
    INSERT INTO audit (id, at, account, environment, actor, action, object, details)
    SELECT $1, $2, account, environment, $3, $4, $5, $6 FROM api_keys WHERE id = $5";

const LIST: &str = "
    SELECT id, at, account, environment, actor, action, object, details FROM audit
    WHERE id > $1 AND at >= $2 AND ($3 = '' OR account = $3) AND ($4 = '' OR action = $4) ORDER BY id LIMIT $5";

const NEWEST: &str = "
    SELECT id, at, account, environment, actor, action, object, details FROM audit
    WHERE at >= $1 AND ($2 = '' OR account = $2) AND ($3 = '' OR action = $3) ORDER BY id DESC LIMIT $4";

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
    must(ADD, params)
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
    rows.iter().map(read_entry).collect()
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
    rows.iter().map(read_entry).collect()
}

fn read_entry(row: &Row) -> Result<AuditEntry> {
    Ok(AuditEntry {
        id: AuditId::parse(row.text(0)?).context("audit.id")?,
        at: row.time(1)?,
        account: row.text(2)?.to_owned(),
        environment: Environment::parse(row.text(3)?),
        actor: row.text(4)?.to_owned(),
        action: row.text(5)?.to_owned(),
        object: row.text(6)?.to_owned(),
        details: serde_json::from_str(row.text(7)?).context("audit.details")?,
    })
}
