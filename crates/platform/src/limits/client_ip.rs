//! Determines the caller that a request counts against, usually the client address.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::http::HeaderMap;
use ipnet::IpNet;
use serde::{Deserialize, Deserializer};

use crate::setting::{MAX_ITEMS, items, parsed};

/// The caller that a request counts against.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// An account in an environment.
    Account(String),
    /// A page that polls this session.
    Session(String),
    /// An OpenID Connect client, or a grant that was issued to it.
    Client(String),
    /// All callers together.
    All,
    /// An IPv4 address, or the /64 network of an IPv6 address, which a single household or machine
    /// uses.
    Address(IpAddr),
    /// The address of a program without a valid API key or client secret. It is counted separately
    /// from [`Caller::Address`], so that the program does not use up the limits of browsers at its
    /// address.
    WithoutKey(IpAddr),
    /// The network that contains an address.
    Network(IpNet),
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(account) => f.write_str(account),
            Self::Session(session) => write!(f, "{session}"),
            Self::Client(client) => write!(f, "{client}"),
            Self::All => f.write_str("everybody"),
            Self::Address(address) => write!(f, "{address}"),
            Self::WithoutKey(address) => write!(f, "without-key:{address}"),
            Self::Network(network) => write!(f, "{network}"),
        }
    }
}

impl Caller {
    /// Returns the caller for a request without a valid key, which is counted separately from the
    /// pages at the address.
    #[must_use]
    pub fn without_key(&self) -> Self {
        match self {
            Self::Address(address) => Self::WithoutKey(*address),
            other => other.clone(),
        }
    }
}

/// The configuration of trusted proxies, and of the header in which they report the client address.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proxies {
    #[serde(rename = "trusted_proxies", deserialize_with = "networks")]
    networks: Vec<IpNet>,
    #[serde(rename = "forwarded_header")]
    header: ForwardedHeader,
}

/// The header in which proxies report the client address. A proxy sets only one of the two headers
/// and forwards the other unchanged, so only the configured header may be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardedHeader {
    /// `X-Forwarded-For`, which nearly every proxy sets.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

impl Proxies {
    /// Returns `true` if no proxy is trusted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.networks.is_empty()
    }
}

fn networks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<IpNet>, D::Error> {
    let allowed = "a list of at most 1000 networks and addresses, such as 10.0.0.0/8, fd00::/8 or 192.0.2.1";
    parsed(from, allowed, |text| {
        let networks = items(text).map(network).collect::<Option<Vec<_>>>()?;
        (networks.len() <= MAX_ITEMS).then_some(networks)
    })
}

/// Parses a network. A single address is a network with one address.
fn network(text: &str) -> Option<IpNet> {
    text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from)).ok()
}

impl Proxies {
    /// Creates a configuration that trusts proxies in these networks to report the client address
    /// in this header.
    #[must_use]
    pub fn new(networks: Vec<IpNet>, header: ForwardedHeader) -> Self {
        Self { networks, header }
    }

    /// Returns the address of a connection, or `None` if it belongs to a trusted proxy.
    #[must_use]
    pub fn client_of(&self, peer: SocketAddr) -> Option<IpAddr> {
        let address = peer.ip().to_canonical();
        (!self.trusts(address)).then(|| ipv6_network(address))
    }

    /// Returns `true` if a connection is from a trusted proxy. If none is configured and the server
    /// listens on loopback, proxies on this machine are trusted, because no other host can reach
    /// the server.
    #[must_use]
    pub fn trusts_connection(&self, peer: SocketAddr, listen: SocketAddr) -> bool {
        let is_own_machine = self.is_empty() && listen.ip().is_loopback() && peer.ip().to_canonical().is_loopback();
        is_own_machine || self.trusts(peer.ip().to_canonical())
    }

    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(&address))
    }

    pub(super) fn header(&self) -> ForwardedHeader {
        self.header
    }
}

