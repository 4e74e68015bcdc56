//! Queries and statements for grants, tokens and consents.

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use signpost_login::browser_sessions::USER_AGENT_RETENTION;
use signpost_login::ids::{BrowserSessionId, DomainId, UserId};
use signpost_store::{Statement, Store, Stored, WriteError, WriteOutcome, params, sql};

use super::{AUTHORIZATION_CODE_TTL, Consent, Grant, OpaqueToken, StoredToken, TokenHash};
use crate::claims::OpenidScopes;
use crate::ids::{ClientId, GrantId};

/// Retention of a grant without tokens, in which a reused code is recognized.
const RETENTION_WITHOUT_TOKENS: SignedDuration = SignedDuration::from_hours(24);

const FIND_BY_ID: &str = sql!(Grant::SELECT, " WHERE id = $1");
const FIND_BY_CODE: &str = sql!(Grant::SELECT, " WHERE code_hash = $1");
const TOKEN: &str = sql!(StoredToken::SELECT, " WHERE hash = $1");

/// Locks the browser session of a grant: a concurrent sign-out either comes first, so that there is no session, or
/// revokes the grant.
const LOCK_BROWSER_SESSION: &str = "UPDATE browser_sessions SET cookie = cookie WHERE id = $1 AND user_id = $2";

/// Redeems a code. Only the first of several concurrent exchanges of a code succeeds.
const REDEEM: &str = "
    UPDATE openid_grants SET redeemed_at = $1
    WHERE id = $2 AND redeemed_at IS NULL AND revoked_at IS NULL AND created_at > $3";

const REPLACE: &str = "
    UPDATE openid_tokens SET replaced_at = $1, successor = $2
    WHERE hash = $3 AND replaced_at IS NULL AND expires_at > $1
        AND EXISTS (SELECT 1 FROM openid_grants WHERE id = grant_id AND revoked_at IS NULL)";

const REVOKE: &str = "UPDATE openid_grants SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL";
const REVOKE_OF_BROWSER: &str = "
    UPDATE openid_grants SET revoked_at = $1
    WHERE browser_session_id = $2 AND domain_id = $3 AND revoked_at IS NULL";
const REVOKE_OF_BROWSER_AT: &str = "
    UPDATE openid_grants SET revoked_at = $1
    WHERE browser_session_id = $2 AND client_id = $3 AND revoked_at IS NULL";
const DELETE_TOKEN: &str = "DELETE FROM openid_tokens WHERE hash = $1";

const FIND_CONSENT: &str = sql!(Consent::SELECT, " WHERE domain_id = $1 AND user_id = $2 AND client_id = $3");
const UPSERT_CONSENT: &str = sql!(
    Consent::INSERT,
    " ON CONFLICT (domain_id, user_id, client_id) DO UPDATE SET
        scopes = excluded.scopes, agreed_at = excluded.agreed_at"
);

const SWEEP_TOKENS: &str = "
    DELETE FROM openid_tokens WHERE hash IN (
        SELECT hash FROM openid_tokens WHERE expires_at < $1 ORDER BY expires_at LIMIT 1000
    ) RETURNING hash";
/// Retention of a grant without a code exchange. Much longer than the lifetime of a code, because the clocks of servers
/// may differ.
const UNREDEEMED_RETENTION: SignedDuration = SignedDuration::from_mins(5);
/// Time range of each sweep: several times its interval.
const UNREDEEMED_WITHIN: SignedDuration = SignedDuration::from_mins(15);

/// Limited to a time range, so that older grants are not read: [`SWEEP_GRANTS`] deletes those.
const SWEEP_UNREDEEMED: &str = "
    DELETE FROM openid_grants WHERE id > $1 AND id < $2 AND redeemed_at IS NULL RETURNING id";
/// Deletes old grants. They are found by ID, because IDs start with the time.
const SWEEP_GRANTS: &str = "
    DELETE FROM openid_grants WHERE id IN (
        SELECT id FROM openid_grants
        WHERE id < $1 AND NOT EXISTS (SELECT 1 FROM openid_tokens WHERE grant_id = openid_grants.id)
        ORDER BY id LIMIT 1000
    ) RETURNING id";
