//! Health, discovery, origins, limits and the event stream of the server (docs/locator.md). The protocol's tables are
//! tested in signpost-mcp.

use std::time::Duration;

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::assistant::{server, server_with};
use crate::harness::{Service, http, until};

const JSON: (&str, &str) = ("content-type", "application/json");
const PING: &str = r#"{"jsonrpc":"2.0","id":"seven","method":"ping"}"#;

#[tokio::test]
async fn health_and_discovery_match_the_specification() {
    let server = server_with(&[("public_url", "https://atm.example.com/")]).await;
    let health = server.send(Method::GET, "/health", &[("origin", "https://any.example")], "").await;
    assert_eq!(health.header("access-control-allow-origin"), Some("*"));
    let health = health.with(200);
    assert_eq!((health["status"].as_str(), health["mode"].as_str()), (Some("ok"), Some("remote")));
    assert_eq!(health["timestamp"], "2027-01-15T08:00:00Z");
    let host = [("host", "evil.example")];
    let document = server.send(Method::GET, "/.well-known/mcp-server", &host, "").await.with(200);
    assert_eq!(
        document["endpoints"],
        json!({ "sse": "https://atm.example.com/sse", "http": "https://atm.example.com/mcp" })
    );
    assert_eq!((&document["version"], document["name"].as_str()), (&health["version"], Some("signpost")));
    assert!(document["capabilities"].as_array().unwrap().contains(&json!("tools")));
    let tools: Vec<_> = signpost_atm::mcp::server(false, None).tools().map(|tool| tool.name).collect();
    assert_eq!(document["tools"], json!(tools));
    let ready = server.send(Method::GET, "/health/ready", &[], "").await;
    ready.with(200);
    let plain = server_with(&[]).await;
    let document = plain.send(Method::GET, "/.well-known/mcp-server", &[], "").await.with(200);
    assert_eq!(document["endpoints"]["http"], plain.url("/mcp"));
}

#[tokio::test]
async fn only_allowed_origins_and_hosts_are_accepted() {
    let server = server_with(&[("allowed_origins", "http://localhost:3000,https://*.vendor.example")]).await;
    let port = server.app.listen.port();
    let own = [format!("http://localhost:{port}"), format!("http://127.0.0.1:{port}"), format!("http://[::1]:{port}")];
    let allowed = ["http://localhost:3000", "https://a.vendor.example", "https://a.b.vendor.example"];
    for origin in own.iter().map(String::as_str).chain(allowed) {
        let reply = server.send(Method::POST, "/mcp", &[JSON, ("origin", origin)], PING).await;
        assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, Some(origin)));
        assert_eq!(reply.header("vary"), Some("Origin"));
    }
    for origin in [
        "null",
        "https://vendor.example",
        "http://a.vendor.example",
        "https://evilvendor.example",
        "http://localhost:3001",
    ] {
        let reply = server.send(Method::POST, "/mcp", &[JSON, ("origin", origin)], PING).await;
        assert_eq!((reply.status, reply.header("access-control-allow-origin")), (403, None), "{origin}");
        assert_eq!(reply.json()["jsonrpc"], "2.0");
        let preflight = server.send(Method::OPTIONS, "/mcp", &[("origin", origin)], "").await;
        assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, None));
    }
    let preflight = server.send(Method::OPTIONS, "/sse", &[("origin", "http://localhost:3000")], "").await;
    assert_eq!(preflight.header("access-control-allow-methods"), Some("GET, POST, DELETE, OPTIONS"));
    for (host, status) in [("localhost:1", 200), ("127.0.0.1", 200), ("[::1]:9", 200), ("evil.example", 403)] {
        let reply = server.send(Method::POST, "/mcp", &[JSON, ("host", host)], PING).await;
        assert_eq!(reply.status, status, "{host}");
    }
}

#[tokio::test]
async fn discovery_allows_preflights_of_all_origins() {
    let server = server_with(&[]).await;
    for path in ["/.well-known/mcp-server", "/.well-known/ai-catalog.json", "/mcp/server-card"] {
        let asked = [
            ("origin", "https://inspector.example"),
            ("access-control-request-method", "GET"),
            ("access-control-request-headers", "mcp-protocol-version"),
        ];
        let preflight = server.send(Method::OPTIONS, path, &asked, "").await;
        assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some("*")), "{path}");
        let allowed = preflight.header("access-control-allow-headers").expect("a list of headers");
        assert!(allowed.contains("mcp-protocol-version"), "{path}: {allowed}");
    }
}

#[tokio::test]
async fn eleventh_message_per_second_is_rejected() {
    let server = server_with(&[("rate_limit_mcp", "10/s")]).await;
    for number in 0..10 {
        let path = if number % 2 == 0 { "/mcp" } else { "/sse" };
        server.send(Method::POST, path, &[JSON], PING).await.with(200);
    }
    for path in ["/mcp", "/sse"] {
        let reply = server.send(Method::POST, path, &[JSON], PING).await;
        assert_eq!((reply.status, reply.header("retry-after")), (429, Some("1")));
        assert_eq!((reply.json()["error"]["code"].as_i64(), &reply.json()["id"]), (Some(-31429), &json!("seven")));
    }
    // None of these requests counts towards the limit or is rejected.
    for _ in 0..20 {
        assert_eq!(server.send(Method::GET, "/health", &[], "").await.status, 200);
        assert_eq!(server.send(Method::OPTIONS, "/mcp", &[], "").await.status, 204);
        let reply = server.send(Method::GET, "/mcp", &[], "").await;
        assert_eq!((reply.status, reply.header("allow").is_some()), (405, true));
    }
    server.advance_clock(SignedDuration::from_secs(1));
    server.send(Method::POST, "/mcp", &[JSON], PING).await.with(200);
}

