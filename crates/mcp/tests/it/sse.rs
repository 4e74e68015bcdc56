//! Tests of the 2024-11-05 transport (HTTP with SSE), in process and over TCP.

use std::time::Duration;

use axum::body::Body;
use axum::serve::ListenerExt;
use signpost_mcp::{Http, SessionLimits, router};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout};

use crate::fixture::{Start, Stream, app, http, post, request, send, server, with_limits};

fn ping(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

fn pong(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

#[tokio::test]
async fn stream_begins_with_the_endpoint_event() {
    let stream = Stream::open(&app()).await;
    let id = stream.endpoint.strip_prefix("/sse?sessionId=").unwrap();
    assert!(id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase()), "{id}");
    assert_eq!(stream.headers["content-type"], "text/event-stream");
    assert_eq!(stream.headers["cache-control"], "no-cache");
    assert_eq!(stream.headers["x-accel-buffering"], "no");
    assert_eq!(stream.headers["vary"], "Origin");
}

#[tokio::test]
async fn reply_is_sent_only_on_its_session() {
    let app = app();
    let (mut one, mut two) = (Stream::open(&app).await, Stream::open(&app).await);
    assert_ne!(one.endpoint, two.endpoint);
    for (stream, id) in [(&mut two, 2), (&mut one, 1)] {
        let answer = send(&app, post(&stream.endpoint, "", ping(id))).await;
        assert_eq!((answer.status.as_u16(), answer.body.len()), (202, 0));
        assert_eq!(stream.message().await, pong(id));
    }
}

#[tokio::test]
async fn notification_causes_no_event() {
    let app = app();
    let mut stream = Stream::open(&app).await;
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(send(&app, post(&stream.endpoint, "", notification)).await.status, 202);
    send(&app, post(&stream.endpoint, "", ping(1))).await;
    assert_eq!(stream.message().await, pong(1));
}

#[tokio::test]
async fn sessions_negotiate_independently() {
    let app = app();
    let bad = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}"#;
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    let (mut new, mut old) = (Stream::open(&app).await, Stream::open(&app).await);
    send(&app, post(&new.endpoint, "", initialize)).await;
    new.message().await;
    for (stream, is_result) in [(&mut new, true), (&mut old, false)] {
        send(&app, post(&stream.endpoint, "", bad)).await;
        assert_eq!(stream.message().await.contains("isError"), is_result);
    }
}

#[tokio::test]
async fn unknown_session_is_404_with_the_id() {
    let app = app();
    let stream = Stream::open(&app).await;
    let gone = stream.endpoint.clone();
    drop(stream);
    let never = "/sse?sessionId=ffffffffffffffffffffffffffffffff";
    for path in [gone.as_str(), never, "/sse?sessionId=", "/sse?sessionId=xyz", "/sse?a=b&sessionId=1"] {
        let answer = send(&app, post(path, "", ping(7))).await;
        assert_eq!((answer.status.as_u16(), answer.json()["error"]["code"].as_i64()), (404, Some(-32600)), "{path}");
        assert_eq!(answer.json()["id"], 7);
    }
}

#[tokio::test]
async fn number_of_streams_is_bounded() {
    let Http { sessions, .. } = http();
    let app = router(server(), Start(0), Http { sessions: sessions.clone(), ..http() });
    let mut streams = vec![Stream::open(&app).await, Stream::open(&app).await, Stream::open(&app).await];
    let refused = send(&app, request("GET", "/sse", "", Body::empty())).await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (503, Some("10")));
    assert_eq!((refused.json()["error"]["code"].as_i64(), sessions.count()), (Some(-31503), 3));
    streams.pop();
    assert_eq!(sessions.count(), 2);
    Stream::open(&app).await;
}

