//! Rate limits, the error if they are exceeded, and the messages that may wait instead.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, stream};
use signpost_mcp::{Bucket, Hosts, Http, OverLimit, Permit, RateLimiter, RetryAfter, router};
use tokio::sync::Semaphore;

use crate::fixture::{Start, Stream, http, post, request, send, server};

/// The requests over the limit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exceeded {
    None,
    Messages,
    All,
}

/// A rate limiter of a test.
struct Limit {
    exceeded: Exceeded,
    /// The turns of messages that wait.
    turns: Semaphore,
    admitted: Mutex<Vec<(Bucket, OverLimit)>>,
    rejected: AtomicUsize,
}

impl RateLimiter for Limit {
    fn admit<'a>(
        &'a self,
        bucket: Bucket,
        over_limit: OverLimit,
        _: &'a Parts,
    ) -> BoxFuture<'a, Result<Permit, RetryAfter>> {
        self.admitted.lock().unwrap().push((bucket, over_limit));
        async move {
            if self.exceeded == Exceeded::None || (self.exceeded, bucket) == (Exceeded::Messages, Bucket::Stream) {
                return Ok(Permit::default());
            }
            let refused = RetryAfter(Duration::from_millis(1200));
            match over_limit {
                OverLimit::Reject => Err(refused),
                OverLimit::Wait => match self.turns.acquire().await {
                    Ok(turn) => {
                        turn.forget();
                        Ok(Permit::default())
                    }
                    Err(_) => Err(refused),
                },
            }
        }
        .boxed()
    }

    fn rejected(&self, _: Bucket) {
        self.rejected.fetch_add(1, Ordering::Relaxed);
    }
}

impl Limit {
    /// Returns the number of messages and of streams since the last call.
    fn seen(&self) -> (usize, usize) {
        let seen = self.taken();
        let messages = seen.iter().filter(|(bucket, _)| *bucket == Bucket::Message).count();
        (messages, seen.len() - messages)
    }

    fn taken(&self) -> Vec<(Bucket, OverLimit)> {
        std::mem::take(&mut self.admitted.lock().unwrap())
    }

    /// Rejects all messages that wait, now and later.
    fn reject_waiting(&self) {
        self.turns.close();
    }
}

fn limited(exceeded: Exceeded) -> (Router, Arc<Limit>) {
    let turns = Semaphore::new(0);
    let limit = Arc::new(Limit { exceeded, turns, admitted: Mutex::default(), rejected: AtomicUsize::new(0) });
    let hosts = Hosts::Loopback { also: Vec::new() };
    (router(server(), Start(0), Http { rate_limiter: Some(limit.clone()), hosts, ..http() }), limit)
}

const PING: &str = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
const VERSION: &str = "MCP-Protocol-Version: 2025-06-18";

#[tokio::test]
async fn only_messages_and_streams_are_counted() {
    let (app, limit) = limited(Exceeded::None);
    for (method, path, headers) in [
        ("OPTIONS", "/mcp", ""),
        ("OPTIONS", "/sse", "Origin: http://localhost:3000"),
        ("GET", "/mcp", ""),
        ("DELETE", "/mcp", ""),
        ("DELETE", "/sse", ""),
        ("POST", "/mcp", "Origin: https://evil.test"),
        ("POST", "/sse", "Host: evil.test"),
        ("GET", "/sse", "Origin: null"),
    ] {
        send(&app, request(method, path, headers, Body::empty())).await;
        assert_eq!(limit.seen(), (0, 0), "{method} {path} {headers}");
    }
    send(&app, post("/mcp", "", PING)).await;
    assert_eq!(limit.seen(), (1, 0));
    send(&app, post("/sse", "", PING)).await;
    assert_eq!(limit.seen(), (1, 0));
    let stream = Stream::open(&app).await;
    assert_eq!(limit.seen(), (0, 1));
    send(&app, post(&stream.endpoint, "", PING)).await;
    send(&app, post("/sse?sessionId=none", "", PING)).await;
    send(&app, request("POST", "/mcp", "", "not JSON")).await;
    assert_eq!(limit.seen(), (3, 0));
    assert_eq!(limit.rejected.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn exceeded_limit_is_429_with_id_and_retry_time() {
    let (app, limit) = limited(Exceeded::All);
    limit.reject_waiting();
    let initialize = INITIALIZE.replace("\"id\":1", "\"id\":\"i\"");
    for (path, headers, body, id) in [
        ("/mcp", "", PING, "\"p\""),
        ("/mcp", VERSION, PING, "\"p\""),
        ("/mcp", "", &*initialize, "\"i\""),
        ("/sse", "", r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}"#, "9007199254740993"),
        ("/sse?sessionId=none", "", r#"{"jsonrpc":"1.0","id":0}"#, "0"),
        ("/mcp", "", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "null"),
        ("/mcp", "", "not JSON", "null"),
    ] {
        let before = limit.rejected.load(Ordering::Relaxed);
        let answer = send(&app, post(path, headers, body.to_owned())).await;
        assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (429, Some("2")));
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-31429,"message":"Too many requests: try again in 1200 ms","data":{{"retryAfterMs":1200}}}}}}"#
        );
        assert_eq!(answer.body, expected);
        assert_eq!(limit.rejected.load(Ordering::Relaxed), before + 1, "each is counted once");
    }
    let answer = send(&app, request("GET", "/sse", "", Body::empty())).await;
    assert_eq!((answer.status.as_u16(), answer.json()["error"]["code"].as_i64()), (429, Some(-31429)));
}

