//! Checks the current validity of grants and tokens against the database.

use std::sync::Arc;

use anyhow::Result;
use signpost_login::domains::Domain;
use signpost_login::users::{self, Credential, HostedUser};
use signpost_store::FileState;

use crate::clients::{self, Client};
use crate::grants::{
    Grant, GrantFacts, OpaqueToken, StoredToken, TokenHash, TokenKind, ValidToken, is_valid_and_admitted, sql,
};
use crate::service::OpenidService;

/// Returns the facts that a grant depends on, if it is valid and belongs to this client of the domain.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_grant_facts(
    service: &OpenidService,
    domain: &Domain,
    client: Client,
    grant: &Grant,
) -> Result<Option<GrantFacts>> {
    if grant.domain_id != domain.id || grant.client_id != client.id || grant.revoked_at.is_some() {
        return Ok(None);
    }
    let Some((user, credentials)) = find_user(service, &client, grant).await? else { return Ok(None) };
    let facts = GrantFacts { client, domain: domain.clone(), user, credentials };
    Ok(is_valid_and_admitted(grant, &facts).then_some(facts))
}

/// Returns the user of a grant with the credential that proved the login, or with all credentials
/// if the client may admit users by any of them.
async fn find_user(
    service: &OpenidService,
    client: &Client,
    grant: &Grant,
) -> Result<Option<(HostedUser, Vec<Credential>)>> {
    let Grant { domain_id, user_id, public_key, .. } = grant;
    if client.settings.allowed.as_ref().is_some_and(|list| !list.admits_everyone()) {
        return users::sql::find(&service.store, domain_id, user_id).await;
    }
    let found = users::sql::find_with_key(&service.store, domain_id, user_id, public_key).await?;
    Ok(found.map(|(user, credential)| (user, vec![credential])))
}

/// Returns a valid token of this client of the domain, with its grant.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_token(
    service: &OpenidService,
    domain: &Domain,
    client: &Client,
    hash: TokenHash,
) -> Result<Option<ValidToken>> {
    let Some((token, grant)) = read_token(service, hash).await? else { return Ok(None) };
    let Some(facts) = find_grant_facts(service, domain, client.clone(), &grant).await? else { return Ok(None) };
    let found = ValidToken { token, grant, facts };
    Ok(found.is_alive(service.clock.now()).then_some(found))
}

/// Returns a valid access token of any client of the domain. Uses the cache if the database file is
/// still in this `state`.
///
/// # Errors
/// Returns the errors of [`find_token`].
pub async fn find_access_token(
    service: &OpenidService,
    domain: &Domain,
    token: &OpaqueToken,
    state: Option<FileState>,
) -> Result<Option<Arc<ValidToken>>> {
    let key = (domain.id.clone(), token.hash());
    let read = read_token_of_any_client(service, domain, key.1.clone());
    let Some(found) = service.access_tokens.find_if_unchanged(&key, state, read).await? else { return Ok(None) };
    let is_access_token = found.token.kind == TokenKind::Access && found.is_alive(service.clock.now());
    Ok(is_access_token.then_some(found))
}

async fn read_token_of_any_client(
    service: &OpenidService,
    domain: &Domain,
    hash: TokenHash,
) -> Result<Option<Arc<ValidToken>>> {
    let Some((token, grant)) = read_token(service, hash).await? else { return Ok(None) };
    let client = clients::sql::find(&service.store, &domain.id, &grant.client_id).await?;
    let Some(client) = client else { return Ok(None) };
    let facts = find_grant_facts(service, domain, client, &grant).await?;
    Ok(facts.map(|facts| Arc::new(ValidToken { token, grant, facts })))
}

async fn read_token(service: &OpenidService, hash: TokenHash) -> Result<Option<(StoredToken, Grant)>> {
    let Some(token) = sql::find_token(&service.store, hash).await? else { return Ok(None) };
    let grant = sql::find(&service.store, &token.grant_id).await?;
    Ok(grant.map(|grant| (token, grant)))
}
