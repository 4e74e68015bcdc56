//! Reads the original request from the headers of a proxy's subrequest, for each kind of proxy.
//! Tests with nginx 1.22, Caddy 2.6 and 2.11, and Traefik's source show that these proxies
//! overwrite headers of the client with these names.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use signpost_platform::pages::accept::prefers_html;
use signpost_platform::web::single_header;

use super::app_origin::AppOrigin;
use super::local_path::LocalPath;

/// Maximum length of a method, in bytes.
const MAX_METHOD_LEN: usize = 32;

/// The kind of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProxyKind {
    /// `auth_request`: treats every status but 2xx, 401 and 403 as an error, and discards the `Location` of a 401.
    Nginx,
    /// `forward_auth`: sends every response but 2xx to the client.
    Caddy,
    /// `forwardAuth`: sends every response but 2xx to the client.
    Traefik,
}

/// The original request of a subrequest, without anything that identifies the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OriginalRequest {
    pub(super) origin: AppOrigin,
    pub(super) path: LocalPath,
    /// Whether the request is a navigation to a page. A navigation can be redirected to a login.
    pub(super) is_navigation: bool,
    /// Whether the response can be a page.
    pub(super) wants_page: bool,
}

/// A header that the proxy sets incorrectly or not at all, because of a mistake in its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HeaderFault {
    #[error("the header {0} is missing; the proxy must set it")]
    Missing(&'static str),
    #[error("the header {0} came twice; the proxy must set it, not add to it")]
    Duplicate(&'static str),
    #[error("the header {0} has an invalid value; the proxy must set it to {valid}", valid = valid_values(.0))]
    Unreadable(&'static str),
}

impl ProxyKind {
    pub(super) const ALL: [Self; 3] = [Self::Nginx, Self::Caddy, Self::Traefik];

    /// Returns the word in the route.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Caddy => "caddy",
            Self::Traefik => "traefik",
        }
    }

    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Reads the original request of the proxy's subrequest.
    ///
    /// # Errors
    /// Returns the first header that is missing or differs from the form that this kind of proxy uses.
    pub(super) fn read(self, headers: &HeaderMap) -> Result<OriginalRequest, HeaderFault> {
        let (method, origin, path) = match self {
            Self::Nginx => {
                let url = text(headers, "x-original-url")?;
                let (origin, path) = split(url).ok_or(HeaderFault::Unreadable("x-original-url"))?;
                ("x-original-method", origin, path)
            }
            Self::Caddy | Self::Traefik => {
                let path = bytes(headers, "x-forwarded-uri")?;
                ("x-forwarded-method", read_app(headers)?, LocalPath::or_root(str::from_utf8(path).unwrap_or_default()))
            }
        };
        let is_get = match text(headers, method)? {
            "GET" | "HEAD" => true,
            other if is_method(other) => false,
            _ => return Err(HeaderFault::Unreadable(method)),
        };
        let wants_page = prefers_html(headers) && !is_script(headers);
        Ok(OriginalRequest { origin, path, is_navigation: is_get && wants_page, wants_page })
    }
}

/// Reads the origin of the application, as its proxy reports it.
///
/// # Errors
/// Returns the first header that is invalid.
pub(super) fn read_app(headers: &HeaderMap) -> Result<AppOrigin, HeaderFault> {
    let proto = text(headers, "x-forwarded-proto")?;
    let host = text(headers, "x-forwarded-host")?;
    let scheme = parse_proto(proto).ok_or(HeaderFault::Unreadable("x-forwarded-proto"))?;
    AppOrigin::parse(scheme, host).ok_or(HeaderFault::Unreadable("x-forwarded-host"))
}

/// Parses `X-Forwarded-Proto` to the scheme of the application's origin. Traefik sends `ws` and `wss` with `Upgrade:
/// websocket`. Proxies that append to the header send a list, and its left element is from the client: a list is
/// accepted only if all elements have an equal scheme.
fn parse_proto(value: &str) -> Option<&'static str> {
    let mut schemes = value.split(',').map(|element| scheme_of(element.trim_ascii()));
    let first = schemes.next()??;
    if schemes.all(|scheme| scheme == Some(first)) { Some(first) } else { None }
}

fn scheme_of(proto: &str) -> Option<&'static str> {
    let schemes = [("https", "https"), ("http", "http"), ("wss", "https"), ("ws", "http")];
    schemes.into_iter().find(|(name, _)| proto.eq_ignore_ascii_case(name)).map(|(_, scheme)| scheme)
}

/// Returns the valid values of a header, for its operator.
fn valid_values(name: &str) -> &'static str {
    match name {
        "x-forwarded-proto" => "http, https, ws or wss; the elements of a list must all mean the same scheme",
        "x-forwarded-host" => "one host with its port, such as app.example.com:8443",
        "x-original-url" => "scheme, host and path, such as https://app.example.com/path",
        "x-forwarded-method" | "x-original-method" => "one method in capital letters, such as GET",
        _ => "text in UTF-8",
    }
}

