//! An MCP server with every feature that the protocol's conformance suite tests, under the names that the suite
//! expects.
//!
//! ```sh
//! cargo run --example everything -- --listen 127.0.0.1:8809     # prints http://127.0.0.1:8809/mcp
//! ```

mod input;
mod prompts;
mod resources;
mod tools;

use std::io;

use axum::serve::ListenerExt;
use serde_json::json;
use signpost_mcp::{
    Handler, Hosts, Http, Method, Origins, Revision, Server, ServerInfo, SessionLimits, Sessions, router,
};
use tokio::net::TcpListener;

/// The state of all handlers: the key that authenticates `requestState`.
struct Everything {
    key: [u8; 16],
}

fn server() -> Server<Everything> {
    let mut server = Server::new(ServerInfo {
        name: "everything".into(),
        title: "Everything".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        ..ServerInfo::default()
    })
    .logs();
    for tool in tools::all().into_iter().chain(input::all()) {
        server = server.tool(tool);
    }
    for resource in resources::all() {
        server = server.resource(resource);
    }
    for prompt in prompts::all() {
        server = server.prompt(prompt);
    }
    // Subscriptions are accepted but not stored, because the server has no sessions and its resources never change.
    for name in ["resources/subscribe", "resources/unsubscribe"] {
        let revisions = Revision::V2024_11_05..=Revision::V2025_11_25;
        server = server.method(Method { name, revisions, call: Handler::Sync(|_, _, _| Ok(json!({}))) });
    }
    server
}

#[expect(clippy::disallowed_methods, reason = "random bytes are created at the edge")]
fn random() -> [u8; 16] {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).expect("the system has randomness");
    bits
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let asked = std::env::args().skip_while(|argument| argument != "--listen").nth(1);
    let listener = TcpListener::bind(asked.as_deref().unwrap_or("127.0.0.1:0")).await?;
    let port = listener.local_addr()?.port();
    let own = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}"));
    let http = Http {
        origins: Origins::parse(own.iter().map(String::as_str)).map_err(io::Error::other)?,
        hosts: Hosts::Loopback { also: Vec::new() },
        ..Http::new(Sessions::new(SessionLimits::default(), random))
    };
    println!("http://127.0.0.1:{port}/mcp");
    let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
    axum::serve(listener, router(server(), Everything { key: random() }, http)).await
}
