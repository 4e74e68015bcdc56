//! Removes domains, users and credentials with the rows of other modules that belong to them.

use anyhow::Result;
use jiff::Timestamp;
use signpost_platform::accounts::Account;
use signpost_platform::accounts::audit::Actor;
use signpost_store::{Store, WriteError};

use crate::ids::{DomainId, UserId};
use crate::sessions::link_sql::{cancel_links_of, cancel_unconfirmed_links, cancel_unconfirmed_links_of};
use crate::users::{Credential, CredentialKey, removal_sql};
use crate::{browser_sessions, domains, sessions};

/// Deletes a domain with its users, and cancels its pending sessions.
///
/// # Errors
/// [`WriteError::Conflict`] if the account has no such domain.
pub async fn delete_domain(
    store: &Store,
    account: &Account,
    id: &DomainId,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let [users, credentials] = removal_sql::delete_all_of(id);
    let usernames = removal_sql::delete_usernames_of(id);
    let signed_in = browser_sessions::sql::end_all_of(id);
    let with = vec![sessions::sql::cancel_sessions_of(id, now), users, credentials, usernames, signed_in];
    domains::sql::delete(store, account, id, by, now, with).await
}

/// Removes a user of a domain with all credentials, and cancels the pending links of the user. `key` is the user's key
/// in the request.
///
/// # Errors
/// [`WriteError::Conflict`] if there is no such user.
pub async fn remove_user(
    store: &Store,
    (domain, user): (&DomainId, &UserId),
    key: Option<&CredentialKey>,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let links = cancel_unconfirmed_links_of(domain, user, now);
    removal_sql::delete(store, (domain, user), key, links, by, now).await
}

/// Removes all users of a domain, and cancels their pending links.
///
/// # Errors
/// If the database is unavailable.
pub async fn remove_all_users(store: &Store, domain: &DomainId, by: &Actor, now: Timestamp) -> Result<()> {
    removal_sql::delete_all(store, domain, cancel_unconfirmed_links(domain, now), by, now).await
}

/// Removes a credential and cancels the pending links of its user.
///
/// # Errors
/// [`WriteError::Conflict`] if it is the only credential of the user, or does not exist.
pub async fn remove_credential(
    store: &Store,
    credential: &Credential,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let links = cancel_links_of(&credential.domain_id, &credential.user_id, now);
    removal_sql::delete_credential(store, credential, links, by, now).await
}