/// Removes the `User-Agent` of old grants.
const SWEEP_USER_AGENTS: &str = "
    UPDATE openid_grants SET user_agent = NULL WHERE id IN (
        SELECT id FROM openid_grants WHERE id < $1 AND user_agent IS NOT NULL ORDER BY id LIMIT 1000
    ) RETURNING id";
/// Deletes the consents of deleted clients and users.
const SWEEP_CONSENTS: &str = "
    DELETE FROM openid_consents WHERE (domain_id, user_id, client_id) IN (
        SELECT domain_id, user_id, client_id FROM openid_consents
        WHERE NOT EXISTS (SELECT 1 FROM openid_clients WHERE id = client_id)
            OR NOT EXISTS (
                SELECT 1 FROM users
                WHERE users.domain_id = openid_consents.domain_id AND users.id = user_id
            )
        LIMIT 1000
    ) RETURNING user_id";

/// Inserts a grant, in one write with `extra_statements`.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if a statement is refused, or the user has signed out.
pub async fn insert(store: &Store, grant: Grant, extra_statements: Vec<Statement>) -> Result<(), WriteError> {
    let mut statements = extra_statements;
    statements.push(Statement::expect_row(LOCK_BROWSER_SESSION, params![&grant.browser_session_id, &grant.user_id]));
    statements.push(Statement::new(Grant::INSERT, grant.params()));
    store.commit(statements).await
}

/// Returns the grant with this ID.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find(store: &Store, id: &GrantId) -> Result<Option<Grant>> {
    store.read_by_index(FIND_BY_ID, params![id]).await?.map(Grant::from_row).transpose()
}

/// Returns the grant of an authorization code.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_by_code(store: &Store, code: &OpaqueToken) -> Result<Option<Grant>> {
    store.read_by_index(FIND_BY_CODE, params![code.hash()]).await?.map(Grant::from_row).transpose()
}

/// Returns a token of any kind.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_token(store: &Store, hash: TokenHash) -> Result<Option<StoredToken>> {
    store.read_by_index(TOKEN, params![hash]).await?.map(StoredToken::from_row).transpose()
}

/// Redeems an authorization code for these tokens.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if it was redeemed before, or has expired.
pub async fn redeem(
    store: &Store,
    grant: &GrantId,
    tokens: Vec<StoredToken>,
    now: Timestamp,
) -> Result<(), WriteError> {
    let first = Statement::expect_row(REDEEM, params![now, grant, now - AUTHORIZATION_CODE_TTL]);
    write_tokens(store, first, tokens).await
}

/// Replaces a refresh token. `sealed` is the encrypted next token, stored with the old token.
///
/// # Errors
/// Returns [`WriteError::Conflict`] if it was replaced before, or has expired.
pub async fn replace(
    store: &Store,
    token: TokenHash,
    sealed: &str,
    next: Vec<StoredToken>,
    now: Timestamp,
) -> Result<(), WriteError> {
    write_tokens(store, Statement::expect_row(REPLACE, params![now, sealed, token]), next).await
}

/// Inserts more tokens of a grant.
///
/// # Errors
/// Returns the errors of [`Store::write`].
pub async fn add_tokens(store: &Store, tokens: Vec<StoredToken>) -> Result<()> {
    store.write(insert_statements(tokens).collect::<Vec<_>>()).await?;
    Ok(())
}

async fn write_tokens(store: &Store, first: Statement, tokens: Vec<StoredToken>) -> Result<(), WriteError> {
    let statements: Vec<_> = [first].into_iter().chain(insert_statements(tokens)).collect();
    store.commit(statements).await
}

fn insert_statements(tokens: Vec<StoredToken>) -> impl Iterator<Item = Statement> {
    tokens.into_iter().map(|token| Statement::new(StoredToken::INSERT, token.params()))
}