#[tokio::test]
async fn unread_stream_buffers_a_bounded_number_of_replies() {
    let app = app();
    let mut stream = Stream::open(&app).await;
    for id in [1, 2] {
        assert_eq!(send(&app, post(&stream.endpoint, "", ping(id))).await.status, 202);
    }
    let refused = send(&app, post(&stream.endpoint, "", ping(3))).await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, Some("1")));
    assert_eq!((refused.json()["error"]["code"].as_i64(), refused.json()["id"].as_i64()), (Some(-31429), Some(3)));
    for id in [1, 2] {
        assert_eq!(stream.message().await, pong(id));
    }
    send(&app, post(&stream.endpoint, "", ping(4))).await;
    assert_eq!(stream.message().await, pong(4));
}

#[tokio::test]
async fn repeated_session_id_is_rejected() {
    let sessions = signpost_mcp::Sessions::new(SessionLimits::default(), || [7; 16]);
    let app = router(server(), Start(0), Http::new(sessions));
    let mut first = Stream::open(&app).await;
    assert_eq!(send(&app, request("GET", "/sse", "", Body::empty())).await.status, 503);
    send(&app, post(&first.endpoint, "", ping(1))).await;
    assert_eq!(first.message().await, pong(1));
}

#[tokio::test(start_paused = true)]
async fn quiet_stream_has_keepalives_until_idle_timeout() {
    let idle = Duration::from_mins(1);
    let http = with_limits(SessionLimits { idle, ..SessionLimits::default() });
    let sessions = http.sessions.clone();
    let app = router(server(), Start(0), http);
    let mut stream = Stream::open(&app).await;
    let opened = Instant::now();
    let mut last = opened;
    while let Some(comment) = stream.next().await {
        assert_eq!(comment, ":\n\n");
        assert!(last.elapsed() <= Duration::from_secs(15));
        last = Instant::now();
    }
    assert!(last > opened && opened.elapsed() >= idle);
    assert_eq!(sessions.count(), 0);
    assert_eq!(send(&app, post(&stream.endpoint, "", ping(1))).await.status, 404);
}

#[tokio::test]
async fn shutdown_ends_every_stream() {
    let http = http();
    let sessions = http.sessions.clone();
    let app = router(server(), Start(0), http);
    let mut stream = Stream::open(&app).await;
    send(&app, post(&stream.endpoint, "", ping(1))).await;
    sessions.close();
    assert_eq!(stream.message().await, pong(1));
    assert_eq!(stream.next().await, None);
    assert_eq!(send(&app, request("GET", "/sse", "", Body::empty())).await.status, 503);
}

#[test]
fn debug_output_hides_session_ids() {
    let sessions = signpost_mcp::Sessions::new(SessionLimits::default(), || [0xab; 16]);
    let http = Http::new(sessions);
    assert!(!format!("{http:?} {:?}", http.sessions).contains("abab"));
}

/// Reads from a connection until `end` is received.
async fn read_until(connection: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while !text.contains(end) {
        let read = timeout(Duration::from_secs(10), connection.read(&mut buffer)).await.unwrap().unwrap();
        assert!(read > 0, "ended after {text}");
        text += std::str::from_utf8(&buffer[..read]).unwrap();
    }
    text
}

#[tokio::test]
async fn session_ends_with_its_tcp_connection() {
    let http = http();
    let sessions = http.sessions.clone();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
    let serving = tokio::spawn(async move { axum::serve(listener, router(server(), Start(0), http)).await });

    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let opening = read_until(&mut stream, "\n\n").await;
    let endpoint = opening.split("data: ").nth(1).unwrap().split('\n').next().unwrap();

    let mut poster = TcpStream::connect(address).await.unwrap();
    for id in [1, 2, 3] {
        let (body, length) = (ping(id), ping(id).len());
        let head = format!(
            "POST {endpoint} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        poster.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        assert!(read_until(&mut poster, "\r\n\r\n").await.starts_with("HTTP/1.1 202"));
        assert!(read_until(&mut stream, &pong(id)).await.contains("event: message"));
    }

    assert_eq!(sessions.count(), 1);
    drop(stream);
    let freed = async {
        while sessions.count() > 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(10), freed).await.expect("the session is freed when its client is gone");
    serving.abort();
}
