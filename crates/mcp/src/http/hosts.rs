//! Validation of the `Host` header against DNS rebinding.

use std::net::IpAddr;

use http::Version;
use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;

use crate::context::{DuplicateHeader, single_header};

/// The accepted values of the `Host` header.
///
/// A server on a loopback address must check this header. A web page can make its own host name resolve to 127.0.0.1
/// (DNS rebinding), and only the `Host` header distinguishes its requests from requests of local programs.
#[derive(Clone, Debug, Default)]
pub enum Hosts {
    /// Any host is accepted.
    #[default]
    Any,
    /// `localhost` and loopback addresses with any port, and the listed names, are accepted.
    Loopback {
        /// Additional names, in lower case without a port, such as the names used by a proxy on this machine.
        also: Vec<String>,
    },
}

/// The result of checking the `Host` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostVerdict {
    /// The host is accepted.
    Allowed,
    /// The header names another host.
    Forbidden,
    /// The header is missing, repeated or not a valid host (RFC 9112, section 3.2).
    Invalid,
}

impl Hosts {
    pub(super) fn check(&self, parts: &Parts) -> HostVerdict {
        let authority = match single_header(&parts.headers, &HOST) {
            Ok(Some(host)) => Authority::try_from(host.as_bytes()).ok().filter(|host| !host.as_str().contains('@')),
            // HTTP/2 requests have the host in the request target instead.
            Ok(None) if parts.version > Version::HTTP_11 => parts.uri.authority().cloned(),
            Ok(None) | Err(DuplicateHeader) => None,
        };
        let Some(authority) = authority else { return HostVerdict::Invalid };
        // The host in the request target takes precedence.
        let host = parts.uri.host().unwrap_or(authority.host());
        match self {
            Self::Loopback { also } if !is_local(host, also) => HostVerdict::Forbidden,
            Self::Any | Self::Loopback { .. } => HostVerdict::Allowed,
        }
    }
}

fn is_local(host: &str, also: &[String]) -> bool {
    if host.eq_ignore_ascii_case("localhost") || also.iter().any(|name| name.eq_ignore_ascii_case(host)) {
        return true;
    }
    let address = host.trim_start_matches('[').trim_end_matches(']');
    address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
