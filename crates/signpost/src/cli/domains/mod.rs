//! The command `signpost domains`: manages domains and their signing secrets.

mod add;
mod change;
mod events;
mod remove;
mod set;
mod verify;

use anyhow::{Result, anyhow, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use signpost_auth::WebhookSecret;
use signpost_login::api::domains::DomainView;
use signpost_login::domains::{self, Domain, HandlerKind, encryption_key};
use signpost_login::ids::DomainId;
use signpost_platform::accounts::SERVER_ACCOUNT;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::clock::Clock;
use signpost_store::{Store, random};

use crate::cli::backend::{Backend, not_by_key};
use crate::cli::domain_filter::DomainFilter;
use crate::cli::{Session, labelled_lines, signer, table};
use crate::deployment::sealed::{self, SealedCounts};
use crate::deployment::servers::RunningServers;

#[derive(Debug, Subcommand)]
pub(super) enum Domains {
    /// Register a domain, or change a registered one
    ///
    /// Has the rules of `POST /domains`, and prints the ID and the signing secret. With --json: the
    /// document of that call.
    ///
    /// If the account already has the domain, the command changes only the given options, and
    /// prints the ID without the secret. It is idempotent. With --json: the document of `GET
    /// /domains/{id}`.
    Add(add::Add),
    /// List the domains of all accounts; with --api of the account of the key
    List,
    /// Show a domain with its settings
    ///
    /// With --json: the document of `GET /domains/{id}`.
    Show {
        #[command(flatten)]
        selector: DomainSelector,
    },
    /// Change the settings of a domain; omitted settings do not change
    ///
    /// Has the rules of `PATCH /domains/{id}`. With --json: the document of that call.
    Set(set::SetDomain),
    /// Verify a domain
    ///
    /// Performs the check of `POST /domains/{id}/verify`: a TXT record at _svc-challenge.NAME or at
    /// NAME, or a line of `https://NAME/.well-known/svc-verify`. Shows the lookups and their
    /// results. Exit code 1 if no proof is found; a verified domain remains verified until rechecks
    /// have failed too. With --json: `{id, domain, verified, verified_at, checks: [{method, name,
    /// expected, found, error}]}`.
    Verify(verify::VerifyDomain),
    /// Remove a domain with its users
    ///
    /// Shows the consequences and asks for confirmation. Pending sessions are cancelled; queued
    /// events are still sent. With --json: `{removed, domain, users, pending_sessions}`.
    Remove(remove::RemoveDomain),
    /// Encrypt stored signing secrets with `SIGNPOST_SEAL_KEY`, or re-encrypt them after a key
    /// change
    ///
    /// Also encrypts the keys that sign ID tokens. Fails while a server with another key, or
    /// without a key, is running. With --json: `{sealed, signing_keys}`, the numbers of domains and
    /// of keys.
    Seal,
    /// Show, rotate or activate the signing secret of a domain
    ///
    /// With --json: `{domain_id, webhook_secret}`, and `next_webhook_secret` if a rotation is in
    /// progress.
    Secret(Secret),
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum HandlerArg {
    Direct,
    Hosted,
}

#[derive(Debug, Args)]
pub(super) struct Secret {
    #[command(flatten)]
    selector: DomainSelector,
    /// Create the next secret; events are signed with both until it is activated
    #[arg(long, conflicts_with = "activate")]
    rotate: bool,
    /// Activate the next secret, and delete the previous secret
    #[arg(long)]
    activate: bool,
}

/// The arguments that select a registered domain.
#[derive(Debug, Args)]
pub(super) struct DomainSelector {
    /// Domain ID or name, as shown by 'domains list'
    pub(super) domain: String,
    #[command(flatten)]
    pub(super) domain_filter: DomainFilter,
}

impl Domains {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Add(add) => add.run(session).await,
            Self::Show { selector } => show(session, &selector.find_domain(&session.backend()?).await?),
            Self::Set(set) => set.run(session, &session.backend()?).await,
            Self::Verify(verify) => verify.run(session, &session.backend()?).await,
            Self::Remove(remove) => remove.run(session, &session.backend()?).await,
            Self::List => list(session, &session.backend()?).await,
            Self::Seal | Self::Secret(_) if session.api.is_some() => {
                Err(not_by_key("an API key has no access to signing secrets", "domains secret"))
            }
            Self::Seal => seal(session, &session.store()?).await,
            Self::Secret(secret) => secret.run(session, &session.store()?).await,
        }
    }
}

impl Secret {
    async fn run(self, session: &Session, store: &Store) -> Result<()> {
        let id = self.selector.domain_filter.find(store, &self.selector.domain).await?;
        if self.rotate {
            let seal = session.config.login.seal();
            let next = WebhookSecret::from_bytes(&random());
            let now = Clock::System.now();
            sealed::admit_command(store, &session.config, now).await?;
            let rotated = domains::sql::rotate_secret(store, &seal, &id, &next, &Actor::Operator, now).await;
            rotated.map_err(|error| error.on_conflict(anyhow!("{id} was removed just now")))?;
        } else if self.activate {
            let activated = domains::sql::activate_secret(store, &id, &Actor::Operator, Clock::System.now()).await;
            activated.map_err(|error| {
                error.on_conflict(anyhow!("{id} has no next secret; create one with --rotate first"))
            })?;
        }
        print_secrets(session, store, &id).await
    }
}

