//! Selects the domain that signs the events of a command, and reads its secrets.

use anyhow::{Context, Result, bail};
use signpost_auth::diagnosis::KnownSecret;
use signpost_login::domains::{self, Domain, SigningSecrets};
use signpost_login::ids::DomainId;
use signpost_platform::accounts::Environment;
use signpost_store::Store;

use crate::cli::Session;
use crate::cli::domain_filter::{DomainFilter, find_domain, unknown_domain};
use crate::receiver::known_secrets::list_other_secrets;

/// The flags of a command that select a domain, or none.
#[derive(Clone, Debug)]
pub(super) struct DomainChoice {
    pub(super) domain: Option<String>,
    pub(super) domain_filter: DomainFilter,
}

/// A domain with the secrets that sign its events.
#[derive(Clone, Debug)]
pub(super) struct SigningDomain {
    pub(super) domain: Domain,
    pub(super) secrets: SigningSecrets,
}

impl DomainChoice {
    /// Returns the environment that applies if no domain is selected: the sandbox unless a flag selects another.
    pub(super) fn environment(&self) -> Environment {
        self.domain_filter.environment().unwrap_or(Environment::Sandbox)
    }

    /// Returns the selected domain, or `None` if none is selected.
    pub(super) async fn named(&self, session: &Session, store: &Store) -> Result<Option<SigningDomain>> {
        let Some(domain) = &self.domain else { return Ok(None) };
        let id = self.domain_filter.find(store, domain).await?;
        Ok(Some(find(session, store, &id).await?))
    }

    /// Returns the selected domain, or the environment's only domain.
    ///
    /// # Errors
    /// Returns an error if no domain is selected and the environment does not have exactly one domain.
    pub(super) async fn only(&self, session: &Session, store: &Store) -> Result<SigningDomain> {
        if let Some(named) = self.named(session, store).await? {
            return Ok(named);
        }
        let environment = self.environment();
        match &self.all(store).await?[..] {
            [one] => find(session, store, one).await,
            [] => bail!("no domain is in the {environment}: register one with 'signpost domains add'"),
            many => bail!("{} domains are in the {environment}: choose one with --domain", many.len()),
        }
    }

    /// Returns all domains of the environment.
    pub(super) async fn all(&self, store: &Store) -> Result<Vec<DomainId>> {
        let environment = self.environment();
        let mut domains = domains::sql::list_all(store).await?;
        domains.retain(|domain| {
            domain.environment == environment && self.domain_filter.select(domain.environment, &domain.account)
        });
        Ok(domains.into_iter().map(|domain| domain.id).collect())
    }
}

/// Finds a domain and its secrets.
pub(super) async fn find(session: &Session, store: &Store, id: &DomainId) -> Result<SigningDomain> {
    let domain = find_domain(store, id).await?;
    let secrets = domains::sql::find_secrets(store, &session.config.login.seal(), id).await?;
    Ok(SigningDomain { domain, secrets: secrets.with_context(|| unknown_domain(id))? })
}

/// Returns the secrets that a receiver may have configured by mistake instead of the current secret of this domain.
pub(super) async fn other_secrets(session: &Session, store: &Store, of: Option<&DomainId>) -> Vec<KnownSecret> {
    list_other_secrets(store, &session.config.login.seal(), of).await
}
