//! Tests of incomplete requests.

use super::*;

/// Sweeps in which a body may arrive below the minimum rate.
const BODY_SWEEPS: u32 = 40;
const HALF_BODY: &[u8] = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nConnection: close\r\n\r\nhe";

#[tokio::test]
async fn body_has_a_minimum_rate_after_its_grace() {
    let table = table(ConnectionLimits::with_total(10));
    let (mut in_time, mut slow) = (connect(&table, 1), connect(&table, 1));
    in_time.send(HALF_BODY).await;
    slow.send(HALF_BODY).await;
    in_time.wait_for(Phase::Body).await;
    slow.wait_for(Phase::Body).await;
    sweep(&table, BODY_SWEEPS);
    in_time.send(b"re").await;
    assert!(in_time.wait_until_closed().await.ends_with("here"));
    assert!(slow.is_open().await);
    sweep(&table, 1);
    assert_eq!(slow.wait_until_closed().await, "");
    // A part of the large body arrives in each sweep.
    let mut steady = connect(&table, 1);
    steady.send(b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n").await;
    for _ in 0..2 * BODY_SWEEPS {
        let received = steady.connection.received_body_bytes();
        steady.send(&[b'x'; 61]).await;
        while steady.connection.received_body_bytes() < received + 61 {
            tokio::task::yield_now().await;
        }
        steady.wait_for(Phase::Body).await;
        sweep(&table, 1);
    }
    assert!(steady.is_open().await);
}

#[tokio::test]
async fn oldest_incomplete_body_is_closed_first() {
    let table = table(ConnectionLimits::with_total(10));
    let mut clients = Vec::new();
    for number in 0..10 {
        let mut client = connect(&table, number);
        client.send(HALF_BODY).await;
        client.wait_for(Phase::Body).await;
        sweep(&table, 1);
        clients.push(client);
    }
    let mut complete = connect(&table, 10);
    complete.send(b"GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    complete.wait_for(Phase::Request).await;
    // A part of a body does not reset its age.
    clients[0].send(b"r").await;
    clients[0].wait_for(Phase::Body).await;
    sweep(&table, 2);
    for closed in clients {
        assert!(table.make_room());
        assert_eq!(closed.wait_until_closed().await, "");
    }
    assert!(!table.make_room() && complete.is_open().await);
}

#[tokio::test]
async fn later_heads_are_counted() {
    let table = table(ConnectionLimits::with_total(10_000));
    let mut clients = Vec::new();
    for number in 0..258 {
        let mut client = connect(&table, 1);
        client.request().await;
        client.send(HALF).await;
        client.wait_for(Phase::Head).await;
        // The first two begin before the others.
        if number < 2 {
            sweep(&table, 1);
        }
        clients.push(client);
    }
    let mut other = connect(&table, 2);
    other.request().await;
    sweep(&table, 2);
    for closed in clients.drain(..2) {
        assert_eq!(closed.wait_until_closed().await, "");
    }
    assert!(clients[0].is_open().await && other.is_open().await);
    // A complete head is no longer counted.
    clients[0].send(b"alhost\r\n\r\n").await;
    clients[0].wait_for(Phase::Idle).await;
    let mut one_more = connect(&table, 1);
    one_more.send(HALF).await;
    sweep(&table, 2);
    assert!(clients[1].is_open().await);
}

#[tokio::test]
async fn pipelined_partial_head_is_incomplete() {
    let table = table(ConnectionLimits::with_total(10));
    let (mut ahead, mut idle) = (connect(&table, 1), connect(&table, 1));
    ahead.send(&[WHOLE, HALF].concat()).await;
    ahead.wait_for(Phase::Idle).await;
    idle.request().await;
    assert!(ahead.connection.has_incomplete_head() && !idle.connection.has_incomplete_head());
    sweep(&table, HEAD_SWEEPS);
    assert!(ahead.wait_until_closed().await.ends_with("here"));
    assert!(idle.is_open().await);
}

#[tokio::test]
async fn complete_requests_leave_no_counts() {
    let table = table(ConnectionLimits::with_total(10));
    let post = "POST /echo HTTP/1.1\r\nHost: localhost\r\n";
    let chunked = format!("{post}Transfer-Encoding: chunked\r\n\r\n4\r\nhere\r\n0\r\n\r\n");
    for request in [format!("{post}Content-Length: 4\r\n\r\nhere"), chunked] {
        let mut client = connect(&table, 1);
        for (length, rest) in [(request.len(), ""), (request.len() / 2, &request[request.len() / 2..])] {
            client.send(&request.as_bytes()[..length]).await;
            if !rest.is_empty() {
                client.wait_until_read().await;
                client.send(rest.as_bytes()).await;
            }
            client.read_answer().await;
            client.wait_for(Phase::Idle).await;
            assert!(!client.connection.has_incomplete_head(), "{request:?} at {length}");
        }
    }
}

#[tokio::test]
async fn incomplete_heads_share_a_byte_limit() {
    let limits = ConnectionLimits { head_bytes: 40_000, ..ConnectionLimits::with_total(100) };
    let table = table(limits);
    let mut small = connect(&table, 1);
    small.send(HALF).await;
    let mut large = Vec::new();
    for number in 2..6 {
        let mut client = connect(&table, number);
        client.send(b"GET / HTTP/1.1\r\nX: ").await;
        client.send(&[b'x'; 12_000]).await;
        client.wait_until_read().await;
        large.push(client);
    }
    // The fourth exceeds the limit: two are closed, so that three quarters of it remain.
    let mut open = 0;
    for client in &mut large {
        open += usize::from(client.is_open().await);
    }
    assert_eq!(open, 2);
    assert!(small.is_open().await);
    for client in large {
        client.task.abort();
    }
}

#[tokio::test]
async fn request_ends_with_its_response() {
    let table = table(ConnectionLimits::with_total(10));
    let mut client = connect(&table, 1);
    client.send(b"GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    client.wait_for(Phase::Request).await;
    client.wait_until_read().await;
    sweep(&table, 2 * IDLE_SWEEPS);
    assert!(client.connection.phase() == Phase::Request && client.is_open().await);
    let response = client.wait_until_closed().await;
    assert!(response.contains("content-length: 300000\r\n") && response.ends_with("xx"));
    assert!(response.len() > 300_000);
}
