//! Removes a credential together with the links that it may have opened.

use anyhow::Result;
use jiff::Timestamp;
use signpost_platform::accounts::audit::Actor;
use signpost_store::{Store, WriteError};

use crate::sessions::link_sql::cancel_links_of;
use crate::users::{Credential, removal_sql};

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
