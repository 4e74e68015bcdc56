//! Queries and statements for clients. Callers must check that the domain exists, because a client
//! is deleted some time after its domain.

use anyhow::{Result, anyhow};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use signpost_login::domains::Domain;
use signpost_login::ids::DomainId;
use signpost_platform::accounts::Account;
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{Json, Statement, Store, Stored, Value, WriteError, WriteOutcome, params, sql};

use super::{Client, ClientPatch, ClientSettings, InvalidClient, MAX_CLIENTS, OAuthSecret};
use crate::ids::ClientId;

/// Maximum attempts of a change that loses races with other changes.
const MAX_TRIES: usize = 32;

/// Locks the domain before a client is added: a concurrent deletion either comes first, or deletes the client too; and
/// of two clients, the second is counted after the first.
const LOCK_DOMAIN: &str = "
    UPDATE domains SET handler = handler WHERE account = $1 AND environment = $2 AND id = $3 AND handler = 'hosted'";

/// Inserts a client unless the domain has the maximum number. `$2` is the domain ID, the second
/// column of the row.
const INSERT: &str = sql!(Client::INSERT_IF, " WHERE (SELECT COUNT(*) FROM openid_clients WHERE domain_id = $2) < $6");

const FIND_BY_ID: &str = sql!(Client::SELECT, " WHERE id = $1 AND domain_id = $2");

const FIND_IN_ANY_DOMAIN: &str = sql!(Client::SELECT, " WHERE id = $1");

const LIST: &str = sql!(Client::SELECT, " WHERE domain_id = $1 AND id > $2 ORDER BY id LIMIT $3");

/// Lists the clients of all existing domains.
const LIST_ALL: &str = sql!(
    Client::SELECT,
    " WHERE id > $1 AND EXISTS (SELECT 1 FROM domains WHERE domains.id = openid_clients.domain_id) ORDER BY id LIMIT $2"
);

const SETTINGS: &str = "SELECT settings FROM openid_clients WHERE id = $1 AND domain_id = $2";

const SET_SETTINGS: &str = "UPDATE openid_clients SET settings = $3 WHERE id = $1 AND domain_id = $2 AND settings = $4";

const ROTATE: &str = "
    UPDATE openid_clients
    SET previous_secret_hash = CASE WHEN CAST($4 AS BIGINT) IS NULL THEN NULL ELSE secret_hash END, previous_until = $4,
        secret_hash = $3
    WHERE id = $1 AND domain_id = $2 AND secret_hash IS NOT NULL";

const DELETE: &str = "DELETE FROM openid_clients WHERE id = $1 AND domain_id = $2";

/// Deletes clients of deleted domains.
const SWEEP: &str = "
    DELETE FROM openid_clients WHERE id IN (
        SELECT openid_clients.id FROM openid_clients
        WHERE NOT EXISTS (SELECT 1 FROM domains WHERE domains.id = openid_clients.domain_id)
        LIMIT 1000
    ) RETURNING id";

/// The reason why [`insert`] failed.
#[derive(Debug, thiserror::Error)]
pub enum CreateClientError {
    /// The domain was deleted, or its handler is no longer hosted.
    #[error("the domain was removed or changed just now")]
    NoHostedDomain,
    /// The domain has [`MAX_CLIENTS`] clients.
    #[error("the domain has {MAX_CLIENTS} clients, and no more are possible; delete one first")]
    TooMany,
    /// The database is unavailable.
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

/// The reason why [`patch`] failed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeClientError {
    /// There is no such client.
    #[error("the client was deleted")]
    NotFound,
    /// The settings would contradict each other.
    #[error("{}: {}", .0.field, .0.reason)]
    Invalid(InvalidClient),
    /// The database is unavailable.
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

/// Inserts a client.
///
/// # Errors
/// Returns [`CreateClientError`].
pub async fn insert(store: &Store, domain: &Domain, client: &Client, by: &Actor) -> Result<(), CreateClientError> {
    let settings = &client.settings;
    let details = json!({
        "domain_id": domain.id, "public": settings.is_public, "redirect_uris": settings.redirect_uris,
        "trusted": settings.is_trusted, "allow": settings.allowed,
    });
    let statements = [
        Statement::expect_row(LOCK_DOMAIN, params![&domain.account.name, domain.account.environment, &domain.id]),
        Statement::expect_row(INSERT, client.clone().params().into_iter().chain(params![MAX_CLIENTS]).collect()),
        insert_entry(by, Some(&domain.account), Action::ClientCreated, client.id.as_str(), &details, client.created_at),
    ];
    match store.write(statements).await? {
        WriteOutcome::Committed(_) => Ok(()),
        WriteOutcome::Refused(0) => Err(CreateClientError::NoHostedDomain),
        WriteOutcome::Refused(_) => Err(CreateClientError::TooMany),
    }
}

/// Returns the client with this ID, if it belongs to the domain.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find(store: &Store, domain: &DomainId, id: &ClientId) -> Result<Option<Client>> {
    store.read_by_index(FIND_BY_ID, params![id, domain]).await?.map(Client::from_row).transpose()
}

