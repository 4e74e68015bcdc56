//! The relying party that passkeys belong to.

use url::{Host, Url};

use crate::lnurl::is_loopback_url;

/// The relying party of passkeys: a host and the origin of its pages.
///
/// ```
/// use signpost_auth::RelyingParty;
///
/// let rp = RelyingParty::of("https://Login.example.com:8443/").unwrap();
/// assert_eq!((rp.id(), rp.origin()), ("login.example.com", "https://login.example.com:8443"));
/// assert!(RelyingParty::of("http://127.0.0.1:8080").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelyingParty {
    id: String,
    origin: String,
}

impl RelyingParty {
    /// Creates the relying party for an origin. Returns `None` if browsers do not support passkeys
    /// there: an IP address is not a valid `rp.id`, and without TLS only `localhost` and its
    /// subdomains are trusted.
    #[must_use]
    pub fn of(origin: &str) -> Option<Self> {
        let url = Url::parse(origin).ok()?;
        let Some(Host::Domain(id)) = url.host() else { return None };
        let is_trusted = url.scheme() == "https" || (url.scheme() == "http" && is_loopback_url(&url));
        is_trusted.then(|| Self { id: id.to_owned(), origin: url.origin().ascii_serialization() })
    }

    /// Returns `rp.id`: the host name in ASCII, without a port.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the origin as browsers write it to client data.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_secure_hosts_are_relying_parties() {
        for (address, id, origin) in [
            ("https://login.test", "login.test", "https://login.test"),
            ("https://login.test:443/x/", "login.test", "https://login.test"),
            ("https://bücher.test", "xn--bcher-kva.test", "https://xn--bcher-kva.test"),
            ("http://localhost:8080", "localhost", "http://localhost:8080"),
            ("http://a.localhost", "a.localhost", "http://a.localhost"),
            ("https://localhost", "localhost", "https://localhost"),
        ] {
            let rp = RelyingParty::of(address).unwrap_or_else(|| panic!("{address}"));
            assert_eq!((rp.id(), rp.origin()), (id, origin));
        }
        for address in [
            "",
            "login.test",
            "http://login.test",
            "http://localhost.test",
            "http://notlocalhost",
            "https://127.0.0.1",
            "http://127.0.0.1:8080",
            "https://[::1]",
            "wss://login.test",
            "ftp://localhost",
            "android:apk-key-hash:x",
        ] {
            assert_eq!(RelyingParty::of(address), None, "{address}");
        }
    }
}
