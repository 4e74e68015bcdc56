//! Whether a grant still counts, by what the database says now.

use std::sync::Arc;

use anyhow::Result;
use signpost_login::domains::Domain;
use signpost_login::users::{self, Credential, HostedUser};
use signpost_store::FileState;

use crate::clients::{self, Client};
use crate::grants::{Bearer, BearerHash, Grant, GrantFacts, TokenKind, TokenStanding, check_standing, sql};
use crate::service::OpenidService;

/// What a grant at this realm stands on, if it still counts.
///
/// # Errors
/// As [`Store::read`](signpost_store::Store::read).
pub async fn find_standing(service: &OpenidService, realm: &Domain, grant: &Grant) -> Result<Option<GrantFacts>> {
    if grant.domain_id != realm.id || grant.revoked_at.is_some() {
        return Ok(None);
    }
    let Some(client) = clients::sql::find(&service.store, &realm.id, &grant.client_id).await? else { return Ok(None) };
    let Some((user, credentials)) = find_user(service, &client, grant).await? else { return Ok(None) };
    let facts = GrantFacts { client, domain: realm.clone(), user, credentials };
    Ok(check_standing(grant, &facts).then_some(facts))
}

/// The user of a grant, with the key that proved it; with all keys where the client may admit one of them alone.
async fn find_user(
    service: &OpenidService,
    client: &Client,
    grant: &Grant,
) -> Result<Option<(HostedUser, Vec<Credential>)>> {
    let (store, domain, user) = (&service.store, &grant.domain_id, &grant.user_id);
    if client.settings.allowed.as_ref().is_some_and(|list| !list.admits_everyone()) {
        return users::sql::find(store, domain, user).await;
    }
    let found = users::sql::find_having(store, domain, user, &grant.public_key).await?;
    Ok(found.map(|(user, credential)| (user, vec![credential])))
}

/// A token that counts at this realm, with its grant and what that stands on.
///
/// # Errors
/// As [`Store::read`](signpost_store::Store::read).
pub async fn find_token(service: &OpenidService, realm: &Domain, hash: BearerHash) -> Result<Option<TokenStanding>> {
    let found = read_token(service, realm, hash).await?;
    Ok(found.filter(|standing| standing.is_alive(service.clock.now())))
}

/// An access token that counts at this realm; as it was a moment ago where nothing was written since, by the file's `state`
/// now.
///
/// # Errors
/// As [`find_token`].
pub async fn find_access(
    service: &OpenidService,
    realm: &Domain,
    token: &Bearer,
    state: Option<FileState>,
) -> Result<Option<Arc<TokenStanding>>> {
    let key = (realm.id.clone(), token.hash());
    let read = async { Ok(read_token(service, realm, key.1.clone()).await?.map(Arc::new)) };
    let found = service.access_tokens.find_as_of(&key, state, read).await?;
    let is_access = |standing: &Arc<TokenStanding>| {
        standing.token.kind == TokenKind::Access && standing.is_alive(service.clock.now())
    };
    Ok(found.filter(is_access))
}

/// A token of a grant that counts at this realm, as far as rows say.
async fn read_token(service: &OpenidService, realm: &Domain, hash: BearerHash) -> Result<Option<TokenStanding>> {
    let Some(token) = sql::find_token(&service.store, hash).await? else { return Ok(None) };
    let Some(grant) = sql::find(&service.store, &token.grant_id).await? else { return Ok(None) };
    let facts = find_standing(service, realm, &grant).await?;
    Ok(facts.map(|facts| TokenStanding { token, grant, facts }))
}
