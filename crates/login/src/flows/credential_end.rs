//! Removes a credential together with the links that it may have opened.

use anyhow::Result;
use jiff::Timestamp;
use signpost_platform::accounts::audit::Actor;
use signpost_store::Store;

use crate::sessions::link_sql::cancel_links_of;
use crate::users::{Credential, removal_sql};

/// Removes a credential and cancels the user's pending links. Returns false if it is the user's only credential, or is gone.
///
/// # Errors
/// As [`Store::write`].
pub async fn remove_credential(store: &Store, credential: &Credential, by: &Actor, now: Timestamp) -> Result<bool> {
    let links = cancel_links_of(&credential.domain_id, &credential.user_id, now);
    removal_sql::delete_credential(store, credential, links, by, now).await
}
