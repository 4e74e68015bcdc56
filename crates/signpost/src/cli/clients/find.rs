//! Finds and lists clients, in the database or through the API.

use std::collections::HashMap;

use anyhow::{Context, Result};
use signpost_login::domains::{self, Domain};
use signpost_login::ids::DomainId;
use signpost_openid::clients::{Client, sql};
use signpost_openid::flows::issuer_at;
use signpost_openid::ids::ClientId;
use signpost_store::Store;

use super::ClientSelector;
use crate::cli::api::{ClientOfApi, ServiceApi};
use crate::cli::backend::Backend;
use crate::cli::domain_filter::DomainFilter;
use crate::deployment::public_address;

/// Number of clients that are read at a time from the database.
const PAGE_LEN: u32 = 500;

/// A client with its domain and its issuer.
pub(super) struct FoundClient {
    pub(super) client: Client,
    pub(super) domain: Domain,
    /// Without an origin if no server has run on the database.
    pub(super) issuer: String,
}

impl ClientSelector {
    /// Finds the client with this ID.
    pub(super) async fn find(&self, backend: &Backend) -> Result<FoundClient> {
        let found = match (ClientId::parse(&self.client), backend) {
            (None, _) => None,
            (Some(id), Backend::Database(store)) => find_stored(store, &id).await?,
            (Some(id), Backend::Api(api)) => find_through_api(api, &id).await?,
        };
        found.with_context(|| format!("no client has the ID {}; 'signpost clients list' shows all", self.client))
    }
}

/// Returns up to `limit` clients of a domain, or of all domains, in the order of their IDs.
pub(super) async fn list(
    backend: &Backend,
    domain: Option<&str>,
    filter: &DomainFilter,
    limit: u32,
) -> Result<Vec<FoundClient>> {
    let id = match domain {
        Some(text) => Some(backend.find_domain_id(filter, text).await?),
        None => None,
    };
    match backend {
        Backend::Database(store) => list_stored(store, id.as_ref(), filter, limit).await,
        Backend::Api(api) => list_through_api(api, id, filter, limit).await,
    }
}

/// Returns the issuer of a domain, at the address of the last server.
pub(super) async fn find_issuer(store: &Store, domain: &Domain) -> Result<String> {
    let address = public_address::find(store).await?;
    let address = address.context(
        "no server has run on this database yet, so it has no address for an issuer; run 'signpost serve' first",
    )?;
    Ok(issuer_at(&address, domain))
}

async fn find_stored(store: &Store, id: &ClientId) -> Result<Option<FoundClient>> {
    let Some(client) = sql::find_in_any_domain(store, id).await? else { return Ok(None) };
    let Some(domain) = domains::sql::find_in_any_account(store, &client.domain_id).await? else { return Ok(None) };
    let issuer = issuer_at(&public_address::find(store).await?.unwrap_or_default(), &domain);
    Ok(Some(FoundClient { client, domain, issuer }))
}

/// Searches the domains of the account: the API has no search in all domains.
async fn find_through_api(api: &ServiceApi, id: &ClientId) -> Result<Option<FoundClient>> {
    for listed in api.list_domains().await? {
        match api.client(&listed.id, id).await {
            Ok(ClientOfApi { client, issuer, .. }) => {
                return Ok(Some(FoundClient { client, domain: api.domain(&listed.id).await?, issuer }));
            }
            Err(failure) if failure.is_not_found() => {}
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(None)
}

async fn list_stored(
    store: &Store,
    domain: Option<&DomainId>,
    filter: &DomainFilter,
    limit: u32,
) -> Result<Vec<FoundClient>> {
    let address = public_address::find(store).await?.unwrap_or_default();
    let mut known: HashMap<String, Option<Domain>> = HashMap::new();
    let mut found: Vec<FoundClient> = Vec::new();
    let mut after: Option<ClientId> = None;
    loop {
        let left = limit.saturating_sub(u32::try_from(found.len())?);
        if left == 0 {
            return Ok(found);
        }
        let page_len = left.min(PAGE_LEN);
        let page = match domain {
            Some(domain) => sql::list(store, domain, after.as_ref(), page_len).await?,
            None => sql::list_all(store, after.as_ref(), page_len).await?,
        };
        let Some(last) = page.last() else { return Ok(found) };
        after = Some(last.id.clone());
        for client in page {
            if !known.contains_key(client.domain_id.as_str()) {
                let domain = domains::sql::find_in_any_account(store, &client.domain_id).await?;
                known.insert(client.domain_id.to_string(), domain);
            }
            // Clients of a domain that was deleted since are omitted.
            let Some(Some(domain)) = known.get(client.domain_id.as_str()) else { continue };
            if filter.select(domain.account.environment, &domain.account.name) {
                let issuer = issuer_at(&address, domain);
                found.push(FoundClient { client, domain: domain.clone(), issuer });
            }
        }
    }
}

async fn list_through_api(
    api: &ServiceApi,
    domain: Option<DomainId>,
    filter: &DomainFilter,
    limit: u32,
) -> Result<Vec<FoundClient>> {
    filter.check_account(api.account())?;
    let domains = match domain {
        Some(id) => vec![id],
        None => api.list_domains().await?.into_iter().map(|listed| listed.id).collect(),
    };
    let mut found = Vec::new();
    for id in domains {
        let clients = api.list_clients(&id, limit).await?;
        if clients.is_empty() {
            continue;
        }
        let domain = api.domain(&id).await?;
        found.extend(clients.into_iter().map(|ClientOfApi { client, issuer, .. }| FoundClient {
            client,
            domain: domain.clone(),
            issuer,
        }));
    }
    found.sort_by(|one, other| one.client.id.cmp(&other.client.id));
    found.truncate(limit as usize);
    Ok(found)
}
