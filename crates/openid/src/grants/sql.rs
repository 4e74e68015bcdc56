//! Grants, tokens and consents in the database.

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};
use signpost_login::ids::{BrowserSessionId, DomainId, UserId};
use signpost_store::{Step, Store, Stored, WriteError, WriteOutcome, must, params, sql, step};

use super::{Bearer, BearerHash, CODE_LASTS, Consent, Grant, StoredToken};
use crate::claims::OpenidScopes;
use crate::ids::{ClientId, GrantId};

/// How long a grant is kept that has no token any more: so long a code that comes again is recognised.
const KEPT_WITHOUT_TOKENS: SignedDuration = SignedDuration::from_hours(24);

const OF_ID: &str = sql!(Grant::SELECT, " WHERE id = $1");
const OF_CODE: &str = sql!(Grant::SELECT, " WHERE code_hash = $1");
const TOKEN: &str = sql!(StoredToken::SELECT, " WHERE hash = $1");

/// Takes the browser session that a grant is of: one that is signed out at the same time is gone, or has the grant when what
/// was granted by it ends.
const TAKE_BROWSER: &str = "UPDATE browser_sessions SET cookie = cookie WHERE id = $1 AND user_id = $2";

/// One of many who come at once redeems a code.
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
const END_TOKEN: &str = "DELETE FROM openid_tokens WHERE hash = $1";

const CONSENT: &str = sql!(Consent::SELECT, " WHERE domain_id = $1 AND user_id = $2 AND client_id = $3");
const AGREE: &str = sql!(
    Consent::INSERT,
    " ON CONFLICT (domain_id, user_id, client_id) DO UPDATE SET
        scopes = excluded.scopes, agreed_at = excluded.agreed_at"
);

const SWEEP_TOKENS: &str = "
    DELETE FROM openid_tokens WHERE hash IN (
        SELECT hash FROM openid_tokens WHERE expires_at < $1 ORDER BY expires_at LIMIT 1000
    ) RETURNING hash";
/// How long a grant is kept whose code nobody redeemed. Far longer than a code is good, because the server that issued it may
/// have another time than the one that sweeps.
const KEPT_UNREDEEMED: SignedDuration = SignedDuration::from_mins(5);
/// How far back they are looked for each time: several times as long as it is until the next.
const UNREDEEMED_WITHIN: SignedDuration = SignedDuration::from_mins(15);

/// Of a stretch of time, so that grants of before are not read: those are [`SWEEP_GRANTS`]' to find.
const SWEEP_UNREDEEMED: &str = "
    DELETE FROM openid_grants WHERE id > $1 AND id < $2 AND redeemed_at IS NULL RETURNING id";
/// Ids begin with the time.
const SWEEP_GRANTS: &str = "
    DELETE FROM openid_grants WHERE id IN (
        SELECT id FROM openid_grants
        WHERE id < $1 AND NOT EXISTS (SELECT 1 FROM openid_tokens WHERE grant_id = openid_grants.id)
        ORDER BY id LIMIT 1000
    ) RETURNING id";
/// Of clients and users that are gone.
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

/// Inserts a grant, in one write with the steps of `with`.
///
/// # Errors
/// [`WriteError::Conflict`] if one of the steps is refused, or the user has signed out.
pub async fn insert(store: &Store, grant: Grant, with: Vec<Step>) -> Result<(), WriteError> {
    let mut steps = with;
    steps.push(must(TAKE_BROWSER, params![&grant.browser_session_id, &grant.user_id]));
    steps.push(step(Grant::INSERT, grant.params()));
    store.commit(steps).await
}

/// The grant with this id.
///
/// # Errors
/// As [`Store::read`].
pub async fn find(store: &Store, id: &GrantId) -> Result<Option<Grant>> {
    store.read_by_index(OF_ID, params![id]).await?.map(Grant::from_row).transpose()
}

/// The grant that this code redeems.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_by_code(store: &Store, code: &Bearer) -> Result<Option<Grant>> {
    store.read_by_index(OF_CODE, params![code.hash()]).await?.map(Grant::from_row).transpose()
}

/// A token, whatever its kind.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_token(store: &Store, hash: BearerHash) -> Result<Option<StoredToken>> {
    store.read_by_index(TOKEN, params![hash]).await?.map(StoredToken::from_row).transpose()
}

/// Redeems an authorization code for these tokens.
///
/// # Errors
/// [`WriteError::Conflict`] if it was redeemed before, or has expired.
pub async fn redeem(
    store: &Store,
    grant: &GrantId,
    tokens: Vec<StoredToken>,
    now: Timestamp,
) -> Result<(), WriteError> {
    let first = must(REDEEM, params![now, grant, now - CODE_LASTS]);
    write_tokens(store, first, tokens).await
}

