//! `/mcp` and `/sse`: the transports of signpost-mcp with the tools, limits and origins of this server.

use std::sync::Arc;

use axum::Router;
use signpost_mcp::{Hosts, Http, OpenPage, Origins, SessionLimits, Sessions};
use signpost_store::random;

use super::rate_limiter::McpRateLimiter;
use super::relay::Streams;
use super::server::server;
use crate::locator::{Deployment, Locator};
use crate::service::AtmService;

/// The paths of the transports.
pub const PATHS: [&str; 4] = ["/mcp", "/sse", "/mcp/", "/sse/"];

pub(crate) fn router(service: &AtmService, page: OpenPage) -> Router<AtmService> {
    let sessions = Sessions::new(SessionLimits::default(), random);
    tokio::spawn(close_at_drain(service.clone(), sessions.clone()));
    let mut http = Http::new(sessions);
    http.origins = service.settings.allowed_origins.clone().and(own_origins(service));
    http.hosts = hosts(service);
    http.page = Some(page);
    http.rate_limiter = Some(Arc::new(McpRateLimiter::new(service.clone())));
    if let Some(redis) = &service.redis {
        let streams = Arc::new(Streams::new(redis.clone()));
        tokio::spawn(Arc::clone(&streams).run(service.draining.clone()));
        http.relay = Some(streams);
    }
    let locator = Locator {
        catalogue: service.catalogue.clone(),
        clock: service.clock.clone(),
        deployment: Deployment::Remote,
        pages: pages_address(service),
        store: Some(service.store.clone()),
    };
    let geocodes = locator.catalogue.geocoder.is_some();
    signpost_mcp::router(server(geocodes, service.settings.card_domain.as_deref()), locator, http).with_state(())
}

/// Returns the address of the pages. `None` if the server listens on all addresses without a public URL: then it knows
/// no address that a browser can open.
fn pages_address(service: &AtmService) -> Option<String> {
    let has_no_address = service.public_url.is_none() && service.listen.ip().is_unspecified();
    (!has_no_address).then(|| service.public_address.clone())
}

/// Closes the streams when the server drains. They do not end by themselves, and a stop waits for them.
async fn close_at_drain(service: AtmService, sessions: Sessions) {
    service.draining.cancelled().await;
    sessions.close();
}

/// Returns the origins of this server's own pages. They may always call it.
fn own_origins(service: &AtmService) -> Origins {
    let port = service.listen.port();
    let mut own: Vec<String> = service.public_url.iter().map(|url| url.origin().ascii_serialization()).collect();
    if service.listen.ip().is_loopback() {
        own.extend(["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}")));
    }
    Origins::parse(own.iter().map(String::as_str)).unwrap_or_default()
}

/// Returns the accepted host names. A web page can point its own name at loopback, so a loopback server accepts only
/// loopback names.
fn hosts(service: &AtmService) -> Hosts {
    if !service.listen.ip().is_loopback() {
        return Hosts::Any;
    }
    let public = service.public_url.as_ref().and_then(|url| url.host_str());
    Hosts::Loopback { also: public.map(str::to_owned).into_iter().collect() }
}
