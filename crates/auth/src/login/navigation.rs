//! Detects requests that must not start a login: prefetches, and requests to another host than the
//! site's.

use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::http::request::Parts;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::form_urlencoded;

use super::options::LoginOptions;
use super::query::requested_next;

/// Headers with a purpose in requests for a page that the user has not opened yet.
const PURPOSE_HEADERS: [&str; 5] = ["sec-purpose", "x-sec-purpose", "purpose", "x-purpose", "x-moz"];
/// Purposes of a prefetch, in lower case.
const PREFETCH_PURPOSES: [&str; 3] = ["prefetch", "prerender", "preview"];
/// Headers of Next.js in requests for the data of a page. Without data, Next.js opens the page
/// itself.
const ROUTER_HEADERS: [&str; 2] = ["next-router-prefetch", "rsc"];
/// Name of the parameter of a request that was redirected from another host.
const HOST_MARKER: &str = "signpost_host";
/// Maximum length of a host in the log, in characters.
const MAX_SHOWN_HOST: usize = 100;
/// The characters to escape in the value of a query parameter: all except the unreserved characters
/// of RFC 3986 (section 2.3).
const QUERY_VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns `true` if the request is a prefetch or was sent by a script. Old browsers send no
/// `Sec-Fetch-Mode`, so a request without it is a navigation.
pub(super) fn is_prefetch(headers: &HeaderMap) -> bool {
    if PURPOSE_HEADERS.iter().any(|name| names_a_prefetch(headers, name)) {
        return true;
    }
    if ROUTER_HEADERS.iter().any(|name| headers.contains_key(*name)) {
        return true;
    }
    headers.get("sec-fetch-mode").is_some_and(|mode| mode != "navigate")
}

fn names_a_prefetch(headers: &HeaderMap, name: &str) -> bool {
    headers.get_all(name).iter().any(|value| {
        let value = String::from_utf8_lossy(value.as_bytes()).to_lowercase();
        PREFETCH_PURPOSES.iter().any(|purpose| value.contains(purpose))
    })
}

/// Escapes the value of a query parameter.
pub(super) fn encode_query(text: &str) -> String {
    utf8_percent_encode(text, QUERY_VALUE).to_string()
}

/// Returns the query `?next=…` for a path to continue at, which is empty for the root.
pub(super) fn next_query(next: &str) -> String {
    if next == "/" { String::new() } else { format!("?next={}", encode_query(next)) }
}

/// Redirects requests to another host than the site's, because the browser would not send the
/// cookies of that host when it returns to the site.
#[derive(Default)]
pub(super) struct HostCheck {
    /// Whether a redirect was logged. Each request would repeat the warning.
    has_logged_redirect: AtomicBool,
    has_logged_proxy: AtomicBool,
}

/// The decision about a request, by its host.
pub(super) struct HostDecision {
    /// The URL at the site to redirect to, or `None` if the login may start.
    pub(super) redirect: Option<String>,
    /// The warning to log, if any.
    pub(super) warning: Option<String>,
}

impl HostCheck {
    /// Checks the host of a request to an endpoint of the site. A request is redirected once:
    /// behind a proxy that replaces the `Host` header, each request seems to have another host.
    pub(super) fn check(&self, request: &Parts, endpoint: &str, options: &LoginOptions) -> HostDecision {
        let LoginOptions { site, path, .. } = options;
        let Some(host) = host_of(request).filter(|host| !site.has_host(host)) else {
            return HostDecision { redirect: None, warning: None };
        };
        let host: String = host.chars().take(MAX_SHOWN_HOST).collect();
        let query = request.uri.query().unwrap_or_default();
        if form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == HOST_MARKER) {
            let warning = format!(
                "requests have the host {host:?} although browsers use {site}: let the proxy pass the Host header \
                 (nginx: proxy_set_header Host $host), or correct the site of LoginOptions"
            );
            return HostDecision { redirect: None, warning: first(&self.has_logged_proxy, warning) };
        }
        let warning =
            format!("a login began at the host {host:?} and was redirected to {site}, the site of LoginOptions");
        let next = next_query(&requested_next(query));
        let separator = if next.is_empty() { '?' } else { '&' };
        let redirect = format!("{site}{path}{endpoint}{next}{separator}{HOST_MARKER}=1");
        HostDecision { redirect: Some(redirect), warning: first(&self.has_logged_redirect, warning) }
    }
}

/// Returns the warning if it was not logged yet.
fn first(has_logged: &AtomicBool, warning: String) -> Option<String> {
    if has_logged.swap(true, Ordering::Relaxed) { None } else { Some(warning) }
}

/// Returns the host of a request: the header `Host`, or the authority of HTTP/2.
fn host_of(request: &Parts) -> Option<String> {
    match request.headers.get(HOST) {
        Some(host) => Some(String::from_utf8_lossy(host.as_bytes()).into_owned()),
        None => request.uri.authority().map(ToString::to_string),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_values_are_escaped() {
        assert_eq!(encode_query("/a?b=ü&c=-._~'"), "%2Fa%3Fb%3D%C3%BC%26c%3D-._~%27");
        assert_eq!((next_query("/"), next_query("/a")), (String::new(), "?next=%2Fa".to_owned()));
    }
}
