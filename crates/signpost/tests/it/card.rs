//! The result card for MCP Apps, as clients receive it. Its behaviour is tested in `tests/pages`.

use std::fs;

use reqwest::Method;
use serde_json::{Value, json};
use signpost_mcp::Revision;

use crate::assistant::{server, server_with};
use crate::harness::Service;

const URI: &str = "ui://signpost/atms-v1.html";
const MIME_TYPE: &str = "text/html;profile=mcp-app";
const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// The results before the card existed, one reply per line. After an intentional change run `write_the_results` with
/// `--ignored`, and review the difference.
const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/results.txt");

/// The public URL, without which results have the port of the server.
const PUBLIC: &[(&str, &str)] = &[("public_url", "https://atm.example.com/")];

/// Sends a request of a protocol revision with these client capabilities.
async fn ask(server: &Service, revision: Revision, method: &str, params: Value, capabilities: Value) -> String {
    let (mut params, name) = (params, revision.as_str());
    let mut headers = vec![("content-type", "application/json"), ("mcp-protocol-version", name)];
    let mirrored = params["name"].as_str().or(params["uri"].as_str()).unwrap_or_default().to_owned();
    if revision.is_stateless() {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": name,
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        headers.extend([("mcp-method", method), ("mcp-name", &mirrored)]);
    }
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let reply = server.send(Method::POST, "/mcp", &headers, &message.to_string()).await;
    assert_eq!(reply.status, 200, "{revision} {method}: {}", reply.text);
    reply.text
}

async fn result(server: &Service, revision: Revision, method: &str, params: Value) -> Value {
    let reply: Value = serde_json::from_str(&ask(server, revision, method, params, json!({})).await).unwrap();
    reply["result"].clone()
}

#[tokio::test]
async fn every_revision_lists_the_card() {
    let server = server().await;
    for revision in Revision::ALL {
        let introduction = if revision.is_stateless() { "server/discover" } else { "initialize" };
        let response = result(&server, revision, introduction, json!({ "protocolVersion": revision.as_str() })).await;
        assert_eq!(
            response["capabilities"]["extensions"][EXTENSION],
            json!({ "mimeTypes": [MIME_TYPE] }),
            "{revision}"
        );
        assert_eq!(result(&server, revision, "ping", json!({})).await, json!({}), "{revision}");

        let tools = result(&server, revision, "tools/list", json!({})).await["tools"].take();
        let shown = |tool: &&Value| tool.get("_meta").is_some();
        let names: Vec<_> = tools.as_array().unwrap().iter().filter(shown).map(|tool| tool["name"].clone()).collect();
        assert_eq!(names, ["find_nearest_bitcoin_atm", "check_atm_status", "list_atms_by_city"]);
        for tool in tools.as_array().unwrap().iter().filter(shown) {
            let ui = json!({ "resourceUri": URI, "visibility": ["model", "app"] });
            assert_eq!(tool["_meta"], json!({ "ui": ui, "ui/resourceUri": URI, "openai/outputTemplate": URI }));
        }

        let listed = result(&server, revision, "resources/list", json!({})).await["resources"].take();
        let listed = listed.as_array().unwrap().iter().find(|one| one["uri"] == URI).unwrap().clone();
        let read = result(&server, revision, "resources/read", json!({ "uri": URI })).await["contents"][0].take();
        let csp = json!({ "connectDomains": [], "resourceDomains": [] });
        let meta = json!({ "ui": { "csp": csp, "permissions": {}, "prefersBorder": true } });
        for one in [&listed, &read] {
            assert_eq!((&one["mimeType"], &one["_meta"]), (&json!(MIME_TYPE), &meta), "{revision}");
        }
        assert!(read["text"].as_str().unwrap().starts_with("<!doctype html>"));
    }
}

#[tokio::test]
async fn card_uses_the_configured_domain() {
    let of = async |settings: &[(&str, &str)]| {
        let server = server_with(settings).await;
        result(&server, Revision::ASSUMED, "resources/read", json!({ "uri": URI })).await["contents"][0].take()
    };
    let plain = of(&[]).await;
    let public = of(&[("public_url", "https://atm.example.com/"), ("card_domain", "a1.assistant.example")]).await;
    // The links to pages come with each result.
    assert_eq!(public["text"], plain["text"]);
    assert_eq!(public["_meta"]["ui"]["domain"], "a1.assistant.example");
}

/// Returns calls of the tools with a card and of the tool without a card.
fn calls() -> Vec<Value> {
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    vec![
        call("find_nearest_bitcoin_atm", json!({ "location": "Minneapolis, MN", "limit": 2 })),
        call("find_nearest_bitcoin_atm", json!({ "lat": 30.27, "lon": -97.74, "limit": 1, "units": "km" })),
        call("find_nearest_bitcoin_atm", json!({ "location": "Nowhere at all" })),
        call("check_atm_status", json!({ "location": "Miami, FL", "limit": 1 })),
        call("list_atms_by_city", json!({ "state": "TX", "city": "Austin" })),
        call("get_atm_details", json!({ "atmId": 1 })),
    ]
}

async fn results(server: &Service, revision: Revision, capabilities: &Value) -> Vec<String> {
    let mut replies = Vec::new();
    for call in calls() {
        replies.push(ask(server, revision, "tools/call", call, capabilities.clone()).await);
    }
    replies
}

#[tokio::test]
async fn results_are_independent_of_card_support() {
    let server = server_with(PUBLIC).await;
    let recorded = fs::read_to_string(RESULTS).unwrap();
    let recorded: Vec<_> = recorded.lines().collect();
    let plain = results(&server, Revision::V2025_11_25, &json!({})).await;
    assert_eq!(plain.len(), recorded.len());
    for (now, then) in plain.iter().zip(&recorded) {
        assert_eq!(now, then);
    }
    let shows = json!({ "extensions": { EXTENSION: { "mimeTypes": [MIME_TYPE] } } });
    let stateless = Revision::V2026_07_28;
    assert_eq!(results(&server, stateless, &json!({})).await, results(&server, stateless, &shows).await);
}

#[tokio::test]
#[ignore = "writes the file that the test above holds results to"]
async fn write_the_results() {
    let replies = results(&server_with(PUBLIC).await, Revision::V2025_11_25, &json!({})).await;
    fs::write(RESULTS, replies.join("\n") + "\n").unwrap();
}
