//! A [Model Context Protocol](https://modelcontextprotocol.io) server layer for axum.
//!
//! It supports five revisions of the protocol (2024-11-05 to 2026-07-28) on `POST /mcp` without sessions, the older
//! HTTP+SSE transport on `/sse`, and stdio. It serves tools, resources with templates, prompts and completions of the
//! caller. A handler can report progress, log to its client, and request input.
//!
//! ```
//! use serde_json::json;
//! use signpost_mcp::{Annotations, CallError, Context, Handler, Output, Revision, Server, ServerInfo, Tool};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let server = Server::new(ServerInfo {
//!     name: "greeter".into(),
//!     title: "Greeter".into(),
//!     version: "1.0.0".into(),
//!     ..ServerInfo::default()
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
//!     icons: Vec::new(),
//!     meta: serde_json::Map::new(),
//!     call: Handler::Sync(|greeting: &String, arguments, _| match arguments.get("name").and_then(|name| name.as_str()) {
//!         Some(name) => Output::structured(&json!({ "text": format!("{greeting}, {name}") })),
//!         None => Err(CallError::InvalidArgument(r#"name must be a string; for example {"name":"Ada"}"#.into())),
//!     }),
//! });
//!
//! let params = r#"{"name":"greet","arguments":{"name":"Ada"}}"#;
//! let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
//! let reply = server.handle(&"Hello".to_owned(), &Context::session(Revision::ASSUMED), call.as_bytes()).await;
//! assert!(String::from_utf8(reply.body.unwrap()).unwrap().contains("Hello, Ada"));
//! # });
//! ```
//!
//! The path of a message: [`router`] (or [`serve_stdio`]) reads it, `message` parses it without copying, `context`
//! returns its revision, `server` finds the method, `tools`, `resource` or `prompt` the handler, and `response` or
//! `fault` render the result. All errors for clients are created in `fault`.

mod argument_reading;
mod call;
mod completion;
mod content;
mod context;
mod escape;
mod fault;
mod handler;
mod http;
mod json;
mod list;
mod message;
mod method;
mod mirrored_argument;
mod negotiated;
mod notifications;
mod outcome;
mod pending;
mod prompt;
mod resource;
mod response;
mod revision;
mod server;
mod stdio;
mod structured;
mod tool;
mod tools;

pub use argument_reading::{ArgumentReading, CLIENT_ARGUMENTS};
pub use call::{Call, CallError, InputRequired};
pub use completion::{Complete, Completion, StringMap};
pub use content::{Content, Contents, Icon, Output};
pub use context::{Context, Headers};
pub use handler::Handler;
pub use http::{
    Bucket, Hosts, Http, OpenPage, OriginParseError, Origins, OverLimit, Permit, PostResult, PostToStream, RateLimiter,
    Relay, RetryAfter, SessionLimits, Sessions, router,
};
pub use message::MAX_MESSAGE_BYTES;
pub use method::Method;
pub use notifications::{LogLevel, Notifications};
pub use prompt::{Prompt, PromptArgument, PromptMessage, Role};
pub use resource::Resource;
pub use response::RpcResponse;
pub use revision::Revision;
pub use server::{Server, ServerInfo};
pub use stdio::serve_stdio;
pub use structured::{Fragment, Structured, StructuredWriter};
pub use tool::{Annotations, Arguments, NormalizeArguments, NormalizedArguments, Tool};

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
