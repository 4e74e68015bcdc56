//! Whether a proxy in front of the server tells it who asks: what a server says of a request that carries an address which
//! nobody has.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::http::{HeaderMap, HeaderName};

use super::{ForwardedHeader, Proxies};

/// The address that who asks writes into the headers of proxies. It is reserved for documentation (RFC 5737), so nobody's
/// requests are counted for it.
pub const CLAIMED_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 77));

/// With this header a client asks how its request is counted.
pub const ASK_CLIENT: HeaderName = HeaderName::from_static("signpost-doctor");
/// In this one it is told, by a word of [`ForwardingSeen`].
pub const TOLD_CLIENT: HeaderName = HeaderName::from_static("signpost-client");

/// What only proxies write.
const SIGNS_OF_PROXIES: [&str; 5] = ["via", "x-real-ip", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port"];

/// For whom a request is counted that claims to come from [`CLAIMED_ADDRESS`]. It names no address and no network: whoever
/// asks learns how their own request is counted, which they could find out by asking often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardingSeen {
    /// For the connection; there is no sign of a proxy.
    Direct,
    /// For the connection, although a proxy stands there: the proxy is not trusted, and all its clients are one.
    Unread,
    /// For a trusted proxy, which names nobody.
    Unnamed,
    /// For a client that a trusted proxy names.
    Named,
    /// For the address that the client wrote.
    Claimed,
    /// Who asked stands at a trusted address, or a proxy passes on what clients write.
    Trusted,
}

impl ForwardingSeen {
    const ALL: [Self; 6] = [Self::Direct, Self::Unread, Self::Unnamed, Self::Named, Self::Claimed, Self::Trusted];

    /// The word for it in a header.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Unread => "unread",
            Self::Unnamed => "unnamed",
            Self::Named => "named",
            Self::Claimed => "claimed",
            Self::Trusted => "trusted",
        }
    }

    /// What a word stands for.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|seen| seen.as_str() == word)
    }
}

/// For whom a request is counted that carries [`CLAIMED_ADDRESS`] in both headers of proxies.
#[must_use]
pub fn judge_forwarding(peer: SocketAddr, headers: &HeaderMap, proxies: &Proxies) -> ForwardingSeen {
    if !proxies.trust(peer.ip().to_canonical()) {
        let both = [ForwardedHeader::XForwardedFor, ForwardedHeader::Forwarded];
        let is_as_written = both.iter().flat_map(|one| one.hops(headers)).all(|hop| hop == Some(CLAIMED_ADDRESS));
        let has_sign = SIGNS_OF_PROXIES.iter().any(|name| headers.contains_key(*name));
        return if is_as_written && !has_sign { ForwardingSeen::Direct } else { ForwardingSeen::Unread };
    }
    let mut is_first = true;
    for hop in proxies.hops(headers).into_iter().rev() {
        match hop {
            Some(CLAIMED_ADDRESS) if is_first => return ForwardingSeen::Claimed,
            Some(CLAIMED_ADDRESS) => return ForwardingSeen::Trusted,
            Some(address) if proxies.trust(address) => is_first = false,
            Some(_) => return ForwardingSeen::Named,
            None => break,
        }
    }
    if is_first { ForwardingSeen::Unnamed } else { ForwardingSeen::Trusted }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(
        peer: &str,
        trusted: &str,
        header: ForwardedHeader,
        headers: &[(&'static str, &'static str)],
    ) -> &'static str {
        let networks = trusted.split_whitespace().map(|network| network.parse().unwrap()).collect();
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let peer = SocketAddr::new(peer.parse().unwrap(), 1);
        judge_forwarding(peer, &headers.collect(), &Proxies::new(networks, header)).as_str()
    }

    /// Who connects, who is trusted, what comes in the headers, and the word for it.
    type ForwardingRow = (&'static str, &'static str, &'static [(&'static str, &'static str)], &'static str);

    #[test]
    fn what_a_proxy_makes_of_an_address_that_a_client_wrote_is_told() {
        const FOR: &str = "x-forwarded-for";
        const FORWARDED: (&str, &str) = ("forwarded", "for=192.0.2.77");
        let own = "10.0.0.0/8";
        let table: [ForwardingRow; 13] = [
            // Nobody stands between.
            ("203.0.113.9", "", &[(FOR, "192.0.2.77"), FORWARDED], "direct"),
            ("203.0.113.9", own, &[(FOR, "192.0.2.77"), FORWARDED], "direct"),
            // A proxy that nobody trusts.
            ("10.0.0.1", "", &[(FOR, "192.0.2.77, 203.0.113.9"), FORWARDED], "unread"),
            ("10.0.0.1", "", &[(FOR, "203.0.113.9"), FORWARDED], "unread"),
            ("10.0.0.1", "", &[(FOR, "192.0.2.77"), FORWARDED, ("via", "1.1 proxy")], "unread"),
            // One that is trusted, and says who asked.
            ("10.0.0.1", own, &[(FOR, "192.0.2.77, 203.0.113.9"), FORWARDED], "named"),
            ("10.0.0.1", own, &[(FOR, "192.0.2.77, 203.0.113.9, 10.0.0.2"), FORWARDED], "named"),
            ("10.0.0.1", own, &[(FOR, "203.0.113.9"), FORWARDED], "named"),
            // One that passes on what clients write, or writes the other header.
            ("10.0.0.1", own, &[(FOR, "192.0.2.77"), FORWARDED], "claimed"),
            ("10.0.0.1", "0.0.0.0/0", &[(FOR, "192.0.2.77, 203.0.113.9"), FORWARDED], "trusted"),
            // One that says nothing, or something else.
            ("10.0.0.1", own, &[FORWARDED], "unnamed"),
            ("10.0.0.1", own, &[(FOR, "192.0.2.77, unknown")], "unnamed"),
            // Who asked is one of those that are trusted.
            ("10.0.0.1", own, &[(FOR, "192.0.2.77, 10.0.0.7")], "trusted"),
        ];
        for (peer, trusted, headers, expected) in table {
            assert_eq!(
                seen(peer, trusted, ForwardedHeader::XForwardedFor, headers),
                expected,
                "{peer} {trusted} {headers:?}"
            );
        }
        let appended = ("forwarded", "for=192.0.2.77, for=203.0.113.9");
        for (headers, expected) in
            [([(FOR, "192.0.2.77"), appended], "named"), ([(FOR, "203.0.113.9"), FORWARDED], "claimed")]
        {
            assert_eq!(seen("10.0.0.1", own, ForwardedHeader::Forwarded, &headers), expected);
        }
    }

    #[test]
    fn each_word_is_read_as_it_is_written() {
        for seen in ForwardingSeen::ALL {
            assert_eq!(ForwardingSeen::parse(seen.as_str()), Some(seen));
        }
        assert_eq!(ForwardingSeen::parse("10.0.0.1"), None);
    }
}
