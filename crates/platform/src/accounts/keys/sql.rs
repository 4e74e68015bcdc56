//! SQL statements that store and find API keys.

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::json;
use signpost_store::{Statement, Store, Stored, WriteError, params, sql, text_columns};

use super::{KeyGrant, KeyHash, NewKey, StoredKey};
use crate::accounts::audit::sql::insert_key_entry;
use crate::accounts::audit::{Action, Actor};
use crate::accounts::{Account, Environment, KeyId};

const LIST: &str = sql!(StoredKey::SELECT, " ORDER BY created_at, id");

/// Returns a page of keys, newest first, by index.
const PAGE: &str =
    sql!(StoredKey::SELECT, " WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3");

const FIND: &str = sql!(StoredKey::SELECT, " WHERE id = $1");

const FIND_ACTIVE: &str = "SELECT 1 FROM api_keys WHERE revoked_at IS NULL LIMIT 1";

const FIND_VALID: &str = sql!(
    StoredKey::SELECT,
    " WHERE hash = $1 AND environment = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)"
);

const EXPIRE: &str = "
    UPDATE api_keys SET expires_at = $1 WHERE id = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)";

const SET_USED: &str = "
    UPDATE api_keys SET last_used_at = $1 WHERE id = $2 AND (last_used_at IS NULL OR last_used_at < $1)";

const REVOKE: &str = "UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL";

/// Inserts a new API key.
///
/// # Errors
/// Returns the errors of [`Store::write`].
pub async fn insert(
    store: &Store,
    by: &Actor,
    account: &Account,
    name: &str,
    key: &NewKey,
    now: Timestamp,
) -> Result<()> {
    let details = json!({ "name": name, "scope": key.scope });
    let entry = insert_key_entry(by, Action::KeyCreated, &key.id, &details, now);
    let key = StoredKey::new(account.clone(), name.to_owned(), key, now);
    store.write([Statement::expect_row(StoredKey::INSERT, key.params()), entry]).await?;
    Ok(())
}

/// Inserts an API key that replaces another key. The old key stays valid until `until`.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if the old key is not valid.
pub async fn rotate(
    store: &Store,
    by: &Actor,
    old: &StoredKey,
    new: &NewKey,
    until: Timestamp,
    now: Timestamp,
) -> Result<(), WriteError> {
    let details = json!({ "replaced_by": new.id, "until": until });
    let account = Account { name: old.account.clone(), environment: old.environment };
    let statements = [
        Statement::expect_row(EXPIRE, params![until, &old.id]),
        Statement::expect_row(StoredKey::INSERT, StoredKey::new(account, old.name.clone(), new, now).params()),
        insert_key_entry(by, Action::KeyRotated, &old.id, &details, now),
    ];
    store.commit(statements).await
}

/// Stores the time of the last use of each key.
///
/// # Errors
/// Returns the errors of [`Store::write`].
pub async fn set_used(store: &Store, used: &[(KeyId, Timestamp)]) -> Result<()> {
    let statements: Vec<_> = used.iter().map(|(id, at)| Statement::new(SET_USED, params![*at, id])).collect();
    if !statements.is_empty() {
        store.write(statements).await?;
    }
    Ok(())
}

/// Returns all API keys, including revoked keys, oldest first.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub async fn list(store: &Store) -> Result<Vec<StoredKey>> {
    store.read(LIST, params![]).await?.into_iter().map(StoredKey::from_row).collect()
}

/// Returns the newest API keys that were created before the key `before`, including revoked keys.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub async fn list_page(store: &Store, before: Option<&StoredKey>, limit: u32) -> Result<Vec<StoredKey>> {
    let (at, id) = before.map_or((Timestamp::MAX, ""), |key| (key.created_at, key.id.as_str()));
    store.read(PAGE, params![at, id, limit]).await?.into_iter().map(StoredKey::from_row).collect()
}

/// Returns the API key with this ID, even if it is revoked.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub async fn find(store: &Store, id: &KeyId) -> Result<Option<StoredKey>> {
    store.read_by_index(FIND, params![id]).await?.map(StoredKey::from_row).transpose()
}

/// Returns `true` if any API key is not revoked.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub async fn has_any(store: &Store) -> Result<bool> {
    Ok(store.read_one(FIND_ACTIVE, params![]).await?.is_some())
}

/// Returns the grant of an API key that is currently valid.
///
/// # Errors
/// Returns the errors of [`Store::read`].
pub async fn find_grant(
    store: &Store,
    environment: Environment,
    hash: &KeyHash,
    now: Timestamp,
) -> Result<Option<KeyGrant>> {
    let row = store.read_by_index(FIND_VALID, params![hash, environment, now]).await?;
    Ok(row.map(StoredKey::from_row).transpose()?.map(StoredKey::into_grant))
}

/// Revokes an API key.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if no valid key has this ID.
pub async fn revoke(store: &Store, by: &Actor, id: &KeyId, now: Timestamp) -> Result<(), WriteError> {
    let entry = insert_key_entry(by, Action::KeyRevoked, id, &json!({}), now);
    store.commit([Statement::expect_row(REVOKE, params![now, id]), entry]).await
}

text_columns! {
    KeyId: KeyId::as_str, |text| KeyId::parse(text).context("is not the id of a key");
    KeyHash: KeyHash::as_str, |text| KeyHash::from_stored(text).context("is not the hash of a key");
}
