//! HTTP: methods, content types, sizes, timeouts.

use std::io;
use std::sync::{Arc, Mutex};
use std::thread;

use axum::body::{Body, Bytes};
use futures_util::stream;

use crate::fixture::{Answer, app, post, request, send};

const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;

fn is_refused(answer: &Answer, status: u16, id: &str) {
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (status, Some("application/json")));
    let begins = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"Invalid request: "#);
    assert!(answer.body.starts_with(begins.as_bytes()), "{:?}", answer.body);
}

#[tokio::test]
async fn accept_header_never_causes_a_rejection() {
    for accept in ["", "Accept: */*", "Accept: application/json", "Accept: text/event-stream", "Accept: text/html"] {
        for path in ["/mcp", "/sse"] {
            let answer = send(&app(), post(path, accept, PING)).await;
            assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, Some("application/json")));
            assert_eq!(answer.body, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
        }
    }
}

#[tokio::test]
async fn mcp_endpoint_has_no_sessions() {
    let answer = send(&app(), post("/mcp", "Mcp-Session-Id: made-up\nLast-Event-ID: 4", PING)).await;
    assert_eq!((answer.status.as_u16(), answer.header("mcp-session-id")), (200, None));
}

#[tokio::test]
async fn a_notification_is_202_without_a_body() {
    for path in ["/mcp", "/sse"] {
        let body = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let answer = send(&app(), post(path, "MCP-Protocol-Version: 2025-11-25", body)).await;
        assert_eq!((answer.status.as_u16(), answer.body.len(), answer.header("content-type")), (202, 0, None));
        assert_eq!(send(&app(), post(path, "MCP-Protocol-Version: 1", body)).await.status, 400);
    }
}

#[tokio::test]
async fn other_methods_are_405_with_allow() {
    for (path, methods, allow) in [
        ("/mcp", &["GET", "HEAD", "DELETE", "PUT", "PATCH"][..], "POST, OPTIONS"),
        ("/sse", &["HEAD", "DELETE", "PUT", "PATCH"][..], "GET, POST, OPTIONS"),
    ] {
        for method in methods {
            let answer = send(&app(), request(method, path, "", Body::empty())).await;
            assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, Some(allow)), "{method} {path}");
            if *method != "HEAD" {
                is_refused(&answer, 405, "null");
            }
        }
    }
}

#[tokio::test]
async fn only_json_is_accepted() {
    let types = [
        ("application/json", true),
        ("Application/JSON; charset=utf-8", true),
        ("application/json;charset=\"utf-8\"", true),
        ("application/problem+json", false),
        ("application/json-rpc", false),
        ("text/plain", false),
        ("text/plain; application/json", false),
        ("application/x-www-form-urlencoded", false),
    ];
    for (content_type, taken) in types {
        for path in ["/mcp", "/sse", "/sse?sessionId=none"] {
            let answer = send(&app(), request("POST", path, &format!("Content-Type: {content_type}"), PING)).await;
            match (taken, path) {
                (false, _) => is_refused(&answer, 415, "7"),
                (true, "/sse?sessionId=none") => is_refused(&answer, 404, "7"),
                (true, _) => assert_eq!(answer.status, 200, "{content_type}"),
            }
        }
    }
    is_refused(&send(&app(), request("POST", "/mcp", "", PING)).await, 415, "7");
}

#[tokio::test]
async fn body_over_1_mib_is_413() {
    let padded = |length: usize| format!("{PING}{}", " ".repeat(length - PING.len()));
    for path in ["/mcp", "/sse"] {
        assert_eq!(send(&app(), post(path, "", padded(1 << 20))).await.status, 200);
        is_refused(&send(&app(), post(path, "", padded((1 << 20) + 1))).await, 413, "null");
        is_refused(&send(&app(), post(path, "Expect: 100-continue", padded(1 << 24))).await, 413, "null");
        let chunks = stream::repeat_with(|| Ok::<_, io::Error>(Bytes::from(vec![b' '; 1 << 16])));
        is_refused(&send(&app(), post(path, "", Body::from_stream(chunks))).await, 413, "null");
    }
}

#[tokio::test(start_paused = true)]
async fn delayed_body_is_408() {
    for path in ["/mcp", "/sse"] {
        let body = Body::from_stream(stream::pending::<Result<Bytes, io::Error>>());
        is_refused(&send(&app(), post(path, "", body)).await, 408, "null");
    }
}

#[tokio::test]
async fn truncated_body_is_400() {
    let body = Body::from_stream(stream::iter([Ok(Bytes::from_static(b"{")), Err(io::Error::other("gone"))]));
    is_refused(&send(&app(), post("/mcp", "", body)).await, 400, "null");
}

