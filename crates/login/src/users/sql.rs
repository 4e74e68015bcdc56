//! Users of hosted domains in the database.

use anyhow::Result;
use jiff::Timestamp;
use serde_json::json;
use signpost_auth::PublicKey;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{Step, Store, Stored, must, params, sql, step};

use super::HostedUser;
use crate::domains::audit::insert_domain_entry;
use crate::ids::DomainId;

const FIND: &str = sql!(HostedUser::SELECT, " WHERE domain_id = $1 AND public_key = $2");

const LIST: &str = sql!(HostedUser::SELECT, " WHERE domain_id = $1 AND public_key > $2 ORDER BY public_key LIMIT $3");

const INSERT: &str = sql!(HostedUser::INSERT, " ON CONFLICT (domain_id, public_key) DO NOTHING");

const SET_LAST_LOGIN: &str = "UPDATE users SET last_login_at = $3 WHERE domain_id = $1 AND public_key = $2";

const UPSERT: &str = sql!(HostedUser::INSERT, " ON CONFLICT (domain_id, public_key) DO UPDATE SET last_login_at = $3");

const DELETE: &str = "DELETE FROM users WHERE domain_id = $1 AND public_key = $2";

const DELETE_ALL: &str = "DELETE FROM users WHERE domain_id = $1";

/// Refused where the user is there already.
pub(crate) fn insert(domain: &DomainId, key: &PublicKey, now: Timestamp) -> Step {
    must(INSERT, params![domain, key.canonical(), now])
}

/// Refused where there is no such user.
pub(crate) fn set_last_login(domain: &DomainId, key: &PublicKey, now: Timestamp) -> Step {
    must(SET_LAST_LOGIN, params![domain, key.canonical(), now])
}

pub(crate) fn upsert(domain: &DomainId, key: &PublicKey, now: Timestamp) -> Step {
    step(UPSERT, params![domain, key.canonical(), now])
}

/// Deletes all users of a domain.
pub(crate) fn delete_all_of(domain: &DomainId) -> Step {
    step(DELETE_ALL, params![domain])
}

/// A domain's user with this key, in whichever spelling.
///
/// # Errors
/// As [`Store::read`].
pub async fn find(store: &Store, domain: &DomainId, key: &PublicKey) -> Result<Option<HostedUser>> {
    let row = store.read_by_index(FIND, params![domain, key.canonical()]).await?;
    row.map(HostedUser::from_row).transpose()
}

/// A domain's users by their keys, those behind `after`.
///
/// # Errors
/// As [`Store::read`].
pub async fn list(store: &Store, domain: &DomainId, after: &str, most: u32) -> Result<Vec<HostedUser>> {
    store.read(LIST, params![domain, after, i64::from(most)]).await?.into_iter().map(HostedUser::from_row).collect()
}

/// Forgets a domain's user. False where there is none with this key.
///
/// # Errors
/// As [`Store::write`].
pub async fn delete(store: &Store, domain: &DomainId, key: &PublicKey, by: &Actor, now: Timestamp) -> Result<bool> {
    let entry = insert_domain_entry(by, Action::UserDeleted, domain, &json!({ "public_key": key.canonical() }), now);
    Ok(store.write([must(DELETE, params![domain, key.canonical()]), entry]).await?.is_committed())
}

/// Forgets all users of a domain.
///
/// # Errors
/// As [`Store::write`].
pub async fn delete_all(store: &Store, domain: &DomainId, by: &Actor, now: Timestamp) -> Result<()> {
    let entry = insert_domain_entry(by, Action::UsersDeleted, domain, &json!({}), now);
    store.write([delete_all_of(domain), entry]).await?;
    Ok(())
}
