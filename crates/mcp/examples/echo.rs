//! A minimal MCP server with a single tool, over HTTP, SSE and stdio.
//!
//! ```sh
//! cargo run --example echo                # http://127.0.0.1:8808/mcp and /sse
//! cargo run --example echo -- stdio       # one message a line
//! curl http://127.0.0.1:8808/mcp -H 'content-type: application/json' \
//!      -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}'
//! ```

use std::io;

use axum::serve::ListenerExt;
use serde_json::json;
use signpost_mcp::{
    Annotations, Arguments, Call, CallError, Handler, Hosts, Http, Origins, Output, Server, ServerInfo, SessionLimits,
    Sessions, Tool, router, serve_stdio,
};
use tokio::io::BufReader;
use tokio::net::TcpListener;

/// The state that is passed to all tools: the prefix of the echo.
struct Prefix(&'static str);

fn server() -> Server<Prefix> {
    Server::new(ServerInfo {
        name: "echo".into(),
        title: "Echo".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        instructions: Some("Use echo to hear what you said.".into()),
        ..ServerInfo::default()
    })
    .tool(Tool {
        name: "echo",
        title: "Echo a text",
        description: "Returns the text it is given. Use it to try a client; it has no other purpose.",
        input_schema: json!({
            "type": "object",
            "properties": { "text": { "type": "string", "description": "What to say, 1 to 200 characters" } },
            "required": ["text"],
            "additionalProperties": false,
            "examples": [{ "text": "hello" }],
        }),
        output_schema: Some(json!({
            "type": "object",
            "properties": { "text": { "type": "string" } },
            "required": ["text"],
        })),
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        meta: serde_json::Map::new(),
        call: Handler::Sync(echo),
    })
}

fn echo(prefix: &Prefix, arguments: &Arguments, _: &Call<'_>) -> Result<Output, CallError> {
    let text = arguments.get("text").and_then(|text| text.as_str()).unwrap_or_default();
    if !(1..=200).contains(&text.chars().count()) {
        let detail = r#"text must be a string of 1 to 200 characters; for example {"text":"hello"}"#;
        return Err(CallError::InvalidArgument(detail.into()));
    }
    Output::structured(&json!({ "text": format!("{}{text}", prefix.0) }))
}

#[expect(clippy::disallowed_methods, reason = "random bytes are created at the edge")]
fn random() -> [u8; 16] {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).expect("the system has randomness");
    bits
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let state = Prefix("you said: ");
    if std::env::args().any(|argument| argument == "stdio") {
        return serve_stdio(&server(), &state, BufReader::new(tokio::io::stdin()), tokio::io::stdout()).await;
    }
    let listener = TcpListener::bind("127.0.0.1:8808").await?;
    let own = ["http://localhost:8808", "http://127.0.0.1:8808", "http://[::1]:8808"];
    let http = Http {
        origins: Origins::parse(own).map_err(io::Error::other)?,
        hosts: Hosts::Loopback { also: Vec::new() },
        ..Http::new(Sessions::new(SessionLimits::default(), random))
    };
    println!("http://{}/mcp", listener.local_addr()?);
    // Without `TCP_NODELAY`, each event on a stream may wait for the client's acknowledgement of the previous event,
    // about 40 ms.
    let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
    axum::serve(listener, router(server(), state, http)).await
}
