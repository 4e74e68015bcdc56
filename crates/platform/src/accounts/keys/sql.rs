//! API keys in the database.

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::json;
use signpost_store::{Row, Store, must, params, step};

use super::{KeyGrant, KeyHash, ListedKey, NewKey};
use crate::accounts::audit::sql::insert_key_entry;
use crate::accounts::audit::{Action, Actor};
use crate::accounts::{Account, Environment, KeyId, Scope};

const INSERT: &str = "
    INSERT INTO api_keys (id, account, environment, name, hash, created_at, scope)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

const LIST: &str =
    "SELECT id, account, environment, name, created_at, revoked_at, scope, last_used_at, expires_at FROM api_keys
     ORDER BY created_at, id";

const OPENED: &str = "
    SELECT account, scope, id FROM api_keys
    WHERE hash = $1 AND environment = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)";

const EXPIRE: &str = "
    UPDATE api_keys SET expires_at = $1 WHERE id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)";

const USED: &str = "
    UPDATE api_keys SET last_used_at = $1 WHERE id = $2 AND (last_used_at IS NULL OR last_used_at < $1)";

const REVOKE: &str = "UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL";

/// Keeps a new key's hash.
///
/// # Errors
/// As [`Store::write`].
pub async fn insert(store: &Store, account: &Account, name: &str, key: &NewKey, now: Timestamp) -> Result<()> {
    let Account { name: account, environment } = account;
    let (id, made) = (&key.id, json!({ "name": name, "scope": key.scope }));
    let params = params![id, account, *environment, name, &key.hash(), now, key.scope];
    let entry = insert_key_entry(&Actor::Operator, Action::KeyCreated, id, &made, now);
    store.write([must(INSERT, params), entry]).await?;
    Ok(())
}

/// Keeps a key that takes the place of another, which opens until `until`. False where the old one opens no more.
///
/// # Errors
/// As [`Store::write`].
pub async fn rotate(store: &Store, old: &ListedKey, new: &NewKey, until: Timestamp, now: Timestamp) -> Result<bool> {
    let ListedKey { id, account, environment, name, .. } = old;
    let (name, made) = (name.as_str(), json!({ "replaced_by": new.id, "until": until }));
    let steps = [
        must(EXPIRE, params![until, id]),
        must(INSERT, params![&new.id, account, *environment, name, &new.hash(), now, new.scope]),
        insert_key_entry(&Actor::Operator, Action::KeyRotated, id, &made, now),
    ];
    Ok(store.write(steps).await?.is_committed())
}

/// Remembers that keys were used.
///
/// # Errors
/// As [`Store::write`].
pub async fn set_used(store: &Store, used: &[(KeyId, Timestamp)]) -> Result<()> {
    let steps: Vec<_> = used.iter().map(|(id, at)| step(USED, params![*at, id])).collect();
    if !steps.is_empty() {
        store.write(steps).await?;
    }
    Ok(())
}

/// Every key, oldest first, the revoked ones too.
///
/// # Errors
/// As [`Store::read`].
pub async fn list(store: &Store) -> Result<Vec<ListedKey>> {
    store.read(LIST, params![]).await?.iter().map(listed).collect()
}

/// What a key opens, unless it was revoked.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_grant(
    store: &Store,
    environment: Environment,
    hash: &KeyHash,
    now: Timestamp,
) -> Result<Option<KeyGrant>> {
    let row = store.read_by_index(OPENED, params![hash, environment, now]).await?;
    let opened = |row: Row| {
        let account = Account { name: row.text(0)?.to_owned(), environment };
        let scope = Scope::parse(row.text(1)?).context("api_keys.scope")?;
        Ok(KeyGrant { account, scope, key: KeyId::parse(row.text(2)?).context("api_keys.id")? })
    };
    row.map(opened).transpose()
}

/// Ends a key. False where no key that still opens has this id.
///
/// # Errors
/// As [`Store::write`].
pub async fn revoke(store: &Store, id: &KeyId, now: Timestamp) -> Result<bool> {
    let entry = insert_key_entry(&Actor::Operator, Action::KeyRevoked, id, &json!({}), now);
    Ok(store.write([must(REVOKE, params![now, id]), entry]).await?.is_committed())
}

fn listed(row: &Row) -> Result<ListedKey> {
    Ok(ListedKey {
        id: KeyId::parse(row.text(0)?).context("api_keys.id")?,
        account: row.text(1)?.to_owned(),
        environment: Environment::parse(row.text(2)?).context("api_keys.environment")?,
        name: row.text(3)?.to_owned(),
        created_at: row.time(4)?,
        revoked_at: row.opt_time(5)?,
        scope: Scope::parse(row.text(6)?).context("api_keys.scope")?,
        last_used_at: row.opt_time(7)?,
        expires_at: row.opt_time(8)?,
    })
}
