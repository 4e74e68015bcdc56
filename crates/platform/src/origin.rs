//! The public origin of a deployment, which links, forms and cookies depend on.

use url::{Host, Url};

/// The origin where browsers reach a deployment. Forms must be sent from this origin, and
/// cookies belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicOrigin {
    text: String,
    host: String,
    base: String,
    is_https: bool,
    is_loopback: bool,
}

impl PublicOrigin {
    /// Parses the origin of a public URL, such as `http://localhost:8080`.
    ///
    /// # Panics
    /// Panics if the URL is not absolute or has no host. The configuration rejects such URLs.
    #[must_use]
    pub fn new(public_address: &str) -> Self {
        let url = Url::parse(public_address).expect("the configuration accepts only URLs");
        let host = url.host_str().expect("the configuration accepts only URLs with a host");
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

    /// Returns the origin as browsers send it in the header `Origin`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host, with the port unless it is the default port of the scheme.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the path for links to `path` on this server. It has a prefix if a proxy serves the
    /// deployment below a path.
    #[must_use]
    pub fn link(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Returns `true` if the scheme is `https`.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Returns `true` if browsers consider the origin potentially trustworthy (W3C Secure Contexts,
    /// section 3.1), because it is encrypted or loopback.
    #[must_use]
    pub fn is_trustworthy(&self) -> bool {
        self.is_https || self.is_loopback
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_below_the_path_of_the_public_url() {
        for (address, link) in
            [("https://login.test", "/a"), ("https://login.test/", "/a"), ("https://login.test/x/y/", "/x/y/a")]
        {
            assert_eq!(PublicOrigin::new(address).link("/a"), link, "{address}");
        }
    }

    #[test]
    fn an_origin_is_serialized_as_browsers_do() {
        for (address, origin, host, is_https) in [
            ("https://Login.Test", "https://login.test", "login.test", true),
            ("https://login.test:443/", "https://login.test", "login.test", true),
            ("https://login.test:8443/x", "https://login.test:8443", "login.test:8443", true),
            ("http://localhost:8080", "http://localhost:8080", "localhost:8080", false),
            ("https://bücher.test", "https://xn--bcher-kva.test", "xn--bcher-kva.test", true),
            ("http://[::1]:8080", "http://[::1]:8080", "[::1]:8080", false),
        ] {
            let found = PublicOrigin::new(address);
            assert_eq!((found.as_str(), found.host(), found.is_https()), (origin, host, is_https), "{address}");
        }
    }
}
