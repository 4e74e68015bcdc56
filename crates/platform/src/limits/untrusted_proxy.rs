//! Notices proxies that are not trusted: all clients behind such a proxy are counted as one.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;

use super::Proxies;
use crate::clock::Clock;

/// Minimum interval between two log lines.
const LOG_INTERVAL: Duration = Duration::from_mins(1);
/// Headers in which proxies name the client.
const FORWARDING_HEADERS: [&str; 2] = ["x-forwarded-for", "forwarded"];

/// Logs, at most once a minute, the address of a connection that names other clients and is not a trusted proxy.
#[derive(Debug, Default)]
pub struct UntrustedProxies(Mutex<Option<Duration>>);

impl UntrustedProxies {
    /// Checks a request that came over a connection from `peer`.
    pub fn observe(&self, peer: SocketAddr, headers: &HeaderMap, proxies: &Proxies, clock: &Clock) {
        if let Some(address) = untrusted_proxy(peer, headers, proxies)
            && self.is_due(clock.elapsed())
        {
            tracing::warn!(
                %address,
                "requests carry a forwarding header, but this address is not in trusted_proxies: all its clients count as one"
            );
        }
    }

    fn is_due(&self, now: Duration) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.is_none_or(|last| now.saturating_sub(last) >= LOG_INTERVAL);
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

/// Returns the address of the connection if its request names another client and the address is not trusted to do so.
fn untrusted_proxy(peer: SocketAddr, headers: &HeaderMap, proxies: &Proxies) -> Option<IpAddr> {
    let names_client = FORWARDING_HEADERS.iter().any(|name| headers.contains_key(*name));
    if !names_client {
        return None;
    }
    let address = peer.ip().to_canonical();
    (!proxies.trust(address)).then_some(address)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::super::ForwardedHeader;
    use super::*;

    #[test]
    fn only_an_untrusted_address_that_names_clients_is_one() {
        let peer = "10.0.0.1:1".parse().unwrap();
        let trusted = Proxies::new(vec!["10.0.0.0/8".parse().unwrap()], ForwardedHeader::XForwardedFor);
        let mut headers = HeaderMap::new();
        assert_eq!(untrusted_proxy(peer, &headers, &Proxies::default()), None);
        headers.insert("x-forwarded-for", HeaderValue::from_static("198.51.100.7"));
        assert_eq!(untrusted_proxy(peer, &headers, &Proxies::default()), Some(peer.ip()));
        assert_eq!(untrusted_proxy(peer, &headers, &trusted), None);
    }

    #[test]
    fn it_is_logged_once_a_minute() {
        let seen = UntrustedProxies::default();
        let due = [0, 1, 59, 60, 61, 120].map(|second| seen.is_due(Duration::from_secs(second)));
        assert_eq!(due, [true, false, false, true, false, true]);
    }
}
