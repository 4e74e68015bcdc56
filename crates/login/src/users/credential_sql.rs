//! Queries and statements for credentials: finding passkeys by credential ID, and changes by the
//! user or the operator.

use anyhow::Result;
use jiff::Timestamp;
use serde_json::json;
use signpost_auth::{DomainName, PasskeyHandle, PasskeyId};
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{Parsed, Statement, Store, Stored, Values, WriteError, params, sql};

use super::sql::{add_statements, find, read_credential_columns};
use super::{Credential, CredentialKey, CredentialName, CredentialRow};
use crate::domains::audit::insert_domain_entry;
use crate::ids::{DomainId, UserId};

const PASSKEY_ANYWHERE: &str = sql!(
    "SELECT ",
    CredentialRow::COLUMN_LIST,
    ", (SELECT domains.name FROM domains WHERE domains.id = credentials.domain_id)
     , (SELECT domains.environment FROM domains WHERE domains.id = credentials.domain_id)
     FROM credentials WHERE passkey_id = $1 AND EXISTS (SELECT 1 FROM domains WHERE domains.id = credentials.domain_id)"
);

/// Counts the users with a key who have no passkey and fewer than the maximum number of credentials, and have not
/// declined a passkey.
const MAY_OFFER_PASSKEY: &str = "
    SELECT COUNT(*) FROM credentials AS known
    JOIN users ON users.domain_id = known.domain_id AND users.id = known.user_id
    WHERE known.domain_id = $1 AND known.public_key = $2 AND users.passkey_declined_at IS NULL
      AND NOT EXISTS (
          SELECT 1 FROM credentials AS own
          WHERE own.domain_id = known.domain_id AND own.user_id = known.user_id AND own.passkey_id IS NOT NULL)
      AND (SELECT COUNT(*) FROM credentials AS own WHERE own.domain_id = known.domain_id AND own.user_id = known.user_id) < $3";

const FIND_HANDLE: &str = "SELECT passkey_handle FROM users WHERE domain_id = $1 AND id = $2";

const SET_HANDLE: &str =
    "UPDATE users SET passkey_handle = $3 WHERE domain_id = $1 AND id = $2 AND passkey_handle IS NULL";

const DECLINE_PASSKEY: &str = "UPDATE users SET passkey_declined_at = $3 WHERE domain_id = $1 AND id = $2";

const RENAME_CREDENTIAL: &str = "UPDATE credentials SET name = $4 WHERE domain_id = $1 AND user_id = $2 AND id = $3";

/// The reason why [`add_credential`] failed.
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

/// Returns the credential with this passkey at any domain of this server, with the domain's name and environment.
///
/// # Errors
/// Returns an error if the database is unavailable.
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

/// Returns true if a passkey may be offered to the user with a key: the user has no passkey and fewer than the maximum
/// number of credentials, and has not declined a passkey.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub(crate) async fn may_offer_passkey(store: &Store, domain: &DomainId, key: &CredentialKey) -> Result<bool> {
    let params = params![domain, key.canonical(), super::MAX_CREDENTIALS];
    let Some(row) = store.read_by_index(MAY_OFFER_PASSKEY, params).await? else { return Ok(false) };
    Ok(row.int(0)? > 0)
}

/// Returns the user handle of a user, and stores `handle` if there is none yet. `None` if there is no such user.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn ensure_passkey_handle(
    store: &Store,
    domain: &DomainId,
    user: &UserId,
    handle: PasskeyHandle,
) -> Result<Option<PasskeyHandle>> {
    store.write([Statement::new(SET_HANDLE, params![domain, user, handle.to_string()])]).await?;
    let Some(row) = store.read_by_index(FIND_HANDLE, params![domain, user]).await? else { return Ok(None) };
    let Parsed(handle) = Values::new(CredentialRow::TABLE, row).next_column::<Parsed<PasskeyHandle>>()?;
    Ok(Some(handle))
}

/// Returns the statement that records that a user declined a passkey.
pub(crate) fn decline_statement(domain: &DomainId, user: &UserId, now: Timestamp) -> Statement {
    Statement::new(DECLINE_PASSKEY, params![domain, user, now])
}

/// Renames a credential.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if it does not exist.
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
    let rename = Statement::expect_row(RENAME_CREDENTIAL, params![domain_id, user_id, id, name.as_str()]);
    store.commit([rename, entry]).await
}

/// Adds a credential to a user, in one write with `extra_statements`.
///
/// # Errors
/// Returns [`AddCredentialError`].
pub(crate) async fn add_credential(
    store: &Store,
    credential: Credential,
    extra_statements: impl IntoIterator<Item = Statement>,
    by: &Actor,
    now: Timestamp,
) -> Result<(), AddCredentialError> {
    let Credential { domain_id, id, user_id, kind, public_key, .. } = &credential;
    let details = json!({
        "user_id": user_id, "credential_id": id, "kind": kind, "public_key": public_key,
    });
    let entry = insert_domain_entry(by, Action::CredentialAdded, domain_id, &details, now);
    let statements =
        add_statements(credential.clone()).into_iter().chain([entry]).chain(extra_statements).collect::<Vec<_>>();
    match store.commit(statements).await {
        Ok(()) => Ok(()),
        Err(WriteError::Conflict) => match find(store, domain_id, user_id).await? {
            Some((_, own)) => Err(not_added_reason(&own, &credential)),
            None => Err(AddCredentialError::NoUser),
        },
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Returns the reason why a credential was not added to a user, who has these credentials.
pub(crate) fn not_added_reason(own: &[Credential], credential: &Credential) -> AddCredentialError {
    let is_full = own.len() >= super::MAX_CREDENTIALS as usize;
    let is_own = own.iter().any(|own| own.public_key == credential.public_key);
    if is_full && !is_own { AddCredentialError::TooMany } else { AddCredentialError::Exists }
}
