//! Tests of access control by the `Origin` and `Host` headers, and of CORS headers.

use axum::body::Body;
use axum::http::{Request, Version};
use serde_json::json;
use signpost_mcp::{Hosts, Http, Origins, router};

use crate::fixture::{Answer, Start, app, http, post, request, send, server};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn pattern_covers_https_subdomains() {
    let origins = Origins::parse([
        "http://localhost:3000",
        "HTTPS://Site.example.org:443",
        "https://*.example.com",
        "https://*.example.net:8443",
        "http://[::1]:8080",
    ])
    .unwrap();
    let cases = [
        ("http://localhost:3000", true),
        ("http://localhost:3001", false),
        ("https://localhost:3000", false),
        ("http://localhost", false),
        ("http://localhost:3000/", false),
        ("http://localhost:3000.example.com", false),
        ("https://site.example.org", true),
        ("http://site.example.org", false),
        ("https://a.site.example.org", false),
        ("https://a.example.com", true),
        ("https://a.b-1.example.com", true),
        ("https://example.com", false),
        ("https://.example.com", false),
        ("https://a..example.com", false),
        ("https://evilexample.com", false),
        ("https://a.evilexample.com", false),
        ("https://a.example.com.evil.test", false),
        ("https://a.example.com:8443", false),
        ("https://evil.test/.example.com", false),
        ("https://evil.test:1.example.com", false),
        ("https://user@a.example.com", false),
        ("http://a.example.com", false),
        ("https://A.example.com", false),
        ("https://a.example.net:8443", true),
        ("https://a.example.net", false),
        ("http://[::1]:8080", true),
        ("http://[::1]", false),
        ("null", false),
        ("", false),
        ("*", false),
    ];
    for (origin, allowed) in cases {
        assert_eq!(origins.allow(origin), allowed, "{origin}");
    }
}

#[test]
fn invalid_origin_is_rejected_with_a_reason() {
    let cases = [
        ("*", "the scheme is missing"),
        ("null", "the scheme is missing"),
        ("localhost:3000", "the scheme is missing"),
        ("https://", "scheme and host are both needed"),
        ("https://a.example/", "without user, path or slash"),
        ("https://a@b.example", "without user, path or slash"),
        ("https://a b.example", "without user, path or slash"),
        ("https://b\u{fc}cher.example", "in ASCII"),
        ("http://localhost:30000000", "the port is not a number"),
        ("http://localhost:", "the port is not a number"),
        ("http://*.example.com", "patterns are https only"),
        ("https://*example.com", "the star is followed by a dot"),
        ("https://a.*.example.com", "the star replaces whole labels"),
        ("https://*.*.example.com", "the star is followed by a dot"),
        ("https://*", "the star is followed by a dot"),
        ("https://*.com", "a domain of two labels or more"),
        ("https://*..com", "a domain of two labels or more"),
    ];
    for (text, reason) in cases {
        let error = Origins::parse(["http://localhost:3000", text]).unwrap_err().to_string();
        assert!(error.contains(reason) && error.starts_with(&format!("'{text}' is not")), "{text}: {error}");
    }
}

