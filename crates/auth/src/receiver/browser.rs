//! Identifies the browser that polls for a login, by an origin and a cookie.

use std::fmt;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use secrecy::{ExposeSecret, SecretBox};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use url::Url;

/// The origin of the application's pages, as browsers send it in the header `Origin`.
///
/// Unencrypted http is for development on a local machine. Browsers accept cookies with the prefix
/// `__Host-` only over https, so over http the cookie names have no prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteOrigin(Url);

/// Error that a text is not an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an origin is https://<host> with a port if it has one, and no path, user name, query or fragment")]
pub struct InvalidOrigin;

/// The headers that identify the browser of a polling request, as received.
#[derive(Clone, Copy, Debug, Default)]
pub struct Browser<'a> {
    /// The header `Cookie`. Several headers are joined by `; `.
    pub cookies: Option<&'a str>,
    /// The header `Origin`.
    pub origin: Option<&'a str>,
    /// The header `Sec-Fetch-Site`.
    pub sec_fetch_site: Option<&'a str>,
}

/// Binds a login code to the browser that displays it, by a random value in a cookie of this
/// browser.
///
/// Without a binding, an attacker who relays a code to a victim, and therefore knows the `sid`,
/// could take over the victim's login (RFC 10027, cross-device flows). The cookie name ends with a
/// hash of the `sid`, so that two tabs with two codes have separate cookies.
///
/// ```
/// use signpost_auth::receiver::{CodeBinding, SiteOrigin};
///
/// let binding = CodeBinding::from_bytes([7; 32]);
/// let origin = SiteOrigin::parse("https://example.com")?;
/// let cookie = binding.set_cookie("sess_1", &origin, 900);
/// assert!(cookie.starts_with("__Host-code-"));
/// assert!(cookie.ends_with("; Path=/; Max-Age=900; HttpOnly; SameSite=Lax; Secure"));
/// # Ok::<(), signpost_auth::receiver::InvalidOrigin>(())
/// ```
#[derive(Debug)]
pub struct CodeBinding(SecretBox<[u8; 32]>);

impl SiteOrigin {
    /// Parses an origin. Removes a trailing slash.
    ///
    /// # Errors
    /// Returns [`InvalidOrigin`] if the text is not exactly a scheme, a host and an optional port.
    pub fn parse(text: &str) -> Result<Self, InvalidOrigin> {
        let url = Url::parse(text).map_err(|_| InvalidOrigin)?;
        let bare = url.as_str().strip_suffix('/').is_some_and(|text| text == url.origin().ascii_serialization());
        if matches!(url.scheme(), "http" | "https") && bare { Ok(Self(url)) } else { Err(InvalidOrigin) }
    }

    /// Returns `true` if the scheme is https.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Returns a `Set-Cookie` value for this origin only. The cookie is inaccessible to scripts, is
    /// not sent with requests from other sites, and expires after `max_age` seconds. Over https,
    /// its name has the prefix `__Host-`.
    #[must_use]
    pub fn set_cookie(&self, name: &str, value: &str, max_age: u32) -> String {
        let name = self.cookie_name(name);
        let secure = if self.is_secure() { "; Secure" } else { "" };
        format!("{name}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}")
    }

    /// Returns the value of a cookie that [`SiteOrigin::set_cookie`] set, from a `Cookie` header.
    /// Returns `None` if the cookie is missing, or repeated because another site may have set a
    /// second cookie with this name.
    #[must_use]
    pub fn cookie<'a>(&self, name: &str, cookies: &'a str) -> Option<&'a str> {
        let mut values = self.cookies(name, cookies);
        let value = values.next()?;
        if values.next().is_some() { None } else { Some(value) }
    }

    /// Returns all values of the cookie with this name. Over unencrypted http, another site on a
    /// parent domain may have added a value.
    pub fn cookies<'a>(&self, name: &str, cookies: &'a str) -> impl Iterator<Item = &'a str> {
        let name = self.cookie_name(name);
        let pairs = cookies.split(';').filter_map(|pair| pair.trim_matches(' ').split_once('='));
        pairs.filter(move |(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Returns `true` if a `Host` header names the host and the port of this origin.
    #[cfg(all(feature = "axum", feature = "client"))]
    pub(crate) fn has_host(&self, host: &str) -> bool {
        let Ok(url) = Url::parse(&format!("{}://{host}", self.0.scheme())) else { return false };
        url.host() == self.0.host() && url.port_or_known_default() == self.0.port_or_known_default()
    }

    fn cookie_name(&self, name: &str) -> String {
        format!("{}{name}", if self.is_secure() { "__Host-" } else { "" })
    }
}

impl fmt::Display for SiteOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.origin().ascii_serialization())
    }
}

impl Browser<'_> {
    /// Returns `true` if the request was sent from a page of another origin. Only browsers send
    /// these headers reliably.
    #[must_use]
    pub fn is_foreign(&self, own: &SiteOrigin) -> bool {
        self.origin.is_some_and(|origin| origin != own.to_string())
            || self.sec_fetch_site.is_some_and(|site| !matches!(site, "same-origin" | "none"))
    }
}

impl CodeBinding {
    /// Creates a binding from 32 random bytes, which must be used for one code only.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(SecretBox::new(Box::new(bytes)))
    }

    /// Returns the `Set-Cookie` value for the page that displays the code. `max_age` is in seconds.
    #[must_use]
    pub fn set_cookie(&self, sid: &str, origin: &SiteOrigin, max_age: u32) -> String {
        origin.set_cookie(&cookie_name(sid), &self.value(), max_age)
    }

    /// Returns `true` if a `Cookie` header contains this binding. Compares in constant time.
    #[must_use]
    pub fn matches_cookie(&self, sid: &str, origin: &SiteOrigin, cookies: &str) -> bool {
        let own = self.value();
        let name = cookie_name(sid);
        origin.cookies(&name, cookies).any(|value| value.as_bytes().ct_eq(own.as_bytes()).into())
    }

    fn value(&self) -> String {
        BASE64URL_NOPAD.encode(self.0.expose_secret())
    }
}

