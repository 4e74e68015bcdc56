//! Codes and refresh tokens against tokens (RFC 6749, 4.1.3 and 6).

use anyhow::{Result, anyhow};
use signpost_login::domains::Domain;
use signpost_store::{WriteError, random};

use super::FlowError;
use super::issuing::{IssuedTokens, NewTokens, draw_tokens};
use super::standing::find_standing;
use crate::claims::{COMMAS, OpenidScopes, has_commas};
use crate::clients::Client;
use crate::grants::{
    Bearer, BearerKind, Grant, GrantFacts, RefreshVerdict, StoredToken, TokenKind, judge_refresh, open_successor,
    seal_successor, sql,
};
use crate::service::OpenidService;

/// How often who lost to another looks again.
const MAX_TRIES: usize = 3;

/// What a client redeems a code with.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the specifications")]
pub struct Redemption<'a> {
    pub code: &'a str,
    pub redirect_uri: &'a str,
    pub code_verifier: Option<&'a str>,
}

/// Why a client gets no tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenRefusal {
    /// `invalid_grant`: what is wrong with the code or the refresh token.
    InvalidGrant(&'static str),
    /// `invalid_scope`.
    InvalidScope(&'static str),
}

const GONE: TokenRefusal = TokenRefusal::InvalidGrant(
    "the login behind it no longer counts: the user, the key or the permission is gone, or the user signed out",
);

/// Returns the error `invalid_grant` with this description (RFC 6749, 5.2).
fn invalid_grant(description: &'static str) -> FlowError<TokenRefusal> {
    FlowError::Refused(TokenRefusal::InvalidGrant(description))
}

/// Redeems a code of this client.
///
/// # Errors
/// [`TokenRefusal`], or a failure of the database or of signing.
pub async fn redeem_code(
    service: &OpenidService,
    realm: &Domain,
    client: &Client,
    sent: Redemption<'_>,
) -> Result<IssuedTokens, FlowError<TokenRefusal>> {
    let (grant, facts) = find_redeemable(service, realm, client, sent).await?;
    let NewTokens { issued, rows } = draw_tokens(service, realm, (&grant, grant.scopes), &facts, None).await?;
    match sql::redeem(&service.store, &grant.id, rows, service.clock.now()).await {
        Ok(()) => Ok(issued),
        Err(WriteError::Conflict) => Err(FlowError::Refused(end_repeated(service, &grant).await?)),
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// The grant behind a code that this client may redeem now, and what it stands on.
pub(super) async fn find_redeemable(
    service: &OpenidService,
    realm: &Domain,
    client: &Client,
    sent: Redemption<'_>,
) -> Result<(Grant, GrantFacts), FlowError<TokenRefusal>> {
    let grant = match Bearer::parse(BearerKind::Code, sent.code) {
        Some(code) => sql::find_by_code(&service.store, &code).await?,
        None => None,
    };
    let grant = grant.filter(|grant| grant.client_id == client.id && grant.domain_id == realm.id);
    let Some(grant) = grant else { return Err(invalid_grant("this client was issued no such code")) };
    if grant.redeemed_at.is_some() {
        return Err(FlowError::Refused(end_repeated(service, &grant).await?));
    }
    if !grant.is_code_fresh(service.clock.now()) {
        return Err(invalid_grant("the code is over: it is good for 60 s"));
    }
    if grant.redirect_uri != sent.redirect_uri {
        return Err(invalid_grant("redirect_uri is not that of the authorization request"));
    }
    match (&grant.code_challenge, sent.code_verifier) {
        (Some(challenge), Some(verifier)) if challenge.is_of(verifier) => {}
        (Some(_), Some(_)) => return Err(invalid_grant("code_verifier does not belong to the code_challenge")),
        (Some(_), None) => return Err(invalid_grant("code_verifier is missing")),
        (None, Some(_)) => {
            return Err(invalid_grant("code_verifier was sent, and the authorization request had no code_challenge"));
        }
        (None, None) => {}
    }
    let facts = find_standing(service, realm, &grant).await?.ok_or(FlowError::Refused(GONE))?;
    Ok((grant, facts))
}

/// A code came twice: somebody else has it too. All that came of it ends.
pub(super) async fn end_repeated(service: &OpenidService, grant: &Grant) -> Result<TokenRefusal> {
    sql::revoke(&service.store, &grant.id, service.clock.now()).await?;
    tracing::warn!(client = %grant.client_id, "a code came twice; what it was redeemed for is revoked");
    Ok(TokenRefusal::InvalidGrant("the code was used before; all its tokens are revoked"))
}

/// Replaces a refresh token of this client.
///
/// # Errors
/// [`TokenRefusal`], or a failure of the database or of signing.
pub async fn refresh(
    service: &OpenidService,
    realm: &Domain,
    client: &Client,
    token: &str,
    scope: Option<&str>,
) -> Result<IssuedTokens, FlowError<TokenRefusal>> {
    const UNKNOWN: &str = "this client was issued no such refresh token";
    let bearer = Bearer::parse(BearerKind::Refresh, token).ok_or_else(|| invalid_grant(UNKNOWN))?;
    for _ in 0..MAX_TRIES {
        let stored = sql::find_token(&service.store, bearer.hash()).await?.ok_or_else(|| invalid_grant(UNKNOWN))?;
        let grant = sql::find(&service.store, &stored.grant_id).await?.ok_or_else(|| invalid_grant(UNKNOWN))?;
        if grant.client_id != client.id || grant.domain_id != realm.id {
            return Err(invalid_grant(UNKNOWN));
        }
        let scopes = narrow(grant.scopes, scope).map_err(FlowError::Refused)?;
        let facts = find_standing(service, realm, &grant).await?.ok_or(FlowError::Refused(GONE))?;
        let now = service.clock.now();
        let successor = find_successor(service, &bearer, &stored).await?;
        match judge_refresh(&stored, successor.as_ref().map(|(_, row)| row), now) {
            RefreshVerdict::Rotate => {
                let NewTokens { issued, rows } = draw_tokens(service, realm, (&grant, scopes), &facts, None).await?;
                let next = issued.refresh.as_ref().ok_or_else(|| invalid_grant(UNKNOWN))?;
                let sealed = seal_successor(&bearer, next, random());
                match sql::replace(&service.store, bearer.hash(), &sealed, rows, now).await {
                    Ok(()) => return Ok(issued),
                    // Another refresh with this token was committed first: it is judged again.
                    Err(WriteError::Conflict) => {}
                    Err(WriteError::Internal(error)) => return Err(error.into()),
                }
            }
            RefreshVerdict::Repeat => {
                let next = successor.map(|(next, _)| next);
                let NewTokens { issued, rows } = draw_tokens(service, realm, (&grant, scopes), &facts, next).await?;
                sql::add_tokens(&service.store, rows).await?;
                return Ok(issued);
            }
            RefreshVerdict::Revoke => {
                sql::revoke(&service.store, &grant.id, now).await?;
                tracing::warn!(client = %grant.client_id, "a refresh token came twice; its grant is revoked");
                return Err(invalid_grant("the refresh token was used before; all tokens of this login are revoked"));
            }
            RefreshVerdict::Refuse => {
                return Err(invalid_grant("the refresh token is over: it was not used for 30 days"));
            }
        }
    }
    Err(anyhow!("a refresh token is replaced, and is not").into())
}

/// Returns the scopes of the access token that a refresh issues: those that it names of the granted ones, or all of them if it
/// names none (RFC 6749, 6). Those that are not known here are left out.
fn narrow(granted: OpenidScopes, scope: Option<&str>) -> Result<OpenidScopes, TokenRefusal> {
    let Some(scope) = scope else { return Ok(granted) };
    if has_commas(scope) {
        return Err(TokenRefusal::InvalidScope(COMMAS));
    }
    let scopes = OpenidScopes::of_request(scope);
    if !granted.contain_all(scopes) {
        return Err(TokenRefusal::InvalidScope("scope must not contain more than was granted"));
    }
    if scopes == OpenidScopes::default() {
        return Err(TokenRefusal::InvalidScope("scope names none of the granted scopes; leave it out for all of them"));
    }
    Ok(scopes)
}

/// The token that replaced this one, where one did.
async fn find_successor(
    service: &OpenidService,
    token: &Bearer,
    stored: &StoredToken,
) -> Result<Option<(Bearer, StoredToken)>> {
    let Some(sealed) = &stored.successor else { return Ok(None) };
    let next = open_successor(token, sealed)?;
    Ok(sql::find_token(&service.store, next.hash()).await?.map(|row| (next, row)))
}

/// Revokes a token of this client: with a refresh token all of its grant ends (RFC 7009, 2.1). What is no token of it is
/// left alone, and the client is told nothing of it.
///
/// # Errors
/// As [`Store::write`](signpost_store::Store::write).
pub async fn revoke_token(service: &OpenidService, realm: &Domain, client: &Client, token: &str) -> Result<()> {
    let kinds = [BearerKind::Refresh, BearerKind::Access];
    let Some(bearer) = kinds.into_iter().find_map(|kind| Bearer::parse(kind, token)) else { return Ok(()) };
    let Some(stored) = sql::find_token(&service.store, bearer.hash()).await? else { return Ok(()) };
    let grant = sql::find(&service.store, &stored.grant_id).await?;
    let Some(grant) = grant.filter(|grant| grant.client_id == client.id && grant.domain_id == realm.id) else {
        return Ok(());
    };
    match stored.kind {
        TokenKind::Refresh => sql::revoke(&service.store, &grant.id, service.clock.now()).await,
        TokenKind::Access | TokenKind::Session => sql::end_token(&service.store, bearer.hash()).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_narrows_scopes_and_never_adds_any() {
        let granted = OpenidScopes::of_request("openid profile offline_access");
        for (scope, narrowed) in [
            (None, Some("openid profile offline_access")),
            (Some("openid profile offline_access"), Some("openid profile offline_access")),
            (Some("openid"), Some("openid")),
            (Some("profile unheard"), Some("profile")),
            (Some("openid email"), None),
            (Some("openid,profile"), None),
            (Some("openid profile,offline_access"), None),
            (Some("unheard"), None),
            (Some(" "), None),
        ] {
            let found = narrow(granted, scope).ok();
            assert_eq!(found, narrowed.map(OpenidScopes::of_request), "{scope:?}");
        }
        assert_eq!(narrow(granted, Some("openid,profile")), Err(TokenRefusal::InvalidScope(COMMAS)));
    }
}
