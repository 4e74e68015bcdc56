//! The flags that select a domain, and the errors for unknown domains.

use anyhow::{Context, Result, bail};
use clap::Args;
use signpost_login::domains::{self, Domain, ListedDomain};
use signpost_login::ids::DomainId;
use signpost_platform::accounts::{Account, Environment};
use signpost_store::Store;

use super::Usage;

/// The flags that select among domains with the same name.
#[derive(Clone, Debug, Args)]
pub(super) struct DomainFilter {
    /// Select only sandbox domains
    #[arg(long, conflicts_with = "live")]
    sandbox: bool,
    /// Select only live domains
    #[arg(long)]
    live: bool,
    /// Select only domains of this account
    #[arg(long)]
    pub(super) account: Option<String>,
}

impl DomainFilter {
    /// Returns the environment of the flags.
    pub(super) fn environment(&self) -> Option<Environment> {
        match (self.sandbox, self.live) {
            (true, _) => Some(Environment::Sandbox),
            (_, true) => Some(Environment::Live),
            _ => None,
        }
    }

    /// Returns true if the flags select a domain of this environment and account.
    pub(super) fn select(&self, environment: Environment, account: &str) -> bool {
        self.environment().is_none_or(|only| only == environment)
            && self.account.as_ref().is_none_or(|only| only == account)
    }

    /// Checks that the flags select the account of an API key.
    ///
    /// # Errors
    /// Returns [`Usage`] if they select another account or environment.
    pub(super) fn check_account(&self, account: &Account) -> Result<()> {
        if self.select(account.environment, &account.name) {
            return Ok(());
        }
        let Account { name, environment } = account;
        Err(Usage(format!("the API key belongs to the account {name} in the {environment}, and sees no other")).into())
    }

    /// Finds the domain with this ID, or the only selected domain with this name.
    pub(super) async fn find(&self, store: &Store, text: &str) -> Result<DomainId> {
        if let Some(id) = DomainId::parse(text) {
            return Ok(id);
        }
        self.choose(domains::sql::list_all(store).await?, text)
    }

    /// Returns the ID of the only selected domain with this name.
    pub(super) fn choose(&self, mut domains: Vec<ListedDomain>, name: &str) -> Result<DomainId> {
        domains.retain(|domain| domain.domain == *name && self.select(domain.environment, &domain.account));
        match &domains[..] {
            [domain] => Ok(domain.id.clone()),
            [] => bail!("no domain has the ID or name {name}; 'signpost domains list' shows all"),
            several => bail!(
                "{} domains are named {name}: choose one with --sandbox, --live or --account, or use its ID",
                several.len()
            ),
        }
    }
}

/// Reads the domain with this ID, in any account.
pub(super) async fn find_domain(store: &Store, id: &DomainId) -> Result<Domain> {
    domains::sql::find_in_any_account(store, id).await?.with_context(|| unknown_domain(id))
}

pub(super) fn unknown_domain(id: &DomainId) -> String {
    format!("no domain has the ID {id}; 'signpost domains list' shows all")
}
