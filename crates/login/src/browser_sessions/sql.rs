//! Queries and statements for browser sessions.

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::json;
use signpost_platform::accounts::Environment;
use signpost_platform::accounts::audit::{Action, Actor};
use signpost_store::{Statement, Store, Stored, WriteError, params, sql, text_columns};

use super::{BrowserSession, CookieHash, MAX_DOMAINS_PER_COOKIE, MAX_LOGINS};
use crate::domains::LoginMethod;
use crate::domains::audit::insert_domain_entry;
use crate::ids::{BrowserSessionId, DomainId, SessionId, UserId};

/// Inserts a row unless the session has one, because reloading the page must not begin another
/// login.
const INSERT: &str = sql!(BrowserSession::INSERT, " ON CONFLICT (session_id) DO NOTHING");

/// Moves rows to a new cookie: the rows of the cookie that the browser sent, and of the cookie that
/// an earlier response in this session set but that the browser may not have received.
const MOVE_TO_COOKIE: &str = "
    UPDATE browser_sessions SET cookie = $1
    WHERE cookie = $2 OR cookie IN (SELECT cookie FROM browser_sessions WHERE session_id = $3)";

/// Deletes the oldest rows of a cookie. The order by ID is the order by age, because IDs begin with
/// the time.
const DELETE_OLDEST: &str = "
    DELETE FROM browser_sessions WHERE cookie = $1 AND id NOT IN (
        SELECT id FROM browser_sessions WHERE cookie = $1 ORDER BY id DESC LIMIT $2
    )";

/// Deletes all but the newest pending logins at a domain, for several tabs: many pending logins must not displace the
/// rows of other domains.
const DELETE_OLDEST_HERE: &str = "
    DELETE FROM browser_sessions
    WHERE cookie = $1 AND environment = $2 AND domain_id = $3 AND user_id IS NULL AND id NOT IN (
        SELECT id FROM browser_sessions WHERE cookie = $1 AND environment = $2 AND domain_id = $3
        ORDER BY id DESC LIMIT $4
    )";

/// Signs out the previous user of the browser at the domain: only the newest login counts. A login after a sign-out
/// gets a later time than the sign-out, even if the clocks of the two servers differ.
const SIGN_IN: &str = "
    UPDATE browser_sessions SET
        user_id = CASE WHEN session_id = $1 THEN $2 END,
        public_key = CASE WHEN session_id = $1 THEN $3 END,
        method = CASE WHEN session_id = $1 THEN $4 END,
        authenticated_at = CASE WHEN session_id = $1 THEN COALESCE((
            SELECT signed_out_at + 1 FROM users
            WHERE users.domain_id = browser_sessions.domain_id AND users.id = $2
                AND signed_out_at >= CAST($5 AS BIGINT)
        ), CAST($5 AS BIGINT)) END,
        last_used_at = CAST($5 AS BIGINT)
    WHERE (cookie, environment, domain_id) IN (
        SELECT cookie, environment, domain_id FROM browser_sessions WHERE session_id = $1
    )";

const FIND_BY_SESSION: &str = sql!(BrowserSession::SELECT, " WHERE session_id = $1");

/// Selects the rows of a cookie, newest first.
const LIST_BY_COOKIE: &str = sql!(BrowserSession::SELECT, " WHERE cookie = $1 ORDER BY id DESC LIMIT $2");

const RECORD_USE: &str = "UPDATE browser_sessions SET last_used_at = $1 WHERE id = $2 AND last_used_at < $1";

const RECORD_CONSOLE_USE: &str = "
    UPDATE browser_sessions SET
        last_used_at = CASE WHEN last_used_at < $1 THEN CAST($1 AS BIGINT) ELSE last_used_at END,
        console_used_at = CAST($1 AS BIGINT)
    WHERE id = $2 AND (console_used_at IS NULL OR console_used_at < $1)";

/// Changes nothing, but conflicts if this browser session no longer signs the user in.
const REQUIRE_USER: &str = "UPDATE browser_sessions SET cookie = cookie WHERE id = $1 AND user_id = $2";

const DELETE_AT_DOMAIN: &str = "
    DELETE FROM browser_sessions WHERE cookie = $1 AND environment = $2 AND domain_id = $3";

const DELETE_BY_USER: &str = "DELETE FROM browser_sessions WHERE domain_id = $1 AND user_id = $2";

/// Records the sign-out of a user. This also revokes earlier grants to applications. The recorded
/// time is not before the user's last login, because the clock of the server that recorded the
/// login may have been ahead of this server's clock.
const RECORD_SIGN_OUT: &str = "
    UPDATE users SET signed_out_at = CASE
        WHEN last_login_at > $3 AND last_login_at >= created_at THEN last_login_at
        WHEN created_at > $3 THEN created_at
        ELSE $3
    END
    WHERE domain_id = $1 AND id = $2";

