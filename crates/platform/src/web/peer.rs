//! Determines the client address of a request, taking trusted proxies into account.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request};
use axum::http::{Extensions, HeaderMap};

use crate::limits::{Caller, ForwardingResult, check_forwarding, find_caller};
use crate::shared::Platform;

/// Returns the client address of a request.
#[must_use]
pub fn client_address(platform: &Platform, request: &Request) -> Caller {
    peer(platform, request.extensions(), request.headers())
}

/// Returns the client address of a request with these extensions and headers.
#[must_use]
pub fn peer(platform: &Platform, extensions: &Extensions, headers: &HeaderMap) -> Caller {
    find_caller(connection(extensions), headers, &platform.proxies)
}

/// Returns `true` if a request comes from a proxy that is trusted to report the original host.
#[must_use]
pub fn is_from_proxy(platform: &Platform, extensions: &Extensions) -> bool {
    platform.proxies.trusts_connection(connection(extensions), platform.listen)
}

/// Determines the caller that is counted for a request of the doctor command; see
/// [`check_forwarding`].
#[must_use]
pub fn forwarding_result(platform: &Platform, extensions: &Extensions, headers: &HeaderMap) -> ForwardingResult {
    check_forwarding(connection(extensions), headers, &platform.proxies)
}

fn connection(extensions: &Extensions) -> SocketAddr {
    // Only requests in tests have no connection.
    extensions.get::<ConnectInfo<SocketAddr>>().map_or(SocketAddr::from(([127, 0, 0, 1], 0)), |info| info.0)
}
