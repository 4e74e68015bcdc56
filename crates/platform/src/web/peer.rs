//! The client address of a request, as trusted proxies report it.

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

/// Returns true if a request is from a proxy that may report the host of the request.
#[must_use]
pub fn is_from_proxy(platform: &Platform, extensions: &Extensions) -> bool {
    platform.proxies.trust_connection(connection(extensions), platform.listen)
}

/// Determines how a request of the doctor is counted, see [`check_forwarding`].
#[must_use]
pub fn forwarding_result(platform: &Platform, extensions: &Extensions, headers: &HeaderMap) -> ForwardingResult {
    check_forwarding(connection(extensions), headers, &platform.proxies)
}

fn connection(extensions: &Extensions) -> SocketAddr {
    // Only requests of tests have no connection.
    extensions.get::<ConnectInfo<SocketAddr>>().map_or(SocketAddr::from(([127, 0, 0, 1], 0)), |info| info.0)
}
