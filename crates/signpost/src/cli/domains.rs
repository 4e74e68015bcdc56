//! `signpost domains`

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use signpost_auth::WebhookSecret;
use signpost_login::api::domains::{CreatedDomain, DomainView};
use signpost_login::domains::patch_sql::{NotPatched, patch};
use signpost_login::domains::{
    self, Domain, DomainEntropy, DomainPatch, HandlerKind, ListedDomain, MAX_DOMAINS, NewDomain, NotRegistered,
    RegisteredDomain, register,
};
use signpost_login::ids::DomainId;
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::clock::Clock;
use signpost_store::{Store, random};

use crate::cli::keys::account_name;
use crate::cli::{Session, Usage, table};
use crate::server::public_address;

const SHARED_LOGIN_HOST: &str = "another account has live hosted domains here, and one of the two offers lightning: a \
                                 Lightning wallet's key is the same for all domains of a login host";

#[derive(Debug, Subcommand)]
pub(super) enum Domains {
    /// Register a domain, or change a registered one
    ///
    /// Follows the rules of POST /domains, and prints the ID and the signing secret; with --json the document of that
    /// call.
    ///
    /// If the account already has the domain, the options given here are set on it and nothing else. The same command
    /// again changes nothing and prints the same ID, without the secret; with --json the document of `GET
    /// /domains/{id}`.
    Add(Add),
    /// List the domains of all accounts
    List,
    /// Encrypt stored signing secrets with `SIGNPOST_SEAL_KEY`, also those encrypted with the old key
    ///
    /// With --json: `{sealed}`, the number of domains.
    Seal,
    /// Show, rotate or activate the signing secret of a domain
    ///
    /// With --json: `{domain_id, webhook_secret}`, and `next_webhook_secret` while there is one.
    Secret(Secret),
}

#[derive(Debug, Args)]
pub(super) struct Add {
    /// Host name, such as shop.example; in the sandbox also localhost
    name: String,
    /// Register it in the sandbox instead of live
    #[arg(long)]
    sandbox: bool,
    /// Handler that answers wallets: direct (your server) or hosted (Signpost) [default: direct]
    #[arg(long, value_enum)]
    handler: Option<Who>,
    /// URL that receives events [default: the webhook URL]
    #[arg(long, value_name = "URL")]
    event_url: Option<String>,
    /// URL that wallets post to [default: `https://NAME/webhooks/login`, for localhost
    /// `http://localhost:9000/webhooks/login`]
    #[arg(long, value_name = "URL")]
    webhook_url: Option<String>,
    /// Account
    #[arg(long, default_value = "default")]
    account: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Who {
    Direct,
    Hosted,
}

#[derive(Debug, Args)]
pub(super) struct Secret {
    #[command(flatten)]
    which: Which,
    /// Create the next secret; both sign until it is activated
    #[arg(long, conflicts_with = "activate")]
    rotate: bool,
    /// Switch to the next secret; from then on it signs alone
    #[arg(long)]
    activate: bool,
}

/// A domain that is there.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// Domain ID or name, as shown by 'domains list'
    pub(super) domain: String,
    /// The sandbox domain, if the name is in both environments
    #[arg(long, conflicts_with = "live")]
    pub(super) sandbox: bool,
    /// The live domain, if the name is in both environments
    #[arg(long)]
    pub(super) live: bool,
    /// The domain of this account, if several have the name
    #[arg(long)]
    pub(super) account: Option<String>,
}

impl Domains {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        match self {
            Self::Add(add) => add.run(session).await,
            Self::List => list(session, &session.store()?).await,
            Self::Seal => seal(session, &session.store()?).await,
            Self::Secret(secret) => secret.run(session, &session.store()?).await,
        }
    }
}

impl Add {
    async fn run(self, session: &Session) -> Result<()> {
        let environment = if self.sandbox { Environment::Sandbox } else { Environment::Live };
        let account = Account { name: account_name(&self.account)?, environment };
        let reach = session.config.login.reach(environment, session.config.serves_only_its_machine());
        let now = Clock::System.now();
        let registered = register(&self.wanted(), account, reach, now, DomainEntropy::draw());
        let registered = registered.map_err(|(field, reason)| Usage(format!("{}: {reason}", flag(field))))?;
        let store = session.store()?;
        match domains::sql::insert(&store, &session.config.login.seal(), &registered, &Actor::Operator).await? {
            Ok(()) => {
                let address = public_address::find(&store).await?;
                session.print(&CreatedDomain::new(&registered), || {
                    made(&registered, address.as_deref().unwrap_or_default())
                })
            }
            Err(NotRegistered::SharedLoginHost) => bail!(SHARED_LOGIN_HOST),
            Err(NotRegistered::TooMany) => bail!("an account can have at most {MAX_DOMAINS} domains"),
            Err(NotRegistered::Exists(there)) => {
                let changed = self.sees_to(&store, &registered.domain, &there).await?;
                let there = domains::sql::find(&store, &there.account, &there.id)
                    .await?
                    .context("the domain was deleted just now")?;
                session.print(&DomainView::new(&there), || {
                    let told = if changed { "changed" } else { "already registered; nothing changed" };
                    format!(
                        "id       {}\n{told}. Show its secret with 'signpost domains secret {}'.",
                        there.id, there.id
                    )
                })
            }
        }
    }

