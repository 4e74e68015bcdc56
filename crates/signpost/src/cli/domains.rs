//! `signpost domains`

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde_json::json;
use signpost_auth::WebhookSecret;

use super::{Session, table};
use crate::clock::Clock;
use crate::domains::Domain;
use crate::id::{self, DomainId};
use crate::store::Store;

#[derive(Debug, Subcommand)]
pub(super) enum Domains {
    /// List the domains of all accounts
    List,
    /// Seal the webhook secrets that stand in the database as they are, or were sealed with another key
    Seal,
    /// Show the secret that signs a domain's webhooks
    Secret {
        /// As 'domains list' shows it
        id: String,
        /// Make the next secret: both sign until it is activated
        #[arg(long, conflicts_with = "activate")]
        rotate: bool,
        /// Let the next secret sign alone
        #[arg(long)]
        activate: bool,
    },
}

impl Domains {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let store = session.store()?;
        match self {
            Self::List => list(session, &store).await,
            Self::Seal => seal(session, &store).await,
            Self::Secret { id, rotate, activate } => {
                let found = DomainId::parse(&id);
                let id =
                    found.with_context(|| format!("no domain has the id {id}; 'signpost domains list' shows all"))?;
                if rotate {
                    let next = WebhookSecret::from_bytes(&id::random());
                    store.rotate_secret(&id, &next, Clock::System.now()).await?;
                } else if activate && !store.activate_secret(&id, Clock::System.now()).await? {
                    bail!("{id} has no next secret; make one with --rotate first");
                }
                secret(session, &store, &id).await
            }
        }
    }
}

async fn seal(session: &Session, store: &Store) -> Result<()> {
    if !session.config.seal().is_on() {
        bail!(
            "there is no key to seal with: set SIGNPOST_SEAL_KEY, for instance to what 'openssl rand -hex 32' prints"
        );
    }
    let sealed = store.seal_secrets(Clock::System.now()).await?;
    session.print(&json!({ "sealed": sealed }), || format!("sealed the secrets of {sealed} domains"))
}

async fn list(session: &Session, store: &Store) -> Result<()> {
    let domains = store.all_domains().await?;
    session.print(&json!({ "domains": domains }), || {
        let verified = |verified: bool| if verified { "verified" } else { "unverified" }.to_owned();
        let rows: Vec<_> = domains
            .iter()
            .map(|domain| {
                let (environment, verified) = (domain.environment.to_string(), verified(domain.verified));
                [domain.id.to_string(), environment, domain.account.clone(), domain.domain.clone(), verified]
            })
            .collect();
        table(["ID", "ENVIRONMENT", "ACCOUNT", "DOMAIN", "STATE"], &rows)
    })
}

async fn secret(session: &Session, store: &Store, id: &DomainId) -> Result<()> {
    let domain = store.anyones_domain(id).await?;
    let Domain { secrets, .. } = domain.with_context(|| format!("no domain has the id {id}"))?;
    let current = secrets.current.reveal();
    let next = secrets.next.as_ref().map(WebhookSecret::reveal);
    let mut document = json!({ "domain_id": id, "webhook_secret": current });
    if let Some(next) = next {
        document["next_webhook_secret"] = next.into();
    }
    session.print(&document, || match next {
        None => current.to_owned(),
        Some(next) => format!(
            "{current}\nnext: {next}\n\nTeach your receiver the next one, then run \
             'signpost domains secret {id} --activate'."
        ),
    })
}
