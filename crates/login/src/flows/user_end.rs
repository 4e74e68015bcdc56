//! Removes users together with their pending links, which would add a key to nobody.

use anyhow::Result;
use jiff::Timestamp;
use signpost_platform::accounts::audit::Actor;
use signpost_store::{Store, WriteError};

use crate::ids::{DomainId, UserId};
use crate::sessions::link_sql::{cancel_unconfirmed_links, cancel_unconfirmed_links_of};
use crate::users::{CredentialKey, removal_sql};

/// Removes a user of a domain with all credentials, and cancels the pending links of the user. `key` is the key by which
/// the request named the user.
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
/// As [`Store::write`].
pub async fn remove_all_users(store: &Store, domain: &DomainId, by: &Actor, now: Timestamp) -> Result<()> {
    removal_sql::delete_all(store, domain, cancel_unconfirmed_links(domain, now), by, now).await
}
