//! A reply of the service. Reading it checks the rules that apply to all replies.

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::{documented, members};

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    /// Reads a reply and checks the general rules.
    pub(crate) async fn read(method: &Method, response: reqwest::Response) -> Self {
        let path = response.url().path().to_owned();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let reply = Self { status, headers, text: response.text().await.expect("a whole body") };
        reply.check(&path);
        let media_type = reply.header("content-type").unwrap_or_default();
        documented::check(method, &path, status, media_type, &reply.text);
        reply
    }

    fn check(&self, path: &str) {
        let Self { status, headers, text } = self;
        let id = self.header("x-request-id").unwrap_or_else(|| panic!("{path}: {status} without X-Request-Id"));
        assert!(id.starts_with("req_") && id.len() == 40, "{path}: X-Request-Id is {id}");
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"), "{path}: {status}");
        if self.header("content-type").is_some_and(|found| found.starts_with("text/html")) {
            self.check_page(path);
            return;
        }
        let is_public = path.starts_with("/health") || path.contains("/.well-known/") || path.ends_with("/jwks");
        let speaks_mcp = path.starts_with("/mcp") || path.starts_with("/sse");
        let is_public = is_public || path == "/lnurl" || path.starts_with("/lnurl/");
        let is_public = is_public || speaks_mcp || path.ends_with("/openapi.yaml") || is_followed(path);
        let is_public = is_public || path.starts_with("/assets/") || is_protocol(path);
        let open = headers.keys().find(|name| name.as_str().starts_with("access-control-"));
        assert!(is_public || open.is_none(), "{path}: {open:?} lets web pages in");
        if *status >= 400 && path.contains("/hosted/") {
            let received = if matches!(status, 404 | 406 | 409) && self.json().get("details").is_some() {
                &["error", "details"][..]
            } else {
                &["error"]
            };
            assert_eq!(members(&self.json()), received.iter().copied().collect(), "{path}: {status} {text}");
            assert!(self.json()["error"].is_string(), "{path}: {status} {text}");
            return;
        }
        if *status >= 400 && path.contains("/login/") && self.json().get("reason").is_some() {
            // For the page's script, which shows the message to the user.
            let body = self.json();
            let received = members(&body).into_iter().filter(|name| *name != "signal").collect::<Vec<_>>();
            assert_eq!(received, ["message", "reason"], "{path}: {status} {text}");
            return;
        }
        if *status >= 400 && *status != 404 && is_protocol(path) {
            // In the format of OAuth 2.0, for its clients.
            assert_eq!(self.header("content-type"), Some("application/json"), "{path}: {status} {text}");
            assert_eq!(self.header("cache-control"), Some("no-store"), "{path}: {status} {text}");
            assert_eq!(members(&self.json()), ["error", "error_description"].into(), "{path}: {status} {text}");
        } else if *status >= 400 && path != "/health/ready" && !speaks_mcp {
            assert_eq!(self.header("content-type"), Some("application/json"), "{path}: {status} {text}");
            let body = self.json();
            assert_eq!(members(&body), ["error"].into(), "{path}: {status} {text}");
            assert_eq!(members(&body["error"]), ["code", "details", "message"].into(), "{path}: {status} {text}");
            assert!(body["error"]["details"].is_object(), "{path}: {status} {text}");
            let message = body["error"]["message"].as_str().expect("a message");
            assert!(!message.is_empty() && !message.contains('\n'), "{path}: {status} {text}");
        }
        // A token with insufficient scope gets a challenge too (RFC 6750, 3.1).
        let is_challenged = *status == 401 || (*status == 403 && is_protocol(path));
        assert_eq!(is_challenged, headers.contains_key("www-authenticate"), "{path}: {status}");
        let is_later = matches!(status, 429 | 503) && path != "/health/ready";
        assert_eq!(is_later, headers.contains_key("retry-after"), "{path}: {status}");
    }

    /// Checks the headers and the markup that all pages have in common.
    fn check_page(&self, path: &str) {
        let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      manifest-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";
        let is_wallet = path == "/wallet";
        let policy = if is_wallet { format!("{policy}; worker-src 'self'") } else { policy.to_owned() };
        let found = self.header("content-security-policy").unwrap_or_default();
        // On its own host the wallet page connects to an additional origin; the wallet's tests check it.
        let asks =
            found.split("connect-src 'self'").nth(1).and_then(|rest| rest.split(';').next()).filter(|_| is_wallet);
        let policy = policy.replace("connect-src 'self'", &format!("connect-src 'self'{}", asks.unwrap_or_default()));
        for (name, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("content-security-policy", &*policy),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(self.header(name), Some(value), "{path}: {}", self.status);
        }
        let permissions = self.header("permissions-policy").unwrap_or_default();
        assert!(is_wallet || permissions.contains("camera=()"), "{path}: {permissions}");
        let is_open = self.headers.keys().any(|name| name.as_str().starts_with("access-control-"));
        assert!(!is_open, "{path}: other pages may read it");
        let is_stored = self.header("cache-control") != Some("no-store");
        let is_of_locator = ["/atm/", "/atms/", "/about/"].iter().any(|start| path.starts_with(start));
        let asks_location = is_of_locator || matches!(path, "/" | "/near" | "/map");
        assert!(asks_location || permissions.contains("geolocation=()"), "{path}: {permissions}");
        let is_public =
            matches!(path, "/" | "/map" | "/mcp" | "/mcp/") || path.ends_with("/reference") || is_of_locator;
        assert!(!is_stored || is_public, "{path}: a browser stores it");
        assert!(!is_stored || self.header("set-cookie").is_none(), "{path}: a cookie is stored with it");
        for inline in ["<style", " style=", "<script>", " onclick=", " onload=", "javascript:"] {
            assert!(!self.text.contains(inline), "{path}: the page contains {inline}");
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {} {}", self.status, self.text))
    }

    /// Returns the body and checks the status.
    #[track_caller]
    pub(crate) fn with(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.json()
    }

    /// Returns the details of an error and checks its status and code.
    #[track_caller]
    pub(crate) fn assert_error(&self, status: u16, code: &str) -> Value {
        assert_eq!((self.status, self.code().as_str()), (status, code), "{}", self.text);
        self.json()["error"]["details"].clone()
    }

    /// Checks that the error is about this field.
    #[track_caller]
    pub(crate) fn assert_invalid_field(&self, field: &str) {
        let details = self.assert_error(400, "invalid_request");
        assert_eq!(details["field"], field, "{}", self.text);
        assert!(details["reason"].is_string(), "{}", self.text);
    }

    /// Returns the error code, or an empty text.
    pub(crate) fn code(&self) -> String {
        if self.status < 400 { String::new() } else { self.json()["error"]["code"].as_str().unwrap_or("").to_owned() }
    }
}

/// Returns true if the path is an OpenID Connect endpoint for programs, below an issuer.
fn is_protocol(path: &str) -> bool {
    let path = path.strip_prefix("/sandbox").unwrap_or(path);
    let of_issuer = path.strip_prefix("/dom_").and_then(|rest| rest.split_once('/'));
    of_issuer.is_some_and(|(_, path)| ["token", "revoke", "introspect", "userinfo"].contains(&path))
}

/// Returns true if pages may poll the path with their session's client secret.
fn is_followed(path: &str) -> bool {
    let path = path.strip_prefix("/sandbox").unwrap_or(path).strip_prefix("/v1/sessions/").unwrap_or_default();
    path.starts_with("sess_") && (!path.contains('/') || path.ends_with("/events"))
}
