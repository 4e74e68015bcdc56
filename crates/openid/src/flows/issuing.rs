//! Issues authorization codes and tokens.

use anyhow::Result;
use signpost_login::flows::sign_in::SignedInUser;
use signpost_store::{WriteError, random};

use super::authorization_request::AuthorizationRequest;
use super::issuer::issuer;
use crate::authorizations::{self, PendingAuthorization, ValidatedAuthorizationRequest};
use crate::claims::{IdToken, LoginFacts, OpenidScope, OpenidScopes, UserClaims};
use crate::grants::{Consent, Grant, GrantFacts, OpaqueToken, OpaqueTokenKind, StoredToken, TokenKind, sql};
use crate::ids::GrantId;
use crate::service::OpenidService;

/// The tokens that the token endpoint returns.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct IssuedTokens {
    pub access: OpaqueToken,
    pub refresh: Option<OpaqueToken>,
    /// `None` for a refresh that leaves out the scope `openid`.
    pub id_token: Option<String>,
    /// The scopes of the access token.
    pub scopes: OpenidScopes,
}

/// Issues an authorization code. `consented` has the scopes of the user's earlier consent, if the user has just
/// consented to this request. Returns `None` if the pending authorization has ended, or the user has signed out.
pub(super) async fn issue_code(
    service: &OpenidService,
    request: &AuthorizationRequest,
    parameters: &ValidatedAuthorizationRequest,
    signed_in: &SignedInUser,
    pending: Option<&PendingAuthorization>,
    consented: Option<OpenidScopes>,
) -> Result<Option<OpaqueToken>> {
    let now = service.clock.now();
    let code = OpaqueToken::new(OpaqueTokenKind::Code, random());
    let grant = Grant {
        id: GrantId::new(now, random()),
        client_id: request.client.id.clone(),
        domain_id: request.domain.id.clone(),
        user_id: signed_in.user.id.clone(),
        public_key: signed_in.proof.public_key.clone(),
        method: signed_in.proof.method,
        authenticated_at: signed_in.proof.authenticated_at,
        browser_session_id: signed_in.session.id.clone(),
        scopes: parameters.scopes,
        nonce: parameters.nonce.clone(),
        redirect_uri: request.target.redirect_uri.clone(),
        code_challenge: parameters.code_challenge.clone(),
        code_hash: code.hash(),
        created_at: now,
        browser: signed_in.session.browser.clone(),
        redeemed_at: None,
        revoked_at: None,
    };
    let mut statements = Vec::new();
    if let Some(pending) = pending {
        statements.push(authorizations::sql::end_statement(&pending.id));
    }
    if let Some(before) = consented {
        statements.push(sql::consent_statement(Consent {
            domain_id: grant.domain_id.clone(),
            user_id: grant.user_id.clone(),
            client_id: grant.client_id.clone(),
            scopes: before.with(parameters.scopes),
            agreed_at: now,
        }));
    }
    match sql::insert(&service.store, grant, statements).await {
        Ok(()) => {
            tracing::info!(client = %request.client.id, domain = %request.domain.name, "code issued");
            Ok(Some(code))
        }
        Err(WriteError::Conflict) => Ok(None),
        Err(WriteError::Internal(error)) => Err(error),
    }
}

/// New tokens with their rows. They become valid when the rows are written.
#[derive(Debug)]
pub(super) struct NewTokens {
    pub(super) issued: IssuedTokens,
    pub(super) rows: Vec<StoredToken>,
}

/// Creates the tokens of a grant and signs the ID token. `scopes` are the scopes of the access token and of the ID
/// token, all scopes of the grant or fewer; the refresh token has the scopes of the grant (RFC 6749, 6). `refresh` is
/// the refresh token to return, if it exists already.
pub(super) async fn create_tokens(
    service: &OpenidService,
    (grant, scopes): (&Grant, OpenidScopes),
    facts: &GrantFacts,
    refresh: Option<OpaqueToken>,
) -> Result<NewTokens> {
    let GrantFacts { client, domain, user, .. } = facts;
    let now = service.clock.now();
    let access = OpaqueToken::new(OpaqueTokenKind::Access, random());
    let narrowed = (scopes != grant.scopes).then_some(scopes);
    let row = StoredToken::begin(&access, TokenKind::Access, &grant.id, now);
    let mut rows = vec![StoredToken { scopes: narrowed, ..row }];
    let mut refresh = refresh;
    if refresh.is_none() && grant.scopes.contains(OpenidScope::OfflineAccess) {
        let created = OpaqueToken::new(OpaqueTokenKind::Refresh, random());
        rows.push(StoredToken::begin(&created, TokenKind::Refresh, &grant.id, now));
        refresh = Some(created);
    }
    if !scopes.contains(OpenidScope::Openid) {
        return Ok(NewTokens { issued: IssuedTokens { access, refresh, id_token: None, scopes }, rows });
    }
    let login = LoginFacts {
        client_id: grant.client_id.clone(),
        authenticated_at: grant.authenticated_at,
        method: grant.method,
        browser_session_id: grant.browser_session_id.clone(),
        // Only the first ID token answers the authorization request (OpenID Connect Core, 12.2).
        nonce: grant.nonce.clone().filter(|_| grant.redeemed_at.is_none()),
    };
    let user = UserClaims::new(user, domain, scopes, client.settings.email);
    let claims = IdToken::new(login, issuer(service, domain), user, access.reveal(), now);
    let environment = domain.account.environment;
    let id_token = service.sign_token(environment, client.settings.algorithm, &claims, "JWT").await?;
    Ok(NewTokens { issued: IssuedTokens { access, refresh, id_token: Some(id_token), scopes }, rows })
}
