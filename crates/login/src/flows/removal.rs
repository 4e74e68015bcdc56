//! Removes domains, users and credentials together with the dependent rows of other modules.

use anyhow::Result;
use jiff::Timestamp;
use signpost_platform::accounts::Account;
use signpost_platform::accounts::audit::Actor;
use signpost_store::{Store, WriteError};

use crate::ids::{DomainId, UserId};
use crate::sessions::link_sql::{
    cancel_unconfirmed_links_statement, cancel_user_links_statement, cancel_user_unconfirmed_links_statement,
};
use crate::users::{Credential, CredentialKey, removal_sql};
use crate::{browser_sessions, domains, sessions};

/// Deletes a domain with its users, and cancels its pending sessions.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if the account has no such domain.
pub async fn delete_domain(
    store: &Store,
    account: &Account,
    id: &DomainId,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let [users, credentials] = removal_sql::delete_all_statements(id);
    let usernames = removal_sql::delete_usernames_statement(id);
    let signed_in = browser_sessions::sql::delete_by_domain_statement(id);
    let statements =
        vec![sessions::sql::cancel_domain_sessions_statement(id, now), users, credentials, usernames, signed_in];
    domains::sql::delete(store, account, id, by, now, statements).await
}

/// Removes a user of a domain with all credentials, and cancels the pending links of the user. `key` is the user's key
/// in the request.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if there is no such user.
pub async fn remove_user(
    store: &Store,
    (domain, user): (&DomainId, &UserId),
    key: Option<&CredentialKey>,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let links = cancel_user_unconfirmed_links_statement(domain, user, now);
    removal_sql::delete(store, (domain, user), key, links, by, now).await
}

/// Removes all users of a domain, and cancels their pending links.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn remove_all_users(store: &Store, domain: &DomainId, by: &Actor, now: Timestamp) -> Result<()> {
    removal_sql::delete_all(store, domain, cancel_unconfirmed_links_statement(domain, now), by, now).await
}

/// Removes a credential and cancels the pending links of its user.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if it is the only credential of the user, or does not exist.
pub async fn remove_credential(
    store: &Store,
    credential: &Credential,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let links = cancel_user_links_statement(&credential.domain_id, &credential.user_id, now);
    removal_sql::delete_credential(store, credential, links, by, now).await
}
