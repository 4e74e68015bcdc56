//! HTTP responses that contain an HTML document, and the security headers of every page.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

use crate::origin::PublicOrigin;

/// The content security policy of pages: it allows only assets of their origin and no inline
/// code.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                                           connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
                                           frame-ancestors 'none'; form-action 'self'";

/// The permissions policy that disables device features on every page.
const PERMISSIONS_POLICY: &str = "accelerometer=(), autoplay=(), display-capture=(), fullscreen=(), gyroscope=(), \
                                  magnetometer=(), microphone=(), midi=(), payment=(), picture-in-picture=(), usb=()";

const SAFETY: [(HeaderName, &str); 5] = [
    (header::CONTENT_TYPE, "text/html; charset=utf-8"),
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// An HTTP response that contains an HTML document.
#[derive(Clone, Debug)]
pub struct HtmlPage {
    status: StatusCode,
    headers: HeaderMap,
    device_use: Option<DeviceUse>,
    /// The content security policy, for pages that run a worker.
    worker_policy: Option<String>,
    document: Bytes,
}

/// A device feature that a page uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceUse {
    /// The camera.
    Camera,
    /// The location of the device.
    Location,
    /// Registration of passkeys and login with passkeys.
    Passkeys,
}

impl HtmlPage {
    fn new(document: Bytes) -> Self {
        Self { status: StatusCode::OK, headers: HeaderMap::new(), device_use: None, worker_policy: None, document }
    }

    /// Creates a page for a single user. It must not be cached or indexed.
    #[must_use]
    pub fn personal(document: impl Into<Bytes>) -> Self {
        let page = Self::new(document.into());
        let page = page.with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        page.with_header(HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex"))
    }

    /// Creates a page that is equal for all users. Caches may store it for the duration `fresh`.
    ///
    /// # Panics
    /// Never panics: a number is valid in a header.
    #[must_use]
    pub fn public(document: impl Into<Bytes>, fresh: Duration) -> Self {
        let page = Self::new(document.into());
        let fresh = HeaderValue::try_from(format!("max-age={}", fresh.as_secs())).expect("digits");
        let page = page.with_header(header::CACHE_CONTROL, fresh);
        page.with_header(header::VARY, HeaderValue::from_static("accept, accept-language"))
    }

    /// Sets a status other than 200.
    #[must_use]
    pub fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// Allows the page to use a device feature.
    #[must_use]
    pub fn with_device_use(self, device_use: DeviceUse) -> Self {
        Self { device_use: Some(device_use), ..self }
    }

    /// Allows the page to run a worker of its origin, and to send requests to the origin `other`,
    /// if given.
    #[must_use]
    pub fn with_worker(self, other: Option<&PublicOrigin>) -> Self {
        let mut policy = format!("{CONTENT_SECURITY_POLICY}; worker-src 'self'");
        if let Some(other) = other {
            policy = policy.replace("connect-src 'self'", &format!("connect-src 'self' {}", other.as_str()));
        }
        Self { worker_policy: Some(policy), ..self }
    }

    /// Appends a header, even if the response already has a header with this name.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }
}

impl IntoResponse for HtmlPage {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.document));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        for (name, value) in SAFETY {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        if let Some(policy) = self.worker_policy {
            let policy = HeaderValue::try_from(policy).expect("an origin is printable");
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        let policy = HeaderValue::try_from(permissions_policy(self.device_use)).expect("printable text");
        response.headers_mut().insert(HeaderName::from_static("permissions-policy"), policy);
        response
    }
}

/// Returns the `Permissions-Policy` header, which disables all device features that the page does
/// not use.
fn permissions_policy(device_use: Option<DeviceUse>) -> String {
    let [camera, location, passkeys] = [DeviceUse::Camera, DeviceUse::Location, DeviceUse::Passkeys]
        .map(|feature| if device_use == Some(feature) { "(self)" } else { "()" });
    format!(
        "{PERMISSIONS_POLICY}, camera={camera}, geolocation={location}, publickey-credentials-create={passkeys}, \
         publickey-credentials-get={passkeys}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSED: &str = "accelerometer=(), autoplay=(), display-capture=(), fullscreen=(), gyroscope=(), \
                          magnetometer=(), microphone=(), midi=(), payment=(), picture-in-picture=(), usb=(), \
                          camera=(), geolocation=(), publickey-credentials-create=(), publickey-credentials-get=()";

    fn headers(page: HtmlPage) -> Vec<(String, String)> {
        let response = page.into_response();
        let headers = response.headers().iter();
        let mut headers: Vec<_> =
            headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
        headers.sort();
        headers
    }

    fn expected(own: &[(&str, &str)]) -> Vec<(String, String)> {
        let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";
        let common = [
            ("content-security-policy", policy),
            ("content-type", "text/html; charset=utf-8"),
            ("cross-origin-opener-policy", "same-origin"),
            ("permissions-policy", CLOSED),
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
        ];
        let all = common.iter().chain(own).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mut all: Vec<_> = all.collect();
        all.sort();
        all
    }

    #[test]
    fn personal_page_is_not_cached_or_indexed() {
        let page = HtmlPage::personal("x").with_status(StatusCode::FORBIDDEN);
        assert_eq!(page.status, StatusCode::FORBIDDEN);
        assert_eq!(headers(page), expected(&[("cache-control", "no-store"), ("x-robots-tag", "noindex")]));
    }

    #[test]
    fn public_page_has_a_vary_header() {
        let page = HtmlPage::public("x", Duration::from_mins(5));
        assert_eq!(headers(page), expected(&[("cache-control", "max-age=300"), ("vary", "accept, accept-language")]));
    }

    #[test]
    fn page_allows_only_its_device_feature() {
        for (device_use, opened) in [
            (DeviceUse::Camera, &["camera=(self)"][..]),
            (DeviceUse::Location, &["geolocation=(self)"]),
            (DeviceUse::Passkeys, &["publickey-credentials-create=(self)", "publickey-credentials-get=(self)"]),
        ] {
            let response = HtmlPage::personal("x").with_device_use(device_use).into_response();
            let policy = response.headers()["permissions-policy"].to_str().unwrap();
            let open: Vec<_> = policy.split(", ").filter(|feature| !feature.ends_with("=()")).collect();
            assert_eq!(open, opened, "{policy}");
        }
    }

    #[test]
    fn worker_page_may_connect_to_one_origin() {
        let login = PublicOrigin::new("https://login.test");
        for (asks, connects) in
            [(None, "connect-src 'self';"), (Some(&login), "connect-src 'self' https://login.test;")]
        {
            let response = HtmlPage::personal("x").with_worker(asks).into_response();
            let policies: Vec<_> = response.headers().get_all(header::CONTENT_SECURITY_POLICY).iter().collect();
            let policy = CONTENT_SECURITY_POLICY.replace("connect-src 'self';", connects) + "; worker-src 'self'";
            assert_eq!(policies, [policy.as_str()]);
        }
    }

    #[test]
    fn header_does_not_replace_the_default_policy() {
        let loose = HeaderValue::from_static("default-src *");
        let page = HtmlPage::personal("x").with_header(header::CONTENT_SECURITY_POLICY, loose).into_response();
        let policies: Vec<_> = page.headers().get_all(header::CONTENT_SECURITY_POLICY).iter().collect();
        assert_eq!(policies, [CONTENT_SECURITY_POLICY]);
    }
}
