//! Detects proxies that are not trusted. All clients behind such a proxy share their rate limits.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;

use super::log_limiter::LogLimiter;
use crate::clock::Clock;
use crate::limits::{FORWARDING_REQUEST, Proxies};

/// Headers that proxies report the client address in.
const FORWARDING_HEADERS: [&str; 2] = ["x-forwarded-for", "forwarded"];

/// Logs, at most once a minute, the address of a connection that sends a proxy header but is not
/// from a trusted proxy.
#[derive(Debug, Default)]
pub struct UntrustedProxies(LogLimiter<1>);

impl UntrustedProxies {
    /// Checks the headers of a request from `peer`. Returns the address if it was logged.
    pub fn observe(&self, peer: SocketAddr, headers: &HeaderMap, proxies: &Proxies, clock: &Clock) -> Option<IpAddr> {
        let address = untrusted_proxy(peer, headers, proxies)?;
        if !self.0.is_due(0, clock.elapsed()) {
            return None;
        }
        tracing::warn!(
            %address,
            "requests carry a forwarding header, but this address is not in trusted_proxies: its clients share one limit"
        );
        Some(address)
    }
}

/// Returns the address of a connection if its request has a proxy header but is not from a trusted
/// proxy. Ignores requests of the doctor command, which have such headers for a test.
fn untrusted_proxy(peer: SocketAddr, headers: &HeaderMap, proxies: &Proxies) -> Option<IpAddr> {
    let has_proxy_header = FORWARDING_HEADERS.iter().any(|name| headers.contains_key(*name));
    if !has_proxy_header || headers.contains_key(FORWARDING_REQUEST) {
        return None;
    }
    let address = peer.ip().to_canonical();
    (!proxies.trusts(address)).then_some(address)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;
    use crate::limits::ForwardedHeader;

    #[test]
    fn untrusted_proxies_are_detected() {
        let peer = "10.0.0.1:1".parse().unwrap();
        let trusted = Proxies::new(vec!["10.0.0.0/8".parse().unwrap()], ForwardedHeader::XForwardedFor);
        let mut headers = HeaderMap::new();
        assert_eq!(untrusted_proxy(peer, &headers, &Proxies::default()), None);
        headers.insert("x-forwarded-for", HeaderValue::from_static("198.51.100.7"));
        assert_eq!(untrusted_proxy(peer, &headers, &Proxies::default()), Some(peer.ip()));
        assert_eq!(untrusted_proxy(peer, &headers, &trusted), None);
        headers.insert(FORWARDING_REQUEST, HeaderValue::from_static("1"));
        assert_eq!(untrusted_proxy(peer, &headers, &Proxies::default()), None);
    }
}
