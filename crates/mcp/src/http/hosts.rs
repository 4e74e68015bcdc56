use std::net::IpAddr;

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

impl Hosts {
    /// A request without any `Host` comes from no browser and is let in.
    pub(crate) fn allow(&self, parts: &Parts) -> bool {
        let Self::Loopback { also } = self else { return true };
        let mut sent = parts.headers.get_all(HOST).iter();
        let host = match (sent.next(), sent.next()) {
            (None, _) => return parts.uri.host().is_none_or(|host| is_local(host, also)),
            (Some(host), None) => host,
            (Some(_), Some(_)) => return false,
        };
        Authority::try_from(host.as_bytes()).is_ok_and(|authority| is_local(authority.host(), also))
    }
}

fn is_local(host: &str, also: &[String]) -> bool {
    let host = host.to_ascii_lowercase();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || also.contains(&host) || address.is_ok_and(|address| address.is_loopback())
}
