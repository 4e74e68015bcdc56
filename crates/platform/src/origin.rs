//! What a person's browser calls this deployment.

use url::{Host, Url};

/// Scheme and host that people's browsers reach a deployment under: what the address bar shows, what a form's `Origin`
/// must be, and what cookies belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicOrigin {
    text: String,
    host: String,
    base: String,
    is_https: bool,
    is_loopback: bool,
}

impl PublicOrigin {
    /// That of a public address, such as `http://localhost:8080`.
    ///
    /// # Panics
    /// Where it is no absolute URL with a host: the configuration refuses such an address.
    #[must_use]
    pub fn of(public_address: &str) -> Self {
        let url = Url::parse(public_address).expect("the configuration takes URLs alone");
        let host = url.host_str().expect("the configuration takes URLs with a host alone");
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let text = url.origin().ascii_serialization();
        let base = url.path().trim_end_matches('/').to_owned();
        let is_loopback = match url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        Self { text, host: format!("{host}{port}"), base, is_https: url.scheme() == "https", is_loopback }
    }

    /// As a browser sends it in `Origin`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// As the address bar shows it: with a port where that is not the scheme's own.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// What a page links to for a path of this server: the same, unless a proxy serves the deployment below one of its own.
    #[must_use]
    pub fn link(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Whether it is encrypted.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Whether browsers call it potentially trustworthy (Secure Contexts, 3.1): encrypted, or this very machine.
    #[must_use]
    pub fn is_trustworthy(&self) -> bool {
        self.is_https || self.is_loopback
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_below_a_path_of_the_address() {
        for (address, link) in
            [("https://login.test", "/a"), ("https://login.test/", "/a"), ("https://login.test/x/y/", "/x/y/a")]
        {
            assert_eq!(PublicOrigin::of(address).link("/a"), link, "{address}");
        }
    }

    #[test]
    fn an_origin_is_spelt_as_browsers_spell_it() {
        for (address, origin, host, is_https) in [
            ("https://Login.Test", "https://login.test", "login.test", true),
            ("https://login.test:443/", "https://login.test", "login.test", true),
            ("https://login.test:8443/x", "https://login.test:8443", "login.test:8443", true),
            ("http://localhost:8080", "http://localhost:8080", "localhost:8080", false),
            ("https://bücher.test", "https://xn--bcher-kva.test", "xn--bcher-kva.test", true),
            ("http://[::1]:8080", "http://[::1]:8080", "[::1]:8080", false),
        ] {
            let found = PublicOrigin::of(address);
            assert_eq!((found.as_str(), found.host(), found.is_https()), (origin, host, is_https), "{address}");
        }
    }
}
