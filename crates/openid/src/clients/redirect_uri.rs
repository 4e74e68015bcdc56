//! Redirect URIs of authorization responses and logouts. They are compared exactly (RFC 9700, 2.1).

use std::fmt;

use serde::{Deserialize, Serialize};
use url::Url;

/// Maximum length of a URI, in characters.
const MAX_URI_LEN: usize = 512;
/// Maximum number of URIs in a list.
const MAX_URIS: usize = 20;
/// The loopback hosts in a URI (RFC 8252, 7.3; `localhost` because it is common).
const LOOPBACK_HOSTS: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// A redirect URI: https, http on a loopback host, or a private-use scheme (RFC 8252, 7.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RedirectUri(String);

/// The redirect URIs of a client, in order and without duplicates. The list may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct RedirectUris(Vec<RedirectUri>);

/// The parts of a URI as written.
struct UriParts<'a> {
    scheme: &'a str,
    /// The text after `//`, up to the path. `None` without `//`.
    authority: Option<&'a str>,
    /// The path and the query.
    rest: &'a str,
}

impl RedirectUri {
    /// Parses a URI. It is stored as written, because clients present it like that.
    ///
    /// # Errors
    /// Returns the violated rule, as a text such as "must be …".
    pub fn parse(text: &str) -> Result<Self, String> {
        const NO_URL: &str = "must be a URL such as https://app.example.com/callback";
        if text.len() > MAX_URI_LEN {
            return Err(format!("must have at most {MAX_URI_LEN} characters"));
        }
        // Parsers interpret such characters differently: the displayed host could differ from the actual host.
        if let Some(wrong) = text.chars().find(|c| !c.is_ascii_graphic() || "\\<>\"^`{|}".contains(*c)) {
            return Err(format!("must not contain {}; write it percent-encoded", wrong.escape_debug()));
        }
        if text.contains('#') {
            return Err("must not have a fragment: leave out '#' and what follows".to_owned());
        }
        let Some(parts) = UriParts::parse(text) else { return Err(NO_URL.to_owned()) };
        if parts.authority.is_some_and(|authority| authority.contains('@')) {
            return Err("must not have a user name or a password before the host".to_owned());
        }
        let Ok(url) = Url::parse(text) else { return Err(NO_URL.to_owned()) };
        match parts.scheme {
            "https" if url.host_str().is_some_and(|host| host.contains('*')) => {
                Err("must name one host; register a URI for each, because they are compared exactly".to_owned())
            }
            "https" if parts.authority.is_some_and(|authority| !authority.is_empty()) => Ok(Self(text.to_owned())),
            "http" if parts.loopback().is_some() => Ok(Self(text.to_owned())),
            "http" => Err("must be https; http is for 127.0.0.1, [::1] and localhost only".to_owned()),
            scheme if is_private_use(scheme) => Ok(Self(text.to_owned())),
            _ => Err(
                "must be https, http on 127.0.0.1, [::1] or localhost, or have a scheme of an application's own with \
                      a dot in it, such as com.example.app:/callback"
                    .to_owned(),
            ),
        }
    }

    /// Returns true if a presented URI equals this URI, except for the port of a loopback host, which the operating
    /// system assigns (RFC 8252, 7.3).
    #[must_use]
    pub fn matches(&self, presented: &str) -> bool {
        if self.0 == presented {
            return true;
        }
        if presented.len() > MAX_URI_LEN {
            return false;
        }
        match UriParts::parse(&self.0).and_then(|parts| parts.loopback()) {
            Some(registered) => UriParts::parse(presented).and_then(|parts| parts.loopback()) == Some(registered),
            None => false,
        }
    }

    /// Returns true if the URI has a private-use scheme. Any application on a device can claim it.
    #[must_use]
    pub fn is_private_use(&self) -> bool {
        UriParts::parse(&self.0).is_some_and(|parts| is_private_use(parts.scheme))
    }

    /// Returns true if the URI leads to a program on the user's device. Any program on the device
    /// may receive the response.
    #[must_use]
    pub fn is_on_device(&self) -> bool {
        UriParts::parse(&self.0).is_some_and(|parts| is_private_use(parts.scheme) || parts.loopback().is_some())
    }