fn is_refused(answer: &Answer) {
    assert_eq!(answer.status, 403);
    assert_eq!(answer.json()["error"]["code"], -32600);
    assert!(answer.json()["id"].is_null());
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn only_allowed_origins_get_cors_headers() {
    let cases = [
        (None, true),
        (Some("http://localhost:3000"), true),
        (Some("https://chat.example.com"), true),
        (Some("https://example.com"), false),
        (Some("null"), false),
        (Some("http://localhost:3000\nOrigin: https://evil.test"), false),
    ];
    for (origin, allowed) in cases {
        let headers = origin.map(|origin| format!("Origin: {origin}")).unwrap_or_default();
        for (method, path, status) in [("POST", "/mcp", 200), ("POST", "/sse", 200), ("GET", "/mcp", 405)] {
            let body = if method == "POST" { PING } else { "" };
            let headers = format!("{headers}\nContent-Type: application/json");
            let answer = send(&app(), request(method, path, &headers, body)).await;
            assert_eq!(answer.header("vary"), Some("Origin"));
            assert_eq!(answer.header("access-control-allow-origin"), origin.filter(|_| allowed), "{origin:?}");
            assert_eq!(
                answer.header("access-control-expose-headers"),
                origin.filter(|_| allowed).map(|_| "Retry-After, X-Request-Id")
            );
            if allowed { assert_eq!(answer.status, status) } else { is_refused(&answer) }
        }
    }
    is_refused(&send(&app(), request("GET", "/sse", "Origin: null", Body::empty())).await);
}

#[tokio::test]
async fn preflight_is_204_and_shares_with_allowed_origins() {
    for path in ["/mcp", "/sse"] {
        let preflight = |origin: &str| request("OPTIONS", path, &format!("Origin: {origin}"), Body::empty());
        let answer = send(&app(), preflight("https://chat.example.com")).await;
        assert_eq!((answer.status.as_u16(), answer.body.len()), (204, 0));
        assert_eq!(answer.header("access-control-allow-origin"), Some("https://chat.example.com"));
        assert_eq!(answer.header("access-control-allow-methods"), Some("GET, POST, DELETE, OPTIONS"));
        let allowed = "content-type, accept, authorization, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id";
        assert_eq!(answer.header("access-control-allow-headers"), Some(allowed));
        assert_eq!(answer.header("vary"), Some("Origin"));
        for origin in ["https://evil.test", "null"] {
            let answer = send(&app(), preflight(origin)).await;
            assert_eq!((answer.status.as_u16(), answer.header("vary")), (204, Some("Origin")));
            assert!(answer.headers.keys().all(|name| !name.as_str().starts_with("access-control")), "{origin}");
        }
    }
}

#[tokio::test]
async fn loopback_server_rejects_other_hosts() {
    let hosts = Hosts::Loopback { also: vec!["atm.example.org".into()] };
    let app = router(server(), Start(0), Http { hosts, ..http() });
    let cases = [
        ("localhost", true),
        ("LocalHost:8080", true),
        ("127.0.0.1:1", true),
        ("127.9.9.9", true),
        ("[::1]:8080", true),
        ("atm.example.org", true),
        ("evil.example.com", false),
        ("localhost.evil.test", false),
        ("evil.test:80", false),
        ("10.0.0.1", false),
        ("0.0.0.0", false),
    ];
    for (host, allowed) in cases {
        let answer = send(&app, post("/mcp", &format!("Host: {host}"), PING)).await;
        if allowed {
            assert_eq!(answer.status, 200, "{host}");
        } else {
            is_refused(&answer);
        }
        let preflight = send(&app, request("OPTIONS", "/sse", &format!("Host: {host}"), Body::empty())).await;
        assert_eq!(preflight.status, if allowed { 204 } else { 403 }, "{host}");
    }
    // The host in an absolute request target takes precedence.
    let absolute: Request<Body> = post("http://evil.test/mcp", "Host: localhost", PING);
    is_refused(&send(&app, absolute).await);
}

#[tokio::test]
async fn request_has_one_host() {
    for hosts in [Hosts::Any, Hosts::Loopback { also: Vec::new() }] {
        let app = router(server(), Start(0), Http { hosts, ..http() });
        for sent in [
            "Host: localhost\nHost: localhost",
            "Host: localhost\nHost: evil.test",
            "Host: a b",
            "Host: me@localhost",
            "Host: ",
        ] {
            let answer = send(&app, post("/mcp", sent, PING)).await;
            assert_eq!((answer.status.as_u16(), &answer.json()["error"]["code"]), (400, &json!(-32600)), "{sent}");
        }
        for version in [Version::HTTP_10, Version::HTTP_11] {
            let mut bare = post("http://localhost/mcp", "", PING);
            bare.headers_mut().remove("host");
            *bare.version_mut() = version;
            assert_eq!(send(&app, bare).await.status, 400);
        }
        // HTTP/2 requests have the host in the request target.
        let mut bare = post("http://localhost/mcp", "", PING);
        bare.headers_mut().remove("host");
        *bare.version_mut() = Version::HTTP_2;
        assert_eq!(send(&app, bare).await.status, 200);
    }
}