/// Returns the text of a required header.
fn text<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<&'a str, HeaderFault> {
    str::from_utf8(bytes(headers, name)?).map_err(|_| HeaderFault::Unreadable(name))
}

/// Returns the value of a required header.
fn bytes<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<&'a [u8], HeaderFault> {
    let value = single_header(headers, &HeaderName::from_static(name)).map_err(|_| HeaderFault::Duplicate(name))?;
    value.map(HeaderValue::as_bytes).ok_or(HeaderFault::Missing(name))
}

/// Splits an absolute URL as nginx assembles it: scheme, host as the client sent it, and the request target as
/// received.
fn split(url: &str) -> Option<(AppOrigin, LocalPath)> {
    let (scheme, rest) = url.split_once("://")?;
    let at = rest.find(['/', '?', '#'])?;
    Some((AppOrigin::parse(scheme, &rest[..at])?, LocalPath::or_root(&rest[at..])))
}

/// Returns true if the text is a method: a token (RFC 9110, 5.6.2 and 9.1) of at most [`MAX_METHOD_LEN`] bytes.
/// No registered method has a lower-case letter; `get` is a mistake in the proxy's configuration.
fn is_method(text: &str) -> bool {
    let is_lowercase = text.bytes().any(|byte| byte.is_ascii_lowercase());
    text.len() <= MAX_METHOD_LEN && !is_lowercase && Method::from_bytes(text.as_bytes()).is_ok()
}