fn cookie_name(sid: &str) -> String {
    format!("code-{}", HEXLOWER.encode(&Sha256::digest(sid)[..8]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECURE: &str = "https://example.com";
    const PLAIN: &str = "http://127.0.0.1:9000";

    fn origin(text: &str) -> SiteOrigin {
        SiteOrigin::parse(text).unwrap()
    }

    fn sent(set_cookie: &str) -> &str {
        set_cookie.split(';').next().unwrap()
    }

    #[test]
    fn origin_has_only_scheme_host_and_port() {
        for (text, printed) in [("https://Example.com/", SECURE), ("https://example.com:443", SECURE), (PLAIN, PLAIN)] {
            assert_eq!(origin(text).to_string(), printed);
        }
        for text in ["", "example.com", "ftp://example.com", "https://example.com/a", "https://me@example.com"] {
            assert_eq!(SiteOrigin::parse(text), Err(InvalidOrigin), "{text}");
        }
        for text in ["https://example.com?", "https://example.com/#", "null", "data:,a", "https://"] {
            assert_eq!(SiteOrigin::parse(text), Err(InvalidOrigin), "{text}");
        }
    }

    #[test]
    fn https_cookie_is_prefixed_and_secure() {
        let secure = origin(SECURE).set_cookie("session", "v", 60);
        assert_eq!(secure, "__Host-session=v; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure");
        let plain = origin(PLAIN).set_cookie("session", "v", 60);
        assert_eq!(plain, "session=v; Path=/; Max-Age=60; HttpOnly; SameSite=Lax");
        assert_eq!(origin(SECURE).cookie("session", "a=b; __Host-session=v"), Some("v"));
        assert_eq!(origin(SECURE).cookie("session", "session=v; __Host-session2=v"), None);
    }

    #[test]
    fn duplicate_cookies_are_ignored() {
        for (text, prefix) in [(SECURE, "__Host-"), (PLAIN, "")] {
            let two = format!("{prefix}session=planted; {prefix}session=v");
            assert_eq!(origin(text).cookie("session", &two), None);
            let binding = CodeBinding::from_bytes([1; 32]);
            let mine = binding.set_cookie("sess_1", &origin(text), 900);
            let planted = format!("{}=planted; {}", sent(&mine).split('=').next().unwrap(), sent(&mine));
            assert!(binding.matches_cookie("sess_1", &origin(text), &planted));
        }
    }

    #[test]
    fn code_belongs_to_its_browser() {
        let (binding, other) = (CodeBinding::from_bytes([1; 32]), CodeBinding::from_bytes([2; 32]));
        for origin in [origin(SECURE), origin(PLAIN)] {
            let (mine, theirs) = (binding.set_cookie("sess_1", &origin, 900), other.set_cookie("sess_1", &origin, 900));
            assert!(binding.matches_cookie("sess_1", &origin, &format!("a=b; {}", sent(&mine))));
            for cookies in ["", "a=b", sent(&theirs), &sent(&mine)[..30], &binding.value()] {
                assert!(!binding.matches_cookie("sess_1", &origin, cookies), "{cookies}");
            }
            assert!(!binding.matches_cookie("sess_2", &origin, sent(&mine)));
        }
    }

    #[test]
    fn tabs_have_separate_cookies() {
        let (first, second) = (CodeBinding::from_bytes([1; 32]), CodeBinding::from_bytes([2; 32]));
        let origin = origin(SECURE);
        let cookies = [first.set_cookie("sess_1", &origin, 900), second.set_cookie("sess_2", &origin, 900)];
        let cookies = format!("{}; {}", sent(&cookies[0]), sent(&cookies[1]));
        assert!(
            first.matches_cookie("sess_1", &origin, &cookies) && second.matches_cookie("sess_2", &origin, &cookies)
        );
    }

    #[test]
    fn fetch_metadata_marks_foreign_requests() {
        let own = origin(SECURE);
        for (origin, sec_fetch_site, foreign) in [
            (None, None, false),
            (Some(SECURE), Some("same-origin"), false),
            (None, Some("none"), false),
            (Some("http://example.com"), None, true),
            (Some("https://example.com.evil.example"), None, true),
            (Some("null"), Some("same-origin"), true),
            (Some(SECURE), Some("cross-site"), true),
            (None, Some("same-site"), true),
            (None, Some(""), true),
        ] {
            let browser = Browser { cookies: None, origin, sec_fetch_site };
            assert_eq!(browser.is_foreign(&own), foreign, "{browser:?}");
        }
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let debug = format!("{:?}", CodeBinding::from_bytes([7; 32]));
        assert!(debug.contains("REDACTED") && !debug.contains("7, 7"), "{debug}");
    }

    proptest! {
        #[test]
        fn any_session_id_makes_a_valid_cookie(sid: String, bytes: [u8; 32]) {
            let (binding, origin) = (CodeBinding::from_bytes(bytes), origin(SECURE));
            let cookie = binding.set_cookie(&sid, &origin, 900);
            prop_assert!(cookie.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' '));
            prop_assert!(binding.matches_cookie(&sid, &origin, sent(&cookie)));
        }

        #[test]
        fn arbitrary_cookies_never_panic(sid: String, cookies: String) {
            prop_assert!(!CodeBinding::from_bytes([1; 32]).matches_cookie(&sid, &origin(SECURE), &cookies));
        }
    }
}
