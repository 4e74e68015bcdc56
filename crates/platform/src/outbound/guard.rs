//! The egress policy: the addresses that clients may make this server send requests to, to prevent
//! server-side request forgery (SSRF). It is applied when a URL is registered and again to every
//! address that is connected to, because a name may resolve differently by then. All functions are
//! pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// The allowed targets of outbound requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EgressPolicy {
    /// Only https to public addresses.
    Public,
    /// https to public addresses, and http or https to loopback addresses.
    Loopback,
    /// http or https to any address.
    Everything,
}

/// IPv4 blocks outside the public internet (IANA special-purpose registries), each with the reason.
const FORBIDDEN_V4: &[([u8; 4], u32)] = &[
    ([0, 0, 0, 0], 8),        // "this network"
    ([10, 0, 0, 0], 8),       // private
    ([100, 64, 0, 0], 10),    // carrier-grade NAT; also one cloud's metadata
    ([127, 0, 0, 0], 8),      // loopback
    ([169, 254, 0, 0], 16),   // link-local; cloud metadata
    ([172, 16, 0, 0], 12),    // private
    ([192, 0, 0, 0], 24),     // protocol assignments
    ([192, 0, 2, 0], 24),     // documentation
    ([192, 31, 196, 0], 24),  // AS112
    ([192, 52, 193, 0], 24),  // AMT
    ([192, 88, 99, 0], 24),   // 6to4 relays
    ([192, 168, 0, 0], 16),   // private
    ([192, 175, 48, 0], 24),  // AS112
    ([198, 18, 0, 0], 15),    // benchmarking
    ([198, 51, 100, 0], 24),  // documentation
    ([203, 0, 113, 0], 24),   // documentation
    ([168, 63, 129, 16], 32), // a cloud's metadata on a public-looking address
    ([224, 0, 0, 0], 4),      // multicast
    ([240, 0, 0, 0], 4),      // reserved, broadcast
];

impl EgressPolicy {
    /// Returns `true` if connections to an address are allowed.
    #[must_use]
    pub fn permits(self, address: IpAddr) -> bool {
        match self {
            Self::Public => is_public(address),
            Self::Loopback => is_public(address) || address.to_canonical().is_loopback(),
            Self::Everything => true,
        }
    }

    /// Checks that a URL is an allowed target.
    ///
    /// # Errors
    /// Returns a description of the allowed URLs if the URL is not allowed.
    pub fn check(self, url: &Url) -> Result<(), &'static str> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not contain a user name or password");
        }
        if url.fragment().is_some() {
            return Err("must not have a fragment (#…)");
        }
        let host = url.host().ok_or("must have a host")?;
        let address = match host {
            Host::Ipv4(v4) => Some(IpAddr::from(v4)),
            Host::Ipv6(v6) => Some(IpAddr::from(v6)),
            Host::Domain(_) => None,
        };
        let is_loopback = matches!(host, Host::Domain("localhost" | "localhost."))
            || address.is_some_and(|address| address.to_canonical().is_loopback());
        let is_private = address.is_some() || is_loopback;
        match (url.scheme(), self) {
            ("https" | "http", Self::Everything) => Ok(()),
            ("https" | "http", Self::Loopback) if is_loopback => Ok(()),
            ("https", _) if is_private => Err("must name a public host; an address or localhost is not allowed here"),
            ("https", _) => Ok(()),
            ("http", Self::Loopback) => Err("must be https; plain http is allowed for loopback only"),
            _ => Err("must be an https URL"),
        }
    }
}

/// Returns `true` if an address is part of the public internet. An IPv6 address with an embedded
/// IPv4 address is checked by the IPv4 address.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => match embedded_ipv4(v6) {
            Some(v4) => is_public_v4(v4),
            None => is_public_v6(v6),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !FORBIDDEN_V4.iter().any(|(block, bits)| {
        let shift = 32 - bits;
        address.to_bits() >> shift == Ipv4Addr::from(*block).to_bits() >> shift
    })
}

