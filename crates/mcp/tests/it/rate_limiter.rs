//! Rate limits, and the error if they are exceeded.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::request::Parts;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use signpost_mcp::{Bucket, Hosts, Http, Permit, RateLimiter, RetryAfter, router};

use crate::fixture::{Start, Stream, http, post, request, send, server};

#[derive(Default)]
struct Count {
    messages: AtomicUsize,
    streams: AtomicUsize,
    closed: bool,
}

impl RateLimiter for Count {
    fn admit<'a>(&'a self, bucket: Bucket, _: &'a Parts) -> BoxFuture<'a, Result<Permit, RetryAfter>> {
        let counter = match bucket {
            Bucket::Message => &self.messages,
            Bucket::Stream => &self.streams,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        ready(if self.closed { Err(RetryAfter(Duration::from_millis(1200))) } else { Ok(Permit::default()) }).boxed()
    }
}

impl Count {
    fn seen(&self) -> (usize, usize) {
        (self.messages.load(Ordering::Relaxed), self.streams.load(Ordering::Relaxed))
    }
}

fn counted(closed: bool) -> (Router, Arc<Count>) {
    let count = Arc::new(Count { closed, ..Count::default() });
    let hosts = Hosts::Loopback { also: Vec::new() };
    (router(server(), Start(0), Http { rate_limiter: Some(count.clone()), hosts, ..http() }), count)
}

const PING: &str = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;

#[tokio::test]
async fn only_messages_and_streams_are_counted() {
    let (app, count) = counted(false);
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
        assert_eq!(count.seen(), (0, 0), "{method} {path} {headers}");
    }
    send(&app, post("/mcp", "", PING)).await;
    assert_eq!(count.seen(), (1, 0));
    send(&app, post("/sse", "", PING)).await;
    assert_eq!(count.seen(), (2, 0));
    let stream = Stream::open(&app).await;
    assert_eq!(count.seen(), (2, 1));
    send(&app, post(&stream.endpoint, "", PING)).await;
    send(&app, post("/sse?sessionId=none", "", PING)).await;
    send(&app, request("POST", "/mcp", "", "not JSON")).await;
    assert_eq!(count.seen(), (5, 1));
}

#[tokio::test]
async fn exceeded_limit_is_429_with_id_and_retry_time() {
    let (app, _) = counted(true);
    for (path, body, id) in [
        ("/mcp", PING, "\"p\""),
        ("/sse", r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}"#, "9007199254740993"),
        ("/sse?sessionId=none", r#"{"jsonrpc":"1.0","id":0}"#, "0"),
        ("/mcp", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "null"),
        ("/mcp", "not JSON", "null"),
    ] {
        let answer = send(&app, post(path, "", body)).await;
        assert_eq!((answer.status.as_u16(), answer.header("retry-after")), (429, Some("2")));
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-31429,"message":"Too many requests: try again in 1200 ms","data":{{"retryAfterMs":1200}}}}}}"#
        );
        assert_eq!(answer.body, expected);
    }
    let answer = send(&app, request("GET", "/sse", "", Body::empty())).await;
    assert_eq!((answer.status.as_u16(), answer.json()["error"]["code"].as_i64()), (429, Some(-31429)));
}
