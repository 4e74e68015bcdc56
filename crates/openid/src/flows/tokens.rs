//! The token endpoint: exchanges authorization codes and refresh tokens for tokens (RFC 6749, 4.1.3 and 6).

use anyhow::{Result, anyhow};
use signpost_login::domains::Domain;
use signpost_store::{WriteError, random};

use super::FlowError;
use super::issuing::{IssuedTokens, NewTokens, create_tokens};
use super::validity::find_grant_facts;
use crate::claims::{COMMA_SEPARATED_SCOPES, OpenidScopes, has_commas};
use crate::clients::Client;
use crate::grants::{
    Grant, GrantFacts, OpaqueToken, OpaqueTokenKind, RefreshDecision, StoredToken, TokenKind, decide_refresh,
    open_successor, seal_successor, sql,
};
use crate::service::OpenidService;

/// Maximum attempts of a refresh that loses races with concurrent refreshes.
const MAX_TRIES: usize = 3;

/// The parameters of a code exchange.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the specifications")]
pub struct CodeExchange<'a> {
    pub code: &'a str,
    pub redirect_uri: &'a str,
    pub code_verifier: Option<&'a str>,
}

/// The reason why a client gets no tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenRefusal {
    /// `invalid_grant`, with a description of the error in the code or the refresh token.
    InvalidGrant(&'static str),
    /// `invalid_scope`, with a description.
    InvalidScope(&'static str),
}

const LOGIN_NO_LONGER_VALID: TokenRefusal = TokenRefusal::InvalidGrant(
    "the login behind it no longer counts: the user, the key or the permission is gone, or the user signed out",
);

/// Returns the error `invalid_grant` with this description (RFC 6749, 5.2).
fn invalid_grant(description: &'static str) -> FlowError<TokenRefusal> {
    FlowError::Refused(TokenRefusal::InvalidGrant(description))
}

/// Exchanges an authorization code of this client for tokens.
///
/// # Errors
/// Returns [`TokenRefusal`], or a failure of the database or of signing.
pub async fn exchange_code(
    service: &OpenidService,
    domain: &Domain,
    client: &Client,
    sent: CodeExchange<'_>,
) -> Result<IssuedTokens, FlowError<TokenRefusal>> {
    let (grant, facts) = check_code_exchange(service, domain, client, sent).await?;
    let NewTokens { issued, rows } = create_tokens(service, (&grant, grant.scopes), &facts, None).await?;
    match sql::redeem(&service.store, &grant.id, rows, service.clock.now()).await {
        Ok(()) => Ok(issued),
        Err(WriteError::Conflict) => Err(FlowError::Refused(revoke_reused_code(service, &grant).await?)),
        Err(WriteError::Internal(error)) => Err(error.into()),
    }
}

/// Returns the grant of a code that this client may exchange now, with the facts that it depends on.
pub(super) async fn check_code_exchange(
    service: &OpenidService,
    domain: &Domain,
    client: &Client,
    sent: CodeExchange<'_>,
) -> Result<(Grant, GrantFacts), FlowError<TokenRefusal>> {
    const UNKNOWN: &str = "this client was issued no such code";
    let code = OpaqueToken::parse(OpaqueTokenKind::Code, sent.code).ok_or_else(|| invalid_grant(UNKNOWN))?;
    let grant = sql::find_by_code(&service.store, &code).await?.ok_or_else(|| invalid_grant(UNKNOWN))?;
    if grant.client_id != client.id || grant.domain_id != domain.id {
        return Err(invalid_grant(UNKNOWN));
    }
    if grant.redeemed_at.is_some() {
        return Err(FlowError::Refused(revoke_reused_code(service, &grant).await?));
    }
    if !grant.is_code_fresh(service.clock.now()) {
        return Err(invalid_grant("the code is over: it is good for 60 s"));
    }
    if grant.redirect_uri != sent.redirect_uri {
        return Err(invalid_grant("redirect_uri is not that of the authorization request"));
    }
    match (&grant.code_challenge, sent.code_verifier) {
        (Some(challenge), Some(verifier)) if challenge.matches(verifier) => {}
        (Some(_), Some(_)) => return Err(invalid_grant("code_verifier does not belong to the code_challenge")),
        (Some(_), None) => return Err(invalid_grant("code_verifier is missing")),
        (None, Some(_)) => {
            return Err(invalid_grant("code_verifier was sent, and the authorization request had no code_challenge"));
        }
        (None, None) => {}
    }
    let facts = find_grant_facts(service, domain, client.clone(), &grant).await?;
    Ok((grant, facts.ok_or(FlowError::Refused(LOGIN_NO_LONGER_VALID))?))
}

/// Revokes the grant of a code that was presented again: another party has the code too (RFC 6749, 4.1.2).
pub(super) async fn revoke_reused_code(service: &OpenidService, grant: &Grant) -> Result<TokenRefusal> {
    sql::revoke(&service.store, &grant.id, service.clock.now()).await?;
    tracing::warn!(client = %grant.client_id, "an authorization code was reused; its tokens are revoked");
    Ok(TokenRefusal::InvalidGrant("the code was used before; all its tokens are revoked"))
}

/// Replaces a refresh token of this client.
///
/// # Errors
/// Returns [`TokenRefusal`], or a failure of the database or of signing.
pub async fn refresh(
    service: &OpenidService,
    domain: &Domain,
    client: &Client,
    token: &str,
    scope: Option<&str>,
) -> Result<IssuedTokens, FlowError<TokenRefusal>> {
    const UNKNOWN: &str = "this client was issued no such refresh token";
    let token = OpaqueToken::parse(OpaqueTokenKind::Refresh, token).ok_or_else(|| invalid_grant(UNKNOWN))?;
    for _ in 0..MAX_TRIES {
        let stored = sql::find_token(&service.store, token.hash()).await?.ok_or_else(|| invalid_grant(UNKNOWN))?;
        let grant = sql::find(&service.store, &stored.grant_id).await?.ok_or_else(|| invalid_grant(UNKNOWN))?;
        if grant.client_id != client.id || grant.domain_id != domain.id {
            return Err(invalid_grant(UNKNOWN));
        }
        let scopes = narrow(grant.scopes, scope).map_err(FlowError::Refused)?;
        let facts = find_grant_facts(service, domain, client.clone(), &grant).await?;
        let facts = facts.ok_or(FlowError::Refused(LOGIN_NO_LONGER_VALID))?;
        let now = service.clock.now();
        let successor = find_successor(service, &token, &stored).await?;
        match decide_refresh(&stored, successor.as_ref().map(|(_, row)| row), now) {
            RefreshDecision::Rotate => {
                let NewTokens { issued, rows } = create_tokens(service, (&grant, scopes), &facts, None).await?;
                let next = issued.refresh.as_ref().ok_or_else(|| invalid_grant(UNKNOWN))?;
                let sealed = seal_successor(&token, next, random());
                match sql::replace(&service.store, token.hash(), &sealed, rows, now).await {
                    Ok(()) => return Ok(issued),
                    // A concurrent refresh with this token was committed first: decide again.
                    Err(WriteError::Conflict) => {}
                    Err(WriteError::Internal(error)) => return Err(error.into()),
                }
            }
            RefreshDecision::Repeat => {
                let next = successor.map(|(next, _)| next);
                let NewTokens { issued, rows } = create_tokens(service, (&grant, scopes), &facts, next).await?;
                sql::add_tokens(&service.store, rows).await?;
                return Ok(issued);
            }
            RefreshDecision::Revoke => {
                sql::revoke(&service.store, &grant.id, now).await?;
                tracing::warn!(client = %grant.client_id, "a refresh token was reused; its grant is revoked");
                return Err(invalid_grant("the refresh token was used before; all tokens of this login are revoked"));
            }
            RefreshDecision::Refuse => {
                return Err(invalid_grant("the refresh token is over: it was not used for 30 days"));
            }
        }
    }
    Err(anyhow!("a refresh token is replaced, and is not").into())
}

/// Returns the scopes of a refreshed access token: the granted scopes in `scope`, or all granted scopes if it is
/// missing (RFC 6749, 6). Unknown scopes are ignored.
fn narrow(granted: OpenidScopes, scope: Option<&str>) -> Result<OpenidScopes, TokenRefusal> {
    let Some(scope) = scope else { return Ok(granted) };
    if has_commas(scope) {
        return Err(TokenRefusal::InvalidScope(COMMA_SEPARATED_SCOPES));
    }
    let scopes = OpenidScopes::parse(scope);
    if !granted.contain_all(scopes) {
        return Err(TokenRefusal::InvalidScope("scope must not contain more than was granted"));
    }
    if scopes == OpenidScopes::default() {
        return Err(TokenRefusal::InvalidScope("scope names none of the granted scopes; leave it out for all of them"));
    }
    Ok(scopes)
}

/// Returns the token that replaced this refresh token, if any.
async fn find_successor(
    service: &OpenidService,
    token: &OpaqueToken,
    stored: &StoredToken,
) -> Result<Option<(OpaqueToken, StoredToken)>> {
    let Some(sealed) = &stored.successor else { return Ok(None) };
    let next = open_successor(token, sealed)?;
    Ok(sql::find_token(&service.store, next.hash()).await?.map(|row| (next, row)))
}

/// Revokes a token of this client. Revoking a refresh token revokes its whole grant (RFC 7009,
/// 2.1). A token that does not belong to the client is ignored without an error.
///
/// # Errors
/// Returns the errors of [`Store::write`](signpost_store::Store::write).
pub async fn revoke_token(service: &OpenidService, domain: &Domain, client: &Client, token: &str) -> Result<()> {
    let Some(token) = OpaqueToken::parse_access_or_refresh(token) else { return Ok(()) };
    let Some(stored) = sql::find_token(&service.store, token.hash()).await? else { return Ok(()) };
    let Some(grant) = sql::find(&service.store, &stored.grant_id).await? else { return Ok(()) };
    if grant.client_id != client.id || grant.domain_id != domain.id {
        return Ok(());
    }
    match stored.kind {
        TokenKind::Refresh => sql::revoke(&service.store, &grant.id, service.clock.now()).await,
        TokenKind::Access | TokenKind::Session => sql::end_token(&service.store, stored.hash).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refresh_only_narrows_scopes() {
        let granted = OpenidScopes::parse("openid profile offline_access");
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
            assert_eq!(found, narrowed.map(OpenidScopes::parse), "{scope:?}");
        }
        assert_eq!(narrow(granted, Some("openid,profile")), Err(TokenRefusal::InvalidScope(COMMA_SEPARATED_SCOPES)));
    }
}
