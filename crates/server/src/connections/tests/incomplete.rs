//! Requests of which a part is missing.

use super::*;

/// Sweeps in which a body may come more slowly than it must.
const BODY_SWEEPS: u32 = 40;
const HALF_BODY: &[u8] = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nConnection: close\r\n\r\nhe";

#[tokio::test]
async fn a_body_has_a_minimum_rate_after_a_time_of_grace() {
    let table = table(ConnectionLimits::with_total(10));
    let (mut in_time, mut slow) = (connect(&table, 1), connect(&table, 1));
    in_time.sends(HALF_BODY).await;
    slow.sends(HALF_BODY).await;
    in_time.is(Phase::Body).await;
    slow.is(Phase::Body).await;
    sweep(&table, BODY_SWEEPS);
    in_time.sends(b"re").await;
    assert!(in_time.closes().await.ends_with("here"));
    assert!(slow.is_open().await);
    sweep(&table, 1);
    assert_eq!(slow.closes().await, "");
    // Of a large body, a part arrives in each sweep.
    let mut steady = connect(&table, 1);
    steady.sends(b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n").await;
    for _ in 0..2 * BODY_SWEEPS {
        let received = steady.connection.received_body_bytes();
        steady.sends(&[b'x'; 61]).await;
        while steady.connection.received_body_bytes() < received + 61 {
            tokio::task::yield_now().await;
        }
        steady.is(Phase::Body).await;
        sweep(&table, 1);
    }
    assert!(steady.is_open().await);
}

#[tokio::test]
async fn the_oldest_incomplete_body_is_closed_for_another_connection() {
    let table = table(ConnectionLimits::with_total(10));
    let mut clients = Vec::new();
    for number in 0..10 {
        let mut client = connect(&table, number);
        client.sends(HALF_BODY).await;
        client.is(Phase::Body).await;
        sweep(&table, 1);
        clients.push(client);
    }
    let mut complete = connect(&table, 10);
    complete.sends(b"GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    complete.is(Phase::Request).await;
    // A part of a body makes it no younger.
    clients[0].sends(b"r").await;
    clients[0].is(Phase::Body).await;
    sweep(&table, 2);
    for closed in clients {
        assert!(table.make_room());
        assert_eq!(closed.closes().await, "");
    }
    assert!(!table.make_room() && complete.is_open().await);
}

#[tokio::test]
async fn later_heads_of_a_client_are_counted_like_its_first() {
    let table = table(ConnectionLimits::with_total(10_000));
    let mut clients = Vec::new();
    for number in 0..258 {
        let mut client = connect(&table, 1);
        client.is_answered().await;
        client.sends(HALF).await;
        client.is(Phase::Head).await;
        // The first two begin before the others.
        if number < 2 {
            sweep(&table, 1);
        }
        clients.push(client);
    }
    let mut other = connect(&table, 2);
    other.is_answered().await;
    sweep(&table, 2);
    for closed in clients.drain(..2) {
        assert_eq!(closed.closes().await, "");
    }
    assert!(clients[0].is_open().await && other.is_open().await);
    // A complete head is not counted any more.
    clients[0].sends(b"alhost\r\n\r\n").await;
    clients[0].is(Phase::Idle).await;
    let mut one_more = connect(&table, 1);
    one_more.sends(HALF).await;
    sweep(&table, 2);
    assert!(clients[1].is_open().await);
}

#[tokio::test]
async fn a_head_that_came_with_the_request_before_it_is_incomplete_at_once() {
    let table = table(ConnectionLimits::with_total(10));
    let (mut ahead, mut idle) = (connect(&table, 1), connect(&table, 1));
    ahead.sends(&[WHOLE, HALF].concat()).await;
    ahead.is(Phase::Idle).await;
    idle.is_answered().await;
    assert!(ahead.connection.has_incomplete_head() && !idle.connection.has_incomplete_head());
    sweep(&table, HEAD_SWEEPS);
    assert!(ahead.closes().await.ends_with("here"));
    assert!(idle.is_open().await);
}

#[tokio::test]
async fn nothing_is_left_behind_complete_requests() {
    let table = table(ConnectionLimits::with_total(10));
    let post = "POST /echo HTTP/1.1\r\nHost: localhost\r\n";
    let chunked = format!("{post}Transfer-Encoding: chunked\r\n\r\n4\r\nhere\r\n0\r\n\r\n");
    for request in [format!("{post}Content-Length: 4\r\n\r\nhere"), chunked] {
        let mut client = connect(&table, 1);
        for (length, rest) in [(request.len(), ""), (request.len() / 2, &request[request.len() / 2..])] {
            client.sends(&request.as_bytes()[..length]).await;
            if !rest.is_empty() {
                client.is_read().await;
                client.sends(rest.as_bytes()).await;
            }
            client.reads_answer().await;
            client.is(Phase::Idle).await;
            assert!(!client.connection.has_incomplete_head(), "{request:?} at {length}");
        }
    }
}

#[tokio::test]
async fn all_incomplete_heads_have_one_bound_in_bytes() {
    let limits = ConnectionLimits { head_bytes: 40_000, ..ConnectionLimits::with_total(100) };
    let table = table(limits);
    let mut small = connect(&table, 1);
    small.sends(HALF).await;
    let mut large = Vec::new();
    for number in 2..6 {
        let mut client = connect(&table, number);
        client.sends(b"GET / HTTP/1.1\r\nX: ").await;
        client.sends(&[b'x'; 12_000]).await;
        client.is_read().await;
        large.push(client);
    }
    // The fourth exceeds the bound: two are closed, so that three quarters of it remain.
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
async fn a_request_ends_with_its_response_and_not_before() {
    let table = table(ConnectionLimits::with_total(10));
    let mut client = connect(&table, 1);
    client.sends(b"GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    client.is(Phase::Request).await;
    client.is_read().await;
    sweep(&table, 2 * IDLE_SWEEPS);
    assert!(client.connection.phase() == Phase::Request && client.is_open().await);
    let response = client.closes().await;
    assert!(response.contains("content-length: 300000\r\n") && response.ends_with("xx"));
    assert!(response.len() > 300_000);
}
