//! `signpost mcp`

use std::sync::Arc;

use anyhow::Result;
use signpost_atm::catalogue::watch;
use signpost_atm::locator::{Deployment, Locator};
use signpost_atm::mcp;
use signpost_platform::clock::Clock;
use signpost_platform::observe::telemetry;
use tokio::io::{BufReader, stdin, stdout};
use tokio_util::sync::CancellationToken;

use super::Session;

/// Serves until standard input ends. Standard output holds messages and nothing else.
pub(super) async fn run(session: &Session) -> Result<()> {
    let config = &session.config;
    let telemetry = telemetry::start(config.log, config.log_format, config.otlp_endpoint.as_ref())?;
    let (store, clock) = (session.store()?, Clock::System);
    let catalogue = Arc::new(session.catalogue(&store, &clock).await?);
    let server = mcp::server(catalogue.geocoder.is_some());
    let locator = Locator { catalogue: Arc::clone(&catalogue), clock, deployment: Deployment::Local };
    let never = CancellationToken::new();
    let done = tokio::select! {
        done = signpost_mcp::serve_stdio(&server, &locator, BufReader::new(stdin()), stdout()) => Ok(done?),
        () = watch(&store, &catalogue, &never) => Ok(()),
    };
    telemetry.end().await;
    done
}
