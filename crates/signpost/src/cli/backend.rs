//! The two backends of commands: the database of an installation, and the HTTP API of a service.

use std::io::IsTerminal;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use signpost_login::domains::{self, Domain, ListedDomain};
use signpost_login::ids::DomainId;
use signpost_store::Store;

use super::api::{ApiFailure, ServiceApi};
use super::domain_filter::{DomainFilter, find_domain, unknown_domain};
use super::{Usage, ask, confirm_removal};

/// The target of a command: a database, with the rights of its operator, or the API of a service, with the rights of an
/// API key. Both return the types of the services, so that commands print the results of both in the same way.
pub(super) enum Backend {
    Database(Store),
    Api(Arc<ServiceApi>),
}

/// The flag that confirms a removal.
#[derive(Clone, Debug, Args)]
pub(super) struct ConfirmFlag {
    /// Do not ask for confirmation; with --api it needs the name of the domain
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    yes: Option<String>,
}

impl Backend {
    /// Returns the database, for actions that an API key has no right to.
    ///
    /// # Errors
    /// Returns an error with the reason and the command for the server, if the target is the API.
    pub(super) fn database(&self, reason: &str, command: &str) -> Result<&Store> {
        match self {
            Self::Database(store) => Ok(store),
            Self::Api(_) => Err(not_by_key(reason, command)),
        }
    }

    /// Returns the domains of all accounts, or of the account of the key.
    pub(super) async fn list_domains(&self) -> Result<Vec<ListedDomain>> {
        match self {
            Self::Database(store) => domains::sql::list_all(store).await,
            Self::Api(api) => Ok(api.list_domains().await?),
        }
    }

    /// Finds the ID of the domain with this ID or name.
    ///
    /// # Errors
    /// Returns an error if the domain is unknown or ambiguous, or the filter selects another account or environment than
    /// those of the key.
    pub(super) async fn find_domain_id(&self, filter: &DomainFilter, text: &str) -> Result<DomainId> {
        if let Self::Api(api) = self {
            filter.check_account(api.account())?;
        }
        if let Some(id) = DomainId::parse(text) {
            return Ok(id);
        }
        filter.choose(self.list_domains().await?, text)
    }

    /// Finds the domain with this ID or name.
    pub(super) async fn find_domain(&self, filter: &DomainFilter, text: &str) -> Result<Domain> {
        let id = self.find_domain_id(filter, text).await?;
        match self {
            Self::Database(store) => find_domain(store, &id).await,
            Self::Api(api) => api.domain(&id).await.map_err(|failure| or_unknown(failure, &unknown_domain(&id))),
        }
    }

    /// Prints the consequences of a removal, and asks for confirmation. Through the API, the answer is the name of the
    /// domain, because a wrong address or key would remove the data of another installation.
    ///
    /// # Errors
    /// Returns an error if the removal is not confirmed, or standard input is not a terminal.
    pub(super) fn confirm_removal(
        &self,
        flag: &ConfirmFlag,
        domain: &str,
        consequences: &str,
        question: &str,
    ) -> Result<()> {
        let named = flag.yes.as_deref().filter(|name| !name.is_empty());
        if named.is_some_and(|name| name != domain) {
            return Err(Usage(format!("--yes: the domain is named {domain}; nothing was removed")).into());
        }
        let Self::Api(api) = self else {
            return confirm_removal(flag.yes.is_some(), consequences, question);
        };
        if named.is_some() {
            return Ok(());
        }
        if flag.yes.is_some() || !std::io::stdin().is_terminal() {
            return Err(Usage(format!(
                "{consequences}, on {api}; to do it without asking, name the domain: --yes {domain}"
            ))
            .into());
        }
        eprintln!("{}", signpost_text::clean_line(consequences));
        let answer = ask(&format!("On {api}. Type {domain} to confirm: "))?;
        if answer == domain { Ok(()) } else { bail!("nothing was removed") }
    }
}

/// Returns the error for an object that the API does not have, or another failure unchanged.
pub(super) fn or_unknown(failure: ApiFailure, unknown: &str) -> anyhow::Error {
    if failure.is_not_found() { anyhow!("{unknown}") } else { failure.into() }
}

/// Returns the error for an action that needs the database.
pub(super) fn not_by_key(reason: &str, command: &str) -> anyhow::Error {
    anyhow!("{reason}: run 'signpost {command}' on the server, without --api")
}
