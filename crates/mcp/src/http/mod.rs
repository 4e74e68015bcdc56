//! `/mcp` and `/sse`.

mod body;
mod cors;
mod endpoint;
mod events;
mod hosts;
mod initialize;
mod origins;
mod post;
mod rate_limiter;
mod relay;
mod sessions;
mod sse;

use std::sync::Arc;

use axum::Router;
use axum::routing::any;

pub use endpoint::{Http, OpenPage};
pub use hosts::Hosts;
pub use origins::{OriginParseError, Origins};
pub use rate_limiter::{Bucket, OverLimit, Permit, RateLimiter, RetryAfter};
pub use relay::{PostResult, PostToStream, Relay};
pub use sessions::{SessionLimits, Sessions};

use crate::server::Server;
use endpoint::Endpoint;

/// Returns the routes `/mcp` (Streamable HTTP, all revisions, no sessions) and `/sse` (the 2024-11-05 transport), each
/// also with a trailing slash, because users and clients append it to addresses. There is no redirect: many clients do
/// not repeat a `POST` after it.
///
/// Set `TCP_NODELAY` on the listener (`axum::serve::ListenerExt::tap_io`): without it Nagle's algorithm and delayed
/// acknowledgements delay every event on a stream by about 40 ms. Failures are logged and reported with the
/// `x-request-id` header set by an outer layer.
pub fn router<S: Send + Sync + 'static>(server: Server<S>, state: S, http: Http) -> Router {
    let endpoint = Arc::new(Endpoint { server, state, http });
    if let Some(relay) = &endpoint.http.relay {
        let here = Arc::downgrade(&endpoint);
        relay.start(Box::new(move |session, message, request_id| {
            here.upgrade().map_or(PostResult::Unknown, |here| sse::post_to_stream(&here, session, message, request_id))
        }));
    }
    let mut router = Router::new();
    for path in ["/mcp", "/mcp/"] {
        router = router.route(path, any(post::mcp));
    }
    for path in ["/sse", "/sse/"] {
        router = router.route(path, any(sse::sse));
    }
    router.with_state(endpoint)
}
