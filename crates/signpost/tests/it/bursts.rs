//! Bursts of messages at the rate limit: which of them wait for their turn, and that the rate stays exact.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::assistant::server_with;
use crate::harness::{Reply, Service, send, until};

const PING: &str = r#"{"jsonrpc":"2.0","id":"seven","method":"ping"}"#;
const LIMIT: (&str, &str) = ("rate_limit_mcp", "10/s");
const VERSION: (&str, &str) = ("mcp-protocol-version", "2025-06-18");

/// Sends a message without waiting for the reply.
fn start(server: &Service, path: &str, headers: &[(&str, &str)], body: &str) -> JoinHandle<Reply> {
    let request = server.visitor().request(Method::POST, path).header("content-type", "application/json");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    tokio::spawn(send(request.body(body.to_owned())))
}

/// Sends a message of a client of the protocol.
fn ping(server: &Service) -> JoinHandle<Reply> {
    start(server, "/mcp", &[VERSION], PING)
}

/// Sends a bare call, which does not wait. Returns its status and the seconds until the next attempt.
async fn bare_call(server: &Service) -> (u16, Option<String>) {
    let reply = start(server, "/mcp", &[], PING).await.expect("a reply");
    (reply.status, reply.header("retry-after").map(str::to_owned))
}

/// Waits until this many messages wait for their turn and this many of the burst have a reply.
async fn until_waiting(server: &Service, burst: &[JoinHandle<Reply>], waiting: usize, replies: usize) {
    until(&format!("{waiting} wait, {replies} are answered"), async || {
        let answered = burst.iter().filter(|message| message.is_finished()).count();
        (is_waiting(server, waiting) && answered == replies).then_some(())
    })
    .await;
}

fn is_waiting(server: &Service, count: usize) -> bool {
    usize::try_from(server.app.metrics.waiting_messages()) == Ok(count)
}

/// Uses up the ten messages of the window.
async fn fill_window(server: &Service) {
    for _ in 0..10 {
        assert_eq!(bare_call(server).await.0, 200);
    }
}

#[tokio::test]
async fn burst_is_admitted_at_exactly_ten_per_second() {
    let server = server_with(&[LIMIT]).await;
    let burst: Vec<_> = (0..35).map(|_| ping(&server)).collect();
    until_waiting(&server, &burst, 20, 15).await;
    let late = ping(&server).await.unwrap();
    assert_eq!((late.status, late.header("retry-after")), (429, Some("3")));
    assert_eq!((&late.json()["id"], &late.json()["error"]["data"]["retryAfterMs"]), (&json!("seven"), &json!(3000)));
    assert_eq!(bare_call(&server).await, (429, Some("3".to_owned())));
    for (seconds, waiting, answered) in [(1, 10, 25), (2, 0, 35)] {
        server.advance_clock(SignedDuration::from_millis(999));
        assert_eq!(bare_call(&server).await.0, 429);
        assert!(is_waiting(&server, waiting + 10), "no turn is early");
        server.advance_clock(SignedDuration::from_millis(1));
        until_waiting(&server, &burst, waiting, answered).await;
        // The window is full again, and others may still wait: a bare call does not overtake them.
        assert_eq!(bare_call(&server).await, (429, Some((3 - seconds).to_string())));
    }
    let mut statuses = Vec::new();
    for message in burst {
        statuses.push(message.await.unwrap().status);
    }
    let refused = statuses.iter().filter(|status| **status == 429).count();
    assert_eq!((statuses.len() - refused, refused), (30, 5), "{statuses:?}");
    let metrics = server.app.metrics.write_text(None, None).unwrap();
    for line in
        ["signpost_mcp_limited_total{outcome=\"waited\"} 20", "signpost_mcp_limited_total{outcome=\"refused\"} 11"]
    {
        assert!(metrics.lines().any(|found| found == line), "{line} is not in {metrics}");
    }
    server.advance_clock(SignedDuration::from_secs(1));
    assert_eq!(bare_call(&server).await.0, 200);
}

#[tokio::test]
async fn waiting_is_per_client_ip() {
    let server = server_with(&[LIMIT, ("trusted_proxies", "127.0.0.1")]).await;
    let from = |address: &str| start(&server, "/mcp", &[VERSION, ("x-forwarded-for", address)], PING);
    let burst: Vec<_> = (0..11).map(|_| from("198.51.100.1")).collect();
    until_waiting(&server, &burst, 1, 10).await;
    assert_eq!(from("198.51.100.2").await.unwrap().status, 200);
    let bare = start(&server, "/mcp", &[("x-forwarded-for", "198.51.100.2")], PING);
    assert_eq!(bare.await.unwrap().status, 200);
    assert!(is_waiting(&server, 1));
    server.advance_clock(SignedDuration::from_secs(1));
    until_waiting(&server, &burst, 0, 11).await;
}

