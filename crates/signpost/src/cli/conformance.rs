//! The command `signpost conformance`: tests a site's login endpoints.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use clap::Args;
use signpost_auth::WebhookSecret;
use signpost_platform::clock::Clock;
use signpost_platform::outbound::{NameResolver, Outbound};
use tokio::net::TcpListener;
use url::Url;

use crate::cli::Session;
use crate::conformance::{self, KitSettings, Verdict};

/// Default signing secret of the kit.
const SECRET: &str = "whsec_Y29uZm9ybWFuY2Uga2l0LCBub3QgYSBzZWNyZXQhIQ==";

#[derive(Debug, Args)]
pub(super) struct Conformance {
    /// Login page with a QR code
    #[arg(long, value_name = "URL")]
    start: Url,
    /// Registration page [default: linked from the login page]
    #[arg(long, value_name = "URL")]
    register: Option<Url>,
    /// URL that the login page polls for the result
    #[arg(long, value_name = "URL")]
    poll: Url,
    /// URL that receives events
    #[arg(long, value_name = "URL")]
    events: Url,
    /// Listen address of the kit, which simulates the service; set the site's API URL to
    /// `http://ADDRESS/v1`
    #[arg(long, value_name = "ADDRESS")]
    api_listen: SocketAddr,
    /// Signing secret that the site verifies events with
    #[arg(long, value_name = "WHSEC", default_value = SECRET, value_parser = WebhookSecret::parse)]
    webhook_secret: WebhookSecret,
    /// Also test the events about users, for a site whose domain selects them
    #[arg(long)]
    user_events: bool,
}

impl Conformance {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let Self { start, register, poll, events, api_listen, webhook_secret, user_events } = self;
        let api = TcpListener::bind(api_listen).await;
        let api = api.with_context(|| format!("cannot listen on {api_listen}: choose another --api-listen"))?;
        let settings = KitSettings { start, register, poll, events, api, secret: webhook_secret, user_events };
        let report = conformance::run(settings, Outbound::new(&NameResolver::System), Clock::System).await?;
        session.print(&report.document(), || report.text())?;
        if report.holds() { Ok(()) } else { bail!("{} rules are broken", report.count(Verdict::Broken)) }
    }
}
