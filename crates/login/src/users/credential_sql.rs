//! Credentials in the database: passkeys by the names that authenticators gave them, and what a user or the operator
//! changes.

use anyhow::Result;
use jiff::Timestamp;
use serde_json::json;
use signpost_auth::{DomainName, PasskeyHandle, PasskeyId};
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{Parsed, Step, Store, Stored, Value, Values, WriteError, must, params, sql, step};

use super::sql::{add_steps, find, read_credential, read_credential_columns};
use super::{Credential, CredentialKey, CredentialName, CredentialRow};
use crate::domains::audit::insert_domain_entry;
use crate::ids::{DomainId, UserId};

const BY_PASSKEY: &str = sql!(CredentialRow::SELECT, " WHERE passkey_id = $1 AND domain_id = $2");

const PASSKEY_ANYWHERE: &str = sql!(
    "SELECT ",
    CredentialRow::COLUMN_LIST,
    ", (SELECT domains.name FROM domains WHERE domains.id = credentials.domain_id)
     , (SELECT domains.environment FROM domains WHERE domains.id = credentials.domain_id)
     FROM credentials WHERE passkey_id = $1 AND EXISTS (SELECT 1 FROM domains WHERE domains.id = credentials.domain_id)"
);

const COUNT_PASSKEYS: &str =
    "SELECT COUNT(*) FROM credentials WHERE domain_id = $1 AND user_id = $2 AND passkey_id IS NOT NULL";

/// Whether the user with a key has no passkey but room for one, and never said that none is wanted.
const WANTS_PASSKEY: &str = "
    SELECT COUNT(*) FROM credentials AS known
    JOIN users ON users.domain_id = known.domain_id AND users.id = known.user_id
    WHERE known.domain_id = $1 AND known.public_key = $2 AND users.passkey_declined_at IS NULL
      AND NOT EXISTS (
          SELECT 1 FROM credentials AS own
          WHERE own.domain_id = known.domain_id AND own.user_id = known.user_id AND own.passkey_id IS NOT NULL)
      AND (SELECT COUNT(*) FROM credentials AS own WHERE own.domain_id = known.domain_id AND own.user_id = known.user_id) < $3";

const HANDLE: &str = "SELECT passkey_handle FROM users WHERE domain_id = $1 AND id = $2";

const SET_HANDLE: &str =
    "UPDATE users SET passkey_handle = $3 WHERE domain_id = $1 AND id = $2 AND passkey_handle IS NULL";

const DECLINE: &str = "UPDATE users SET passkey_declined_at = $3 WHERE domain_id = $1 AND id = $2";

const RENAME: &str = "UPDATE credentials SET name = $4 WHERE domain_id = $1 AND user_id = $2 AND id = $3";

/// An error of [`add_credential`].
#[derive(Debug, thiserror::Error)]
pub enum AddCredentialError {
    /// There is no such user, or the passkey has another user handle.
    #[error("the user was deleted")]
    NoUser,
    /// A user of the domain has the key, or a user of any domain has the passkey.
    #[error("a user of the domain has this key already")]
    Exists,
    /// The user has [`MAX_CREDENTIALS`](super::MAX_CREDENTIALS) credentials.
    #[error("the user has {} credentials, and no more are possible", super::MAX_CREDENTIALS)]
    TooMany,
    /// The database is unavailable.
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

/// A domain's credential that is this passkey.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_by_passkey(store: &Store, domain: &DomainId, id: &PasskeyId) -> Result<Option<Credential>> {
    let Some(row) = store.read_by_index(BY_PASSKEY, params![id.to_string(), domain]).await? else { return Ok(None) };
    read_credential(row).map(Some)
}

/// The credential that is this passkey, at whichever domain of this server.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_passkey_anywhere(
    store: &Store,
    id: &PasskeyId,
) -> Result<Option<(Credential, DomainName, Environment)>> {
    let Some(row) = store.read_by_index(PASSKEY_ANYWHERE, params![id.to_string()]).await? else { return Ok(None) };
    let mut values = Values::new(CredentialRow::TABLE, row);
    let credential = read_credential_columns(&mut values)?;
    let Parsed(domain) = values.next_column::<Parsed<DomainName>>()?;
    Ok(Some((credential, domain, values.next_column()?)))
}

