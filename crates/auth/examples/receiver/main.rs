//! A small web application with wallet logins that implements the complete integrator side of the
//! protocol.
//!
//! ```text
//! cargo run --example receiver -- --listen 127.0.0.1:9000 --api http://127.0.0.1:8080/sandbox/v1 \
//!     --key svc_test_… --domain localhost --webhook-secret whsec_…
//! ```
//!
//! `memory.rs` stores sessions and users, and `routes.rs` and `pages.rs` serve the pages. The
//! library provides the calls of the service and the four endpoints for wallets, pages and events.

mod memory;
mod pages;
mod routes;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::builder::{StringValueParser, TypedValueParser};
use clap::{ArgAction, Parser};
use secrecy::SecretString;
use signpost_auth::client::Signpost;
use signpost_auth::receiver::{EventRules, Paths, PollRules, Receiver, SiteOrigin};
use signpost_auth::{DomainName, WebhookSecret};
use tokio::net::TcpListener;

use crate::memory::Memory;

/// A web application whose users log in with a wallet.
#[derive(Parser)]
struct Arguments {
    /// Address to listen on. Port 0 selects a free port.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9000")]
    listen: String,
    /// The service's API, such as <http://127.0.0.1:8080/sandbox/v1>.
    #[arg(long, value_name = "URL")]
    api: String,
    /// The API key.
    #[arg(long, value_parser = StringValueParser::new().map(SecretString::from))]
    key: SecretString,
    /// The registered domain that users log in to.
    #[arg(long, value_parser = DomainName::parse)]
    domain: DomainName,
    /// The domain's webhook secret.
    #[arg(long, value_name = "WHSEC", value_parser = WebhookSecret::parse)]
    webhook_secret: WebhookSecret,
    /// Origin of this application for browsers and wallets, if it differs from the listen address.
    #[arg(long, value_name = "ORIGIN", value_parser = SiteOrigin::parse)]
    public_url: Option<SiteOrigin>,
    /// Only the browser that displays a code can be logged in with it.
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    bind_poll: bool,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { listen, api, key, domain, webhook_secret, public_url, bind_poll } = Arguments::parse();
    let listener = TcpListener::bind(&listen).await.map_err(|error| format!("cannot listen on {listen}: {error}"))?;
    let origin = match public_url {
        Some(origin) => origin,
        None => SiteOrigin::parse(&format!("http://{}", reachable_origin(listener.local_addr()?, &domain)))?,
    };
    if !origin.is_secure() {
        println!("plain http: for tests on a local network, not for users");
    }
    for (path, what) in routes::PATHS {
        println!("{origin}{path}  {what}");
    }
    let site = Memory::new(Signpost::new(key)?.with_base_url(&api)?, domain, origin.clone());
    let receiver = Receiver {
        site,
        paths: Paths::default(),
        poll: PollRules { origin, bind_poll },
        events: EventRules { secrets: vec![webhook_secret], allowed_sources: Vec::new() },
        clock: now,
    };
    let service = routes::router(Arc::new(receiver)).into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}

/// Returns the origin, with the domain as host if the domain is this machine, because wallets warn
/// about other hosts.
fn reachable_origin(listen: SocketAddr, domain: &DomainName) -> String {
    let is_local = listen.ip().is_loopback() && domain.as_str() == "localhost";
    if is_local { format!("localhost:{}", listen.port()) } else { listen.to_string() }
}

#[expect(clippy::disallowed_methods, reason = "this is the edge: the library takes the time from here")]
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