/// Replaces a refresh token. `sealed` is the encrypted next token, stored with the old one.
///
/// # Errors
/// [`WriteError::Conflict`] if it was replaced before, or has expired.
pub async fn replace(
    store: &Store,
    token: BearerHash,
    sealed: &str,
    next: Vec<StoredToken>,
    now: Timestamp,
) -> Result<(), WriteError> {
    write_tokens(store, must(REPLACE, params![now, sealed, token]), next).await
}

/// Keeps more tokens of a grant.
///
/// # Errors
/// As [`Store::write`].
pub async fn add_tokens(store: &Store, tokens: Vec<StoredToken>) -> Result<()> {
    let tokens = tokens.into_iter().map(|token| step(StoredToken::INSERT, token.params()));
    store.write(tokens.collect::<Vec<_>>()).await?;
    Ok(())
}

async fn write_tokens(store: &Store, first: Step, tokens: Vec<StoredToken>) -> Result<(), WriteError> {
    let tokens = tokens.into_iter().map(|token| step(StoredToken::INSERT, token.params()));
    let steps: Vec<_> = [first].into_iter().chain(tokens).collect();
    store.commit(steps).await
}

/// Ends all that came of a grant.
///
/// # Errors
/// As [`Store::write`].
pub async fn revoke(store: &Store, grant: &GrantId, now: Timestamp) -> Result<()> {
    store.write([step(REVOKE, params![now, grant])]).await?;
    Ok(())
}

/// Ends all that clients have of a browser session at a domain, in a write.
#[must_use]
pub fn revoke_of_browser_step(session: &BrowserSessionId, domain: &DomainId, now: Timestamp) -> Step {
    step(REVOKE_OF_BROWSER, params![now, session, domain])
}

/// Ends all that one client has of a browser session.
///
/// # Errors
/// As [`Store::write`].
pub async fn revoke_of_browser_at(
    store: &Store,
    session: &BrowserSessionId,
    client: &ClientId,
    now: Timestamp,
) -> Result<()> {
    store.write([step(REVOKE_OF_BROWSER_AT, params![now, session, client])]).await?;
    Ok(())
}

/// Ends one token.
///
/// # Errors
/// As [`Store::write`].
pub async fn end_token(store: &Store, token: BearerHash) -> Result<()> {
    store.write([step(END_TOKEN, params![token])]).await?;
    Ok(())
}

/// What a user agreed to of a client.
///
/// # Errors
/// As [`Store::read`].
pub async fn find_consent(
    store: &Store,
    domain: &DomainId,
    user: &UserId,
    client: &ClientId,
) -> Result<Option<OpenidScopes>> {
    let row = store.read_by_index(CONSENT, params![domain, user, client]).await?;
    Ok(row.map(Consent::from_row).transpose()?.map(|consent| consent.scopes))
}

/// Notes that a user agrees.
///
/// # Errors
/// As [`Store::write`].
pub async fn agree(store: &Store, consent: Consent) -> Result<()> {
    store.write([agree_step(consent)]).await?;
    Ok(())
}

/// The same in a write, with what is granted by it.
#[must_use]
pub fn agree_step(consent: Consent) -> Step {
    step(AGREE, consent.params())
}

/// Deletes grants whose code nobody redeemed in time; returns how many.
///
/// # Errors
/// As [`Store::write`].
pub async fn sweep_unredeemed(store: &Store, now: Timestamp) -> Result<usize> {
    let before = |ago| GrantId::new(now - ago, [0; 16]);
    let [from, until] = [KEPT_UNREDEEMED + UNREDEEMED_WITHIN, KEPT_UNREDEEMED].map(before);
    Ok(match store.write([step(SWEEP_UNREDEEMED, params![&from, &until])]).await? {
        WriteOutcome::Committed(rows) => rows.len(),
        WriteOutcome::Refused(_) => 0,
    })
}

/// Deletes what is over or belongs to nobody any more, a thousand rows of each table at a time; returns how many that were.
///
/// # Errors
/// As [`Store::write`].
pub async fn sweep(store: &Store, now: Timestamp) -> Result<usize> {
    let mut swept = 0;
    let oldest = GrantId::new(now - KEPT_WITHOUT_TOKENS, [0; 16]);
    for sweep in
        [step(SWEEP_TOKENS, params![now]), step(SWEEP_GRANTS, params![&oldest]), step(SWEEP_CONSENTS, params![])]
    {
        loop {
            let WriteOutcome::Committed(rows) = store.write([sweep.clone()]).await? else { break };
            swept += rows.len();
            if rows.is_empty() {
                break;
            }
        }
    }
    Ok(swept)
}
