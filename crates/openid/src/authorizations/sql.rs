//! Requests that wait, in the database.

use anyhow::Result;
use jiff::Timestamp;
use signpost_login::ids::SessionId;
use signpost_store::{Step, Store, Stored, WriteError, must, params, sql, step};

use super::{MAX_WAIT, WaitingAuthorization};
use crate::ids::AuthorizationId;

const OF_ID: &str = sql!(WaitingAuthorization::SELECT, " WHERE id = $1");
const OF_SESSION: &str = sql!(WaitingAuthorization::SELECT, " WHERE session_id = $1");
const END: &str = "DELETE FROM openid_authorizations WHERE id = $1";
/// Ids begin with the time.
const SWEEP: &str = "
    DELETE FROM openid_authorizations WHERE id IN (
        SELECT id FROM openid_authorizations WHERE id < $1 ORDER BY id LIMIT 1000
    ) RETURNING id";

/// Keeps a request until its person is back.
///
/// # Errors
/// As [`Store::write`].
pub async fn insert(store: &Store, waiting: WaitingAuthorization) -> Result<()> {
    store.write([step(WaitingAuthorization::INSERT, waiting.params())]).await?;
    Ok(())
}

/// The request with this id.
///
/// # Errors
/// As [`Store::read`].
pub async fn find(store: &Store, id: &AuthorizationId) -> Result<Option<WaitingAuthorization>> {
    store.read_by_index(OF_ID, params![id]).await?.map(WaitingAuthorization::from_row).transpose()
}

/// The request whose person logs in by this session.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_by_session(store: &Store, session: &SessionId) -> Result<Option<WaitingAuthorization>> {
    store.read_by_index(OF_SESSION, params![session]).await?.map(WaitingAuthorization::from_row).transpose()
}

/// Ends the wait in a write: of two answers to one request the second is refused.
#[must_use]
pub fn end_step(id: &AuthorizationId) -> Step {
    must(END, params![id])
}

/// Ends a pending authorization.
///
/// # Errors
/// [`WriteError::Conflict`] if it has ended before.
pub async fn end(store: &Store, id: &AuthorizationId) -> Result<(), WriteError> {
    store.commit([end_step(id)]).await
}

/// Deletes a thousand of those that nobody waits for any more.
#[must_use]
pub fn sweep_step(now: Timestamp) -> Step {
    step(SWEEP, params![&AuthorizationId::new(now - MAX_WAIT, [0; 16])])
}