const DELETE_BY_DOMAIN: &str = "DELETE FROM browser_sessions WHERE domain_id = $1";

/// Stores a new browser session with a new cookie. The rows of the browser's previous cookie
/// `before` move to the new cookie.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn begin(store: &Store, new: BrowserSession, before: Option<&CookieHash>) -> Result<()> {
    let cookie = new.cookie.as_str();
    let before = before.map_or("", CookieHash::as_str);
    let move_rows = Statement::new(MOVE_TO_COOKIE, params![cookie, before, &new.session_id]);
    let pending_here = params![cookie, new.environment, &new.domain_id, i64::from(MAX_LOGINS)];
    let delete_oldest_here = Statement::new(DELETE_OLDEST_HERE, pending_here);
    let delete_oldest = Statement::new(DELETE_OLDEST, params![cookie, i64::from(MAX_DOMAINS_PER_COOKIE)]);
    store.write([Statement::new(INSERT, new.params()), move_rows, delete_oldest_here, delete_oldest]).await?;
    Ok(())
}

/// Returns the statement that signs the user of a session in, for the write that completes the session. It has no
/// effect if no browser returned with the session. `public_key` is the key's canonical spelling.
#[must_use]
pub fn sign_in_statement(
    session: &SessionId,
    user: &UserId,
    public_key: &str,
    method: LoginMethod,
    now: Timestamp,
) -> Statement {
    Statement::new(SIGN_IN, params![session, user, public_key, method, now])
}

/// Returns the browser session that began with this login session.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn find_by_session(store: &Store, session: &SessionId) -> Result<Option<BrowserSession>> {
    let Some(row) = store.read_by_index(FIND_BY_SESSION, params![session]).await? else { return Ok(None) };
    BrowserSession::from_row(row).map(Some)
}

/// Returns the browser sessions of a cookie, newest first.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn list(store: &Store, cookie: &CookieHash) -> Result<Vec<BrowserSession>> {
    let rows = store.read(LIST_BY_COOKIE, params![cookie.as_str(), i64::from(MAX_DOMAINS_PER_COOKIE)]).await?;
    rows.into_iter().map(BrowserSession::from_row).collect()
}

/// Records a use of the browser session.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn record_use(store: &Store, id: &BrowserSessionId, now: Timestamp) -> Result<()> {
    store.write([Statement::new(RECORD_USE, params![now, id])]).await?;
    Ok(())
}

/// Records that the console accepted a request of the browser.
///
/// # Errors
/// Returns an error if the database is unavailable.
pub async fn record_console_use(store: &Store, id: &BrowserSessionId, now: Timestamp) -> Result<()> {
    store.write([Statement::new(RECORD_CONSOLE_USE, params![now, id])]).await?;
    Ok(())
}

/// Returns the statement that refuses a write unless the user is still signed in by this browser session.
#[must_use]
pub fn require_statement(id: &BrowserSessionId, user: &UserId) -> Statement {
    Statement::expect_row(REQUIRE_USER, params![id, user])
}

/// Returns the statement that deletes all browser sessions of this cookie at a domain.
#[must_use]
pub fn sign_out_statement(cookie: &CookieHash, environment: Environment, domain: &DomainId) -> Statement {
    Statement::new(DELETE_AT_DOMAIN, params![cookie.as_str(), environment, domain])
}

/// Signs a user of a domain out in all browsers, in one write with `extra_statements`.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if the domain does not exist.
pub async fn sign_out_everywhere(
    store: &Store,
    domain: &DomainId,
    user: &UserId,
    extra_statements: Vec<Statement>,
    by: &Actor,
    now: Timestamp,
) -> Result<(), WriteError> {
    let entry = insert_domain_entry(by, Action::UserSignedOut, domain, &json!({ "user_id": user }), now);
    // The user's row is written first, like in a login, so that the second of two concurrent writes
    // sees the result of the first.
    let record = Statement::new(RECORD_SIGN_OUT, params![domain, user, now]);
    let end = Statement::new(DELETE_BY_USER, params![domain, user]);
    store.commit([record, end, entry].into_iter().chain(extra_statements).collect::<Vec<_>>()).await
}

/// Returns the statement that signs all users out of a domain that is deleted.
pub(crate) fn delete_by_domain_statement(domain: &DomainId) -> Statement {
    Statement::new(DELETE_BY_DOMAIN, params![domain])
}

text_columns! {
    LoginMethod: |method| method.as_str(), |text| LoginMethod::parse(text).context("is no method of a login");
}
