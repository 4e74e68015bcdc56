//! What a client gets: a code, and tokens for it.

use anyhow::Result;
use signpost_login::domains::Domain;
use signpost_login::flows::sign_in::SignedInUser;
use signpost_store::{WriteError, random};

use super::asked::AskedAuthorization;
use super::realm::issuer;
use crate::authorizations::{self, AuthorizationRequest, WaitingAuthorization};
use crate::claims::{IdToken, LoginFacts, OpenidScope, OpenidScopes, UserClaims};
use crate::grants::{Bearer, BearerKind, Consent, Grant, GrantFacts, StoredToken, TokenKind, sql};
use crate::ids::GrantId;
use crate::service::OpenidService;

/// What a client is given at the token endpoint.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct IssuedTokens {
    pub access: Bearer,
    pub refresh: Option<Bearer>,
    /// Not issued by a refresh that leaves out the scope `openid`.
    pub id_token: Option<String>,
    /// Those of the access token.
    pub scopes: OpenidScopes,
}

/// Issues the code for a request. `agreed` is what the person had agreed to before, where they agreed once more just now.
/// `None` where the request was answered meanwhile.
pub(super) async fn grant_code(
    service: &OpenidService,
    asked: &AskedAuthorization,
    request: &AuthorizationRequest,
    who: &SignedInUser,
    waiting: Option<&WaitingAuthorization>,
    agreed: Option<OpenidScopes>,
) -> Result<Option<Bearer>> {
    let (now, code) = (service.clock.now(), Bearer::new(BearerKind::Code, random()));
    let grant = Grant {
        id: GrantId::new(now, random()),
        client_id: asked.client.id.clone(),
        domain_id: asked.realm.id.clone(),
        user_id: who.user.id.clone(),
        public_key: who.proof.public_key.clone(),
        method: who.proof.method,
        authenticated_at: who.proof.authenticated_at,
        browser_session_id: who.session.id.clone(),
        scopes: request.scopes,
        nonce: request.nonce.clone(),
        redirect_uri: asked.address.redirect_uri.clone(),
        code_challenge: request.code_challenge.clone(),
        code_hash: code.hash(),
        created_at: now,
        redeemed_at: None,
        revoked_at: None,
    };
    let consent = agreed.map(|agreed| Consent {
        domain_id: grant.domain_id.clone(),
        user_id: grant.user_id.clone(),
        client_id: grant.client_id.clone(),
        scopes: agreed.with(request.scopes),
        agreed_at: now,
    });
    let end = waiting.map(|waiting| authorizations::sql::end_step(&waiting.id));
    let with = end.into_iter().chain(consent.map(sql::agree_step)).collect();
    let (client, domain) = (&asked.client.id, &asked.realm.name);
    match sql::insert(&service.store, grant, with).await {
        Ok(()) => {
            tracing::info!(%client, %domain, "code issued");
            Ok(Some(code))
        }
        Err(WriteError::Conflict) => Ok(None),
        Err(WriteError::Internal(error)) => Err(error),
    }
}

/// Tokens that nobody has yet: they count once their rows are written.
#[derive(Debug)]
pub(super) struct NewTokens {
    pub(super) issued: IssuedTokens,
    pub(super) rows: Vec<StoredToken>,
}

/// Draws tokens of a grant, and signs the ID token. `scopes` are those of the access token and of the ID token, all of the
/// grant or fewer; the refresh token has those of the grant (RFC 6749, 6). `refresh` is the refresh token that is sent, where
/// it is there already.
pub(super) async fn draw_tokens(
    service: &OpenidService,
    realm: &Domain,
    (grant, scopes): (&Grant, OpenidScopes),
    facts: &GrantFacts,
    refresh: Option<Bearer>,
) -> Result<NewTokens> {
    let now = service.clock.now();
    let access = Bearer::new(BearerKind::Access, random());
    let narrowed = (scopes != grant.scopes).then_some(scopes);
    let row = StoredToken::begin(&access, TokenKind::Access, &grant.id, now);
    let mut rows = vec![StoredToken { scopes: narrowed, ..row }];
    let refresh = refresh.or_else(|| {
        let is_wanted = grant.scopes.contains(OpenidScope::OfflineAccess);
        let drawn = is_wanted.then(|| Bearer::new(BearerKind::Refresh, random()))?;
        rows.push(StoredToken::begin(&drawn, TokenKind::Refresh, &grant.id, now));
        Some(drawn)
    });
    if !scopes.contains(OpenidScope::Openid) {
        return Ok(NewTokens { issued: IssuedTokens { access, refresh, id_token: None, scopes }, rows });
    }
    let login = LoginFacts {
        client_id: grant.client_id.clone(),
        authenticated_at: grant.authenticated_at,
        method: grant.method,
        browser_session_id: grant.browser_session_id.clone(),
        // The token of a refresh answers no request (OpenID Connect Core, 12.2).
        nonce: grant.nonce.clone().filter(|_| grant.redeemed_at.is_none()),
    };
    let settings = &facts.client.settings;
    let user = UserClaims::of(&facts.user, realm, scopes, settings.email);
    let claims = IdToken::of(login, issuer(service, realm), user, access.reveal(), now);
    let id_token = service.sign_token(realm.account.environment, settings.algorithm, &claims, "JWT").await?;
    Ok(NewTokens { issued: IssuedTokens { access, refresh, id_token: Some(id_token), scopes }, rows })
}
