//! A read-through cache of domains, used when sessions are created.

use std::ops::Deref;
use std::sync::Arc;

use anyhow::Context;
use signpost_auth::DomainName;
use signpost_platform::accounts::Account;
use signpost_platform::cache::ReadCache;
use signpost_store::{Statement, Store, TableVersion};

use super::Domain;
use crate::error::Error;
use crate::ids::DomainId;

/// Approximate size of a domain in memory, in bytes.
const DOMAIN_SIZE: usize = 2048;

/// A domain from the cache or from the database.
#[derive(Clone, Debug)]
pub struct CachedDomain {
    domain: Arc<Domain>,
    /// The version of the watched tables in which the domain was read. `None` if it was read for this request, or if
    /// the database notifies this server of changes.
    version: Option<TableVersion>,
}

/// A read-through cache of domains.
#[derive(Debug)]
pub struct DomainCache {
    store: Store,
    domains: ReadCache<(Account, DomainName), CachedDomain>,
}

impl CachedDomain {
    /// Returns a domain that was read for this request.
    #[must_use]
    pub fn new(domain: Domain) -> Self {
        Self { domain: Arc::new(domain), version: None }
    }

    /// Returns true if the domain may have changed since it was read. Then it must not cause an error, and a dependent
    /// write must be guarded.
    #[must_use]
    pub fn may_be_outdated(&self) -> bool {
        self.version.is_some()
    }

    /// Makes the statement fail if the domain may have changed since it was read.
    pub(crate) fn guard(domain: Option<&Self>, statement: Statement) -> Statement {
        statement.if_unchanged(domain.and_then(|domain| domain.version))
    }
}

impl Deref for CachedDomain {
    type Target = Domain;

    fn deref(&self) -> &Domain {
        &self.domain
    }
}

impl DomainCache {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(store: Store) -> Self {
        let domains = ReadCache::new(|_| DOMAIN_SIZE);
        domains.restart(store.table_version().is_some());
        Self { store, domains }
    }

    /// Returns a domain from the cache, or the result of `read`.
    ///
    /// # Errors
    /// Returns the errors of `read`.
    pub(crate) async fn find(
        &self,
        account: &Account,
        name: &DomainName,
        read: impl Future<Output = Result<Domain, Error>>,
    ) -> Result<CachedDomain, Error> {
        let key = (account.clone(), name.clone());
        // The version is determined before the read, so that any later change results in another
        // version.
        let version = self.store.table_version();
        if self.domains.get(&key).is_some_and(|domain| domain.version != version) {
            self.domains.invalidate(&key);
        }
        let read = async { Ok(Some(CachedDomain { domain: Arc::new(read.await?), version })) };
        match self.domains.find(&key, read).await {
            Ok(found) => Ok(found.context("a domain that was read")?),
            Err(error) => Err(error.downcast().unwrap_or_else(Error::from)),
        }
    }

    /// Returns the domain with this name and ID, if the cache has it and no change is known.
    #[must_use]
    pub fn get(&self, account: &Account, name: &DomainName, id: &DomainId) -> Option<CachedDomain> {
        let domain = self.domains.get(&(account.clone(), name.clone()))?;
        (domain.id == *id && domain.version == self.store.table_version()).then_some(domain)
    }

    /// Removes all domains.
    pub fn invalidate_all(&self) {
        self.domains.invalidate_all();
    }

    /// Removes all domains. New domains are cached if the database notifies this server of every change from now on.
    pub fn restart(&self, is_notified: bool) {
        self.domains.restart(is_notified);
    }
}
