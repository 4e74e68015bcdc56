//! Where an application is: scheme, host and port, as a proxy reports them and browsers spell them.

use std::fmt;

use signpost_platform::origin::PublicOrigin;
use url::Url;

/// Below which path of an application's host its proxy sends everything here.
pub(super) const OWN_PATHS: &str = "/.signpost";

/// Most characters of a host with its port.
const MAX_HOST_LEN: usize = 260;

/// The origin of an application, in its one spelling. Which application's it is, its client's redirect URIs say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AppOrigin(String);

impl AppOrigin {
    /// Reads what a proxy reports. `None` where it is no scheme and host.
    pub(super) fn parse(scheme: &str, host: &str) -> Option<Self> {
        if matches!(scheme, "http" | "https") && host.len() <= MAX_HOST_LEN && is_own_spelling(host) {
            return Some(Self(format!("{scheme}://{host}")));
        }
        Self::respell(scheme, host)
    }

    /// The same by the rules of browsers, whatever the spelling.
    fn respell(scheme: &str, host: &str) -> Option<Self> {
        let scheme = scheme.to_ascii_lowercase();
        // A program behind us may read anything else another way: a backslash is a slash to some, `@` ends a user's name.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
        let is_read = matches!(&*scheme, "http" | "https") && host.len() <= MAX_HOST_LEN && host.bytes().all(is_plain);
        let url = is_read.then(|| Url::parse(&format!("{scheme}://{host}/")).ok()).flatten()?;
        (url.path() == "/").then(|| Self(url.origin().ascii_serialization()))
    }

    /// Whether it is encrypted.
    pub(super) fn is_https(&self) -> bool {
        self.0.starts_with("https:")
    }

    /// Where browsers come back to with a code: what the application's client must have registered.
    pub(super) fn callback(&self) -> String {
        format!("{}{OWN_PATHS}/callback", self.0)
    }

    /// A page of ours on the application's host, with its query.
    pub(super) fn own_page(&self, page: &str) -> String {
        format!("{}{OWN_PATHS}/{page}", self.0)
    }

    /// For the pages there, their cookies and forms: all that they load is below the paths that are ours.
    pub(super) fn public_origin(&self) -> PublicOrigin {
        PublicOrigin::of(&format!("{}{OWN_PATHS}", self.0))
    }
}

/// Whether browsers would spell a host without a port just so, as nearly all are: each request is asked about, and most of its
/// answer would be this question. A last label that begins with a letter is no part of an IP address.
fn is_own_spelling(host: &str) -> bool {
    let is_label = |label: &str| {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && label.len() < 64 && !label.starts_with("xn--") && label.bytes().all(is_letter)
    };
    let begins_with_letter = |label: &str| label.starts_with(|letter: char| letter.is_ascii_lowercase());
    host.split('.').all(is_label) && host.rsplit('.').next().is_some_and(begins_with_letter)
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
    fn an_origin_has_one_spelling() {
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
    fn what_is_spelt_already_is_spelt_as_browsers_would() {
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
            assert!(is_own_spelling(host), "{host}");
            assert_eq!(AppOrigin::parse("https", host), AppOrigin::respell("https", host), "{host}");
        }
        for host in
            ["", ".", "a.", ".a", "a..b", "App.example", "xn--a.example", "1.2.3.4", "1.0x7f", "a_b.c", "a:1", "[::1]"]
        {
            assert!(!is_own_spelling(host), "{host}");
        }
    }

    #[test]
    fn what_two_readers_may_read_differently_is_no_origin() {
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
    fn its_pages_are_below_a_path_of_ours() {
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