/// Revokes a grant, with all of its tokens.
///
/// # Errors
/// Returns the errors of [`Store::write`].
pub async fn revoke(store: &Store, grant: &GrantId, now: Timestamp) -> Result<()> {
    store.write([Statement::new(REVOKE, params![now, grant])]).await?;
    Ok(())
}

/// Returns the statement that revokes all grants of a browser session at a domain.
#[must_use]
pub fn revoke_by_browser_statement(session: &BrowserSessionId, domain: &DomainId, now: Timestamp) -> Statement {
    Statement::new(REVOKE_OF_BROWSER, params![now, session, domain])
}

/// Revokes the grants of a browser session for a client.
///
/// # Errors
/// Returns the errors of [`Store::write`].
pub async fn revoke_by_browser_and_client(
    store: &Store,
    session: &BrowserSessionId,
    client: &ClientId,
    now: Timestamp,
) -> Result<()> {
    store.write([Statement::new(REVOKE_OF_BROWSER_AT, params![now, session, client])]).await?;
    Ok(())
}

/// Deletes a token.
///
/// # Errors
/// Returns the errors of [`Store::write`].
pub async fn end_token(store: &Store, token: TokenHash) -> Result<()> {
    store.write([Statement::new(DELETE_TOKEN, params![token])]).await?;
    Ok(())
}

/// Returns the scopes of a user's consent to a client.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_consent(
    store: &Store,
    domain: &DomainId,
    user: &UserId,
    client: &ClientId,
) -> Result<Option<OpenidScopes>> {
    let row = store.read_by_index(FIND_CONSENT, params![domain, user, client]).await?;
    Ok(row.map(Consent::from_row).transpose()?.map(|consent| consent.scopes))
}

/// Stores the consent of a user.
///
/// # Errors
/// Returns the errors of [`Store::write`].
pub async fn store_consent(store: &Store, consent: Consent) -> Result<()> {
    store.write([consent_statement(consent)]).await?;
    Ok(())
}

/// Returns the statement that stores the consent of a user.
#[must_use]
pub fn consent_statement(consent: Consent) -> Statement {
    Statement::new(UPSERT_CONSENT, consent.params())
}

/// Deletes grants without a code exchange in time. Returns their number.
///
/// # Errors
/// Returns the errors of [`Store::write`].
pub async fn sweep_unredeemed(store: &Store, now: Timestamp) -> Result<usize> {
    let until = GrantId::new(now - UNREDEEMED_RETENTION, [0; 16]);
    let from = GrantId::new(now - UNREDEEMED_RETENTION - UNREDEEMED_WITHIN, [0; 16]);
    Ok(match store.write([Statement::new(SWEEP_UNREDEEMED, params![&from, &until])]).await? {
        WriteOutcome::Committed(rows) => rows.len(),
        WriteOutcome::Refused(_) => 0,
    })
}

/// Deletes expired tokens, grants without tokens, consents of deleted clients and users, and the `User-Agent` of old
/// grants, a thousand rows at a time. Returns their number.
///
/// # Errors
/// Returns the errors of [`Store::write`].
pub async fn sweep(store: &Store, now: Timestamp) -> Result<usize> {
    let mut deleted = 0;
    let oldest = GrantId::new(now - RETENTION_WITHOUT_TOKENS, [0; 16]);
    let described = GrantId::new(now - USER_AGENT_RETENTION, [0; 16]);
    for sweep in [
        Statement::new(SWEEP_TOKENS, params![now]),
        Statement::new(SWEEP_GRANTS, params![&oldest]),
        Statement::new(SWEEP_CONSENTS, params![]),
        Statement::new(SWEEP_USER_AGENTS, params![&described]),
    ] {
        loop {
            let WriteOutcome::Committed(rows) = store.write([sweep.clone()]).await? else { break };
            deleted += rows.len();
            if rows.is_empty() {
                break;
            }
        }
    }
    Ok(deleted)
}
