//! Who sends a request: the client's address, as far as trusted proxies report it.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Request};
use axum::http::{Extensions, HeaderMap};

use crate::platform::limits::{Caller, caller};
use crate::platform::shared::Platform;

/// The client's address, as far as the proxies before us are believed.
pub(crate) fn client_address(platform: &Platform, request: &Request) -> Caller {
    peer(platform, request.extensions(), request.headers())
}

pub(crate) fn peer(platform: &Platform, extensions: &Extensions, headers: &HeaderMap) -> Caller {
    // A request that came over no connection is a test's: it is its own neighbour.
    let peer = extensions.get::<ConnectInfo<SocketAddr>>().map_or(SocketAddr::from(([127, 0, 0, 1], 0)), |info| info.0);
    caller(peer, headers, &platform.proxies)
}
