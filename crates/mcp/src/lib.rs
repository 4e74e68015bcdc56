//! A [Model Context Protocol](https://modelcontextprotocol.io) server layer for axum.
//!
//! Five revisions of the protocol (2024-11-05 to 2026-07-28) on one `POST /mcp` without sessions, the older HTTP+SSE
//! transport on `/sse`, and stdio. It serves tools; what they do is the caller's business.
//!
//! ```
//! use serde_json::json;
//! use signpost_mcp::{Annotations, Context, Info, Revision, Server, Structured, Tool, ToolError};
//!
//! let server = Server::new(Info {
//!     name: "greeter".into(),
//!     title: "Greeter".into(),
//!     version: "1.0.0".into(),
//!     website_url: None,
//!     instructions: None,
//! })
//! .tool(Tool {
//!     name: "greet",
//!     title: "Greet",
//!     description: "Greets someone by name.",
//!     input_schema: json!({
//!         "type": "object", "properties": { "name": { "type": "string" } }, "examples": [{ "name": "Ada" }],
//!     }),
//!     output_schema: None,
//!     annotations: Annotations::LOOKUP,
//!     call: |greeting: &String, arguments, _| match arguments.get("name").and_then(|name| name.as_str()) {
//!         Some(name) => Structured::render(&json!({ "text": format!("{greeting}, {name}") })),
//!         None => Err(ToolError::BadArgument(r#"name must be a string; for example {"name":"Ada"}"#.into())),
//!     },
//! });
//!
//! let params = r#"{"name":"greet","arguments":{"name":"Ada"}}"#;
//! let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
//! let reply = server.answer(&"Hello".to_owned(), &Context::session(Revision::ASSUMED), call.as_bytes());
//! assert!(String::from_utf8(reply.body.unwrap()).unwrap().contains("Hello, Ada"));
//! ```
//!
//! The way of a message: [`router`] (or [`serve_stdio`]) reads it whole, `message` takes it apart without copying,
//! `context` settles by which revision it is answered, `server` finds the method, `tools` the tool, and `reply` or
//! `fault` render what came of it. Every error a client can see is built in `fault`.

mod context;
mod fault;
mod http;
mod json;
mod message;
mod reply;
mod revision;
mod server;
mod stdio;
mod tool;
mod tools;

/// How large a message may be, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 1 << 20;

pub use context::{Context, Headers};
pub use http::{BadOrigin, Bucket, Gate, Hosts, Http, Origins, RetryAfter, SessionLimits, Sessions, router};
pub use reply::Reply;
pub use revision::Revision;
pub use server::{Info, Server};
pub use stdio::serve_stdio;
pub use tool::{Annotations, Arguments, Call, Structured, Tool, ToolError};
