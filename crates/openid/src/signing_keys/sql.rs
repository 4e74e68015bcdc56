//! Queries and statements for signing keys.

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::json;
use signpost_login::domains::encryption_key::commit_secrets;
use signpost_login::domains::seal::Seal;
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{Statement, Store, Stored, WriteError, params, sql};

use super::StoredSigningKey;

const LIST_BY_ENVIRONMENT: &str = sql!(StoredSigningKey::SELECT, " WHERE environment = $1 ORDER BY algorithm, number");

const LIST_ALL: &str = sql!(StoredSigningKey::SELECT, " ORDER BY environment, algorithm, number");

/// Inserts a key. Only the first of several concurrent servers inserts the next key.
const INSERT: &str = sql!(StoredSigningKey::INSERT, " ON CONFLICT (environment, algorithm, number) DO NOTHING");

const DELETE_BEFORE: &str = "DELETE FROM signing_keys WHERE environment = $1 AND algorithm = $2 AND number < $3";

const ERASE: &str = "UPDATE signing_keys SET private_key = '' WHERE kid = $1 AND private_key <> ''";

const DELETE: &str = "DELETE FROM signing_keys WHERE kid = $1";

/// Replaces an encrypted private key. Compares the value that was read, so that a key that changed
/// since then remains unchanged.
const RESEAL: &str = "UPDATE signing_keys SET private_key = $1 WHERE kid = $2 AND private_key = $3";

/// Counts private keys in plain text. Erased keys are empty.
const COUNT_PLAIN_TEXT: &str =
    "SELECT COUNT(*) FROM signing_keys WHERE private_key <> '' AND private_key NOT LIKE 'sealed1:%'";

/// The treatment of the existing keys when a new key is inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviousKeys {
    /// The existing keys stay published until their tokens have expired.
    Retained,
    /// The existing keys are deleted, because another party may have signed with them.
    Deleted,
}

/// Returns the keys of an environment, ordered within each algorithm.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list(store: &Store, environment: Environment) -> Result<Vec<StoredSigningKey>> {
    store.read(LIST_BY_ENVIRONMENT, params![environment]).await?.into_iter().map(StoredSigningKey::from_row).collect()
}

/// Returns the keys of both environments, ordered within each algorithm.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_all(store: &Store) -> Result<Vec<StoredSigningKey>> {
    store.read(LIST_ALL, params![]).await?.into_iter().map(StoredSigningKey::from_row).collect()
}

/// Returns the number of private keys in plain text.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn count_plain_text(store: &Store) -> Result<i64> {
    let row = store.read_one(COUNT_PLAIN_TEXT, params![]).await?;
    row.context("COUNT is one row")?.int(0)
}

/// Inserts a new key, encrypted by `seal`.
///
/// # Errors
/// Returns the errors of [`commit_secrets`]; [`WriteError::Conflict`] if another key has its number, or the key exists.
pub async fn insert(
    store: &Store,
    seal: &Seal,
    key: &StoredSigningKey,
    previous: PreviousKeys,
    by: &Actor,
) -> Result<(), WriteError> {
    let StoredSigningKey { kid, environment, algorithm, number, created_at, active_from, .. } = key;
    let details = json!({
        "environment": environment, "algorithm": algorithm, "active_from": active_from,
        "old_keys_deleted": previous == PreviousKeys::Deleted,
    });
    let mut statements = vec![Statement::expect_row(INSERT, key.clone().params())];
    if previous == PreviousKeys::Deleted {
        statements.push(Statement::new(DELETE_BEFORE, params![*environment, *algorithm, *number]));
    }
    statements.push(insert_entry(by, None, Action::SigningKeyCreated, kid, &details, *created_at));
    commit_secrets(store, seal, statements).await
}

/// Returns the statement that erases a private key.
#[must_use]
pub fn erase(kid: &str) -> Statement {
    Statement::new(ERASE, params![kid])
}

/// Returns the statement that deletes a key.
#[must_use]
pub fn delete(kid: &str) -> Statement {
    Statement::new(DELETE, params![kid])
}

/// Returns the statement that replaces an encrypted private key, unless it has changed.
#[must_use]
pub fn reseal(key: &StoredSigningKey, resealed: super::StoredPrivateKey) -> Statement {
    Statement::new(RESEAL, params![resealed, &key.kid, key.private_key.clone()])
}

/// Returns the statement that inserts the audit entry for newly encrypted keys.
#[must_use]
pub fn resealed_audit_statement(keys: usize, now: Timestamp) -> Statement {
    insert_entry(&Actor::Operator, None, Action::SecretsSealed, "", &json!({ "signing_keys": keys }), now)
}
