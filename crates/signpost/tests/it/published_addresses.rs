//! The addresses that a server behind a proxy publishes.

use reqwest::Method;
use serde_json::{Value, json};

use crate::assistant::{server, server_with};
use crate::harness::{Program, Service};

const PUBLIC: &str = "https://atm.example.com";
/// Documents with addresses of the server.
const DOCUMENTS: [&str; 8] = [
    "/.well-known/mcp-server",
    "/mcp/server-card",
    "/.well-known/ai-catalog.json",
    "/mcp.md",
    "/mcp",
    "/llms.txt",
    "/robots.txt",
    "/sitemap.xml",
];
const PING: &str = r#"{"jsonrpc":"2.0","id":"seven","method":"ping"}"#;

async fn behind_proxy() -> Service {
    server_with(&[("public_url", "https://atm.example.com/"), ("trusted_proxies", "127.0.0.1")]).await
}

/// Requests a document as a proxy does, with headers of a client that names another host.
async fn forwarded(server: &Service, path: &str) -> String {
    let headers = [
        ("host", "atm.example.com"),
        ("accept", if path == "/mcp" { "text/html" } else { "*/*" }),
        ("x-forwarded-for", "203.0.113.7"),
        ("x-forwarded-proto", "http"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-prefix", "/evil"),
        ("forwarded", "for=203.0.113.7;host=evil.example;proto=http"),
    ];
    let reply = server.send(Method::GET, path, &headers, "").await;
    assert_eq!(reply.status, 200, "{path}");
    reply.text
}

#[tokio::test]
async fn published_addresses_agree_behind_a_proxy() {
    let server = behind_proxy().await;
    for path in DOCUMENTS {
        let text = forwarded(&server, path).await;
        assert!(text.contains(PUBLIC), "{path}: {text}");
        for other in
            ["evil.example", "\"/evil", "http://atm.example.com", &server.app.listen.to_string(), "atm.example.com//"]
        {
            assert!(!text.contains(other), "{path} names {other}: {text}");
        }
    }
    let document: Value = serde_json::from_str(&forwarded(&server, "/.well-known/mcp-server").await).unwrap();
    let endpoints = json!({ "sse": format!("{PUBLIC}/sse"), "http": format!("{PUBLIC}/mcp") });
    assert_eq!(document["endpoints"], endpoints);
    let card: Value = serde_json::from_str(&forwarded(&server, "/mcp/server-card").await).unwrap();
    assert_eq!([&card["remotes"][0]["url"], &card["remotes"][1]["url"]], [&endpoints["http"], &endpoints["sse"]]);
}

#[tokio::test]
async fn endpoint_event_is_a_path_of_the_clients_origin() {
    let server = behind_proxy().await;
    for path in ["/sse", "/sse/"] {
        let request = server.visitor().request(Method::GET, path).header("host", "atm.example.com");
        let mut stream = request.header("x-forwarded-host", "evil.example").send().await.unwrap();
        assert_eq!(stream.status(), 200, "{path}");
        let mut text = String::new();
        while !text.contains("\n\n") {
            text.push_str(&String::from_utf8_lossy(&stream.chunk().await.unwrap().expect("an event")));
        }
        let endpoint = text.strip_prefix("event: endpoint\ndata: ").expect("the first event").lines().next().unwrap();
        let id = endpoint.strip_prefix("/sse?sessionId=").expect("a path");
        assert_eq!(id.len(), 32, "{endpoint}");
        // The address of the discovery document, resolved like a client does.
        let base = url::Url::parse(&format!("{PUBLIC}{path}")).unwrap();
        assert_eq!(base.join(endpoint).unwrap().as_str(), format!("{PUBLIC}{endpoint}"));
        for message_path in [endpoint.to_owned(), format!("/sse/?sessionId={id}")] {
            let reply = server.send(Method::POST, &message_path, &[("content-type", "application/json")], PING).await;
            assert_eq!((reply.status, reply.text.as_str()), (202, ""), "{message_path}");
        }
    }
}

#[tokio::test]
async fn paths_with_a_trailing_slash_are_endpoints() {
    let server = server().await;
    for (path, same) in [("/mcp/", "/mcp"), ("/sse/", "/sse")] {
        let headers = [("content-type", "application/json")];
        let [reply, expected] = [
            server.send(Method::POST, path, &headers, PING).await,
            server.send(Method::POST, same, &headers, PING).await,
        ];
        assert_eq!((reply.status, &reply.text), (200, &expected.text), "{path}");
        let refused = server.send(Method::POST, path, &[("host", "evil.example"), headers[0]], PING).await;
        assert_eq!(refused.status, 403, "{path}");
        assert!(refused.text.starts_with("{\"jsonrpc\":\"2.0\""), "{}", refused.text);
        let preflight = [("origin", "http://localhost:3000"), ("access-control-request-method", "POST")];
        assert_eq!(server.send(Method::OPTIONS, path, &preflight, "").await.status, 204, "{path}");
        assert_eq!(server.send(Method::PUT, path, &[], "").await.status, 405, "{path}");
    }
    let page = server.send(Method::GET, "/mcp/", &[("accept", "text/html")], "").await;
    assert_eq!(page.text, server.send(Method::GET, "/mcp", &[("accept", "text/html")], "").await.text);
    assert_eq!(server.send(Method::GET, "/mcp//", &[], "").await.status, 404);
}

#[tokio::test]
async fn install_page_names_no_address_behind_an_unnamed_proxy() {
    let server = server_with(&[("trusted_proxies", "127.0.0.1")]).await;
    let page = server.send(Method::GET, "/mcp", &[("accept", "text/html")], "").await.text;
    assert!(!page.contains("id=\"address\"") && page.contains("notice warn"), "{page}");
}

#[test]
fn public_url_with_a_path_prevents_the_start() {
    let folder = tempfile::tempdir().unwrap();
    for services in ["auth", "atm", "atm,auth"] {
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--services", services, "--public-url"];
        let ended = Program::within(folder.path(), &[&arguments[..], &["https://example.com/atm"]].concat()).run();
        let error = ended.failed(2);
        assert!(error.starts_with("public_url (command line): 'https://example.com/atm' is not allowed"), "{error}");
        assert!(error.contains("cookies") && error.contains("rp.id") && error.contains("host name"), "{error}");
    }
    for arguments in [&["doctor"][..], &["config", "check"], &["status"]] {
        let program = Program::within(folder.path(), arguments).env("SIGNPOST_PUBLIC_URL", "https://example.com/atm/");
        assert!(program.run().failed(2).starts_with("public_url (environment): "), "{arguments:?}");
    }
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "something was created");
    let config =
        Program::within(folder.path(), &["config", "check"]).env("SIGNPOST_PUBLIC_URL", "https://example.com/");
    assert!(config.run().out.contains("https://example.com/"));
}
