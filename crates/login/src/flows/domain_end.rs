//! Ends a domain, and in the same write what other rooms keep of it.

use anyhow::Result;
use jiff::Timestamp;
use signpost_platform::accounts::Account;
use signpost_platform::accounts::audit::Actor;
use signpost_store::{Store, WriteError};

use crate::ids::DomainId;
use crate::{browser_sessions, domains, sessions, users};

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
    let [users, credentials] = users::removal_sql::delete_all_of(id);
    let petnames = users::removal_sql::forget_petnames_of(id);
    let signed_in = browser_sessions::sql::end_all_of(id);
    let with = vec![sessions::sql::cancel_sessions_of(id, now), users, credentials, petnames, signed_in];
    domains::sql::delete(store, account, id, by, now, with).await
}
