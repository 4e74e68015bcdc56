//! Statements that delete users and credentials.

use jiff::Timestamp;
use serde_json::json;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{Statement, params};

use super::identifier_sql::delete_statements_of_user;
use super::{Credential, CredentialKey};
use crate::domains::audit::insert_domain_entry;
use crate::ids::{DomainId, UserId};

/// Locks a user before a credential is removed, so that the second of two concurrent removals
/// counts the credentials that the first has left.
const LOCK_USER: &str = "UPDATE users SET last_login_at = last_login_at WHERE domain_id = $1 AND id = $2";

const DELETE_CREDENTIAL: &str = "
    DELETE FROM credentials WHERE domain_id = $1 AND user_id = $2 AND id = $3
      AND (SELECT COUNT(*) FROM credentials WHERE domain_id = $1 AND user_id = $2) > 1";

const DELETE: &str = "DELETE FROM users WHERE domain_id = $1 AND id = $2";

const DELETE_CREDENTIALS: &str = "DELETE FROM credentials WHERE domain_id = $1 AND user_id = $2";

const DELETE_ALL: &str = "DELETE FROM users WHERE domain_id = $1";

const DELETE_ALL_CREDENTIALS: &str = "DELETE FROM credentials WHERE domain_id = $1";

const DELETE_CREDENTIALS_WITHOUT_USER: &str = "
    DELETE FROM credentials WHERE domain_id = $1
      AND NOT EXISTS (SELECT 1 FROM users WHERE users.domain_id = $1 AND users.id = credentials.user_id)";

const DELETE_USERNAMES: &str = "DELETE FROM petnames WHERE domain_id = $1";

/// Returns the statements that delete a credential. They refuse the write if it is the only credential of the user, or
/// does not exist.
pub(crate) fn delete_credential_statements(credential: &Credential, by: &Actor, now: Timestamp) -> [Statement; 3] {
    let Credential { domain_id, id, user_id, kind, public_key, .. } = credential;
    let details = json!({
        "user_id": user_id, "credential_id": id, "kind": kind, "public_key": public_key,
    });
    let entry = insert_domain_entry(by, Action::CredentialDeleted, domain_id, &details, now);
    let lock = Statement::expect_row(LOCK_USER, params![domain_id, user_id]);
    let delete = Statement::expect_row(DELETE_CREDENTIAL, params![domain_id, user_id, id]);
    [lock, delete, entry]
}

/// Returns the statements that delete a user of a domain with all credentials. They refuse the write if there is no such
/// user. `key` is the user's key in the request.
pub(crate) fn delete_statements(
    (domain, user): (&DomainId, &UserId),
    key: Option<&CredentialKey>,
    by: &Actor,
    now: Timestamp,
) -> [Statement; 5] {
    let mut details = json!({ "user_id": user });
    if let Some(key) = key {
        details["public_key"] = key.canonical().into();
    }
    let entry = insert_domain_entry(by, Action::UserDeleted, domain, &details, now);
    let delete = Statement::expect_row(DELETE, params![domain, user]);
    let delete_credentials = Statement::new(DELETE_CREDENTIALS, params![domain, user]);
    let [usernames, identifiers] = delete_statements_of_user(domain, user);
    [delete, delete_credentials, usernames, identifiers, entry]
}

/// Returns the statements that delete all users of a domain.
pub(crate) fn delete_all_statements(domain: &DomainId) -> [Statement; 2] {
    [Statement::new(DELETE_ALL, params![domain]), Statement::new(DELETE_ALL_CREDENTIALS, params![domain])]
}

/// Returns the statement that deletes the credentials of deleted users.
pub(crate) fn delete_credentials_without_user_statement(domain: &DomainId) -> Statement {
    Statement::new(DELETE_CREDENTIALS_WITHOUT_USER, params![domain])
}

/// Returns the statement that deletes the used usernames of a domain that is deleted.
pub(crate) fn delete_usernames_statement(domain: &DomainId) -> Statement {
    Statement::new(DELETE_USERNAMES, params![domain])
}
