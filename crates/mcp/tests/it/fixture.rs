//! A test server with one tool for each outcome of a call, and helpers to send requests to it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode};
use axum::response::Response;
use axum::{Router, body};
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};
use signpost_mcp::{
    Annotations, Arguments, Call, CallError, Context, Handler, Http, Origins, Output, RpcResponse, Server, ServerInfo,
    SessionLimits, Sessions, Tool, router,
};
use tower::ServiceExt;

/// The `_meta` member of a request in revision 2026-07-28.
pub(crate) const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

/// The state of the test server: the first summand of the tool `add`.
pub(crate) struct Start(pub(crate) i64);

pub(crate) fn server() -> Server<Start> {
    let info = ServerInfo {
        name: "fixture".into(),
        title: "Fixture".into(),
        version: "1.2.3".into(),
        website_url: Some("https://example.com".into()),
        instructions: Some("Add first.".into()),
        ..ServerInfo::default()
    };
    Server::new(info)
        .tool(tool("add", add))
        .tool(tool("fail", |_, _, _| Err(CallError::Failed("nothing there; try add".into()))))
        .tool(tool("break", |_, _, _| Err(CallError::internal("the disk of secrets is full"))))
        .tool(tool("panic", |_, _, _| panic!("the disk of secrets burns")))
}

/// Returns the reply of the test server to a message. Its tools never wait.
pub(crate) fn answered(start: i64, context: &Context<'_>, body: &[u8]) -> RpcResponse {
    server().handle(&Start(start), context, body).now_or_never().expect("nothing waits")
}

/// Returns the headers for version, method and name. Values that are not valid in HTTP are omitted.
pub(crate) fn sent(values: [Option<&[u8]>; 3]) -> HeaderMap {
    let names = ["mcp-protocol-version", "mcp-method", "mcp-name"];
    let pairs = names.into_iter().zip(values);
    let sent =
        pairs.filter_map(|(name, value)| Some((HeaderName::from_static(name), HeaderValue::from_bytes(value?).ok()?)));
    sent.collect()
}

fn tool(
    name: &'static str,
    call: for<'a> fn(&'a Start, &'a Arguments, &'a Call<'a>) -> Result<Output, CallError>,
) -> Tool<Start> {
    Tool {
        name,
        title: "A tool",
        description: "Does something.",
        input_schema: json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "examples": [{ "n": 1 }] }),
        output_schema: Some(json!({ "type": "object", "properties": { "sum": { "type": "integer" } } })),
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        meta: serde_json::Map::new(),
        call: Handler::Sync(call),
    }
}

fn add(start: &Start, arguments: &Arguments, call: &Call<'_>) -> Result<Output, CallError> {
    let n = arguments.get("n").and_then(Value::as_i64);
    let n = n.ok_or_else(|| CallError::InvalidArgument(r#"n must be an integer; for example {"n":1}"#.into()))?;
    Output::structured(&json!({ "sum": start.0 + n, "note": "say \"hi\"\n", "revision": call.revision.as_str() }))
}

/// Creates sessions with distinct, deterministic IDs.
fn sessions(limits: SessionLimits) -> Sessions {
    let next = AtomicU64::new(0);
    Sessions::new(limits, move || u128::from(next.fetch_add(1, Ordering::Relaxed)).to_be_bytes())
}

pub(crate) fn http() -> Http {
    with_limits(SessionLimits { open: 3, queued: 2, idle: Duration::from_mins(1) })
}

pub(crate) fn with_limits(limits: SessionLimits) -> Http {
    Http {
        origins: Origins::parse(["http://localhost:3000", "https://*.example.com"]).unwrap(),
        ..Http::new(sessions(limits))
    }
}

pub(crate) fn app() -> Router {
    router(server(), Start(40), http())
}

/// A complete HTTP response.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {:?}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// Creates a request. `headers` are on separate lines; the default `Host` is `localhost`.
pub(crate) fn request(method: &str, path: &str, headers: &str, body: impl Into<Body>) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if !headers.contains("Host:") {
        request = request.header("Host", "localhost");
    }
    for (name, value) in headers.lines().filter_map(|line| line.trim().split_once(": ")) {
        request = request.header(name, value);
    }
    request.body(body.into()).unwrap()
}

/// Creates a `POST` request with a JSON message.
pub(crate) fn post(path: &str, headers: &str, body: impl Into<Body>) -> Request<Body> {
    request("POST", path, &format!("Content-Type: application/json\n{headers}"), body)
}

pub(crate) async fn send(app: &Router, request: Request<Body>) -> Answer {
    whole(app.clone().oneshot(request).await.unwrap()).await
}

async fn whole(response: Response) -> Answer {
    let (parts, body) = response.into_parts();
    let body = body::to_bytes(body, usize::MAX).await.unwrap();
    Answer { status: parts.status, headers: parts.headers, body }
}

/// An open event stream of the 2024-11-05 transport.
pub(crate) struct Stream {
    /// The URL for posting messages.
    pub(crate) endpoint: String,
    pub(crate) headers: HeaderMap,
    body: body::BodyDataStream,
}

impl Stream {
    pub(crate) async fn open(app: &Router) -> Self {
        let response = app.clone().oneshot(request("GET", "/sse", "", Body::empty())).await.unwrap();
        assert_eq!(response.status(), 200);
        let (parts, body) = response.into_parts();
        let mut stream = Self { endpoint: String::new(), headers: parts.headers, body: body.into_data_stream() };
        let first = stream.next().await.unwrap();
        first.strip_prefix("event: endpoint\ndata: ").unwrap().trim_end().clone_into(&mut stream.endpoint);
        stream
    }

    /// Returns the next raw event or comment, or `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<String> {
        let event = self.body.next().await?.unwrap();
        Some(String::from_utf8(event.to_vec()).unwrap())
    }

    /// Returns the next message on the stream.
    pub(crate) async fn message(&mut self) -> String {
        let event = self.next().await.unwrap();
        event.strip_prefix("event: message\ndata: ").unwrap().strip_suffix("\n\n").unwrap().to_owned()
    }
}