/// Whether the user with a key may be offered a passkey: has none but room for one, and never said that none is wanted.
///
/// # Errors
/// As [`Store::read`].
pub(crate) async fn wants_passkey(store: &Store, domain: &DomainId, key: &CredentialKey) -> Result<bool> {
    Ok(read_count(store, WANTS_PASSKEY, params![domain, key.canonical(), super::MAX_CREDENTIALS]).await? > 0)
}

/// Whether a user has a passkey.
///
/// # Errors
/// As [`Store::read`].
pub async fn has_passkey(store: &Store, domain: &DomainId, user: &UserId) -> Result<bool> {
    Ok(read_count(store, COUNT_PASSKEYS, params![domain, user]).await? > 0)
}

async fn read_count(store: &Store, sql: &'static str, params: Vec<Value>) -> Result<i64> {
    let Some(row) = store.read_by_index(sql, params).await? else { return Ok(0) };
    Values::new(CredentialRow::TABLE, row).next_column()
}

/// How authenticators know a user from now on: as before, else by this handle. `None` where there is no such user.
///
/// # Errors
/// As [`Store::write`].
pub async fn ensure_passkey_handle(
    store: &Store,
    domain: &DomainId,
    user: &UserId,
    handle: PasskeyHandle,
) -> Result<Option<PasskeyHandle>> {
    store.write([step(SET_HANDLE, params![domain, user, handle.to_string()])]).await?;
    let row = store.read_by_index(HANDLE, params![domain, user]).await?;
    let handle =
        row.map(|row| Values::new(CredentialRow::TABLE, row).next_column::<Parsed<PasskeyHandle>>()).transpose()?;
    Ok(handle.map(|Parsed(handle)| handle))
}

/// Remembers that a user wants no passkey.
///
/// # Errors
/// As [`Store::write`].
pub async fn decline_passkey(store: &Store, domain: &DomainId, user: &UserId, now: Timestamp) -> Result<()> {
    store.write([decline_step(domain, user, now)]).await?;
    Ok(())
}

pub(crate) fn decline_step(domain: &DomainId, user: &UserId, now: Timestamp) -> Step {
    step(DECLINE, params![domain, user, now])
}

/// Renames a credential.
///
/// # Errors
/// [`WriteError::Conflict`] if it does not exist.
pub async fn rename_credential(
    store: &Store,
    credential: &Credential,
    name: &CredentialName,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let Credential { domain_id, id, user_id, .. } = credential;
    let details = json!({ "user_id": user_id, "credential_id": id });
    let entry = insert_domain_entry(by, Action::CredentialRenamed, domain_id, &details, now);
    let rename = must(RENAME, params![domain_id, user_id, id, name.as_str()]);
    store.commit([rename, entry]).await
}

/// Adds a credential to a user.
///
/// # Errors
/// [`AddCredentialError`].
pub async fn add_credential(
    store: &Store,
    credential: Credential,
    by: &Actor,
    now: Timestamp,
) -> Result<(), AddCredentialError> {
    let Credential { domain_id, id, user_id, kind, public_key, .. } = &credential;
    let details = json!({
        "user_id": user_id, "credential_id": id, "kind": kind, "public_key": public_key,
    });
    let entry = insert_domain_entry(by, Action::CredentialAdded, domain_id, &details, now);
    let steps = add_steps(credential.clone()).into_iter().chain([entry]).collect::<Vec<_>>();
    match store.commit(steps).await {
        Ok(()) => Ok(()),
        Err(WriteError::Conflict) => Err(explain_not_added(store, &credential).await?),
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Returns why a credential was not added a moment ago.
///
/// # Errors
/// The database is unavailable.
pub(crate) async fn explain_not_added(store: &Store, credential: &Credential) -> Result<AddCredentialError> {
    let Some((_, own)) = find(store, &credential.domain_id, &credential.user_id).await? else {
        return Ok(AddCredentialError::NoUser);
    };
    let is_full = own.len() >= super::MAX_CREDENTIALS as usize;
    let is_own = own.iter().any(|own| own.public_key == credential.public_key);
    Ok(if is_full && !is_own { AddCredentialError::TooMany } else { AddCredentialError::Exists })
}
