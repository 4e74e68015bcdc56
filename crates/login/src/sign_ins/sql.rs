//! Queries and statements for sign-ins in browsers.

use anyhow::Result;
use signpost_store::{Statement, Store, Stored, params, sql};

use super::{SignIn, SignInPlace, SignInsQuery};
use crate::browser_sessions::{BrowserSession, BrowserSessionState, MAX_AGE, MAX_IDLE};
use crate::ids::{BrowserSessionId, DomainId, SessionId, SignInId, UserId};

/// A suffix that is greater than that of any ID.
const AFTER_ALL: &str = "sess_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz";

/// Has the conditions of [`BrowserSession::proof`], and that the user still has the key. Sorted by the login session,
/// which the ID of a sign-in is made of.
const LIST: &str = sql!(
    BrowserSession::SELECT,
    " WHERE domain_id = $1 AND user_id = $2 AND session_id < $3 AND last_used_at > $4 AND authenticated_at > $5
        AND EXISTS (
            SELECT 1 FROM credentials
            WHERE credentials.domain_id = $1 AND credentials.public_key = browser_sessions.public_key
                AND credentials.user_id = $2
        )
      ORDER BY session_id DESC LIMIT $6"
);

const FIND_ID: &str = "SELECT id FROM browser_sessions WHERE session_id = $1 AND domain_id = $2 AND user_id = $3";

const DELETE: &str = "DELETE FROM browser_sessions WHERE id = $1 AND domain_id = $2 AND user_id = $3";

/// Returns the valid sign-ins of a user in browsers, newest first.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn list_in_browsers(store: &Store, query: SignInsQuery<'_>) -> Result<Vec<SignIn>> {
    let SignInsQuery { domain, user, before, limit, now } = query;
    let before = before.map_or_else(|| AFTER_ALL.to_owned(), |id| id.session_id().to_string());
    let params = params![domain, user, before, now - MAX_IDLE, now - MAX_AGE, i64::from(limit)];
    let mut found = Vec::new();
    for row in store.read(LIST, params).await? {
        let session = BrowserSession::from_row(row)?;
        let BrowserSessionState::SignedIn(proof) = session.state else { continue };
        found.push(SignIn {
            id: SignInId::in_browser(&session.session_id),
            place: SignInPlace::Browser,
            created_at: proof.authenticated_at,
            last_used_at: session.last_used_at,
            browser: session.browser,
        });
    }
    Ok(found)
}

/// Returns the ID of a browser session in which the user is signed in.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn find_browser_session(
    store: &Store,
    session: &SessionId,
    domain: &DomainId,
    user: &UserId,
) -> Result<Option<BrowserSessionId>> {
    let Some(row) = store.read_by_index(FIND_ID, params![session, domain, user]).await? else { return Ok(None) };
    Ok(BrowserSessionId::parse(row.text(0)?))
}

/// Returns the statement that ends the sign-in in a browser. It refuses the write if the user is no longer signed in
/// there.
#[must_use]
pub fn end_statement(id: &BrowserSessionId, domain: &DomainId, user: &UserId) -> Statement {
    Statement::expect_row(DELETE, params![id, domain, user])
}