/// Returns the IPv4 address in an IPv4-mapped (`::ffff:0:0/96`) or NAT64 (`64:ff9b::/96`) address.
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let low = Ipv4Addr::from_bits(u32::try_from(address.to_bits() & 0xffff_ffff).ok()?);
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => Some(low),
        _ => None,
    }
}

/// Returns `true` for the addresses in `2000::/3`, the only block of the public internet, except
/// for its special-purpose blocks.
fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // Teredo, ORCHID and the other protocol assignments; 6to4; documentation.
        [0x2001, second, ..] if second < 0x200 => false,
        [0x2001, 0xdb8, ..] | [0x2002, ..] => false,
        [0x3fff, second, ..] if second < 0x1000 => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses in every forbidden block, and at the boundaries of the blocks.
    const FORBIDDEN_ADDRESSES: &[&str] = &[
        "0.0.0.0",
        "0.255.255.255",
        "10.0.0.0",
        "10.255.255.255",
        "100.64.0.0",
        "100.100.100.200",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.0.1",
        "169.254.169.254",
        "169.254.170.2",
        "172.16.0.0",
        "172.31.255.255",
        "192.0.0.0",
        "192.0.0.192",
        "192.0.2.1",
        "192.31.196.1",
        "192.52.193.1",
        "192.88.99.1",
        "192.168.0.0",
        "192.168.255.255",
        "192.175.48.1",
        "198.18.0.0",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "168.63.129.16",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:10::1",
        "2001:20::1",
        "2001:1ff::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:a00:1::",
        "3fff::1",
        "3fff:fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fdff::1",
        "fe80::1",
        "fe80::a9fe:a9fe",
        "febf::1",
        "fec0::1",
        "ff02::1",
        "::7f00:1",
        "::10.0.0.1",
    ];

    const PUBLIC_ADDRESSES: &[&str] = &[
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2001:200::1",
        "2606:4700::1111",
        "2a00:1450::1",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "3fff:1000::1",
    ];

    #[test]
    fn non_public_addresses_are_forbidden() {
        assert!(FORBIDDEN_ADDRESSES.len() >= 60);
        for text in FORBIDDEN_ADDRESSES {
            assert!(!EgressPolicy::Public.permits(text.parse().unwrap()), "{text} is open");
        }
        for text in PUBLIC_ADDRESSES {
            assert!(EgressPolicy::Public.permits(text.parse().unwrap()), "{text} is closed");
        }
    }

    #[test]
    fn loopback_requires_a_policy_that_allows_it() {
        for (text, loopback) in [("127.0.0.1", true), ("::1", true), ("10.0.0.1", false), ("169.254.169.254", false)] {
            let address = text.parse().unwrap();
            assert_eq!(EgressPolicy::Loopback.permits(address), loopback, "{text}");
            assert!(EgressPolicy::Everything.permits(address));
        }
    }

    #[test]
    fn urls_are_checked_by_each_policy() {
        let table = [
            ("https://shop.example/hook", [true, true, true]),
            ("https://shop.example:8443/hook", [true, true, true]),
            ("http://shop.example/hook", [false, false, true]),
            ("http://localhost:3000/hook", [false, true, true]),
            ("http://127.0.0.1:3000/hook", [false, true, true]),
            ("http://[::1]:3000/hook", [false, true, true]),
            ("http://2130706433/hook", [false, true, true]), // 127.0.0.1 as one number
            ("http://0x7f.1/hook", [false, true, true]),
            ("https://10.0.0.1/hook", [false, false, true]),
            ("https://8.8.8.8/hook", [false, false, true]),
            ("https://user@shop.example/", [false, false, false]),
            ("https://shop.example/#x", [false, false, false]),
            ("ftp://shop.example/", [false, false, false]),
            ("file:///etc/passwd", [false, false, false]),
        ];
        for (url, expected) in table {
            let parsed = Url::parse(url).unwrap();
            let found = [EgressPolicy::Public, EgressPolicy::Loopback, EgressPolicy::Everything]
                .map(|egress| egress.check(&parsed).is_ok());
            assert_eq!(found, expected, "{url}");
        }
    }
}