/// Returns true if a script sent the request, or the browser for a part of a page: neither can be redirected to a
/// login. Current browsers send `Sec-Fetch-Mode`; older browsers and libraries send other headers.
fn is_script(headers: &HeaderMap) -> bool {
    let fetch_mode = headers.get("sec-fetch-mode");
    headers.contains_key("x-requested-with")
        || fetch_mode.is_some_and(|mode| !mode.as_bytes().eq_ignore_ascii_case(b"navigate"))
        || headers.contains_key(header::UPGRADE)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const BROWSER: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    fn nginx(url: &str, method: &str) -> Result<OriginalRequest, HeaderFault> {
        ProxyKind::Nginx.read(&headers(&[("x-original-url", url), ("x-original-method", method), ("accept", BROWSER)]))
    }

    fn forwarded(changed: &[(&'static str, &str)]) -> HeaderMap {
        let usual = [
            ("x-forwarded-method", "GET"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "app.example.com"),
            ("x-forwarded-uri", "/a?b=1"),
            ("accept", BROWSER),
        ];
        let unchanged = usual.iter().filter(|(name, _)| !changed.iter().any(|(other, _)| other == name));
        let set = changed.iter().filter(|(_, value)| !value.is_empty());
        headers(&unchanged.chain(set).copied().collect::<Vec<_>>())
    }

    #[test]
    fn every_proxy_kind_is_parsed() {
        let expected = OriginalRequest {
            origin: AppOrigin::parse("https", "app.example.com").unwrap(),
            path: LocalPath::parse("/a?b=1").unwrap(),
            is_navigation: true,
            wants_page: true,
        };
        assert_eq!(nginx("https://app.example.com/a?b=1", "GET"), Ok(expected.clone()));
        for kind in [ProxyKind::Caddy, ProxyKind::Traefik] {
            assert_eq!(kind.read(&forwarded(&[])), Ok(expected.clone()));
        }
    }

    #[test]
    fn headers_of_other_proxy_kinds_are_ignored() {
        let missing = |header| Err(HeaderFault::Missing(header));
        assert_eq!(ProxyKind::Nginx.read(&forwarded(&[])), missing("x-original-url"));
        let nginx = headers(&[("x-original-url", "https://a.example/"), ("x-original-method", "GET")]);
        assert_eq!(ProxyKind::Caddy.read(&nginx), missing("x-forwarded-uri"));
    }

    #[test]
    fn missing_or_repeated_header_is_a_fault() {
        let names = ["x-forwarded-method", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-uri"];
        for name in names {
            let without = forwarded(&[(name, "")]);
            assert_eq!(ProxyKind::Caddy.read(&without), Err(HeaderFault::Missing(name)));
            let mut twice = forwarded(&[]);
            twice.append(name, HeaderValue::from_static("GET"));
            assert_eq!(ProxyKind::Traefik.read(&twice), Err(HeaderFault::Duplicate(name)));
        }
    }

    #[test]
    fn unreadable_header_is_a_fault() {
        for (name, value, fault) in [
            ("x-forwarded-method", "get", "x-forwarded-method"),
            ("x-forwarded-method", "GET POST", "x-forwarded-method"),
            ("x-forwarded-method", "GET/1", "x-forwarded-method"),
            ("x-forwarded-proto", "https, http", "x-forwarded-proto"),
            ("x-forwarded-proto", "http, https", "x-forwarded-proto"),
            ("x-forwarded-proto", "wss, ws", "x-forwarded-proto"),
            ("x-forwarded-proto", "https, javascript", "x-forwarded-proto"),
            ("x-forwarded-proto", "https,", "x-forwarded-proto"),
            ("x-forwarded-proto", ", https", "x-forwarded-proto"),
            ("x-forwarded-proto", "https https", "x-forwarded-proto"),
            ("x-forwarded-proto", ",", "x-forwarded-proto"),
            ("x-forwarded-proto", "javascript", "x-forwarded-proto"),
            ("x-forwarded-host", "a.example, b.example", "x-forwarded-host"),
            ("x-forwarded-host", "a.example/x", "x-forwarded-host"),
            ("x-forwarded-host", "é.example", "x-forwarded-host"),
        ] {
            assert_eq!(
                ProxyKind::Caddy.read(&forwarded(&[(name, value)])),
                Err(HeaderFault::Unreadable(fault)),
                "{value}"
            );
        }
        for url in ["", "/a", "//a.example/", "a.example/", "https://a.example", "https://u@a.example/", "https:///a"] {
            assert_eq!(nginx(url, "GET"), Err(HeaderFault::Unreadable("x-original-url")), "{url}");
        }
    }

    #[test]
    fn proto_may_be_websocket_or_a_uniform_list() {
        for (proto, scheme) in [
            ("wss", "https"),
            ("ws", "http"),
            ("WSS", "https"),
            ("https, https", "https"),
            ("https,wss , HTTPS", "https"),
            ("http, ws", "http"),
        ] {
            let read = ProxyKind::Traefik.read(&forwarded(&[("x-forwarded-proto", proto)])).unwrap();
            assert_eq!(read.origin.to_string(), format!("{scheme}://app.example.com"), "{proto}");
        }
    }

    #[test]
    fn methods_are_short_uppercase_tokens() {
        let long = "A".repeat(MAX_METHOD_LEN + 1);
        for (method, is_allowed) in [
            ("M-SEARCH", true),
            ("VERSION-CONTROL", true),
            ("X_1", true),
            (&long[1..], true),
            (&long, false),
            ("", false),
        ] {
            assert_eq!(is_method(method), is_allowed, "{method}");
        }
    }

    #[test]
    fn fault_names_header_and_valid_values() {
        for (name, value, told) in [
            ("x-forwarded-proto", "https, http", "http, https, ws or wss"),
            ("x-forwarded-host", "a.example, b.example", "one host"),
            ("x-forwarded-method", "get", "such as GET"),
        ] {
            let fault = ProxyKind::Caddy.read(&forwarded(&[(name, value)])).unwrap_err().to_string();
            assert!(fault.starts_with(&format!("the header {name} has an invalid value")), "{fault}");
            assert!(fault.contains(told), "{fault}");
        }
    }

    #[test]
    fn invalid_path_falls_back_to_the_root() {
        for path in ["//evil.example/", "/a\\b", "*", "/caf\u{e9}", "https://evil.example/"] {
            let read = ProxyKind::Caddy.read(&forwarded(&[("x-forwarded-uri", path)])).unwrap();
            assert_eq!(
                (read.path.as_str(), read.origin.to_string()),
                ("/", "https://app.example.com".to_owned()),
                "{path}"
            );
        }
        assert_eq!(nginx("https://a.example//evil.example/", "GET").unwrap().path.as_str(), "/");
        assert_eq!(nginx("https://a.example/a%2F..%5c/../b?x#y", "GET").unwrap().path.as_str(), "/a%2F..%5c/../b?x#y");
    }

    #[test]
    fn only_navigations_are_sent_to_login() {
        for (changed, is_navigation, wants_page) in [
            (&[][..], true, true),
            (&[("x-forwarded-method", "HEAD")], true, true),
            (&[("sec-fetch-mode", "navigate")], true, true),
            (&[("x-forwarded-method", "POST")], false, true),
            (&[("x-forwarded-method", "OPTIONS")], false, true),
            (&[("accept", "*/*")], false, false),
            (&[("accept", "application/json, text/html;q=0.5")], false, false),
            (&[("accept", "")], false, false),
            (&[("x-requested-with", "XMLHttpRequest")], false, false),
            (&[("sec-fetch-mode", "cors")], false, false),
            (&[("sec-fetch-mode", "no-cors")], false, false),
            (&[("upgrade", "websocket")], false, false),
        ] {
            let read = ProxyKind::Traefik.read(&forwarded(changed)).unwrap();
            assert_eq!((read.is_navigation, read.wants_page), (is_navigation, wants_page), "{changed:?}");
        }
    }
}
