//! Parses the origin of an application (scheme, host and port) from the headers of its proxy, into
//! the form that browsers use.

use std::fmt;

use signpost_platform::origin::PublicOrigin;
use url::Url;

/// The path on an application's host below which the application's proxy forwards all requests to
/// this server.
pub(super) const OWN_PATHS: &str = "/.signpost";

/// Maximum length of a host with its port, in characters.
const MAX_HOST_LEN: usize = 260;

/// The origin of an application, in its canonical form. The redirect URIs of a client identify the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AppOrigin(String);

impl AppOrigin {
    /// Parses the scheme and the host that a proxy reports.
    pub(super) fn parse(scheme: &str, host: &str) -> Option<Self> {
        if matches!(scheme, "http" | "https") && host.len() <= MAX_HOST_LEN && is_canonical_host(host) {
            return Some(Self(format!("{scheme}://{host}")));
        }
        Self::canonicalize(scheme, host)
    }

    /// Parses scheme and host by the rules of browsers.
    fn canonicalize(scheme: &str, host: &str) -> Option<Self> {
        let scheme = scheme.to_ascii_lowercase();
        // Other programs may interpret other characters differently, for example a backslash as a
        // slash, or `@` as the end of a user name.
        let is_plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte));
        if !matches!(&*scheme, "http" | "https") || host.len() > MAX_HOST_LEN || !is_plain {
            return None;
        }
        let url = Url::parse(&format!("{scheme}://{host}/")).ok()?;
        (url.path() == "/").then(|| Self(url.origin().ascii_serialization()))
    }

    /// Returns true if the application is served over https.
    pub(super) fn is_https(&self) -> bool {
        self.0.starts_with("https:")
    }

    /// Returns the redirect URI that the application's client must have registered.
    pub(super) fn callback(&self) -> String {
        format!("{}{OWN_PATHS}/callback", self.0)
    }

    /// Returns the URL of a page of this server on the application's host.
    pub(super) fn own_page(&self, page: &str) -> String {
        format!("{}{OWN_PATHS}/{page}", self.0)
    }

    /// Returns the origin of these pages, with the path of all their resources.
    pub(super) fn public_origin(&self) -> PublicOrigin {
        PublicOrigin::new(&format!("{}{OWN_PATHS}", self.0))
    }
}

/// Returns true if a host without a port is in canonical form, as nearly all hosts are: parsing a URL for each request
/// of a proxy would dominate the response time. A last label that starts with a letter is not part of an IP address.
fn is_canonical_host(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    host.split('.').all(is_canonical_label) && last.starts_with(|letter: char| letter.is_ascii_lowercase())
}

fn is_canonical_label(label: &str) -> bool {
    let is_plain = label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    is_plain && !label.is_empty() && label.len() < 64 && !label.starts_with("xn--")
}

impl fmt::Display for AppOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn app_origin_has_one_canonical_form() {
        for (scheme, host, origin) in [
            ("https", "app.example.com", "https://app.example.com"),
            ("HTTPS", "App.Example.com:443", "https://app.example.com"),
            ("https", "app.example.com:8443", "https://app.example.com:8443"),
            ("http", "localhost:8000", "http://localhost:8000"),
            ("http", "127.0.0.1:80", "http://127.0.0.1"),
            ("http", "[::1]:8000", "http://[::1]:8000"),
        ] {
            assert_eq!(AppOrigin::parse(scheme, host).unwrap().to_string(), origin);
        }
    }

    #[test]
    fn canonical_host_matches_browsers() {
        for host in [
            "app.example.com",
            "localhost",
            "a-b.c1.example",
            "-a.example",
            "1.example",
            "a.b1",
            "0x7f.example",
            "a--b.c",
        ] {
            assert!(is_canonical_host(host), "{host}");
            assert_eq!(AppOrigin::parse("https", host), AppOrigin::canonicalize("https", host), "{host}");
        }
        for host in
            ["", ".", "a.", ".a", "a..b", "App.example", "xn--a.example", "1.2.3.4", "1.0x7f", "a_b.c", "a:1", "[::1]"]
        {
            assert!(!is_canonical_host(host), "{host}");
        }
    }

    #[test]
    fn ambiguous_origin_is_rejected() {
        let long = "a".repeat(261);
        for (scheme, host) in [
            ("", "app.example.com"),
            ("ftp", "app.example.com"),
            ("javascript", "app.example.com"),
            ("https", ""),
            ("https", ":443"),
            ("https", "app.example.com:"),
            ("https", "app.example.com:99999"),
            ("https", "app.example.com/x"),
            ("https", "app.example.com?x"),
            ("https", "app.example.com#x"),
            ("https", "app.example.com@evil.example"),
            ("https", "app.example.com\\evil.example"),
            ("https", "app.example.com, evil.example"),
            ("https", "app.example.com evil.example"),
            ("https", "app%2eexample.com"),
            ("https", "[::1"),
            ("https", &long),
        ] {
            let found = AppOrigin::parse(scheme, host);
            assert!(found.is_none() || host == "app.example.com:", "{scheme} {host} {found:?}");
        }
    }

    #[test]
    fn app_pages_are_below_the_signpost_path() {
        let app = AppOrigin::parse("https", "app.example.com").unwrap();
        assert_eq!(app.callback(), "https://app.example.com/.signpost/callback");
        assert_eq!(app.own_page("start?x"), "https://app.example.com/.signpost/start?x");
        let origin = app.public_origin();
        assert_eq!(
            (origin.as_str(), origin.link("/assets/a")),
            ("https://app.example.com", "/.signpost/assets/a".into())
        );
    }
}
