//! Tests of protocol extensions, declared as capabilities by the server and the client.

use axum::Router;
use serde_json::{Map, Value, json};
use signpost_mcp::{
    Annotations, Contents, Context, Handler, Output, Resource, Revision, Server, ServerInfo, Tool, router, serve_stdio,
};

use crate::fixture::{META, Stream, http, post, send};

const NAME: &str = "com.example/cards";
const URI: &str = "card://one";

fn members(value: Value) -> Map<String, Value> {
    if let Value::Object(members) = value { members } else { Map::new() }
}

/// Creates a server with a tool that returns the client's settings for the extension.
fn server() -> Server<()> {
    Server::new(ServerInfo::default())
        .extension(NAME, members(json!({ "sizes": [1] })))
        .tool(Tool {
            name: "settings",
            title: "",
            description: "",
            input_schema: json!({ "type": "object" }),
            output_schema: None,
            annotations: Annotations::LOOKUP,
            icons: Vec::new(),
            meta: members(json!({ "card": { "uri": URI } })),
            call: Handler::Sync(|(), _, call| Ok(Output::text(json!(call.extension(NAME)).to_string()))),
        })
        .resource(Resource {
            uri: URI,
            name: "one",
            title: "",
            description: "",
            mime_type: "text/plain",
            icons: Vec::new(),
            meta: members(json!({ "card": { "border": true } })),
            completions: Vec::new(),
            read: Handler::Sync(|(), _, _| Ok(Contents::Text("One".into()))),
        })
}

fn app() -> Router {
    router(server(), (), http())
}

fn message(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

/// Returns a message that calls the tool without further client metadata.
fn call() -> String {
    message("tools/call", &json!({ "name": "settings" }))
}

fn initialize(capabilities: &Value) -> String {
    message("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities }))
}

/// Returns the tool's result in a reply.
fn tool_result(reply: &str) -> Value {
    let reply: Value = serde_json::from_str(reply).unwrap();
    serde_json::from_str(reply["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
}

async fn result(revision: Revision, method: &str, params: Value) -> Value {
    let mut params = params;
    if revision.is_stateless() {
        params["_meta"] = serde_json::from_str(META).unwrap();
    }
    let body = message(method, &params);
    let reply = server().handle(&(), &Context::session(revision), body.as_bytes()).await;
    serde_json::from_slice::<Value>(&reply.body.unwrap()).unwrap()["result"].take()
}

#[tokio::test]
async fn extension_is_a_capability_and_marks_tools() {
    for revision in Revision::ALL {
        let introduction = if revision.is_stateless() { "server/discover" } else { "initialize" };
        let introduced = result(revision, introduction, json!({})).await;
        assert_eq!(introduced["capabilities"]["extensions"], json!({ NAME: { "sizes": [1] } }), "{revision}");
        let tools = result(revision, "tools/list", json!({})).await;
        assert_eq!(tools["tools"][0]["_meta"], json!({ "card": { "uri": URI } }));
        let border = json!({ "card": { "border": true } });
        let resources = result(revision, "resources/list", json!({})).await;
        assert_eq!(resources["resources"][0]["_meta"], border);
        let read = result(revision, "resources/read", json!({ "uri": URI })).await;
        assert_eq!((&read["contents"][0]["_meta"], &read["contents"][0]["text"]), (&border, &json!("One")));
    }
}

#[tokio::test]
async fn stateless_request_declares_client_extensions() {
    for (capabilities, known) in [
        (json!({ "extensions": { NAME: { "sizes": [2] } } }), json!({ "sizes": [2] })),
        (json!({ "extensions": { NAME: {} } }), json!({})),
        (json!({ "extensions": { NAME: true } }), Value::Null),
        (json!({ "extensions": { "com.example/other": {} } }), Value::Null),
        (json!({ "extensions": [NAME] }), Value::Null),
        (json!({}), Value::Null),
    ] {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        let body = message("tools/call", &json!({ "name": "settings", "_meta": meta }));
        let headers = "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: settings\n";
        let answer = send(&app(), post("/mcp", headers, body)).await;
        assert_eq!(tool_result(std::str::from_utf8(&answer.body).unwrap()), known, "{capabilities}");
    }
    let answer = send(&app(), post("/mcp", "", call())).await;
    assert_eq!(tool_result(std::str::from_utf8(&answer.body).unwrap()), Value::Null);
}

#[tokio::test]
async fn connection_stores_client_extensions() {
    let has = json!({ "extensions": { NAME: { "sizes": [2] } } });
    let long = json!({ "extensions": { NAME: {}, "com.example/other": { "x": "y".repeat(4096) } } });
    let lines = [&call(), &initialize(&has), &call(), &initialize(&long), &call(), &initialize(&json!({})), &call()];
    let input = lines.map(String::as_str).join("\n");
    let mut output = Vec::new();
    serve_stdio(&server(), &(), input.as_bytes(), &mut output).await.unwrap();
    let replies = String::from_utf8(output).unwrap();
    let known: Vec<_> = replies.lines().step_by(2).map(tool_result).collect();
    assert_eq!(known, [Value::Null, json!({ "sizes": [2] }), Value::Null, Value::Null]);

    let app = app();
    let (mut one, mut two) = (Stream::open(&app).await, Stream::open(&app).await);
    send(&app, post(&one.endpoint, "", initialize(&has))).await;
    one.message().await;
    for (stream, known) in [(&mut one, json!({ "sizes": [2] })), (&mut two, Value::Null)] {
        send(&app, post(&stream.endpoint, "", call())).await;
        assert_eq!(tool_result(&stream.message().await), known);
    }
}