#[tokio::test]
async fn messages_of_protocol_clients_may_wait() {
    let (app, limit) = limited(Exceeded::All);
    let large = format!(r#"{{"clientInfo":{{"name":"{}"}}}}"#, "x".repeat(63 * 1024));
    let large = INITIALIZE.replace(r#"{"protocolVersion":"2025-06-18"}"#, &large);
    let too_large = large.replace("\"name\"", &format!("\"name\":\"\",\"{}\"", "y".repeat(2048)));
    let headers = |more: &str| format!("Content-Type: application/json\n{more}");
    for (path, headers, body, attempts) in [
        ("/mcp", headers(VERSION), PING, &[OverLimit::Wait][..]),
        ("/sse", headers(VERSION), PING, &[OverLimit::Wait]),
        // The value is checked at the turn of the message.
        ("/mcp", headers("MCP-Protocol-Version: 2025-11-25"), PING, &[OverLimit::Wait]),
        ("/mcp", headers(""), INITIALIZE, &[OverLimit::Reject, OverLimit::Wait]),
        ("/sse", headers(""), INITIALIZE, &[OverLimit::Reject, OverLimit::Wait]),
        ("/mcp", headers(""), &large, &[OverLimit::Reject, OverLimit::Wait]),
        ("/mcp", headers(""), &too_large, &[OverLimit::Reject]),
        ("/mcp", "Content-Type: text/plain".to_owned(), INITIALIZE, &[OverLimit::Reject]),
        ("/mcp", headers(""), PING, &[OverLimit::Reject]),
        ("/mcp", headers(""), &INITIALIZE.replace("\"id\":1,", ""), &[OverLimit::Reject]),
        ("/mcp", headers(""), &PING.replace("ping", "tools/list"), &[OverLimit::Reject]),
        ("/sse?sessionId=00000000000000000000000000000000", headers(""), PING, &[OverLimit::Reject]),
        ("/mcp", headers("Mcp-Session-Id: 1"), PING, &[OverLimit::Reject]),
    ] {
        limit.turns.add_permits(1);
        let answer = send(&app, request("POST", path, &headers, body.to_owned())).await;
        let is_admitted = attempts.ends_with(&[OverLimit::Wait]);
        let status = if is_admitted { 200 } else { 429 };
        assert_eq!(answer.status.as_u16(), status, "{path} {headers} {:?}", answer.body);
        let expected: Vec<_> = attempts.iter().map(|over_limit| (Bucket::Message, *over_limit)).collect();
        assert_eq!(limit.taken(), expected, "{path} {headers}");
        if !is_admitted {
            limit.turns.acquire().await.unwrap().forget();
        }
    }
}

#[tokio::test]
async fn initialize_that_waited_gets_its_usual_reply() {
    let (app, limit) = limited(Exceeded::All);
    let (unlimited, _) = limited(Exceeded::None);
    for body in [
        INITIALIZE,
        r#"{"jsonrpc":"2.0","id":"a","method":"initialize"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":7,"clientInfo":{"name":"c"}}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{"roots":{}}}}"#,
    ] {
        limit.turns.add_permits(1);
        let waited = send(&app, post("/mcp", "", body)).await;
        let usual = send(&unlimited, post("/mcp", "", body)).await;
        assert_eq!((waited.status, &waited.body), (usual.status, &usual.body), "{body}");
    }
}

/// Returns a body that records whether any of it was read.
fn recorded(text: &'static str) -> (Body, Arc<AtomicBool>) {
    let is_read = Arc::new(AtomicBool::new(false));
    let recorder = Arc::clone(&is_read);
    let parts = stream::once(async move {
        recorder.store(true, Ordering::Relaxed);
        Ok::<_, std::io::Error>(Bytes::from_static(text.as_bytes()))
    });
    (Body::from_stream(parts), is_read)
}

#[tokio::test]
async fn body_is_unread_while_a_message_waits() {
    let (app, limit) = limited(Exceeded::All);
    let (body, is_read) = recorded(PING);
    let mut answering = Box::pin(send(&app, post("/mcp", VERSION, body)));
    assert!(answering.as_mut().now_or_never().is_none());
    assert_eq!(limit.taken(), [(Bucket::Message, OverLimit::Wait)]);
    assert!(!is_read.load(Ordering::Relaxed), "it waits without a body");
    limit.turns.add_permits(1);
    assert_eq!(answering.await.status, 200);
    assert!(is_read.load(Ordering::Relaxed));
}

#[tokio::test]
async fn messages_of_initialized_streams_may_wait() {
    let (app, limit) = limited(Exceeded::Messages);
    let mut stream = Stream::open(&app).await;
    assert_eq!(limit.taken(), [(Bucket::Stream, OverLimit::Reject)]);
    assert_eq!(send(&app, post(&stream.endpoint, "", PING)).await.status, 429);
    assert_eq!(limit.taken(), [(Bucket::Message, OverLimit::Reject)]);
    limit.turns.add_permits(1);
    assert_eq!(send(&app, post(&stream.endpoint, "", INITIALIZE)).await.status, 202);
    assert_eq!(limit.taken(), [(Bucket::Message, OverLimit::Reject), (Bucket::Message, OverLimit::Wait)]);
    assert!(stream.message().await.contains("\"protocolVersion\":\"2025-06-18\""));
    limit.turns.add_permits(1);
    assert_eq!(send(&app, post(&stream.endpoint, "", PING)).await.status, 202);
    assert_eq!(limit.taken(), [(Bucket::Message, OverLimit::Wait)]);
    assert_eq!(stream.message().await, r#"{"jsonrpc":"2.0","id":"p","result":{}}"#);
}
