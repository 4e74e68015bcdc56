//! Issuers: each hosted domain is a separate OpenID Connect issuer.

use std::sync::Arc;

use anyhow::Result;
use signpost_login::domains::{self, Domain, HandlerKind};
use signpost_login::ids::DomainId;
use signpost_platform::accounts::Environment;
use signpost_store::FileState;

use crate::clients::{self, Client};
use crate::ids::ClientId;
use crate::service::OpenidService;

/// Returns the issuer identifier of a domain (`iss`), the base of its URLs. It has no slash at the end.
#[must_use]
pub fn issuer(service: &OpenidService, domain: &Domain) -> String {
    issuer_at(&service.public_address, domain)
}

/// Returns the issuer identifier of a domain at a server with this public address.
#[must_use]
pub fn issuer_at(public_address: &str, domain: &Domain) -> String {
    format!("{public_address}{}/{}", domain.account.environment.page_path(), domain.id)
}

/// Returns the hosted domain with this ID if it belongs to the environment. Uses the cache if the
/// database file is still in this `state`. A live domain is not an issuer over http, unless the
/// server accepts only local connections.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_issuer_domain(
    service: &OpenidService,
    environment: Environment,
    id: &DomainId,
    state: Option<FileState>,
) -> Result<Option<Arc<Domain>>> {
    if state.is_some() {
        return find_published_domain(service, environment, id, state).await;
    }
    // Without a file state, changes by other servers arrive a moment later, and a deleted domain must grant nothing.
    let domain = read_issuer_domain(service, id).await?.filter(|domain| domain.account.environment == environment);
    Ok(domain.map(Arc::new))
}

/// Returns the domain of an issuer, like [`find_issuer_domain`], for public documents. Uses the
/// cache even if changes by other servers may arrive a moment later.
///
/// # Errors
/// Returns the errors of [`find_issuer_domain`].
pub async fn find_published_domain(
    service: &OpenidService,
    environment: Environment,
    id: &DomainId,
    state: Option<FileState>,
) -> Result<Option<Arc<Domain>>> {
    let read = async { Ok(read_issuer_domain(service, id).await?.map(Arc::new)) };
    let domain = service.tenants.find_if_unchanged(id, state, read).await?;
    Ok(domain.filter(|domain| domain.account.environment == environment))
}

/// Returns the client with this ID, of any domain, with its domain.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub async fn find_client_and_domain(service: &OpenidService, id: &ClientId) -> Result<Option<(Client, Domain)>> {
    let Some(client) = clients::sql::find_in_any_domain(&service.store, id).await? else { return Ok(None) };
    Ok(read_issuer_domain(service, &client.domain_id).await?.map(|domain| (client, domain)))
}

async fn read_issuer_domain(service: &OpenidService, id: &DomainId) -> Result<Option<Domain>> {
    let Some(domain) = domains::sql::find_in_any_account(&service.store, id).await? else { return Ok(None) };
    let is_safe = service.is_https || service.is_loopback_only;
    let is_issuer =
        domain.handler == HandlerKind::Hosted && (is_safe || domain.account.environment != Environment::Live);
    Ok(is_issuer.then_some(domain))
}