/// Returns the client with this ID, of any domain. The domain may have been deleted.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_in_any_domain(store: &Store, id: &ClientId) -> Result<Option<Client>> {
    store.read_by_index(FIND_IN_ANY_DOMAIN, params![id]).await?.map(Client::from_row).transpose()
}

/// Returns the clients of a domain after `after`, oldest first.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list(store: &Store, domain: &DomainId, after: Option<&ClientId>, max: u32) -> Result<Vec<Client>> {
    let after = after.map_or("", ClientId::as_str);
    let rows = store.read(LIST, params![domain, after, max]).await?;
    rows.into_iter().map(Client::from_row).collect()
}

/// Returns the clients of all domains after `after`, oldest first.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_all(store: &Store, after: Option<&ClientId>, max: u32) -> Result<Vec<Client>> {
    let after = after.map_or("", ClientId::as_str);
    store.read(LIST_ALL, params![after, max]).await?.into_iter().map(Client::from_row).collect()
}

/// Changes a client. A concurrent change is not lost: this change is applied to its result.
///
/// # Errors
/// Returns [`ChangeClientError`]; `Internal` also after too many concurrent changes.
pub async fn patch(
    store: &Store,
    account: &Account,
    domain: &DomainId,
    id: &ClientId,
    change: &ClientPatch,
    by: &Actor,
    now: Timestamp,
) -> Result<(), ChangeClientError> {
    for _ in 0..MAX_TRIES {
        let Some(row) = store.read_by_index(SETTINGS, params![id, domain]).await? else {
            return Err(ChangeClientError::NotFound);
        };
        let stored = row.text(0)?.to_owned();
        let settings = serde_json::from_str::<ClientSettings>(&stored).map_err(anyhow::Error::from)?;
        let changed = change.apply(&settings).map_err(ChangeClientError::Invalid)?;
        let entry = insert_entry(by, Some(account), Action::ClientChanged, id.as_str(), &change.to_details(), now);
        let set = Statement::expect_row(SET_SETTINGS, params![id, domain, Value::from(Json(changed)), stored]);
        match store.commit([set, entry]).await {
            Ok(()) => return Ok(()),
            // Another change was committed first: retry with its result.
            Err(WriteError::Conflict) => {}
            Err(WriteError::Internal(error)) => return Err(error.into()),
        }
    }
    Err(anyhow!("the settings of {id} change all the time").into())
}

/// Replaces the secret of a client. The previous secret expires after `overlap`, or at once.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if there is no such client, or it has no secret.
pub async fn rotate_secret(
    store: &Store,
    account: &Account,
    client: &Client,
    secret: &OAuthSecret,
    overlap: Option<SignedDuration>,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let until = overlap.map(|overlap| now + overlap);
    let rotate = Statement::expect_row(ROTATE, params![&client.id, &client.domain_id, secret.hash(), until]);
    let details = json!({ "previous_until": until });
    let entry = insert_entry(by, Some(account), Action::ClientRotated, client.id.as_str(), &details, now);
    store.commit([rotate, entry]).await
}

/// Returns the statement that deletes up to a thousand clients of deleted domains. Its outcome has
/// a row for each deleted client.
pub(crate) fn sweep_statement() -> Statement {
    Statement::new(SWEEP, params![])
}

/// Deletes a client together with its grants.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if there is no such client.
pub async fn delete(
    store: &Store,
    account: &Account,
    domain: &DomainId,
    id: &ClientId,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let entry = insert_entry(by, Some(account), Action::ClientDeleted, id.as_str(), &json!({}), now);
    store.commit([Statement::expect_row(DELETE, params![id, domain]), entry]).await
}
