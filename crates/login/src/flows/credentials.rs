//! Adds credentials to users, together with the events about them.

use jiff::Timestamp;
use signpost_platform::accounts::audit::Actor;
use signpost_store::Store;

use crate::domains::Domain;
use crate::events::{UserEvent, queue_user_event};
use crate::users::Credential;
use crate::users::credential_sql::{self, AddCredentialError};

/// Adds a credential to a user of the domain.
///
/// # Errors
/// Returns [`AddCredentialError`].
pub async fn add_credential(
    store: &Store,
    domain: &Domain,
    credential: Credential,
    by: &Actor,
    now: Timestamp,
) -> Result<(), AddCredentialError> {
    let event = queue_user_event(domain, &credential.user_id, UserEvent::CredentialAdded(&credential, None), now);
    credential_sql::add_credential(store, credential, event, by, now).await
}
