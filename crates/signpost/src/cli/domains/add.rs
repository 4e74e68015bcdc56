//! The command `signpost domains add`: registers or changes a domain.

use anyhow::Result;
use clap::Args;
use signpost_auth::WebhookSecret;
use signpost_login::api::domains::{CreatedDomain, DomainView};
use signpost_login::domains::{
    self, Domain, DomainEntropy, DomainPatch, HandlerKind, NewDomain, RegisterDomainError, RegisteredDomain, register,
};
use signpost_platform::accounts::audit::Actor;
use signpost_platform::accounts::{Account, Environment};
use signpost_platform::clock::Clock;

use super::HandlerArg;
use super::change::change_domain;
use super::events::{EventsArg, parse_events};
use crate::cli::api::RegisteredByApi;
use crate::cli::backend::Backend;
use crate::cli::keys::account_name;
use crate::cli::{Session, Usage};
use crate::deployment::{public_address, sealed};

/// Default of `--account`.
const DEFAULT_ACCOUNT: &str = "default";

#[derive(Debug, Args)]
pub(in crate::cli) struct Add {
    /// Host name, such as shop.example; in the sandbox also localhost
    name: String,
    /// Register it in the sandbox instead of live
    #[arg(long)]
    sandbox: bool,
    /// Handler that answers wallets: direct (your server) or hosted (Signpost) [default: direct]
    #[arg(long, value_enum)]
    handler: Option<HandlerArg>,
    /// URL that receives events [default: the webhook URL]
    #[arg(long, value_name = "URL")]
    event_url: Option<String>,
    /// URL that wallets post to [default: `https://NAME/webhooks/login`, for localhost
    /// `http://localhost:9000/webhooks/login`]
    #[arg(long, value_name = "URL")]
    webhook_url: Option<String>,
    #[expect(clippy::doc_markdown, reason = "the text of the help, which is not Markdown")]
    /// Kinds of events to send, separated by commas: login, register, link, user.updated, user.deleted,
    /// credential.added, credential.removed, user.signed_out; or all, none or default
    #[arg(long, value_name = "LIST", value_parser = parse_events)]
    events: Option<EventsArg>,
    /// Account
    #[arg(long, default_value = DEFAULT_ACCOUNT)]
    account: String,
}

impl Add {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let account = self.account(session)?;
        let egress = session.webhook_egress(account.environment);
        let now = Clock::System.now();
        let registered = register(&self.new_domain(), account, egress, now, DomainEntropy::draw());
        let mut registered = registered.map_err(|(field, reason)| Usage(format!("{}: {reason}", flag(field))))?;
        let backend = session.backend()?;
        let address = match &backend {
            Backend::Database(store) => {
                let seal = session.config.login.seal();
                sealed::admit_command(store, &session.config, now).await?;
                match domains::sql::insert(store, &seal, &registered, &Actor::Operator).await {
                    Ok(()) => {}
                    Err(RegisterDomainError::Exists(existing)) => {
                        return self.change(session, &backend, &registered.domain, *existing).await;
                    }
                    Err(error) => return Err(error.into()),
                }
                public_address::find(store).await?.unwrap_or_default()
            }
            Backend::Api(api) => {
                match api.register_domain(&self.new_domain()).await? {
                    RegisteredByApi::New(domain, secret) => {
                        registered = RegisteredDomain { domain: *domain, secret: WebhookSecret::parse(&secret)? };
                    }
                    RegisteredByApi::Existing(existing) => {
                        return self.change(session, &backend, &registered.domain, *existing).await;
                    }
                }
                api.origin()
            }
        };
        session.print(&CreatedDomain::new(&registered), || describe_new(&registered, &address))
    }

    /// Returns the account of the domain: that of the flags, or that of the API key.
    fn account(&self, session: &Session) -> Result<Account> {
        let Some(api) = &session.api else {
            let environment = if self.sandbox { Environment::Sandbox } else { Environment::Live };
            return Ok(Account { name: account_name(&self.account)?, environment });
        };
        let account = api.account();
        let Account { name, environment } = account;
        let is_other = self.account != DEFAULT_ACCOUNT && self.account != *name;
        if is_other || self.sandbox && *environment == Environment::Live {
            let reason = format!("the API key registers domains of the account {name} in the {environment} only");
            return Err(Usage(reason).into());
        }
        Ok(account.clone())
    }

    /// Returns the domain to register, with defaults for omitted values.
    fn new_domain(&self) -> NewDomain {
        NewDomain {
            domain: self.name.clone(),
            webhook_url: self.webhook_url.clone().unwrap_or_else(|| NewDomain::default_webhook_url(&self.name)),
            event_url: self.event_url.clone(),
            handler: self.handler.map(HandlerKind::from).unwrap_or_default(),
            events: self.events.as_ref().and_then(|EventsArg(events)| events.clone()),
        }
    }

    /// Sets only the given settings on a registered domain, and prints it.
    async fn change(
        &self,
        session: &Session,
        backend: &Backend,
        new_domain: &Domain,
        mut domain: Domain,
    ) -> Result<()> {
        let change = DomainPatch {
            webhook_url: self.webhook_url.as_ref().map(|_| new_domain.webhook_url.clone()),
            event_url: self.event_url.as_ref().map(|_| new_domain.event_url.clone()),
            handler: self.handler.map(|_| new_domain.handler),
            events: self.events.as_ref().map(|EventsArg(events)| events.clone()),
            ..DomainPatch::default()
        };
        let mut outcome = "already registered; nothing changed";
        if !change.is_applied_to(&domain) {
            domain = change_domain(backend, &domain, &change).await?;
            outcome = "changed";
        }
        session.print(&DomainView::new(&domain), || {
            let id = &domain.id;
            format!("id       {id}\n{outcome}. Show its secret with 'signpost domains secret {id}'.")
        })
    }
}

/// Returns the flag or the argument that sets a field.
fn flag(field: &str) -> String {
    if field == "domain" { "NAME".to_owned() } else { format!("--{}", field.replace('_', "-")) }
}

/// Describes a new domain, and the next steps.
fn describe_new(registered: &RegisteredDomain, public_address: &str) -> String {
    let RegisteredDomain { domain, secret } = registered;
    let Domain { id, name, verification_token, account, webhook_url, event_url, handler, .. } = domain;
    let is_live = account.environment == Environment::Live;
    let mut lines = vec![format!("id       {id}"), format!("secret   {}", secret.reveal())];
    let wallets = match handler {
        HandlerKind::Direct => webhook_url.as_str(),
        HandlerKind::Hosted => "post to Signpost (handler hosted)",
    };
    lines.push(format!("wallets  {wallets}"));
    lines.push(format!("events   {}", event_url.as_ref().unwrap_or(webhook_url)));
    if is_live {
        let token = verification_token.as_str();
        lines.push(format!(
            "proof    {token}\n         (set it as a TXT record at _svc-challenge.{name}, then run 'signpost domains verify {id}')"
        ));
    }
    if is_live && *handler == HandlerKind::Hosted && !public_address.starts_with("https:") {
        lines.push(
            "next     run the server with an https --public-url; live sessions of this domain need it".to_owned(),
        );
    }
    lines.join("\n")
}