#[tokio::test]
async fn trusted_proxies_determine_the_client_ip() {
    for (proxies, status) in [("127.0.0.0/8", 200), ("", 429)] {
        let server = server_with(&[("rate_limit_mcp", "1/m"), ("trusted_proxies", proxies)]).await;
        let from = async |address: &str| {
            server.send(Method::POST, "/mcp", &[JSON, ("x-forwarded-for", address)], PING).await.status
        };
        assert_eq!(from("198.51.100.1").await, 200);
        assert_eq!(from("198.51.100.2").await, status);
        assert_eq!(from("198.51.100.1").await, 429);
        assert_eq!([from("2001:db8::1").await, from("2001:db8::2").await], [status, 429]);
    }
}

/// A client of the HTTP+SSE transport: its connection and the received data.
struct Stream {
    connection: TcpStream,
    text: String,
}

impl Stream {
    async fn open(server: &Service) -> Self {
        let mut connection = TcpStream::connect(server.app.listen).await.unwrap();
        connection
            .write_all(b"GET /sse HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n")
            .await
            .unwrap();
        Self { connection, text: String::new() }
    }

    /// Returns the text after `mark`, up to the end of its line.
    async fn line(&mut self, mark: &str) -> String {
        loop {
            if let Some((line, _)) = self.text.split_once(mark).and_then(|(_, rest)| rest.split_once('\n')) {
                return line.trim_end().to_owned();
            }
            let mut bytes = [0; 4096];
            let read = tokio::time::timeout(Duration::from_secs(10), self.connection.read(&mut bytes)).await;
            let length = read.expect("a message in time").unwrap();
            assert!(length > 0, "the stream ended: {}", self.text);
            self.text.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
    }
}

#[tokio::test]
async fn stream_starts_with_its_endpoint() {
    let server = server().await;
    let mut stream = Stream::open(&server).await;
    let endpoint = stream.line("event: endpoint\ndata: ").await;
    assert!(endpoint.strip_prefix("/sse?sessionId=").is_some_and(|id| id.len() == 32), "{endpoint}");
    let reply = server.send(Method::POST, &endpoint, &[JSON], PING).await;
    assert_eq!((reply.status, reply.text.as_str()), (202, ""));
    let message: Value = serde_json::from_str(&stream.line("event: message\ndata: ").await).unwrap();
    assert_eq!((&message["id"], &message["result"]), (&json!("seven"), &json!({})));
    let unknown = format!("/sse?sessionId={}", "0".repeat(32));
    assert_eq!(server.send(Method::POST, &unknown, &[JSON], PING).await.status, 404);
    // An open stream does not delay the shutdown.
    tokio::time::timeout(Duration::from_secs(5), server.stop()).await.expect("the server stops");
}

#[tokio::test]
async fn sixth_stream_per_second_is_rejected() {
    let server = server_with(&[("rate_limit_sse", "5/s")]).await;
    let mut open = Vec::new();
    for _ in 0..5 {
        let mut stream = Stream::open(&server).await;
        stream.line("event: endpoint\ndata: ").await;
        open.push(stream);
    }
    assert_eq!(server.send(Method::GET, "/sse", &[], "").await.status, 429);
    server.send(Method::POST, "/sse", &[JSON], PING).await.with(200);
    server.stop().await;
}

#[tokio::test]
async fn streams_of_one_client_ip_are_limited() {
    let server = server_with(&[("trusted_proxies", "127.0.0.1")]).await;
    let opens = async |address: &str| {
        let request = server.visitor().request(Method::GET, "/sse").header("x-forwarded-for", address);
        request.send().await.unwrap()
    };
    let mut open = Vec::new();
    for _ in 0..64 {
        let stream = opens("203.0.113.1").await;
        assert_eq!(stream.status(), 200);
        open.push(stream);
    }
    let refused = opens("203.0.113.1").await;
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (429, &"5".parse().unwrap()));
    let refused: Value = serde_json::from_str(&refused.text().await.unwrap()).unwrap();
    assert_eq!(refused["error"]["code"], -31429);
    assert_eq!(opens("203.0.113.2").await.status(), 200);
    open.pop();
    let again = async || (opens("203.0.113.1").await.status() == 200).then_some(());
    until("the place of a stream that ended is free", again).await;
}

#[tokio::test]
async fn services_can_be_disabled() {
    let server = server_with(&[("services", "auth")]).await;
    server.send(Method::POST, "/mcp", &[JSON], PING).await.assert_error(404, "not_found");
    server.send(Method::GET, "/v1/domains", &[], "").await.assert_error(401, "invalid_api_key");
    let server = server_with(&[("services", "atm")]).await;
    server.send(Method::POST, "/mcp", &[JSON], PING).await.with(200);
    // Sent without the check that the path is documented.
    assert_eq!(http().get(server.url("/v1/domains")).send().await.unwrap().status(), 404);
}