impl ForwardedHeader {
    /// Returns the addresses in the header from left to right, with `None` for an element that is
    /// not an address.
    pub(super) fn hops(self, headers: &HeaderMap) -> Vec<Option<IpAddr>> {
        let (name, read): (_, fn(&str) -> Option<IpAddr>) = match self {
            Self::XForwardedFor => ("x-forwarded-for", address),
            Self::Forwarded => ("forwarded", |hop| hop.split(';').find_map(for_parameter)),
        };
        // A client can send arbitrary bytes in its part of the header, which must not invalidate
        // the part of the proxy.
        let lines = headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
        lines.flat_map(|line| line.split(',').map(read).collect::<Vec<_>>()).collect()
    }
}

/// Returns the client address of a request. This is the address of the connection or, behind
/// trusted proxies, the rightmost address in their header that is not a trusted proxy.
#[must_use]
pub fn find_caller(peer: SocketAddr, headers: &HeaderMap, proxies: &Proxies) -> Caller {
    let mut client = peer.ip().to_canonical();
    if proxies.trusts(client) {
        for hop in proxies.header.hops(headers).into_iter().rev() {
            let Some(address) = hop else { break };
            client = address;
            if !proxies.trusts(client) {
                break;
            }
        }
    }
    Caller::Address(ipv6_network(client))
}

/// Returns an IPv4 address unchanged, and the /64 network of an IPv6 address.
fn ipv6_network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 64)).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Returns the network that a single customer of an internet provider may have: the /24 network of
/// an IPv4 address, or the /48 network of an IPv6 address.
#[must_use]
pub fn customer_network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(v4) => Ipv4Addr::from_bits(v4.to_bits() & (u32::MAX << 8)).into(),
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 80)).into(),
    }
}

/// Parses a `for` parameter of the `Forwarded` header (RFC 7239, section 4), such as
/// `for="[2001:db8::1]:4711"`.
fn for_parameter(pair: &str) -> Option<IpAddr> {
    let (name, value) = pair.split_once('=')?;
    if name.trim().eq_ignore_ascii_case("for") { address(value.trim().trim_matches('"')) } else { None }
}

