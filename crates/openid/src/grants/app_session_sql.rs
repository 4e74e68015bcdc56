//! Queries and statements for sessions of applications. A session is read together with all rows
//! that it depends on in a single query, because a proxy sends a subrequest for every request,
//! including images.

use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use signpost_login::domains::Domain;
use signpost_login::users::sql::read_credential_columns;
use signpost_login::users::{CredentialRow, HostedUser};
use signpost_platform::pages::cookie::CookieHash;
use signpost_store::{ReadColumns, Row, Statement, Store, Stored, StoredTable, Values, params, sql};

use super::{AppSession, Grant, GrantFacts, StoredToken, TokenHash};
use crate::clients::Client;

/// Returns a row for each credential of the user, and no row without credentials. There is no ORDER BY, so that SQLite
/// finds the credentials by their user instead of reading the domain's in order. The parameter is cast, because SQLite
/// otherwise prepares the join for each binding.
const FIND: &str = sql!(
    "SELECT token.*, granted.*, client.*, realm.*, person.*, credential.* FROM (",
    StoredToken::SELECT,
    ") AS token JOIN (",
    Grant::SELECT,
    ") AS granted ON granted.id = token.grant_id JOIN (",
    Client::SELECT,
    ") AS client ON client.id = granted.client_id JOIN (SELECT ",
    Domain::COLUMN_LIST,
    " FROM domains) AS realm ON realm.id = granted.domain_id JOIN (",
    HostedUser::SELECT,
    ") AS person ON person.domain_id = granted.domain_id AND person.id = granted.user_id JOIN (",
    CredentialRow::SELECT,
    ") AS credential ON credential.domain_id = granted.domain_id AND credential.user_id = granted.user_id
     WHERE token.hash = CAST($1 AS TEXT) AND token.kind = 'session'"
);

/// The name of the rows in error texts.
const APP_SESSION_ROWS: StoredTable = StoredTable { name: "app sessions", key: &[], columns: &[] };

/// Extends the lifetime of a session. Never shortens a lifetime that another server has written.
const EXTEND: &str =
    "UPDATE openid_tokens SET expires_at = $1 WHERE hash = $2 AND kind = 'session' AND expires_at < $1";

/// Reads the rows of the session with this cookie; none if there is no session.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn read_rows(store: &Store, cookie: &CookieHash) -> Result<Vec<Row>> {
    store.read_few_by_index(FIND, params![TokenHash::from_cookie(cookie)]).await
}

/// Parses the rows of a session.
///
/// # Errors
/// Returns an error if there are none, or a column cannot be read.
pub fn from_rows(rows: Vec<Row>) -> Result<AppSession> {
    let mut session = None;
    let mut credentials = Vec::new();
    for row in rows {
        let mut values = Values::new(APP_SESSION_ROWS, row);
        let token = StoredToken::from_values(&mut values)?;
        let grant = Grant::from_values(&mut values)?;
        let client = Client::from_values(&mut values)?;
        let domain = Domain::read(&mut values)?;
        let user = HostedUser::from_values(&mut values)?;
        credentials.push(read_credential_columns(&mut values)?);
        session.get_or_insert((token, grant, client, domain, user));
    }
    let (token, grant, client, domain, user) = session.context("no rows of a session were read")?;
    ensure!(!credentials.is_empty(), "a session's user has no key");
    let facts = GrantFacts { client, domain, user, credentials };
    Ok(AppSession { token, grant, facts, identity: OnceLock::new() })
}

/// Moves the end of a session.
///
/// # Errors
/// Returns the errors of [`Store::write`].
pub async fn extend(store: &Store, session: TokenHash, end: Timestamp) -> Result<()> {
    store.write([Statement::new(EXTEND, params![end, session])]).await?;
    Ok(())
}
