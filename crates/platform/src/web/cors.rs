//! CORS for routes that scripts of every origin may use, without cookies (Fetch standard, 3.2).

use axum::http::StatusCode;
use axum::http::header::{ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_MAX_AGE};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;

use super::ANY_ORIGIN;

/// Methods of these routes.
const ALLOWED_METHODS: &str = "GET, POST";

/// Request headers that clients in a browser send: OAuth and OpenID Connect libraries, and MCP clients, which send
/// `mcp-protocol-version` to discovery too. `dpop` is ignored, but if it were not allowed, clients that send it would
/// fail without a reason.
const ALLOWED_HEADERS: &str = "accept, authorization, content-type, dpop, mcp-protocol-version";

/// Lifetime of the response in a browser's cache, in seconds.
const MAX_AGE_SECS: &str = "600";

/// Adds the response to preflight requests to a route with [`ANY_ORIGIN`] in its other responses.
pub fn with_preflight<S: Clone + Send + Sync + 'static>(address: MethodRouter<S>) -> MethodRouter<S> {
    address.options(async || preflight())
}

fn preflight() -> Response {
    let allowed = [
        (ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS),
        (ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECS),
    ];
    (StatusCode::NO_CONTENT, ANY_ORIGIN, allowed).into_response()
}