/// Parses an IP address, with or without brackets and a port.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(text, |(inside, _)| inside);
    let address = bare.parse::<IpAddr>().or_else(|_| text.parse::<SocketAddr>().map(|socket| socket.ip()));
    Some(address.ok()?.to_canonical())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use serde::de::value::StrDeserializer;

    use super::*;

    fn client_ip(peer: &str, header: (&'static str, &str), proxies: &[&str]) -> String {
        let written = match header.0 {
            "forwarded" => ForwardedHeader::Forwarded,
            _ => ForwardedHeader::XForwardedFor,
        };
        client_ip_with_header(peer, &[header], proxies, written)
    }

    fn client_ip_with_header(
        peer: &str,
        headers: &[(&'static str, &str)],
        proxies: &[&str],
        written: ForwardedHeader,
    ) -> String {
        let proxies = Proxies::new(
            networks(StrDeserializer::<serde::de::value::Error>::new(&proxies.join(","))).unwrap(),
            written,
        );
        let mut sent = HeaderMap::new();
        for (name, value) in headers {
            sent.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        find_caller(SocketAddr::new(peer.parse().unwrap(), 1), &sent, &proxies).to_string()
    }

    #[test]
    fn unconfigured_header_is_ignored() {
        let both = [("forwarded", "for=203.0.113.66"), ("x-forwarded-for", "198.51.100.7")];
        for (written, expected) in
            [(ForwardedHeader::XForwardedFor, "198.51.100.7"), (ForwardedHeader::Forwarded, "203.0.113.66")]
        {
            assert_eq!(client_ip_with_header("10.0.0.1", &both, &["10.0.0.0/8"], written), expected);
        }
        // If the proxy does not send its header, the other header does not replace it.
        assert_eq!(
            client_ip_with_header("10.0.0.1", &both[..1], &["10.0.0.0/8"], ForwardedHeader::XForwardedFor),
            "10.0.0.1"
        );
        assert_eq!(
            client_ip_with_header("10.0.0.1", &both[1..], &["10.0.0.0/8"], ForwardedHeader::Forwarded),
            "10.0.0.1"
        );
    }

    #[test]
    fn client_elements_do_not_hide_the_proxy() {
        assert_eq!(client_ip("10.0.0.1", ("x-forwarded-for", "\u{e9}, 198.51.100.7"), &["10.0.0.0/8"]), "198.51.100.7");
        assert_eq!(client_ip("10.0.0.1", ("x-forwarded-for", "198.51.100.7, \u{e9}"), &["10.0.0.0/8"]), "10.0.0.1");
    }

    #[test]
    fn only_trusted_proxies_report_the_client() {
        let list = "203.0.113.9, 198.51.100.7, 10.0.0.2";
        for (peer, proxies, expected) in [
            ("192.0.2.1", &[][..], "192.0.2.1"),
            ("192.0.2.1", &["10.0.0.0/8"], "192.0.2.1"),
            ("10.0.0.1", &["10.0.0.0/8"], "198.51.100.7"),
            ("10.0.0.1", &["10.0.0.1"], "10.0.0.2"),
            ("10.0.0.1", &["0.0.0.0/0"], "203.0.113.9"),
            ("::ffff:10.0.0.1", &["10.0.0.0/8"], "198.51.100.7"),
        ] {
            assert_eq!(client_ip(peer, ("x-forwarded-for", list), proxies), expected, "{peer} {proxies:?}");
        }
    }

    #[test]
    fn local_proxy_is_trusted_only_on_loopback() {
        let of = |names: &str| {
            let list = networks(StrDeserializer::<serde::de::value::Error>::new(names)).unwrap();
            Proxies::new(list, ForwardedHeader::XForwardedFor)
        };
        for (named, peer, listen, is_trusted) in [
            ("", "127.0.0.1", "127.0.0.1", true),
            ("", "::1", "::1", true),
            ("", "127.0.0.1", "0.0.0.0", false),
            ("", "127.0.0.1", "::", false),
            ("", "192.0.2.1", "127.0.0.1", false),
            ("10.0.0.0/8", "127.0.0.1", "127.0.0.1", false),
            ("10.0.0.0/8", "10.0.0.1", "0.0.0.0", true),
            ("127.0.0.1", "::ffff:127.0.0.1", "::", true),
        ] {
            let [peer, listen] = [peer, listen].map(|address| SocketAddr::new(address.parse().unwrap(), 1));
            assert_eq!(of(named).trusts_connection(peer, listen), is_trusted, "{named} {peer} {listen}");
        }
    }

    #[test]
    fn forwarded_follows_rfc_7239() {
        let header = ("forwarded", "for=192.0.2.60;proto=http, For=\"[2001:db8:1:2:3::4]:4711\"");
        assert_eq!(client_ip("10.0.0.1", header, &["10.0.0.0/8"]), "2001:db8:1:2::");
        assert_eq!(client_ip("10.0.0.1", ("forwarded", "for=unknown"), &["10.0.0.0/8"]), "10.0.0.1");
    }

    #[test]
    fn ipv6_network_is_one_caller() {
        assert_eq!(client_ip("2001:db8::1:2:3:4", ("x", ""), &[]), client_ip("2001:db8::9:9:9:9", ("x", ""), &[]));
    }

    #[test]
    fn networks_are_blocks_or_single_addresses() {
        let read = |text: &str| networks(StrDeserializer::<serde::de::value::Error>::new(text)).ok();
        let shown = |text| read(text).map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
        for (text, networks) in [
            ("", Some("")),
            ("10.0.0.0/8, fd00::/8", Some("10.0.0.0/8 fd00::/8")),
            ("192.0.2.1,::1", Some("192.0.2.1/32 ::1/128")),
            ("10.0.0.0/33", None),
            ("fd00::/129", None),
            ("example.com", None),
            ("10.0.0.0/", None),
            ("10.0.0.0/8, 10.0.0.0/-1", None),
        ] {
            assert_eq!(shown(text).as_deref(), networks, "{text}");
        }
    }
}
