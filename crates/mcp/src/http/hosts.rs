use std::net::IpAddr;

use http::Version;
use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;

/// The `Host` names a server answers to.
///
/// A server on loopback must ask: a web page can have its own name resolve to 127.0.0.1 (DNS rebinding), and only the
/// `Host` header then tells its requests from those of programs on this machine.
#[derive(Clone, Debug, Default)]
pub enum Hosts {
    /// Any name.
    #[default]
    Any,
    /// `localhost` and loopback addresses with any port, and the names listed (without port, lower case).
    Loopback {
        /// Names under which a proxy on this machine passes requests on.
        also: Vec<String>,
    },
}

/// What the `Host` of a request is to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostVerdict {
    /// One that it answers to.
    Served,
    /// Another one.
    Foreign,
    /// None, several, or no host (RFC 9112, section 3.2).
    NotOne,
}

impl Hosts {
    pub(super) fn judge(&self, parts: &Parts) -> HostVerdict {
        let mut sent = parts.headers.get_all(HOST).iter();
        let named = match (sent.next(), sent.next()) {
            (Some(host), None) => Authority::try_from(host.as_bytes()).ok().filter(|host| !host.as_str().contains('@')),
            // HTTP/2 names it in the target instead.
            (None, _) if parts.version > Version::HTTP_11 => parts.uri.authority().cloned(),
            _ => None,
        };
        let Some(named) = named else { return HostVerdict::NotOne };
        // A target that names a host itself is what counts.
        let host = parts.uri.host().unwrap_or(named.host());
        match self {
            Self::Loopback { also } if !is_local(host, also) => HostVerdict::Foreign,
            Self::Any | Self::Loopback { .. } => HostVerdict::Served,
        }
    }
}

fn is_local(host: &str, also: &[String]) -> bool {
    let address = || host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let is_one_of = |names: &[String]| names.iter().any(|name| name.eq_ignore_ascii_case(host));
    host.eq_ignore_ascii_case("localhost") || is_one_of(also) || address().is_ok_and(|address| address.is_loopback())
}
