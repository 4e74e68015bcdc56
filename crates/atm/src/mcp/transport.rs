//! `/mcp` and `/sse`: the transports of signpost-mcp with the tools, limits and origins of this server.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::request::Parts;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use signpost_mcp::{Bucket, Hosts, Http, OpenPage, Origins, Permit, RateLimiter, RetryAfter, SessionLimits, Sessions};
use signpost_platform::limits::{CallerSlots, Limit, is_in_progress_limit_exceeded, release_request_slot};
use signpost_platform::web::peer::peer;
use signpost_store::random;

use super::relay::Streams;
use super::server::server;
use crate::locator::{Deployment, Locator};
use crate::service::AtmService;

/// Maximum open event streams of one client address, of 1024 in all.
const MAX_STREAMS_PER_CLIENT: usize = 64;
/// Retry delay of a client with too many open event streams.
const STREAM_PAUSE: Duration = Duration::from_secs(5);
/// Retry delay of a client with too many requests in progress.
const IN_PROGRESS_PAUSE: Duration = Duration::from_secs(1);
/// The paths of the transports.
pub const PATHS: [&str; 2] = ["/mcp", "/sse"];

pub(crate) fn router(service: &AtmService, page: OpenPage) -> Router<AtmService> {
    let sessions = Sessions::new(SessionLimits::default(), random);
    tokio::spawn(close_at_drain(service.clone(), sessions.clone()));
    let mut http = Http::new(sessions);
    http.origins = service.settings.allowed_origins.clone().and(own_origins(service));
    http.hosts = hosts(service);
    http.page = Some(page);
    http.rate_limiter = Some(Arc::new(McpRateLimiter { service: service.clone(), streams: CallerSlots::default() }));
    if let Some(redis) = &service.redis {
        let streams = Arc::new(Streams::new(redis.clone()));
        tokio::spawn(Arc::clone(&streams).run(service.draining.clone()));
        http.relay = Some(streams);
    }
    let locator = Locator {
        catalogue: service.catalogue.clone(),
        clock: service.clock.clone(),
        deployment: Deployment::Remote,
        public_url: service.public_url.clone(),
    };
    let geocodes = locator.catalogue.geocoder.is_some();
    signpost_mcp::router(server(geocodes, service.settings.card_domain.as_deref()), locator, http).with_state(())
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

struct McpRateLimiter {
    service: AtmService,
    streams: CallerSlots,
}

impl McpRateLimiter {
    async fn admit(&self, bucket: Bucket, request: &Parts) -> Result<Permit, RetryAfter> {
        if is_in_progress_limit_exceeded(&request.extensions) {
            return Err(RetryAfter(IN_PROGRESS_PAUSE));
        }
        let caller = peer(&self.service, &request.extensions, &request.headers);
        let limit = match bucket {
            Bucket::Message => Limit::Mcp,
            Bucket::Stream => Limit::Sse,
        };
        let admitted = self.service.limits.check(limit, &caller, self.service.clock.elapsed()).await;
        admitted.map_err(|exceeded| RetryAfter(exceeded.wait))?;
        match bucket {
            Bucket::Message => Ok(Permit::default()),
            Bucket::Stream => {
                let slot = self.streams.acquire(caller, MAX_STREAMS_PER_CLIENT);
                let slot = slot.ok_or(RetryAfter(STREAM_PAUSE))?;
                release_request_slot(&request.extensions);
                Ok(Permit::with_guard(slot))
            }
        }
    }
}

impl RateLimiter for McpRateLimiter {
    fn admit<'a>(&'a self, bucket: Bucket, request: &'a Parts) -> BoxFuture<'a, Result<Permit, RetryAfter>> {
        self.admit(bucket, request).boxed()
    }
}
