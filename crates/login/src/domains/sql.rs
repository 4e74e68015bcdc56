//! Queries and statements for domains.

use anyhow::{Context, Result};
use jiff::Timestamp;
use secrecy::ExposeSecret;
use serde_json::json;
use signpost_auth::{DomainName, WebhookSecret};
use signpost_platform::accounts::audit::sql::insert_entry;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_platform::accounts::{Account, Environment, SERVER_ACCOUNT};
use signpost_store::{
    ReadColumns, Row, Statement, Store, Stored, WriteError, columns, params, random, rows, sql, text_columns,
};

use crate::domains::audit::insert_domain_entry;
use crate::domains::encryption_key::commit_secrets;
use crate::domains::seal::Seal;
use crate::domains::{
    DisplayName, Domain, HandlerKind, MAX_DOMAINS, ProofToken, RegisteredDomain, Registration, SHARED_LOGIN_HOST,
    SigningSecrets, apex,
};
use crate::ids::DomainId;

/// Inserts no row if the account has too many domains, or if another account offers Lightning at this login host.
const INSERT: &str = sql!(
    DomainRow::INSERT_IF,
    " WHERE (SELECT COUNT(*) FROM domains WHERE account = $2 AND environment = $3) < $20
       AND ($7 <> 'hosted' OR $3 <> 'live' OR NOT EXISTS (",
    OTHERS_WITH_LIGHTNING,
    " AND other.account <> $2))
     ON CONFLICT (account, environment, name) DO NOTHING"
);

const INSERT_SYSTEM_DOMAIN: &str = sql!(DomainRow::INSERT, " ON CONFLICT (account, environment, name) DO NOTHING");

pub(super) const SELECT: &str = sql!("SELECT ", Domain::COLUMN_LIST, " FROM domains");

const LIST_OF_ACCOUNT: &str = sql!(SELECT, " WHERE account = $1 AND environment = $2 AND id > $3 ORDER BY id LIMIT $4");
const FIND_BY_ID: &str = sql!(SELECT, " WHERE account = $1 AND environment = $2 AND id = $3");
const FIND_BY_NAME: &str = sql!(SELECT, " WHERE account = $1 AND environment = $2 AND name = $3");
const FIND_IN_ANY_ACCOUNT: &str = sql!(SELECT, " WHERE id = $1");

const COUNT: &str = "SELECT COUNT(*) FROM domains WHERE account = $1 AND environment = $2";

const LIST: &str = sql!(SELECT, " WHERE account <> '", SERVER_ACCOUNT, "' ORDER BY created_at, id");

/// Start of a subquery that selects live hosted domains with Lightning login.
pub(super) const OTHERS_WITH_LIGHTNING: &str = "
    SELECT 1 FROM domains AS other
    WHERE other.environment = 'live' AND other.handler = 'hosted' AND other.methods LIKE '%lightning%'";

const VERIFY: &str = "
    UPDATE domains SET verified_at = $1, last_checked_at = NULL, failing_since = NULL, misses = 0
    WHERE account = $2 AND environment = $3 AND id = $4";

/// Finds a verified domain of another account with this name, a name below it or a name above it.
const IS_CLAIMED: &str = "
    SELECT 1 FROM domains
    WHERE environment = $1 AND apex = $2 AND verified_at IS NOT NULL AND account <> $3
      AND (name = $4 OR name LIKE '%.' || $4 OR $4 LIKE '%.' || name)
    LIMIT 1";

const ROTATE: &str = "UPDATE domains SET next_webhook_secret = $1 WHERE id = $2";

const ACTIVATE: &str = "
    UPDATE domains SET webhook_secret = next_webhook_secret, next_webhook_secret = NULL
    WHERE id = $1 AND next_webhook_secret IS NOT NULL";

/// Selects the secrets of a domain, or of a deleted domain with pending events.
const SELECT_SECRETS: &str = sql!(
    "SELECT ",
    SealedDomain::COLUMN_LIST,
    " FROM domains WHERE id = $1 UNION ALL SELECT ",
    SealedDomain::COLUMN_LIST,
    " FROM deleted_domains WHERE id = $1"
);

const INSERT_DELETED_DOMAIN: &str = sql!(
    "INSERT INTO deleted_domains (",
    DeletedDomain::COLUMN_LIST,
    ") SELECT ",
    SealedDomain::COLUMN_LIST,
    ", $1 FROM domains WHERE account = $2 AND environment = $3 AND id = $4"
);

const DELETE: &str = "DELETE FROM domains WHERE id = $1";

columns! {
    /// The webhook secrets of a domain as they are stored.
    pub(super) struct SealedSecrets {
        pub(super) webhook_secret: String,
        pub(super) next_webhook_secret: Option<String>,
    }
}

columns! {
    /// The webhook secrets of a domain, registered or deleted.
    pub(super) struct SealedDomain {
        pub(super) id: DomainId,
        pub(super) secrets: SealedSecrets,
    }
}

rows! {
    /// A domain with its secrets, which other reads of a domain do not include.
    pub struct DomainRow in "domains" by [id] {
        domain: Domain,
        apex: String,
        secrets: SealedSecrets,
    } internal {
        misses: i64,
    }
}

rows! {
    /// A deleted domain, with the secrets for its last events.
    pub struct DeletedDomain in "deleted_domains" by [id] {
        sealed: SealedDomain,
        deleted_at: Timestamp,
    }
}

/// A domain in the operator's list.
#[derive(Debug, serde::Serialize)]
#[expect(missing_docs, reason = "the fields are the specification's, §2")]
pub struct ListedDomain {
    pub id: DomainId,
    pub account: String,
    pub environment: Environment,
    pub domain: String,
    pub verified: bool,
    pub webhook_url: String,
    pub created_at: Timestamp,
}

/// The reason why [`insert`] failed.
#[derive(Debug, thiserror::Error)]
pub enum RegisterDomainError {
    /// The account has already registered the domain.
    #[error("the domain is already registered as {}", .0.id)]
    Exists(Box<Domain>),
    /// The account has [`MAX_DOMAINS`] domains.
    #[error("an account can have at most {MAX_DOMAINS} domains")]
    TooMany,
    /// Users of another account log in at this login host with Lightning wallets.
    #[error("{SHARED_LOGIN_HOST}")]
    SharedLoginHost,
    /// The database is unavailable, or this process may not write secrets.
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

/// Registers a domain.
///
/// # Errors
/// Returns [`RegisterDomainError`]; `Internal` is [`Unavailable`](signpost_store::Unavailable) if
/// the database cannot be written or this process may not write secrets.
pub async fn insert(
    store: &Store,
    seal: &Seal,
    registered: &RegisteredDomain,
    by: &Actor,
) -> Result<(), RegisterDomainError> {
    let RegisteredDomain { domain, secret } = registered;
    let Domain { id, account, name, created_at, .. } = domain;
    let webhook_secret = seal.encrypt(secret.reveal(), id.as_str(), random());
    let entry =
        insert_entry(by, Some(account), Action::DomainRegistered, id.as_str(), &json!({ "domain": name }), *created_at);
    let secrets = SealedSecrets { webhook_secret, next_webhook_secret: None };
    let row = DomainRow { domain: domain.clone(), apex: apex(name).to_owned(), secrets };
    let params = row.params().into_iter().chain(params![MAX_DOMAINS]).collect();
    match commit_secrets(store, seal, [Statement::expect_row(INSERT, params), entry]).await {
        Ok(()) => return Ok(()),
        Err(WriteError::Conflict) => {}
        Err(WriteError::Internal(error)) => return Err(error.into()),
    }
    if let Some(registered) = find_by_name(store, account, name).await? {
        return Err(RegisterDomainError::Exists(Box::new(registered)));
    }
    let count = store.count(COUNT, params![&account.name, account.environment]).await?;
    let is_full = count >= i64::from(MAX_DOMAINS);
    Err(if is_full { RegisterDomainError::TooMany } else { RegisterDomainError::SharedLoginHost })
}

/// Inserts the system domain, if it does not exist. It has no audit entry and no secrets.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub(crate) async fn insert_system_domain(store: &Store, domain: Domain) -> Result<()> {
    let apex = apex(&domain.name).to_owned();
    let secrets = SealedSecrets { webhook_secret: String::new(), next_webhook_secret: None };
    store.write([Statement::new(INSERT_SYSTEM_DOMAIN, DomainRow { domain, apex, secrets }.params())]).await?;
    Ok(())
}

/// Returns an account's domains after `after`, oldest first.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list(store: &Store, account: &Account, after: Option<&DomainId>, max: u32) -> Result<Vec<Domain>> {
    let after = after.map_or("", DomainId::as_str);
    let rows = store.read(LIST_OF_ACCOUNT, params![&account.name, account.environment, after, max]).await?;
    rows.into_iter().map(read_domain).collect()
}

/// Returns the account's domain with this ID.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find(store: &Store, account: &Account, id: &DomainId) -> Result<Option<Domain>> {
    let row = store.read_by_index(FIND_BY_ID, params![&account.name, account.environment, id]).await?;
    row.map(read_domain).transpose()
}