    /// The domain with what nobody said filled in.
    fn wanted(&self) -> NewDomain {
        let default = match self.name.as_str() {
            "localhost" => "http://localhost:9000/webhooks/login".to_owned(),
            name => format!("https://{name}/webhooks/login"),
        };
        NewDomain {
            domain: self.name.clone(),
            webhook_url: self.webhook_url.clone().unwrap_or(default),
            event_url: self.event_url.clone(),
            handler: self.handler.map(HandlerKind::from).unwrap_or_default(),
        }
    }

    /// Sets what was said, and nothing else, on the domain that is there. False where all of it is so already.
    async fn sees_to(&self, store: &Store, wanted: &Domain, there: &Domain) -> Result<bool> {
        let change = DomainPatch {
            webhook_url: self.webhook_url.as_ref().map(|_| wanted.webhook_url.clone()),
            event_url: self.event_url.as_ref().map(|_| wanted.event_url.clone()),
            handler: self.handler.map(|_| wanted.handler),
            ..DomainPatch::default()
        };
        if change.is_applied_to(there) {
            return Ok(false);
        }
        match patch(store, &there.account, &there.id, &change, &Actor::Operator, wanted.created_at).await? {
            Ok(()) => Ok(true),
            Err(NotPatched::NotFound) => Ok(false),
            Err(NotPatched::SharedLoginHost) => bail!(SHARED_LOGIN_HOST),
        }
    }
}

/// The flag, or the argument, that sets a field.
fn flag(field: &str) -> String {
    if field == "domain" { "NAME".to_owned() } else { format!("--{}", field.replace('_', "-")) }
}

/// A new domain, and what it still lacks.
fn made(registered: &RegisteredDomain, public_address: &str) -> String {
    let RegisteredDomain { domain, secret } = registered;
    let Domain { id, name, verification_token, account, webhook_url, event_url, handler, .. } = domain;
    let mut lines = vec![format!("id       {id}"), format!("secret   {}", secret.reveal())];
    let wallets = match handler {
        HandlerKind::Direct => webhook_url.as_str(),
        HandlerKind::Hosted => "answered by signpost",
    };
    lines.push(format!("wallets  {wallets}"));
    lines.push(format!("events   {}", event_url.as_ref().unwrap_or(webhook_url)));
    if account.environment == Environment::Live {
        let token = verification_token.as_str();
        lines.push(format!(
            "proof    {token}\n         (set it as a TXT record at _svc-challenge.{name}, then POST /v1/domains/{id}/verify)"
        ));
    }
    if account.environment == Environment::Live
        && *handler == HandlerKind::Hosted
        && !public_address.starts_with("https:")
    {
        lines.push(
            "next     run the server with an https --public-url; live sessions of this domain need it".to_owned(),
        );
    }
    lines.join("\n")
}

impl Secret {
    async fn run(self, session: &Session, store: &Store) -> Result<()> {
        let id = self.which.find(store).await?;
        if self.rotate {
            let next = WebhookSecret::from_bytes(&random());
            domains::sql::rotate_secret(store, &session.config.login.seal(), &id, &next, Clock::System.now()).await?;
        } else if self.activate && !domains::sql::activate_secret(store, &id, Clock::System.now()).await? {
            bail!("{id} has no next secret; create one with --rotate first");
        }
        secret(session, store, &id).await
    }
}

impl Which {
    /// The domain that is meant, by its id or by a name that only one has.
    pub(super) async fn find(&self, store: &Store) -> Result<DomainId> {
        let Self { domain: text, sandbox, live, account } = self;
        if let Some(id) = DomainId::parse(text) {
            return Ok(id);
        }
        let environment = match (sandbox, live) {
            (true, _) => Some(Environment::Sandbox),
            (_, true) => Some(Environment::Live),
            _ => None,
        };
        let is_meant = |domain: &ListedDomain| {
            domain.domain == *text
                && environment.is_none_or(|environment| environment == domain.environment)
                && account.as_ref().is_none_or(|account| *account == domain.account)
        };
        let mut found: Vec<_> = domains::sql::list_all(store).await?.into_iter().filter(is_meant).collect();
        match (found.pop(), found.len()) {
            (Some(domain), 0) => Ok(domain.id),
            (None, _) => bail!("no domain has the ID or name {text}; 'signpost domains list' shows all"),
            (Some(_), more) => {
                bail!(
                    "{} domains are named {text}: choose one with --sandbox, --live or --account, or use its ID",
                    more + 1
                )
            }
        }
    }
}

impl From<Who> for HandlerKind {
    fn from(who: Who) -> Self {
        match who {
            Who::Direct => Self::Direct,
            Who::Hosted => Self::Hosted,
        }
    }
}

async fn seal(session: &Session, store: &Store) -> Result<()> {
    let seal = session.config.login.seal();
    if !seal.is_enabled() {
        bail!("no encryption key is set: set SIGNPOST_SEAL_KEY, for example to the output of 'openssl rand -hex 32'");
    }
    let sealed = domains::reseal::seal_all(store, &seal, Clock::System.now()).await?;
    session.print(&json!({ "sealed": sealed }), || format!("encrypted the secrets of {sealed} domains"))
}

async fn list(session: &Session, store: &Store) -> Result<()> {
    let domains = domains::sql::list_all(store).await?;
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
    let unknown = || format!("no domain has the ID {id}; 'signpost domains list' shows all");
    // One that is deleted has secrets for its last events.
    domains::sql::find_in_any_account(store, id).await?.with_context(unknown)?;
    let secrets = domains::sql::find_secrets(store, &session.config.login.seal(), id).await?.with_context(unknown)?;
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
