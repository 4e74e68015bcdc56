//! Queries and statements for grants as sign-ins of their users.

use anyhow::Result;
use jiff::Timestamp;
use signpost_login::browser_sessions::SignInBrowser;
use signpost_login::ids::{DomainId, UserId};
use signpost_login::sign_ins::SignInsQuery;
use signpost_store::{Json, ReadColumns, Row, Statement, Store, StoredTable, Values, params, sql};

use super::MAX_APP_SESSION_IDLE;
use crate::clients::ClientSettings;
use crate::ids::{ClientId, GrantId};

/// A suffix that is greater than that of any ID.
const AFTER_ALL: &str = "grt_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz";

/// The conditions of [`is_grant_valid`](super::is_grant_valid), for a domain and a user.
const VALID: &str = "
    domain_id = $1 AND user_id = $2 AND redeemed_at IS NOT NULL AND revoked_at IS NULL
        AND EXISTS (
            SELECT 1 FROM credentials
            WHERE credentials.domain_id = $1 AND credentials.public_key = openid_grants.public_key
                AND credentials.user_id = $2
        )
        AND EXISTS (
            SELECT 1 FROM users
            WHERE users.domain_id = $1 AND users.id = $2
                AND (signed_out_at IS NULL OR signed_out_at < openid_grants.authenticated_at)
        )";

/// The condition that a token of a grant is valid.
const HAS_TOKEN: &str = "
    EXISTS (
        SELECT 1 FROM openid_tokens WHERE grant_id = openid_grants.id AND replaced_at IS NULL AND expires_at > $4
    )";

/// A listed grant is valid and has a valid token. It is used when it gets a token, and an application behind a proxy when
/// its session is extended.
const LIST: &str = sql!(
    "SELECT granted.id, granted.client_id, openid_clients.settings, granted.redirect_uri, granted.created_at,
        granted.used_at, ",
    SignInBrowser::COLUMN_LIST,
    " FROM (
        SELECT openid_grants.*, (
            SELECT MAX(
                CASE WHEN kind = 'session' THEN expires_at - CAST($4 AS BIGINT) ELSE openid_tokens.created_at END
            )
            FROM openid_tokens WHERE grant_id = openid_grants.id AND replaced_at IS NULL AND expires_at > $3
        ) AS used_at
        FROM openid_grants
        WHERE id < $5 AND ",
    VALID,
    "
     ) AS granted
     JOIN openid_clients ON openid_clients.id = granted.client_id AND openid_clients.domain_id = $1
     WHERE used_at IS NOT NULL ORDER BY granted.id DESC LIMIT $6"
);

/// The name of the rows in error texts.
const SIGN_IN_ROWS: StoredTable = StoredTable { name: "sign-ins at applications", key: &[], columns: &[] };

const FIND_CLIENT: &str = sql!("SELECT client_id FROM openid_grants WHERE id = $3 AND ", VALID, " AND ", HAS_TOKEN);

const REVOKE: &str = sql!("UPDATE openid_grants SET revoked_at = $4 WHERE id = $3 AND ", VALID, " AND ", HAS_TOKEN);

/// A valid grant as a sign-in of its user.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct GrantSignIn {
    pub id: GrantId,
    pub client_id: ClientId,
    pub settings: ClientSettings,
    pub redirect_uri: String,
    pub created_at: Timestamp,
    pub used_at: Timestamp,
    pub browser: SignInBrowser,
}

impl GrantSignIn {
    fn from_row(row: Row) -> Result<Self> {
        let mut values = Values::new(SIGN_IN_ROWS, row);
        Ok(Self {
            id: values.next_column()?,
            client_id: values.next_column()?,
            settings: values.next_column::<Json<ClientSettings>>()?.0,
            redirect_uri: values.next_column()?,
            created_at: values.next_column()?,
            used_at: values.next_column()?,
            browser: SignInBrowser::read(&mut values)?,
        })
    }
}

/// Returns the valid grants of a user with a valid token, newest first.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn list(store: &Store, query: SignInsQuery<'_>) -> Result<Vec<GrantSignIn>> {
    let SignInsQuery { domain, user, before, limit, now } = query;
    let before = before.map_or_else(|| AFTER_ALL.to_owned(), |id| GrantId::of_sign_in(id).to_string());
    let idle = i64::try_from(MAX_APP_SESSION_IDLE.as_millis())?;
    let params = params![domain, user, now, idle, before, i64::from(limit)];
    store.read(LIST, params).await?.into_iter().map(GrantSignIn::from_row).collect()
}

/// Returns the client of a grant that [`list`] returns. `None` if there is no such grant.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_client(
    store: &Store,
    id: &GrantId,
    (domain, user): (&DomainId, &UserId),
    now: Timestamp,
) -> Result<Option<ClientId>> {
    let found = store.read_by_index(FIND_CLIENT, params![domain, user, id, now]).await?;
    let Some(row) = found else { return Ok(None) };
    Ok(ClientId::parse(row.text(0)?))
}

/// Returns the statement that revokes a grant of a user. It refuses the write if [`list`] would not return the grant.
#[must_use]
pub fn revoke_statement(id: &GrantId, domain: &DomainId, user: &UserId, now: Timestamp) -> Statement {
    Statement::expect_row(REVOKE, params![domain, user, id, now])
}