    /// Returns the host with its port for display, or a private-use scheme.
    #[must_use]
    pub fn display_host(&self) -> &str {
        match UriParts::parse(&self.0) {
            Some(UriParts { scheme, authority: Some(authority), .. }) if !is_private_use(scheme) => authority,
            Some(parts) => parts.scheme,
            None => &self.0,
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl RedirectUris {
    /// Parses a list of redirect URIs.
    ///
    /// # Errors
    /// Returns an error if a URI is invalid or repeated, or there are too many.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut uris = Vec::new();
        for text in texts {
            let uri = RedirectUri::parse(text)?;
            if uris.contains(&uri) {
                return Err("must name each URI once".to_owned());
            }
            uris.push(uri);
            if uris.len() > MAX_URIS {
                return Err(format!("must name at most {MAX_URIS} URIs"));
            }
        }
        Ok(Self(uris))
    }

    /// Returns true if a presented URI matches an entry.
    #[must_use]
    pub fn matches(&self, presented: &str) -> bool {
        self.0.iter().any(|uri| uri.matches(presented))
    }

    /// Returns the URIs.
    #[must_use]
    pub fn as_slice(&self) -> &[RedirectUri] {
        &self.0
    }
}

impl fmt::Display for RedirectUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for RedirectUri {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<RedirectUri> for String {
    fn from(uri: RedirectUri) -> Self {
        uri.0
    }
}

impl TryFrom<Vec<String>> for RedirectUris {
    type Error = String;

    fn try_from(texts: Vec<String>) -> Result<Self, String> {
        Self::parse(texts.iter().map(String::as_str))
    }
}

impl<'a> UriParts<'a> {
    /// Splits a URI. `None` without a scheme in lower case.
    fn parse(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.split_once(':')?;
        if !scheme.starts_with(|c: char| c.is_ascii_lowercase()) || !scheme.bytes().all(is_scheme_byte) {
            return None;
        }
        let Some(behind) = rest.strip_prefix("//") else { return Some(Self { scheme, authority: None, rest }) };
        let end = behind.find(['/', '?', '#']).unwrap_or(behind.len());
        let (authority, rest) = behind.split_at(end);
        Some(Self { scheme, authority: Some(authority), rest })
    }

    /// Returns host, path and query of an http URI of a loopback host with any port.
    fn loopback(&self) -> Option<(&'a str, &'a str)> {
        let authority = self.authority.filter(|_| self.scheme == "http")?;
        let host = LOOPBACK_HOSTS.into_iter().find(|host| authority.starts_with(host))?;
        let port = &authority[host.len()..];
        (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then_some((host, self.rest))
    }
}

fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte)
}

fn is_port(digits: &str) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u16>().is_ok()
}

/// Returns true if a scheme is private-use: a domain name in reverse order.
fn is_private_use(scheme: &str) -> bool {
    scheme.contains('.') && scheme.split('.').all(|label| !label.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: [&str; 12] = [
        "https://app.example.com/cb",
        "https://app.example.com",
        "https://app.example.com:8443/cb?tenant=1&x=%20",
        "https://127.0.0.1/cb",
        "https://xn--bcher-kva.example/cb",
        "http://127.0.0.1/cb",
        "http://127.0.0.1:8080/cb",
        "http://[::1]:0/cb",
        "http://localhost:3000/login/generic_oauth",
        "http://localhost",
        "com.example.app:/cb",
        "com.example.app://cb/x",
    ];

    const BAD: [&str; 39] = [
        "",
        "app.example.com/cb",
        "/cb",
        "//app.example.com/cb",
        "https:",
        "https:/app.example.com/cb",
        "https:app.example.com",
        "https:///cb",
        "https://?x",
        "https://app.example.com/cb#",
        "https://app.example.com/cb#top",
        "https://ann@app.example.com/cb",
        "https://@app.example.com/cb",
        "https://ann:secret@app.example.com/cb",
        "https://app.example.com\\@evil.example/cb",
        "https://*.example.com/cb",
        "https://app.example.com/a b",
        "https://app.example.com/\n",
        "https://bücher.example/cb",
        "https://app.example.com:99999/cb",
        "HTTPS://app.example.com/cb",
        "http://app.example.com/cb",
        "http://127.0.0.1.evil.example/cb",
        "http://127.0.0.1@evil.example/cb",
        "http://127.0.0.1:x/cb",
        "http://127.0.0.1:/cb",
        "http://127.0.0.1:65536/cb",
        "http://127.1/cb",
        "http://localhost.evil.example/cb",
        "http://LOCALHOST/cb",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "ftp://app.example.com/cb",
        "myapp:/cb",
        "com..app:/cb",
        ".app:/cb",
        "com.example.app://ann@x/cb",
        "urn:ietf:wg:oauth:2.0:oob",
    ];

    #[test]
    fn ambiguous_redirect_uris_are_rejected() {
        for text in GOOD {
            assert_eq!(RedirectUri::parse(text).map(String::from).as_deref(), Ok(text));
        }
        let long = format!("https://app.example.com/{}", "a".repeat(500));
        for text in BAD.into_iter().chain([&*long]) {
            assert!(RedirectUri::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn redirect_uris_are_compared_as_strings() {
        let registered = RedirectUri::parse("https://app.example.com/cb?tenant=1").unwrap();
        assert!(registered.matches("https://app.example.com/cb?tenant=1"));
        for presented in [
            "https://app.example.com/cb",
            "https://app.example.com/cb?tenant=1&x=2",
            "https://app.example.com/cb/?tenant=1",
            "https://app.example.com:443/cb?tenant=1",
            "https://APP.example.com/cb?tenant=1",
            "http://app.example.com/cb?tenant=1",
            "https://app.example.com/x/../cb?tenant=1",
            "https://app.example.com/%63b?tenant=1",
            "https://app.example.com/cb?tenant=1#",
            "https://evil.example/cb?tenant=1",
            "",
        ] {
            assert!(!registered.matches(presented), "{presented}");
        }
    }

    #[test]
    fn only_loopback_ports_are_free() {
        for (registered, presented, is_same) in [
            ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb", true),
            ("http://127.0.0.1:8080/cb", "http://127.0.0.1/cb", true),
            ("http://[::1]:1/cb", "http://[::1]:2/cb", true),
            ("http://localhost:3000", "http://localhost:4000", true),
            ("http://127.0.0.1/cb", "http://127.0.0.1:51004/cb?x", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:51004/other", false),
            ("http://127.0.0.1/cb", "http://localhost/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:1@evil.example/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:99999/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:+80/cb", false),
            ("http://127.0.0.1/cb", "https://127.0.0.1:51004/cb", false),
            ("https://127.0.0.1/cb", "https://127.0.0.1:51004/cb", false),
            ("https://app.example/cb", "https://app.example:1/cb", false),
            ("com.example.app://h/cb", "com.example.app://h:1/cb", false),
        ] {
            let registered = RedirectUri::parse(registered).unwrap();
            assert_eq!(registered.matches(presented), is_same, "{registered} {presented}");
        }
    }

    #[test]
    fn redirect_uri_list_is_unique_and_bounded() {
        let uris: Vec<_> = (0..21).map(|number| format!("https://app.example/{number}")).collect();
        let texts = || uris.iter().map(String::as_str);
        assert!(RedirectUris::parse(texts().take(20)).unwrap().matches("https://app.example/19"));
        assert!(RedirectUris::parse(texts()).is_err());
        assert!(RedirectUris::parse(["https://a.example", "https://a.example"]).is_err());
        assert!(!RedirectUris::default().matches(""));
        assert!(serde_json::from_str::<RedirectUris>(r#"["http://a.example"]"#).is_err());
    }

    #[test]
    fn display_host_is_the_redirect_target() {
        for (text, shown) in [
            ("https://app.example:8443/cb?x", "app.example:8443"),
            ("http://localhost:3000", "localhost:3000"),
            ("com.example.app://bank.example/cb", "com.example.app"),
            ("com.example.app:/cb", "com.example.app"),
        ] {
            assert_eq!(RedirectUri::parse(text).unwrap().display_host(), shown);
        }
    }
}
