//! Realms: the hosted domains, each an issuer of its own.

use std::sync::Arc;

use anyhow::Result;
use signpost_login::domains::{self, Domain, HandlerKind};
use signpost_login::ids::DomainId;
use signpost_platform::accounts::Environment;
use signpost_store::FileState;

use crate::clients::{self, Client};
use crate::ids::ClientId;
use crate::service::OpenidService;

/// The issuer of a domain: what tokens name, and where its addresses begin. Without a slash at the end.
#[must_use]
pub fn issuer(service: &OpenidService, domain: &Domain) -> String {
    issuer_at(&service.public_address, domain)
}

/// The same where a server has this public address.
#[must_use]
pub fn issuer_at(public_address: &str, domain: &Domain) -> String {
    format!("{public_address}{}/{}", domain.account.environment.page_path(), domain.id)
}

/// The hosted domain with this id, if it is one of the environment; as it was a moment ago where nothing was written since,
/// by the file's `state` now. A live one is no issuer over http, except where the server serves its own machine alone.
///
/// # Errors
/// As [`Store::read`](signpost_store::Store::read).
pub async fn find_realm(
    service: &OpenidService,
    environment: Environment,
    id: &DomainId,
    state: Option<FileState>,
) -> Result<Option<Arc<Domain>>> {
    // Where changes are told they are so a moment later: what somebody gets by a realm is never of one that is gone.
    let realm = match state {
        Some(_) => find_published_realm(service, environment, id, state).await?,
        None => read_realm(service, id).await?.map(Arc::new),
    };
    Ok(realm.filter(|realm| realm.account.environment == environment))
}

/// The same for what everybody may read of it, which is answered from memory also where changes are told.
///
/// # Errors
/// As [`find_realm`].
pub async fn find_published_realm(
    service: &OpenidService,
    environment: Environment,
    id: &DomainId,
    state: Option<FileState>,
) -> Result<Option<Arc<Domain>>> {
    let read = async { Ok(read_realm(service, id).await?.map(Arc::new)) };
    let realm = service.realms.find_as_of(id, state, read).await?;
    Ok(realm.filter(|realm| realm.account.environment == environment))
}

/// A client of any realm, with its realm: where nothing but the client is named.
///
/// # Errors
/// As [`Store::read`](signpost_store::Store::read).
pub async fn find_client_realm(service: &OpenidService, id: &ClientId) -> Result<Option<(Client, Domain)>> {
    let Some(client) = clients::sql::find_in_any_domain(&service.store, id).await? else { return Ok(None) };
    Ok(read_realm(service, &client.domain_id).await?.map(|domain| (client, domain)))
}

async fn read_realm(service: &OpenidService, id: &DomainId) -> Result<Option<Domain>> {
    let domain = domains::sql::find_in_any_account(&service.store, id).await?;
    let is_safe = service.is_https || service.serves_only_its_machine;
    let is_realm = |domain: &Domain| {
        domain.handler == HandlerKind::Hosted && (is_safe || domain.account.environment != Environment::Live)
    };
    Ok(domain.filter(is_realm))
}
