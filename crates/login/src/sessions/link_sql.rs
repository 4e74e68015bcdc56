//! Links in the database.

use anyhow::{Result, anyhow};
use jiff::Timestamp;
use signpost_auth::Challenge;
use signpost_store::{Step, Store, WriteError, must, params, step};

use super::{LINK_LASTS, Session};
use crate::ids::{DomainId, SessionId, UserId};

/// Names the challenge: what is confirmed is the answer that the owner was shown.
const CONFIRM: &str = "
    UPDATE sessions SET link_confirmed_at = $1
    WHERE id = $2 AND challenge = $3 AND link_user IS NOT NULL AND link_confirmed_at IS NULL
      AND answer IS NOT NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Drops an answer that nobody confirmed, together with the code that it answered.
const DECLINE: &str = "
    UPDATE sessions SET answer = NULL, challenge = $1, expires_at = $2, replaced_challenge = $3, page_until = $4,
        notice = NULL
    WHERE id = $5 AND challenge = $3 AND link_user IS NOT NULL AND link_confirmed_at IS NULL
      AND answer IS NOT NULL AND authenticated_at IS NULL AND cancelled_at IS NULL";

/// Ids begin with the time, so sessions older than a link can become are skipped.
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

/// Cancels all pending links of a user. Part of every write that takes away a permission of the user: a credential
/// or a sign-in.
#[must_use]
pub fn cancel_links_of(domain: &DomainId, user: &UserId, now: Timestamp) -> Step {
    step(CANCEL_OF_USER, params![now, user, domain, oldest_link(now)])
}

/// Returns the ID below which no session can be a pending link.
fn oldest_link(now: Timestamp) -> SessionId {
    SessionId::new(now - LINK_LASTS - LINK_LASTS, [0; 16])
}

/// Cancels the pending links of a user that is removed. A link that was confirmed is left to its completion, which refuses to
/// add a key to a user that is gone.
#[must_use]
pub fn cancel_unconfirmed_links_of(domain: &DomainId, user: &UserId, now: Timestamp) -> Step {
    step(CANCEL_UNCONFIRMED_OF_USER, params![now, user, domain, oldest_link(now)])
}

/// Cancels the pending links of all users of a domain, as [`cancel_unconfirmed_links_of`] those of one.
#[must_use]
pub fn cancel_unconfirmed_links(domain: &DomainId, now: Timestamp) -> Step {
    step(CANCEL_UNCONFIRMED, params![now, domain, oldest_link(now)])
}

/// Records that the owner of a page confirmed the key that answered a link.
///
/// # Errors
/// [`WriteError::Conflict`] if the link was confirmed or declined before, or the session has expired.
pub async fn confirm(store: &Store, session: &Session, now: Timestamp) -> Result<(), WriteError> {
    let params = params![now, &session.id, session.challenge.to_string()];
    store.commit([must(CONFIRM, params)]).await
}

/// Stores a link whose answer to the challenge `old` was declined.
///
/// # Errors
/// [`WriteError::Conflict`] if the link was confirmed or declined before, or the session has expired.
pub async fn decline(store: &Store, session: &Session, old: &Challenge) -> Result<(), WriteError> {
    let Session { id, challenge, expires_at, page: Some(page), .. } = session else {
        return Err(anyhow!("{} is on no page", session.id).into());
    };
    let params = params![challenge.to_string(), *expires_at, old.to_string(), page.until, id];
    store.commit([must(DECLINE, params)]).await
}