/// Returns the account's domain with this name.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_by_name(store: &Store, account: &Account, name: &DomainName) -> Result<Option<Domain>> {
    let row = store.read_by_index(FIND_BY_NAME, params![&account.name, account.environment, name.as_str()]).await?;
    row.map(read_domain).transpose()
}

/// Returns true if another account has verified the name of this domain, a name below it or a name above it.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub(crate) async fn is_claimed(store: &Store, Domain { account, name, .. }: &Domain) -> Result<bool> {
    let params = params![account.environment, apex(name), &account.name, name.as_str()];
    Ok(store.read_by_index(IS_CLAIMED, params).await?.is_some())
}

/// Marks a domain as verified.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if the account has no such domain.
pub async fn set_verified(
    store: &Store,
    account: &Account,
    id: &DomainId,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let params = params![now, &account.name, account.environment, id];
    let entry = insert_entry(by, Some(account), Action::DomainVerified, id.as_str(), &json!({}), now);
    store.commit([Statement::expect_row(VERIFY, params), entry]).await
}

/// Deletes a domain, in one write with `extra_statements`. Queued events are still delivered.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if the account has no such domain.
pub async fn delete(
    store: &Store,
    account: &Account,
    id: &DomainId,
    by: &Actor,
    now: Timestamp,
    extra_statements: Vec<Statement>,
) -> Result<(), WriteError> {
    let statements = [
        insert_domain_entry(by, Action::DomainDeleted, id, &json!({}), now),
        Statement::expect_row(INSERT_DELETED_DOMAIN, params![now, &account.name, account.environment, id]),
        Statement::expect_row(DELETE, params![id]),
    ];
    store.commit(statements.into_iter().chain(extra_statements).collect::<Vec<_>>()).await
}

