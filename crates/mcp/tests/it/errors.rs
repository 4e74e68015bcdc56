//! The contract's error table, on every transport and for every revision.

use axum::Router;
use signpost_mcp::{Revision, serve_stdio};

use crate::fixture::{META, Start, Stream, app, post, send, server};

/// The expected reply of a case.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// HTTP status, code, and beginning of the message.
    Error(u16, i32, &'static str),
    /// A result with `isError`, visible to the model, and the beginning of its text.
    ToolResult(&'static str),
}
use Answer::{Error, ToolResult};

/// A body (`META` is replaced by the `params._meta` of a revision), the ID in the reply, and the replies up to
/// 2025-06-18, at 2025-11-25 and at 2026-07-28.
type Case = (&'static str, &'static str, [Answer; 3]);

const fn always(answer: Answer) -> [Answer; 3] {
    [answer; 3]
}

const PARSE: Answer = Error(400, -32700, "Parse error: ");
const NOT_2: Answer = Error(400, -32600, "Invalid request: jsonrpc must be \"2.0\"");
const NO_METHOD: Answer = Error(400, -32600, "Invalid request: method must be a string");
const BAD_ID: Answer = Error(400, -32600, "Invalid request: id must be a string or a number");
const BATCH: Answer = Error(400, -32600, "Invalid request: batches are not accepted");
const NOT_A_MESSAGE: Answer = Error(400, -32600, "Invalid request: a message is an object");
const TWICE: Answer = Error(400, -32600, "Invalid request: ");
const NO_TOOL: Answer = Error(200, -32602, "Invalid params: params.name: there is no tool \"nope\"; the tools are add");
const BAD_N: &str = "Invalid params: n must be an integer; for example {\"n\":1}";

const UNKNOWN_METHOD: [Answer; 3] = [
    Error(200, -32601, "Method not found: "),
    Error(200, -32601, "Method not found: "),
    Error(404, -32601, "Method not found: "),
];
const BAD_ARGUMENT: [Answer; 3] = [Error(200, -32602, BAD_N), ToolResult(BAD_N), ToolResult(BAD_N)];

const fn malformed(begins: &'static str) -> [Answer; 3] {
    [Error(200, -32602, begins), Error(200, -32602, begins), Error(400, -32602, begins)]
}

const CASES: &[Case] = &[
    ("", "null", always(PARSE)),
    ("hello", "null", always(PARSE)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list""#, "null", always(PARSE)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}}"#, "null", always(PARSE)),
    (r#"[{"jsonrpc":"2.0","id":1"#, "null", always(PARSE)),
    (r#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#, "null", always(PARSE)),
    ("[]", "null", always(BATCH)),
    (r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#, "null", always(BATCH)),
    ("null", "null", always(NOT_A_MESSAGE)),
    ("\"tools/list\"", "null", always(NOT_A_MESSAGE)),
    ("{}", "null", always(NOT_2)),
    (r#"{"id":7,"method":"tools/list"}"#, "7", always(NOT_2)),
    (r#"{"jsonrpc":"1.0","id":7,"method":"tools/list"}"#, "7", always(NOT_2)),
    (r#"{"jsonrpc":2.0,"id":"x","method":"tools/list"}"#, "\"x\"", always(NOT_2)),
    (r#"{"jsonrpc":"2.0","id":0}"#, "0", always(NO_METHOD)),
    (r#"{"jsonrpc":"2.0","id":0,"method":5}"#, "0", always(NO_METHOD)),
    (r#"{"jsonrpc":"2.0","id":0,"result":{}}"#, "0", always(NO_METHOD)),
    (r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, "null", always(BAD_ID)),
    (r#"{"jsonrpc":"2.0","id":true,"method":"tools/list"}"#, "null", always(BAD_ID)),
    (r#"{"jsonrpc":"2.0","id":[1],"method":"tools/list"}"#, "null", always(BAD_ID)),
    (r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, "null", always(BAD_ID)),
    (r#"{"jsonrpc":"2.0","id":"\ud800","method":"tools/list"}"#, "null", always(BAD_ID)),
    (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}"#, "null", always(TWICE)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"ping"}"#, "1", always(TWICE)),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":META,"name":"add","name":"fail"}}"#,
        "1",
        always(TWICE),
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":META,"name":"add","arguments":{"n":1,"n":2}}}"#,
        "1",
        always(TWICE),
    ),
    (r#"{"jsonrpc":"2.0","id":1.5,"method":"resources/list","params":{"_meta":META}}"#, "1.5", UNKNOWN_METHOD),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/Call","params":{"_meta":META}}"#, "1", UNKNOWN_METHOD),
    (
        r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"_meta":META,"name":"nope"}}"#,
        "9007199254740993",
        always(NO_TOOL),
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":META}}"#,
        "1",
        malformed("Invalid params: params.name must be the name of a tool, got nothing; the tools are add"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":META,"name":["add"]}}"#,
        "1",
        malformed("Invalid params: params.name must be the name of a tool, got an array"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":META,"name":"add","arguments":[1]}}"#,
        "1",
        malformed("Invalid params: params.arguments must be an object, got an array; for example {\"name\":\"add\""),
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":META,"name":"add","arguments":7}}"#,
        "1",
        malformed("Invalid params: params.arguments must be an object, got a number"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":META,"cursor":"2"}}"#,
        "1",
        always(Error(200, -32602, "Invalid params: params.cursor is unknown")),
    ),
    (r#"{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"_meta":META,"name":"add"}}"#, "\"s\"", BAD_ARGUMENT),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":META,"name":"add","arguments":{"n":"1"}}}"#,
        "1",
        BAD_ARGUMENT,
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":META,"name":"add","arguments":{"n":1e999}}}"#,
        "1",
        [
            Error(200, -32602, "Invalid params: params.arguments: number out of range"),
            ToolResult("Invalid params: params.arguments: number out of range"),
            ToolResult("Invalid params: params.arguments: number out of range"),
        ],
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":META,"name":"fail"}}"#,
        "1",
        always(ToolResult("nothing there; try add")),
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":META,"name":"break"}}"#,
        "1",
        always(Error(500, -32603, "Internal error")),
    ),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":META,"name":"panic"}}"#,
        "1",
        always(Error(500, -32603, "Internal error")),
    ),
];

fn column(revision: Option<Revision>) -> usize {
    match revision {
        None | Some(Revision::V2024_11_05 | Revision::V2025_03_26 | Revision::V2025_06_18) => 0,
        Some(Revision::V2025_11_25) => 1,
        Some(Revision::V2026_07_28) => 2,
    }
}

fn revisions() -> impl Iterator<Item = Option<Revision>> {
    std::iter::once(None).chain(Revision::ALL.map(Some))
}

fn is_stateless(revision: Option<Revision>) -> bool {
    revision.is_some_and(Revision::is_stateless)
}

fn body(case: &Case, revision: Option<Revision>) -> String {
    case.0.replace("META", if is_stateless(revision) { META } else { "{}" })
}

/// Returns the headers that a client of `revision` sends with `body`.
fn headers(body: &str, revision: Option<Revision>) -> String {
    let Some(revision) = revision else { return String::new() };
    let message: serde_json::Value = serde_json::from_str(&body.replace("1e999", "1")).unwrap_or_default();
    let mut headers = format!("MCP-Protocol-Version: {revision}\n");
    for (header, member) in [("Mcp-Method", "/method"), ("Mcp-Name", "/params/name")] {
        if let Some(value) = message.pointer(member).and_then(|value| value.as_str()) {
            headers.extend([header, ": ", value, "\n"]);
        }
    }
    headers
}

fn check(case: &Case, revision: Option<Revision>, status: Option<u16>, reply: &str) {
    let place = format!("{} at {revision:?} is answered with {status:?} {reply}", case.0);
    let answer = case.2[column(revision)];
    assert!(reply.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{},"#, case.1)), "{place}");
    let json: serde_json::Value = serde_json::from_str(reply).expect(&place);
    match answer {
        Error(expected, code, begins) => {
            assert!(status.is_none_or(|status| status == expected), "{place}");
            assert_eq!(json["error"]["code"], code, "{place}");
            assert!(json["error"]["message"].as_str().unwrap().starts_with(begins), "{place}");
            assert!(json.get("result").is_none(), "{place}");
        }
        ToolResult(begins) => {
            assert!(status.is_none_or(|status| status == 200), "{place}");
            assert_eq!(json["result"]["isError"], true, "{place}");
            assert_eq!(json["result"]["content"].as_array().unwrap().len(), 1, "{place}");
            assert_eq!(json["result"]["content"][0]["type"], "text", "{place}");
            assert!(json["result"]["content"][0]["text"].as_str().unwrap().starts_with(begins), "{place}");
            assert!(json["result"].get("structuredContent").is_none(), "{place}");
            assert_eq!(json["result"].get("resultType").is_some(), is_stateless(revision), "{place}");
        }
    }
    assert!(!reply.contains("secret"), "{place}");
}

async fn over_http(app: &Router, path: &str) {
    for (case, revision) in CASES.iter().flat_map(|case| revisions().map(move |revision| (case, revision))) {
        let body = body(case, revision);
        let headers = headers(&body, revision);
        let answer = send(app, post(path, &headers, body)).await;
        assert_eq!(answer.header("content-type"), Some("application/json"));
        check(case, revision, Some(answer.status.as_u16()), std::str::from_utf8(&answer.body).unwrap());
    }
}

#[tokio::test]
async fn error_table_applies_to_mcp() {
    over_http(&app(), "/mcp").await;
}

#[tokio::test]
async fn error_table_applies_to_sse_without_a_session() {
    over_http(&app(), "/sse").await;
}

fn initialize(revision: Revision) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"i","method":"initialize","params":{{"protocolVersion":"{revision}"}}}}"#)
}

/// Returns the revision to negotiate first. `None` for a revision without `initialize`, which each request names.
fn initial_revision(revision: Option<Revision>) -> Option<Revision> {
    revision.filter(|revision| !revision.is_stateless())
}

#[tokio::test]
async fn error_table_applies_to_sse_sessions() {
    let app = app();
    for revision in revisions() {
        let mut stream = Stream::open(&app).await;
        if let Some(revision) = initial_revision(revision) {
            send(&app, post(&stream.endpoint, "", initialize(revision))).await;
            assert!(stream.message().await.contains(revision.as_str()));
        }
        for case in CASES {
            let answer = send(&app, post(&stream.endpoint, "", body(case, revision))).await;
            assert_eq!((answer.status.as_u16(), answer.body.len()), (202, 0));
            check(case, revision, None, &stream.message().await);
        }
    }
}

#[tokio::test]
async fn error_table_applies_to_stdio() {
    let lines: Vec<_> = CASES.iter().filter(|case| !case.0.is_empty()).collect();
    for revision in revisions() {
        let mut input = initial_revision(revision).map(initialize).into_iter().collect::<Vec<_>>();
        input.extend(lines.iter().map(|case| body(case, revision)));
        let mut output = Vec::new();
        serve_stdio(&server(), &Start(40), input.join("\n").as_bytes(), &mut output).await.unwrap();
        let output = String::from_utf8(output).unwrap();
        let mut replies = output.lines().skip(usize::from(initial_revision(revision).is_some()));
        for case in &lines {
            check(case, revision, None, replies.next().unwrap());
        }
        assert_eq!(replies.next(), None);
    }
}
