//! Whose events are signed, and with what.

use anyhow::{Context, Result, bail};
use signpost_auth::diagnosis::KnownSecret;
use signpost_login::domains::{self, Domain, SigningSecrets};
use signpost_login::ids::DomainId;
use signpost_platform::accounts::Environment;
use signpost_store::Store;

use crate::cli::Session;
use crate::cli::domains::{Namesakes, Which};
use crate::receiver::known::list_other_secrets;

/// Which domain, as the flags of a command say it.
#[derive(Clone, Debug)]
pub(super) struct DomainChoice {
    pub(super) domain: Option<String>,
    pub(super) among: Namesakes,
}

/// A domain with what signs its events.
#[derive(Clone, Debug)]
pub(super) struct SigningDomain {
    pub(super) domain: Domain,
    pub(super) secrets: SigningSecrets,
}

impl DomainChoice {
    /// The environment that counts while no domain is named.
    pub(super) fn environment(&self) -> Environment {
        self.among.environment().unwrap_or(Environment::Sandbox)
    }

    /// The named domain, if one is.
    pub(super) async fn named(&self, session: &Session, store: &Store) -> Result<Option<SigningDomain>> {
        let Self { domain: Some(domain), among } = self.clone() else { return Ok(None) };
        let id = Which { domain, among }.find(store).await?;
        Ok(Some(find(session, store, &id).await?))
    }

    /// The named domain, or the only one of its environment.
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

    /// All domains of the environment.
    pub(super) async fn all(&self, store: &Store) -> Result<Vec<DomainId>> {
        let environment = self.environment();
        let is_meant =
            |domain: &domains::sql::ListedDomain| domain.environment == environment && self.among.is_account_of(domain);
        let all = domains::sql::list_all(store).await?.into_iter().filter(is_meant);
        Ok(all.map(|domain| domain.id).collect())
    }
}

/// A domain with its secrets.
pub(super) async fn find(session: &Session, store: &Store, id: &DomainId) -> Result<SigningDomain> {
    let unknown = || format!("no domain has the ID {id}; 'signpost domains list' shows all");
    let domain = domains::sql::find_in_any_account(store, id).await?.with_context(unknown)?;
    let secrets = domains::sql::find_secrets(store, &session.config.login.seal(), id).await?.with_context(unknown)?;
    Ok(SigningDomain { domain, secrets })
}

/// The secrets that a receiver may have instead of the current one of this domain.
pub(super) async fn other_secrets(session: &Session, store: &Store, of: Option<&DomainId>) -> Vec<KnownSecret> {
    list_other_secrets(store, &session.config.login.seal(), of).await
}