/// Returns the secrets of a domain of any account, registered or deleted.
///
/// # Errors
/// Returns an error if a secret cannot be decrypted, or the database cannot be read.
pub async fn find_secrets(store: &Store, seal: &Seal, id: &DomainId) -> Result<Option<SigningSecrets>> {
    let Some(row) = store.read_by_index(SELECT_SECRETS, params![id]).await? else { return Ok(None) };
    let SealedDomain { id, secrets } = SealedDomain::from_part("domains", row)?;
    let current = decrypt_secret(seal, &secrets.webhook_secret, &id).context("webhook_secret")?;
    let next = match secrets.next_webhook_secret {
        Some(next) => Some(decrypt_secret(seal, &next, &id).context("next_webhook_secret")?),
        None => None,
    };
    Ok(Some(SigningSecrets { current, next }))
}

/// Decrypts a stored secret of a domain.
pub(super) fn decrypt_secret(seal: &Seal, stored: &str, domain: &DomainId) -> Result<WebhookSecret> {
    Ok(WebhookSecret::parse(seal.decrypt(stored, domain.as_str())?.expose_secret())?)
}

/// Returns the domains of all accounts, for the operator's list.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list_all(store: &Store) -> Result<Vec<ListedDomain>> {
    store.read(LIST, params![]).await?.into_iter().map(|row| read_domain(row).map(ListedDomain::from)).collect()
}

/// Returns the domain with this ID regardless of account. Callers must authorize access by other means.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_in_any_account(store: &Store, id: &DomainId) -> Result<Option<Domain>> {
    store.read_by_index(FIND_IN_ANY_ACCOUNT, params![id]).await?.map(read_domain).transpose()
}

/// Sets the next webhook secret.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if there is no such domain, and the errors of
/// [`commit_secrets`].
pub async fn rotate_secret(
    store: &Store,
    seal: &Seal,
    id: &DomainId,
    next: &WebhookSecret,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let next = seal.encrypt(next.reveal(), id.as_str(), random());
    let entry = insert_domain_entry(by, Action::SecretRotated, id, &json!({}), now);
    commit_secrets(store, seal, [Statement::expect_row(ROTATE, params![next, id]), entry]).await
}

/// Replaces the webhook secret with the next secret.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if the domain has no next secret.
pub async fn activate_secret(store: &Store, id: &DomainId, by: &Actor, now: Timestamp) -> Result<(), WriteError> {
    let entry = insert_domain_entry(by, Action::SecretActivated, id, &json!({}), now);
    store.commit([Statement::expect_row(ACTIVATE, params![id]), entry]).await
}

pub(super) fn read_domain(row: Row) -> Result<Domain> {
    Domain::from_part("domains", row)
}

impl From<Domain> for ListedDomain {
    fn from(domain: Domain) -> Self {
        let Domain { id, account, name, webhook_url, verified_at, created_at, .. } = domain;
        Self {
            id,
            account: account.name,
            environment: account.environment,
            domain: name.to_string(),
            verified: verified_at.is_some(),
            webhook_url: webhook_url.into(),
            created_at,
        }
    }
}

text_columns! {
    HandlerKind: |handler| handler.as_str(), |text| HandlerKind::parse(text).context("is no handler");
    Registration: |registration| registration.as_str(), Registration::from_stored;
    DisplayName: DisplayName::as_str, DisplayName::from_stored;
    ProofToken: ProofToken::as_str, |text| Ok(ProofToken(text.to_owned()));
}

#[cfg(test)]
mod tests {
    use signpost_store::{ColumnType, Value};

    use super::*;

    #[test]
    fn unknown_handler_value_is_an_error() {
        for (text, handler) in
            [("direct", Some(HandlerKind::Direct)), ("hosted", Some(HandlerKind::Hosted)), ("", None)]
        {
            assert_eq!(HandlerKind::from_value(Value::from(text)).ok(), handler);
        }
    }

    #[test]
    fn domain_columns_exclude_secrets() {
        assert!(DomainRow::COLUMN_LIST.starts_with(Domain::COLUMN_LIST));
        assert!(DomainRow::COLUMN_LIST.ends_with(SealedSecrets::COLUMN_LIST));
        assert!(!Domain::COLUMN_LIST.contains("secret"));
    }
}
