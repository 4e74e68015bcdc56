//! The command `signpost domains set`: changes the settings of a domain.

use anyhow::Result;
use clap::Args;
use signpost_login::api::domains::DomainView;
use signpost_login::domains::{DisplayName, DomainPatch, HandlerKind, LoginMethods, Registration, parse_webhook_url};
use signpost_platform::outbound::EgressPolicy;
use url::Url;

use super::change::change_domain;
use super::events::{EventsArg, parse_events};
use super::{DomainSelector, HandlerArg, description};
use crate::cli::backend::Backend;
use crate::cli::{Session, Usage};

#[derive(Debug, Args)]
pub(in crate::cli) struct SetDomain {
    #[command(flatten)]
    selector: DomainSelector,
    /// URL that wallets post to
    #[arg(long, value_name = "URL")]
    webhook_url: Option<String>,
    /// URL that receives events
    #[arg(long, value_name = "URL", conflicts_with = "no_event_url")]
    event_url: Option<String>,
    /// Send events to the webhook URL
    #[arg(long)]
    no_event_url: bool,
    /// Handler that answers wallets: direct (your server) or hosted (Signpost)
    #[arg(long, value_enum)]
    handler: Option<HandlerArg>,
    /// Login methods, separated by commas: scan, browser, lightning, passkey
    #[arg(long, value_name = "LIST")]
    methods: Option<LoginMethods>,
    /// Registration of new users: open, or closed (only if the site requests it)
    #[arg(long, value_name = "RULE", value_parser = ["open", "closed"])]
    registration: Option<String>,
    /// Display name, shown with the domain, up to 60 characters
    #[arg(long, value_name = "NAME", conflicts_with = "no_display_name")]
    display_name: Option<String>,
    /// Remove the display name
    #[arg(long)]
    no_display_name: bool,
    #[expect(clippy::doc_markdown, reason = "the text of the help, which is not Markdown")]
    /// Kinds of events to send, separated by commas: login, register, link, user.updated, user.deleted,
    /// credential.added, credential.removed, user.signed_out; or all, none or default
    #[arg(long, value_name = "LIST", value_parser = parse_events)]
    events: Option<EventsArg>,
}

impl SetDomain {
    pub(super) async fn run(self, session: &Session, backend: &Backend) -> Result<()> {
        let mut domain = self.selector.find_registered(backend).await?;
        let change = self.change(session.webhook_egress(domain.account.environment))?;
        if !change.is_applied_to(&domain) {
            domain = change_domain(backend, &domain, &change).await?;
        }
        session.print(&DomainView::new(&domain), || description(&domain))
    }

    /// Returns the given settings, checked like `PATCH /domains/{id}`.
    fn change(self, egress: EgressPolicy) -> Result<DomainPatch> {
        let display_name = self.display_name.map(|text| DisplayName::parse(&text)).transpose();
        let display_name = display_name.map_err(|reason| Usage(format!("--display-name: {reason}")))?;
        let event_url = parse_url("--event-url", self.event_url.as_deref(), egress);
        let change = DomainPatch {
            webhook_url: parse_url("--webhook-url", self.webhook_url.as_deref(), egress)?,
            event_url: event_url?.map(Some).or(self.no_event_url.then_some(None)),
            handler: self.handler.map(HandlerKind::from),
            methods: self.methods,
            registration: self.registration.as_deref().and_then(Registration::parse),
            display_name: display_name.map(Some).or(self.no_display_name.then_some(None)),
            events: self.events.map(|EventsArg(events)| events),
        };
        if change.is_empty() {
            return Err(Usage("name at least one setting to change; 'domains set --help' lists them".to_owned()).into());
        }
        Ok(change)
    }
}

fn parse_url(flag: &str, text: Option<&str>, egress: EgressPolicy) -> Result<Option<Url>> {
    let Some(text) = text else { return Ok(None) };
    Ok(Some(parse_webhook_url(text, egress).map_err(|reason| Usage(format!("{flag}: {reason}")))?))
}
