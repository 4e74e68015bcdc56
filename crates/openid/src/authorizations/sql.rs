//! Pending authorizations in the database.

use anyhow::Result;
use jiff::Timestamp;
use signpost_login::ids::SessionId;
use signpost_store::{Step, Store, Stored, WriteError, must, params, sql, step};

use super::{MAX_WAIT, PendingAuthorization};
use crate::ids::AuthorizationId;

const OF_ID: &str = sql!(PendingAuthorization::SELECT, " WHERE id = $1");
const OF_SESSION: &str = sql!(PendingAuthorization::SELECT, " WHERE session_id = $1");
const END: &str = "DELETE FROM openid_authorizations WHERE id = $1";
/// IDs start with the time.
const SWEEP: &str = "
    DELETE FROM openid_authorizations WHERE id IN (
        SELECT id FROM openid_authorizations WHERE id < $1 ORDER BY id LIMIT 1000
    ) RETURNING id";

/// Inserts a pending authorization.
///
/// # Errors
/// As [`Store::write`].
pub async fn insert(store: &Store, pending: PendingAuthorization) -> Result<()> {
    store.write([insert_step(pending)]).await?;
    Ok(())
}

/// Returns the step that inserts a pending authorization.
#[must_use]
pub fn insert_step(pending: PendingAuthorization) -> Step {
    step(PendingAuthorization::INSERT, pending.params())
}

/// Returns the pending authorization with this ID.
///
/// # Errors
/// As [`Store::read`].
pub async fn find(store: &Store, id: &AuthorizationId) -> Result<Option<PendingAuthorization>> {
    store.read_by_index(OF_ID, params![id]).await?.map(PendingAuthorization::from_row).transpose()
}

/// Returns the pending authorization of this login session.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_by_session(store: &Store, session: &SessionId) -> Result<Option<PendingAuthorization>> {
    store.read_by_index(OF_SESSION, params![session]).await?.map(PendingAuthorization::from_row).transpose()
}

/// Returns the step that ends a pending authorization. It refuses the write if another response ended it before.
#[must_use]
pub fn end_step(id: &AuthorizationId) -> Step {
    must(END, params![id])
}

/// Returns the step that ends a pending authorization, unless it has ended before.
#[must_use]
pub fn discard_step(id: &AuthorizationId) -> Step {
    step(END, params![id])
}

/// Ends a pending authorization.
///
/// # Errors
/// [`WriteError::Conflict`] if it has ended before.
pub async fn end(store: &Store, id: &AuthorizationId) -> Result<(), WriteError> {
    store.commit([end_step(id)]).await
}

/// Returns the step that deletes up to a thousand expired authorizations.
#[must_use]
pub fn sweep_step(now: Timestamp) -> Step {
    step(SWEEP, params![&AuthorizationId::new(now - MAX_WAIT, [0; 16])])
}