#[tokio::test]
async fn nesting_is_bounded() {
    const DEEP: usize = 10_000;
    let nest = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let arguments = |depth: usize| {
        let deep = nest(depth);
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"add","arguments":{{"n":{deep}}}}}}}"#
        )
    };
    for body in [nest(DEEP), format!("{}1{}", r#"{"a":"#.repeat(DEEP), "}".repeat(DEEP))] {
        is_refused(&send(&app(), post("/mcp", "", body)).await, 400, "null");
    }
    is_refused(&send(&app(), post("/mcp", "", arguments(DEEP))).await, 400, "7");
    is_refused(&send(&app(), post("/mcp", "", arguments(127))).await, 400, "7");
    let answer = send(&app(), post("/mcp", "", arguments(126))).await;
    assert_eq!((answer.status.as_u16(), answer.json()["error"]["code"].as_i64()), (200, Some(-32602)));
    let unclosed = send(&app(), post("/mcp", "", "[".repeat(DEEP))).await;
    assert_eq!((unclosed.status.as_u16(), unclosed.json()["error"]["code"].as_i64()), (400, Some(-32700)));
}

#[tokio::test]
async fn echoed_text_is_bounded() {
    let ping = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let longest = "1".repeat(16 * 1024);
    let answer = send(&app(), post("/mcp", "", ping(&longest))).await;
    assert_eq!(answer.body, format!(r#"{{"jsonrpc":"2.0","id":{longest},"result":{{}}}}"#));
    is_refused(&send(&app(), post("/mcp", "", ping(&format!("{longest}1")))).await, 400, "null");

    let long = "é".repeat(5000);
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"{long}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{long}"}}}}}}"#
    );
    assert!(send(&app(), post("/mcp", "", body)).await.body.len() < 1000);
    let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{long}"}}"#);
    assert!(send(&app(), post("/mcp", "", body)).await.body.len() < 1000);
}

#[tokio::test]
async fn internal_error_reveals_only_its_log_id() {
    for tool in ["break", "panic"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}"}}}}"#);
        let answer = send(&app(), post("/mcp", "X-Request-Id: req-1", body.clone())).await;
        assert_eq!(answer.status, 500);
        let error = r#"{"code":-32603,"message":"Internal error","data":{"requestId":"req-1"}}"#;
        assert_eq!(answer.body, format!(r#"{{"jsonrpc":"2.0","id":7,"error":{error}}}"#));
        let nameless = send(&app(), post("/mcp", "", body)).await;
        assert!(nameless.json()["error"].get("data").is_none());
    }
}

/// The captured log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn only_internal_errors_are_logged_with_cause() {
    let log = Log::default();
    let (writer, this) = (log.clone(), thread::current().id());
    // The subscriber is global, because otherwise the first event of another thread could disable the events of this
    // thread.
    let writer = move || if thread::current().id() == this { writer.clone() } else { Log::default() };
    tracing_subscriber::fmt().with_ansi(false).with_writer(writer).init();
    for tool in ["add", "fail", "nope", "break"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}"}}}}"#);
        send(&app(), post("/mcp", "X-Request-Id: req-1", body)).await;
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(log.lines().count(), 1, "{log}");
    for part in ["ERROR", "a handler failed", "name=\"break\"", "request_id=\"req-1\"", "the disk of secrets is full"] {
        assert!(log.contains(part), "{part} is not in {log}");
    }
}

#[tokio::test]
async fn repeated_header_never_matches() {
    let meta = crate::fixture::META;
    let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{{"_meta":{meta}}}}}"#);
    let once = "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/list\n";
    assert_eq!(send(&app(), post("/mcp", once, body.clone())).await.status, 200);
    let twice = format!("{once}Mcp-Method: tools/call");
    assert_eq!(send(&app(), post("/mcp", &twice, body)).await.json()["error"]["code"], -32020);
}

#[tokio::test]
async fn paths_may_end_with_a_slash() {
    for path in ["/mcp/", "/sse/"] {
        let answer = send(&app(), post(path, "", PING)).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.body, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
        assert_eq!(send(&app(), request("PUT", path, "", Body::empty())).await.status, 405, "{path}");
    }
    assert_eq!(send(&app(), request("GET", "/mcp/", "", Body::empty())).await.status, 405);
    is_refused(&send(&app(), post("/sse/?sessionId=none", "", PING)).await, 404, "7");
    assert_eq!(send(&app(), post("/mcp//", "", PING)).await.status, 404);
}
