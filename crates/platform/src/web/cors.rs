//! CORS for routes that scripts of any origin may call without cookies (Fetch standard, section
//! 3.2).

use axum::http::StatusCode;
use axum::http::header::{ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_MAX_AGE};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;

use super::ANY_ORIGIN;

/// The methods that scripts of other origins may use.
const ALLOWED_METHODS: &str = "GET, POST";

/// The request headers that scripts of other origins may send. OAuth, OpenID Connect and MCP
/// clients send them, and MCP clients send `mcp-protocol-version` to discovery endpoints too.
/// `dpop` is ignored, but clients that send it would fail for no apparent reason if it were not
/// allowed.
const ALLOWED_HEADERS: &str = "accept, authorization, content-type, dpop, mcp-protocol-version";

/// How long browsers cache the preflight response, in seconds.
const MAX_AGE_SECS: &str = "600";

/// Adds a response to preflight requests. The other responses of the route must contain
/// [`ANY_ORIGIN`].
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
