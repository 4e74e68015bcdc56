//! Detects proxies that do not report client addresses. The doctor command sends a request with a
//! reserved address in the proxy headers, and the server responds with the kind of caller that it
//! counted.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::http::{HeaderMap, HeaderName};

use super::{ForwardedHeader, Proxies};

/// The address that the doctor sends in the proxy headers. It is reserved for documentation (RFC
/// 5737), so no real client has it.
pub const PROBE_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 77));

/// Request header that asks the server for a [`ForwardingResult`].
pub const FORWARDING_REQUEST: HeaderName = HeaderName::from_static("signpost-doctor");
/// Response header that contains the name of a [`ForwardingResult`].
pub const FORWARDING_RESPONSE: HeaderName = HeaderName::from_static("signpost-client");

/// Headers that are set by proxies only.
const PROXY_HEADERS: [&str; 5] = ["via", "x-real-ip", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port"];

/// The caller that the server counts for a request with [`PROBE_ADDRESS`]. It contains no address
/// and no network; a client could find out as much by sending many requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardingResult {
    /// The address of the connection, without any sign of a proxy.
    Direct,
    /// The address of an untrusted proxy, whose clients therefore share their limits.
    UntrustedProxy,
    /// The address of a trusted proxy that reports no client address.
    MissingAddress,
    /// The client address that a trusted proxy reported.
    ForwardedAddress,
    /// The address that the client claimed to have.
    ClaimedAddress,
    /// A trusted address: the client has a trusted address, or a trusted proxy forwards the headers
    /// of its clients.
    TrustedAddress,
}

impl ForwardingResult {
    const ALL: [Self; 6] = [
        Self::Direct,
        Self::UntrustedProxy,
        Self::MissingAddress,
        Self::ForwardedAddress,
        Self::ClaimedAddress,
        Self::TrustedAddress,
    ];

    /// Returns the name in the response header.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::UntrustedProxy => "unread",
            Self::MissingAddress => "unnamed",
            Self::ForwardedAddress => "named",
            Self::ClaimedAddress => "claimed",
            Self::TrustedAddress => "trusted",
        }
    }

    /// Parses the name in the response header.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|result| result.as_str() == word)
    }
}

/// Determines the caller that is counted for a request with [`PROBE_ADDRESS`] in both proxy
/// headers.
#[must_use]
pub fn check_forwarding(peer: SocketAddr, headers: &HeaderMap, proxies: &Proxies) -> ForwardingResult {
    if !proxies.trusts(peer.ip().to_canonical()) {
        let both = [ForwardedHeader::XForwardedFor, ForwardedHeader::Forwarded];
        let is_as_written = both.iter().flat_map(|one| one.hops(headers)).all(|hop| hop == Some(PROBE_ADDRESS));
        let has_sign = PROXY_HEADERS.iter().any(|name| headers.contains_key(*name));
        return if is_as_written && !has_sign { ForwardingResult::Direct } else { ForwardingResult::UntrustedProxy };
    }
    let mut is_first = true;
    for hop in proxies.header().hops(headers).into_iter().rev() {
        match hop {
            Some(PROBE_ADDRESS) if is_first => return ForwardingResult::ClaimedAddress,
            Some(PROBE_ADDRESS) => return ForwardingResult::TrustedAddress,
            Some(address) if proxies.trusts(address) => is_first = false,
            Some(_) => return ForwardingResult::ForwardedAddress,
            None => break,
        }
    }
    if is_first { ForwardingResult::MissingAddress } else { ForwardingResult::TrustedAddress }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarding_result(
        peer: &str,
        trusted: &str,
        header: ForwardedHeader,
        headers: &[(&'static str, &'static str)],
    ) -> &'static str {
        let networks = trusted.split_whitespace().map(|network| network.parse().unwrap()).collect();
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let peer = SocketAddr::new(peer.parse().unwrap(), 1);
        check_forwarding(peer, &headers.collect(), &Proxies::new(networks, header)).as_str()
    }

    /// The peer, the trusted networks, the proxy headers, and the expected name of the result.
    type ForwardingRow = (&'static str, &'static str, &'static [(&'static str, &'static str)], &'static str);

    #[test]
    fn each_kind_of_proxy_is_detected() {
        const FOR: &str = "x-forwarded-for";
        const FORWARDED: (&str, &str) = ("forwarded", "for=192.0.2.77");
        let own = "10.0.0.0/8";
        let table: [ForwardingRow; 13] = [
            // No proxy.
            ("203.0.113.9", "", &[(FOR, "192.0.2.77"), FORWARDED], "direct"),
            ("203.0.113.9", own, &[(FOR, "192.0.2.77"), FORWARDED], "direct"),
            // A proxy that is not trusted.
            ("10.0.0.1", "", &[(FOR, "192.0.2.77, 203.0.113.9"), FORWARDED], "unread"),
            ("10.0.0.1", "", &[(FOR, "203.0.113.9"), FORWARDED], "unread"),
            ("10.0.0.1", "", &[(FOR, "192.0.2.77"), FORWARDED, ("via", "1.1 proxy")], "unread"),
            // A trusted proxy that reports the client address.
            ("10.0.0.1", own, &[(FOR, "192.0.2.77, 203.0.113.9"), FORWARDED], "named"),
            ("10.0.0.1", own, &[(FOR, "192.0.2.77, 203.0.113.9, 10.0.0.2"), FORWARDED], "named"),
            ("10.0.0.1", own, &[(FOR, "203.0.113.9"), FORWARDED], "named"),
            // A proxy that forwards the headers of clients, or sets the other header.
            ("10.0.0.1", own, &[(FOR, "192.0.2.77"), FORWARDED], "claimed"),
            ("10.0.0.1", "0.0.0.0/0", &[(FOR, "192.0.2.77, 203.0.113.9"), FORWARDED], "trusted"),
            // A proxy that reports no address.
            ("10.0.0.1", own, &[FORWARDED], "unnamed"),
            ("10.0.0.1", own, &[(FOR, "192.0.2.77, unknown")], "unnamed"),
            // A client with a trusted address.
            ("10.0.0.1", own, &[(FOR, "192.0.2.77, 10.0.0.7")], "trusted"),
        ];
        for (peer, trusted, headers, expected) in table {
            assert_eq!(
                forwarding_result(peer, trusted, ForwardedHeader::XForwardedFor, headers),
                expected,
                "{peer} {trusted} {headers:?}"
            );
        }
        let appended = ("forwarded", "for=192.0.2.77, for=203.0.113.9");
        for (headers, expected) in
            [([(FOR, "192.0.2.77"), appended], "named"), ([(FOR, "203.0.113.9"), FORWARDED], "claimed")]
        {
            assert_eq!(forwarding_result("10.0.0.1", own, ForwardedHeader::Forwarded, &headers), expected);
        }
    }

    #[test]
    fn every_name_is_parsed() {
        for seen in ForwardingResult::ALL {
            assert_eq!(ForwardingResult::parse(seen.as_str()), Some(seen));
        }
        assert_eq!(ForwardingResult::parse("10.0.0.1"), None);
    }
}