#[tokio::test]
async fn parallel_sessions_succeed() {
    let server = Arc::new(server_with(&[LIMIT]).await);
    let began = server.clock.elapsed();
    let replies = Arc::new(AtomicUsize::new(0));
    let sessions: Vec<_> = (0..10).map(|_| tokio::spawn(session(Arc::clone(&server), Arc::clone(&replies)))).collect();
    until("all sessions end", async || {
        let is_over = sessions.iter().all(JoinHandle::is_finished);
        if !is_over {
            // In any time, at most the messages of the windows that it touches are answered.
            let windows = usize::try_from(server.clock.elapsed().saturating_sub(began).as_secs()).unwrap() + 1;
            assert!(replies.load(Ordering::Relaxed) <= 10 * windows, "more than ten per second");
            server.advance_clock(SignedDuration::from_millis(100));
        }
        is_over.then_some(())
    })
    .await;
    for session in sessions {
        session.await.expect("a session without a refusal");
    }
    assert_eq!(replies.load(Ordering::Relaxed), 30);
    assert!(server.clock.elapsed().saturating_sub(began) >= Duration::from_secs(2), "thirty messages take two seconds");
}

/// Opens a session as client libraries do, with `initialize` in a request without a version, and calls a tool.
async fn session(server: Arc<Service>, replies: Arc<AtomicUsize>) {
    let info = json!({ "name": "parallel", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
    let call = json!({ "name": "find_nearest_bitcoin_atm", "arguments": { "location": "Miami, FL", "limit": 1 } });
    for (headers, status, message) in [
        (&[][..], 200, json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })),
        (&[VERSION], 202, json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })),
        (&[VERSION], 200, json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call })),
    ] {
        let reply = start(&server, "/mcp", headers, &message.to_string()).await.expect("a reply");
        assert_eq!(reply.status, status, "{message}: {}", reply.text);
        if status == 200 {
            let reply: Value = reply.json();
            assert!(reply["error"].is_null() && reply["id"] == message["id"], "{reply}");
        }
        replies.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn turn_of_a_closed_connection_is_lost() {
    let server = server_with(&[LIMIT]).await;
    fill_window(&server).await;
    let mut stream = TcpStream::connect(server.app.listen).await.unwrap();
    let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{}: {}\r\n", VERSION.0, VERSION.1);
    let head = format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{PING}", PING.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    until("it waits", async || is_waiting(&server, 1).then_some(())).await;
    drop(stream);
    until("its wait ends", async || is_waiting(&server, 0).then_some(())).await;
    // Its turn was counted, because turns behind it may have been promised.
    server.advance_clock(SignedDuration::from_secs(1));
    for _ in 0..9 {
        assert_eq!(bare_call(&server).await.0, 200);
    }
    assert_eq!(bare_call(&server).await.0, 429);
    server.advance_clock(SignedDuration::from_secs(1));
    assert_eq!(bare_call(&server).await.0, 200);
}

#[tokio::test]
async fn end_of_the_server_refuses_waiting_messages() {
    let server = server_with(&[LIMIT]).await;
    fill_window(&server).await;
    let waiting = [ping(&server), ping(&server)];
    until_waiting(&server, &waiting, 2, 0).await;
    // The clock does not move, so their turn does not come.
    server.stop().await;
    for message in waiting {
        let reply = message.await.unwrap();
        assert_eq!((reply.status, reply.header("retry-after")), (429, Some("1")));
    }
}

#[tokio::test]
async fn setting_zero_refuses_at_once() {
    let server = server_with(&[LIMIT, ("rate_limit_mcp_wait", "0")]).await;
    fill_window(&server).await;
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    for (headers, body) in [(&[VERSION][..], PING), (&[], initialize)] {
        let reply = start(&server, "/mcp", headers, body).await.unwrap();
        assert_eq!((reply.status, reply.header("retry-after")), (429, Some("1")), "{body}");
    }
    assert!(is_waiting(&server, 0));
}

#[tokio::test]
async fn distant_turn_is_refused_at_once() {
    for rate in ["1/m", "10/h"] {
        let server = server_with(&[("rate_limit_mcp", rate)]).await;
        while ping(&server).await.unwrap().status == 200 {}
        let reply = ping(&server).await.unwrap();
        let wait: u64 = reply.header("retry-after").expect("a wait").parse().unwrap();
        assert!(reply.status == 429 && wait > 2, "{rate}: {wait}");
    }
}
