//! A browser without scripts, with separate cookies for each origin.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use reqwest::header::{ACCEPT, CONTENT_TYPE, COOKIE, HeaderMap, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::{Client, RequestBuilder};
use url::{Origin, Url, form_urlencoded};

use super::page::ShownPage;
use super::{LogInError, failed};
use crate::client::{Runtime, SignpostError, SystemRuntime, http_client};

/// Timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum size of a page, in bytes.
const MAX_PAGE_LEN: usize = 1024 * 1024;

/// Cookies by name.
type Jar = BTreeMap<String, String>;

/// A browser without scripts, with separate cookies for each origin.
#[derive(Debug)]
pub(super) struct ScriptlessBrowser {
    http: Client,
    jars: Vec<(Origin, Jar)>,
}

impl ScriptlessBrowser {
    pub(super) fn new() -> Result<Self, SignpostError> {
        Ok(Self { http: http_client()?, jars: Vec::new() })
    }

    /// Loads a page.
    pub(super) async fn open(&mut self, url: &Url) -> Result<ShownPage, LogInError> {
        self.send(self.http.get(url.clone()), url).await
    }

    /// Submits a form.
    pub(super) async fn submit(&mut self, url: &Url, fields: &[(&str, &str)]) -> Result<ShownPage, LogInError> {
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = self.http.post(url.clone()).header(ORIGIN, url.origin().ascii_serialization());
        self.send(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(form), url).await
    }

    /// Returns the cookies of an origin.
    pub(super) fn cookies(&self, url: &Url) -> Jar {
        let jar = self.jars.iter().find(|(origin, _)| *origin == url.origin());
        jar.map(|(_, cookies)| cookies.clone()).unwrap_or_default()
    }

    async fn send(&mut self, request: RequestBuilder, url: &Url) -> Result<ShownPage, LogInError> {
        let mut cookies = self.cookies(url);
        let mut request = request.header(ACCEPT, "text/html").timeout(TIMEOUT);
        if !cookies.is_empty() {
            request = request.header(COOKIE, to_header(&cookies));
        }
        let mut response = request.send().await.map_err(SignpostError::no_reply)?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(SignpostError::no_reply)? {
            if body.len() + chunk.len() > MAX_PAGE_LEN {
                return Err(failed("the page is longer than 1 MiB".to_owned()));
            }
            body.extend_from_slice(&chunk);
        }
        store_cookies(&mut cookies, response.headers(), SystemRuntime.now());
        self.jars.retain(|(origin, _)| *origin != url.origin());
        self.jars.push((url.origin(), cookies));
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let location = location.map(|target| url.join(target)).transpose();
        let location = location.map_err(|error| failed(format!("{url} redirects to an invalid URL: {error}")))?;
        let html = String::from_utf8_lossy(&body).into_owned();
        Ok(ShownPage { status: response.status().as_u16(), location, html })
    }
}

/// Returns the value of a `Cookie` header.
pub(super) fn to_header(cookies: &Jar) -> String {
    let pairs: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("; ")
}

/// Stores and deletes the cookies of a response.
fn store_cookies(cookies: &mut Jar, headers: &HeaderMap, now: SystemTime) {
    for line in headers.get_all(SET_COOKIE).iter().filter_map(|value| value.to_str().ok()) {
        let mut parts = line.split(';').map(str::trim);
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { continue };
        if parts.any(|attribute| is_expiry(attribute, now)) {
            cookies.remove(name);
        } else {
            cookies.insert(name.to_owned(), value.to_owned());
        }
    }
}

/// Returns `true` if this attribute deletes the cookie.
fn is_expiry(attribute: &str, now: SystemTime) -> bool {
    let Some((name, value)) = attribute.split_once('=') else { return false };
    if name.eq_ignore_ascii_case("max-age") {
        return value.parse::<i64>().is_ok_and(|seconds| seconds <= 0);
    }
    name.eq_ignore_ascii_case("expires") && httpdate::parse_http_date(value).is_ok_and(|time| time <= now)
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn cookies_are_stored_replaced_and_deleted() {
        let mut cookies = Jar::new();
        let now = UNIX_EPOCH + Duration::from_hours(500_000);
        for (line, expected) in [
            ("a=1; Path=/; HttpOnly", "a=1"),
            ("b=x=y; Max-Age=60", "a=1; b=x=y"),
            ("a=2; Expires=Sun, 06 Nov 2067 08:49:37 GMT", "a=2; b=x=y"),
            ("no cookie", "a=2; b=x=y"),
            ("b=; max-age=0; Path=/", "a=2"),
            ("a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", ""),
        ] {
            let headers = HeaderMap::from_iter([(SET_COOKIE, line.parse().unwrap())]);
            store_cookies(&mut cookies, &headers, now);
            assert_eq!(to_header(&cookies), expected, "{line}");
        }
    }
}
