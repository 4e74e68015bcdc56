//! Queries and statements for pending authorizations.

use anyhow::Result;
use jiff::Timestamp;
use signpost_login::ids::SessionId;
use signpost_store::{Statement, Store, Stored, WriteError, params, sql};

use super::{MAX_WAIT, PendingAuthorization};
use crate::ids::AuthorizationId;

const FIND_BY_ID: &str = sql!(PendingAuthorization::SELECT, " WHERE id = $1");
const FIND_BY_SESSION: &str = sql!(PendingAuthorization::SELECT, " WHERE session_id = $1");
const DELETE: &str = "DELETE FROM openid_authorizations WHERE id = $1";
/// Deletes expired authorizations. They are found by ID, because IDs start with the time.
const SWEEP: &str = "
    DELETE FROM openid_authorizations WHERE id IN (
        SELECT id FROM openid_authorizations WHERE id < $1 ORDER BY id LIMIT 1000
    ) RETURNING id";

/// Inserts a pending authorization.
///
/// # Errors
/// Returns the errors of [`Store::write`].
pub async fn insert(store: &Store, pending: PendingAuthorization) -> Result<()> {
    store.write([insert_statement(pending)]).await?;
    Ok(())
}

/// Returns the statement that inserts a pending authorization.
#[must_use]
pub fn insert_statement(pending: PendingAuthorization) -> Statement {
    Statement::new(PendingAuthorization::INSERT, pending.params())
}

/// Returns the pending authorization with this ID.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find(store: &Store, id: &AuthorizationId) -> Result<Option<PendingAuthorization>> {
    store.read_by_index(FIND_BY_ID, params![id]).await?.map(PendingAuthorization::from_row).transpose()
}

/// Returns the pending authorization of this login session.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_by_session(store: &Store, session: &SessionId) -> Result<Option<PendingAuthorization>> {
    store.read_by_index(FIND_BY_SESSION, params![session]).await?.map(PendingAuthorization::from_row).transpose()
}

/// Returns the statement that ends a pending authorization. It refuses the write if another response ended it before.
#[must_use]
pub fn end_statement(id: &AuthorizationId) -> Statement {
    Statement::expect_row(DELETE, params![id])
}

/// Returns the statement that ends a pending authorization, unless it has ended before.
#[must_use]
pub fn discard_statement(id: &AuthorizationId) -> Statement {
    Statement::new(DELETE, params![id])
}

/// Ends a pending authorization.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if it has ended before.
pub async fn end(store: &Store, id: &AuthorizationId) -> Result<(), WriteError> {
    store.commit([end_statement(id)]).await
}

/// Returns the statement that deletes up to a thousand expired authorizations.
#[must_use]
pub fn sweep_statement(now: Timestamp) -> Statement {
    Statement::new(SWEEP, params![&AuthorizationId::new(now - MAX_WAIT, [0; 16])])
}