impl DomainSelector {
    pub(super) async fn find_domain(&self, backend: &Backend) -> Result<Domain> {
        backend.find_domain(&self.domain_filter, &self.domain).await
    }

    /// Finds and reads a domain that may be changed: any but the system domain.
    async fn find_registered(&self, backend: &Backend) -> Result<Domain> {
        let domain = self.find_domain(backend).await?;
        if domain.account.name == SERVER_ACCOUNT {
            bail!("{} is the server's own domain, which its operators log in to; it stays as it is", domain.id);
        }
        Ok(domain)
    }
}

impl From<HandlerArg> for HandlerKind {
    fn from(handler: HandlerArg) -> Self {
        match handler {
            HandlerArg::Direct => Self::Direct,
            HandlerArg::Hosted => Self::Hosted,
        }
    }
}

async fn seal(session: &Session, store: &Store) -> Result<()> {
    let seal = session.config.login.seal();
    if !seal.is_enabled() {
        // If the secrets are encrypted already, a new key is useless.
        encryption_key::find(store).await?.admit(&seal)?;
        bail!(
            "no encryption key is set: set SIGNPOST_SEAL_KEY, for example to the output of 'openssl rand -hex 32', for \
             the servers and for this command"
        );
    }
    let (running, _lock) = RunningServers::find(&session.config)?;
    let sealed = sealed::seal_all(store, &seal, running, Clock::System.now()).await?;
    let SealedCounts { domains, signing_keys } = sealed;
    session.print(&sealed, || {
        format!("encrypted the secrets of {domains} domains, and {signing_keys} keys that sign ID tokens")
    })
}

async fn list(session: &Session, backend: &Backend) -> Result<()> {
    let domains = backend.list_domains().await?;
    session.print(&json!({ "domains": domains }), || {
        let rows = domains.iter().map(|domain| {
            let environment = domain.environment.to_string();
            let state = if domain.verified { "verified" } else { "unverified" };
            [domain.id.to_string(), environment, domain.account.clone(), domain.domain.clone(), state.to_owned()]
        });
        table(["ID", "ENVIRONMENT", "ACCOUNT", "DOMAIN", "STATE"], rows)
    })
}

fn show(session: &Session, domain: &Domain) -> Result<()> {
    session.print(&DomainView::new(domain), || description(domain))
}

/// Returns the settings of a domain, one per line.
fn description(domain: &Domain) -> String {
    let Domain { id, account, name, webhook_url, event_url, handler, verification_token, .. } = domain;
    let mut lines = vec![
        ("id", id.to_string()),
        ("domain", format!("{name} ({})", account.environment)),
        ("account", account.name.clone()),
        ("handler", handler.as_str().to_owned()),
        ("wallets", webhook_url.to_string()),
        ("events", event_url.as_ref().unwrap_or(webhook_url).to_string()),
    ];
    lines.push(("kinds", describe_events(domain)));
    if *handler == HandlerKind::Hosted {
        lines.push(("methods", domain.methods().to_string()));
        lines.push(("newcomers", domain.registration.as_str().to_owned()));
        lines.extend(domain.display_name.as_ref().map(|name| ("shown as", name.as_str().to_owned())));
    }
    lines.push(("proof", verification_token.as_str().to_owned()));
    let verified = domain.verified_at.map_or_else(|| "no".to_owned(), |at| format!("since {at}"));
    lines.push(("verified", verified));
    lines.extend(domain.failing_since.map(|at| ("missing", format!("the proof, since {at}"))));
    labelled_lines(&lines)
}

/// Returns the kinds of events that a domain receives.
fn describe_events(domain: &Domain) -> String {
    let kinds = domain.events().to_string();
    let kinds = if kinds.is_empty() { "test alone".to_owned() } else { kinds.replace(',', ", ") };
    if domain.events.is_none() { format!("{kinds} (default)") } else { kinds }
}

async fn print_secrets(session: &Session, store: &Store, id: &DomainId) -> Result<()> {
    // Fails for a deleted domain, although its last events still need its secrets.
    let secrets = signer::find(session, store, id).await?.secrets;
    let current = secrets.current.reveal();
    let next = secrets.next.as_ref().map(WebhookSecret::reveal);
    let mut document = json!({ "domain_id": id, "webhook_secret": current });
    if let Some(next) = next {
        document["next_webhook_secret"] = next.into();
    }
    session.print(&document, || match next {
        None => current.to_owned(),
        Some(next) => format!(
            "{current}\nnext: {next}\n\nConfigure your receiver to accept both, then run \
             'signpost domains secret {id} --activate'."
        ),
    })
}
