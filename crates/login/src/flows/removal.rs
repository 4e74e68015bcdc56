//! Removes domains, users and credentials together with the dependent rows of other modules, and
//! queues the events about removed users and credentials.

use anyhow::Result;
use jiff::Timestamp;
use serde_json::json;
use signpost_platform::accounts::Account;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{Statement, Store, WriteError};

use crate::domains::Domain;
use crate::domains::audit::insert_domain_entry;
use crate::events::{AllUsersDeleted, UserEvent, delete_all_with_events, queue_user_event};
use crate::ids::{DomainId, UserId};
use crate::sessions::link_sql::{
    cancel_unconfirmed_links_statement, cancel_user_links_statement, cancel_user_unconfirmed_links_statement,
};
use crate::users::identifier_sql::{delete_statement_of_domain, delete_without_user_statements};
use crate::users::{Credential, CredentialKey, removal_sql};
use crate::{browser_sessions, domains, sessions};

/// Deletes a domain with its users, and cancels its pending sessions. There are no events about the users, because the
/// site has ended its use of the service.
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
    let identifiers = delete_statement_of_domain(id);
    let signed_in = browser_sessions::sql::delete_by_domain_statement(id);
    let sessions = sessions::sql::cancel_domain_sessions_statement(id, now);
    let statements = vec![sessions, users, credentials, usernames, identifiers, signed_in];
    domains::sql::delete(store, account, id, by, now, statements).await
}

/// Removes a user of a domain with all credentials, and cancels the pending links of the user. `key` is the user's key
/// in the request.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if there is no such user.
pub async fn remove_user(
    store: &Store,
    (domain, user): (&Domain, &UserId),
    key: Option<&CredentialKey>,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let event = queue_user_event(domain, user, UserEvent::Deleted, now);
    let delete = removal_sql::delete_statements((&domain.id, user), key, by, now);
    let links = cancel_user_unconfirmed_links_statement(&domain.id, user, now);
    store.commit(event.into_iter().chain(delete).chain([links]).collect::<Vec<_>>()).await
}

/// Removes all users of a domain, and cancels their pending links.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn remove_all_users(store: &Store, domain: &Domain, by: &Actor, now: Timestamp) -> Result<()> {
    let id = &domain.id;
    let mut statements: Vec<Statement> = match delete_all_with_events(domain, now) {
        Some(AllUsersDeleted { queue, delete }) => {
            vec![queue, delete, removal_sql::delete_credentials_without_user_statement(id)]
        }
        None => removal_sql::delete_all_statements(id).into(),
    };
    statements.extend(delete_without_user_statements(id));
    statements.push(cancel_unconfirmed_links_statement(id, now));
    statements.push(insert_domain_entry(by, Action::UsersDeleted, id, &json!({}), now));
    store.write(statements).await?;
    Ok(())
}

/// Removes a credential and cancels the pending links of its user.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if it is the only credential of the user, or does not exist.
pub async fn remove_credential(
    store: &Store,
    domain: &Domain,
    credential: &Credential,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let user = &credential.user_id;
    let delete = removal_sql::delete_credential_statements(credential, by, now);
    let event = queue_user_event(domain, user, UserEvent::CredentialRemoved(credential), now);
    let links = cancel_user_links_statement(&domain.id, user, now);
    store.commit(delete.into_iter().chain(event).chain([links]).collect::<Vec<_>>()).await
}
