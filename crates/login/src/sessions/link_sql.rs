//! Statements that confirm, decline and cancel links.

use anyhow::anyhow;
use jiff::Timestamp;
use signpost_auth::Challenge;
use signpost_store::{Statement, Store, Stored, params, sql};

use super::write::write_returning;
use super::{LINK_TTL, Session, SessionWriteError};
use crate::ids::{DomainId, SessionId, UserId};

/// Confirms a link. Compares the challenge, so that the owner confirms only the displayed answer.
const CONFIRM: &str = sql!(
    "UPDATE sessions SET link_confirmed_at = $1
     WHERE id = $2 AND challenge = $3 AND link_user IS NOT NULL AND link_confirmed_at IS NULL
       AND answer IS NOT NULL AND authenticated_at IS NULL AND cancelled_at IS NULL
     RETURNING ",
    Session::COLUMN_LIST
);

/// Drops an answer that was not confirmed, and replaces the code that it answered.
const DECLINE: &str = sql!(
    "UPDATE sessions SET answer = NULL, challenge = $1, expires_at = $2, replaced_challenge = $3, page_until = $4,
         notice = NULL
     WHERE id = $5 AND challenge = $3 AND link_user IS NOT NULL AND link_confirmed_at IS NULL
       AND answer IS NOT NULL AND authenticated_at IS NULL AND cancelled_at IS NULL
     RETURNING ",
    Session::COLUMN_LIST
);

/// Cancels the links of a user. Sessions that are too old to be a pending link are skipped by ID,
/// because IDs start with the time.
const CANCEL_OF_USER: &str = "
    UPDATE sessions SET cancelled_at = $1
    WHERE link_user = $2 AND domain_id = $3 AND id >= $4 AND authenticated_at IS NULL AND cancelled_at IS NULL";

const CANCEL_UNCONFIRMED_OF_USER: &str = "
    UPDATE sessions SET cancelled_at = $1
    WHERE link_user = $2 AND domain_id = $3 AND id >= $4 AND link_confirmed_at IS NULL
      AND authenticated_at IS NULL AND cancelled_at IS NULL";

const CANCEL_UNCONFIRMED: &str = "
    UPDATE sessions SET cancelled_at = $1
    WHERE link_user IS NOT NULL AND domain_id = $2 AND id >= $3 AND link_confirmed_at IS NULL
      AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Cancels all pending links of a user. Part of every write that removes a permission of the user: a credential or a
/// sign-in.
#[must_use]
pub fn cancel_user_links_statement(domain: &DomainId, user: &UserId, now: Timestamp) -> Statement {
    Statement::new(CANCEL_OF_USER, params![now, user, domain, oldest_link(now)])
}

/// Returns the minimum ID of sessions that can be a pending link.
fn oldest_link(now: Timestamp) -> SessionId {
    SessionId::new(now - LINK_TTL - LINK_TTL, [0; 16])
}

/// Cancels the unconfirmed links of a user that is deleted. The completion of a confirmed link refuses to add a key to
/// a deleted user.
#[must_use]
pub fn cancel_user_unconfirmed_links_statement(domain: &DomainId, user: &UserId, now: Timestamp) -> Statement {
    Statement::new(CANCEL_UNCONFIRMED_OF_USER, params![now, user, domain, oldest_link(now)])
}

/// Cancels the unconfirmed links of all users of a domain, who are deleted.
#[must_use]
pub fn cancel_unconfirmed_links_statement(domain: &DomainId, now: Timestamp) -> Statement {
    Statement::new(CANCEL_UNCONFIRMED, params![now, domain, oldest_link(now)])
}

/// Records that the owner of a page confirmed the key that answered a link. Returns the session after the write.
///
/// # Errors
/// Returns [`SessionWriteError::Changed`] if the link was confirmed or declined before, or the
/// session has ended.
pub async fn confirm(store: &Store, session: &Session, now: Timestamp) -> Result<Session, SessionWriteError> {
    let params = params![now, &session.id, session.challenge.to_string()];
    write_returning(store, session, Statement::expect_row(CONFIRM, params)).await
}

/// Stores a link after its answer to the challenge `old` was declined. Returns the session after the write.
///
/// # Errors
/// Returns [`SessionWriteError::Changed`] if the link was confirmed or declined before, or the
/// session has ended.
pub async fn decline(store: &Store, session: &Session, old: &Challenge) -> Result<Session, SessionWriteError> {
    let Session { id, challenge, expires_at, page: Some(page), .. } = session else {
        return Err(anyhow!("{} is on no page", session.id).into());
    };
    let params = params![challenge.to_string(), *expires_at, old.to_string(), page.until, id];
    write_returning(store, session, Statement::expect_row(DECLINE, params)).await
}
