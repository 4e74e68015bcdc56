//! Who sends a request: the client's address, as far as trusted proxies report it.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request};
use axum::http::{Extensions, HeaderMap};

use crate::limits::{Caller, ForwardingSeen, find_caller, judge_forwarding};
use crate::shared::Platform;

/// The caller behind a request, by the client's address.
#[must_use]
pub fn client_address(platform: &Platform, request: &Request) -> Caller {
    peer(platform, request.extensions(), request.headers())
}

/// The same of the parts of a request.
#[must_use]
pub fn peer(platform: &Platform, extensions: &Extensions, headers: &HeaderMap) -> Caller {
    find_caller(connection(extensions), headers, &platform.proxies)
}

/// Whether a request came by a proxy that may say for which of its hosts it is.
#[must_use]
pub fn is_from_proxy(platform: &Platform, extensions: &Extensions) -> bool {
    platform.proxies.trust_connection(connection(extensions), platform.listen)
}

/// How a request is counted that carries an address which nobody has.
#[must_use]
pub fn see_forwarding(platform: &Platform, extensions: &Extensions, headers: &HeaderMap) -> ForwardingSeen {
    judge_forwarding(connection(extensions), headers, &platform.proxies)
}

fn connection(extensions: &Extensions) -> SocketAddr {
    // A request that came over no connection is a test's: it is its own neighbour.
    extensions.get::<ConnectInfo<SocketAddr>>().map_or(SocketAddr::from(([127, 0, 0, 1], 0)), |info| info.0)
}
