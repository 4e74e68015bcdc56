//! Tests of timeouts, limits and draining.

mod incomplete;

use axum::Router;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::task::JoinHandle;

use super::connection::Phase;
use super::*;

const WHOLE: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const HALF: &[u8] = b"GET / HTTP/1.1\r\nHost: loc";
/// Sweeps after which a head, and an idle connection, exceeds its timeout.
const HEAD_SWEEPS: u32 = 41;
const IDLE_SWEEPS: u32 = 301;

/// The client's and the server's end of a connection.
struct Client {
    stream: DuplexStream,
    connection: Arc<connection::OpenConnection>,
    task: JoinHandle<()>,
}

fn table(limits: ConnectionLimits) -> Arc<ConnectionTable> {
    Arc::new(ConnectionTable::new(limits, SWEEP_INTERVAL))
}

fn connect(table: &Arc<ConnectionTable>, client: u8) -> Client {
    let (stream, io) = duplex(1 << 16);
    let peer = format!("192.0.2.{client}:1").parse().unwrap();
    let hang = async || std::future::pending::<()>().await;
    let router = Router::new()
        .route("/", get(async || "here"))
        .route("/hang", get(hang))
        .route("/large", get(async || vec![b'x'; 300_000]))
        .route("/echo", post(echo));
    let place = table.enter(Proxies::default().client_of(peer));
    let connection = Arc::clone(place.connection());
    let dispatcher = Arc::new(Dispatcher::new(router.into(), Proxies::default()));
    Client { stream, connection, task: tokio::spawn(serving::serve(io, peer, dispatcher, place)) }
}

async fn echo(body: String) -> String {
    body
}

impl Client {
    async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    async fn request(&mut self) {
        self.send(WHOLE).await;
        self.read_answer().await;
    }

    async fn read_answer(&mut self) {
        let mut answer = String::new();
        while !answer.ends_with("here") {
            let mut bytes = [0; 512];
            let length = self.stream.read(&mut bytes).await.unwrap();
            assert!(length > 0, "closed after {answer}");
            answer.push_str(std::str::from_utf8(&bytes[..length]).unwrap());
        }
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("x-content-type-options: nosniff"));
    }

    /// Waits until the server has the connection in this phase.
    async fn wait_for(&self, phase: Phase) {
        while self.connection.phase() != phase {
            tokio::task::yield_now().await;
        }
    }

    /// Waits until the server has read all sent bytes.
    async fn wait_until_read(&self) {
        // The pipe has no other signal.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }

    /// Waits until the server closes the connection. Returns the bytes before that.
    async fn wait_until_closed(mut self) -> String {
        let mut rest = String::new();
        self.stream.read_to_string(&mut rest).await.unwrap();
        self.task.await.unwrap();
        rest
    }

    async fn is_open(&mut self) -> bool {
        // Connections that were asked to close have closed by then.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        !self.task.is_finished()
    }
}

fn sweep(table: &ConnectionTable, times: u32) {
    (0..times).for_each(|_| table.sweep());
}

#[tokio::test]
async fn slow_head_times_out() {
    let table = table(ConnectionLimits::with_total(10));
    let (mut silent, mut slow) = (connect(&table, 1), connect(&table, 1));
    slow.send(HALF).await;
    sweep(&table, HEAD_SWEEPS - 1);
    // Single bytes do not extend the timeout.
    slow.send(b"a").await;
    assert!(silent.is_open().await && slow.is_open().await);
    sweep(&table, 1);
    assert_eq!(silent.wait_until_closed().await, "");
    assert_eq!(slow.wait_until_closed().await, "");
}

#[tokio::test]
async fn idle_connection_times_out() {
    let table = table(ConnectionLimits::with_total(10));
    let mut client = connect(&table, 1);
    for _ in 0..3 {
        client.request().await;
        sweep(&table, IDLE_SWEEPS - 1);
        assert!(client.is_open().await);
    }
    sweep(&table, 1);
    assert_eq!(client.wait_until_closed().await, "");
}

#[tokio::test]
async fn later_head_times_out() {
    let table = table(ConnectionLimits::with_total(10));
    let mut client = connect(&table, 1);
    client.request().await;
    client.send(HALF).await;
    client.wait_for(Phase::Head).await;
    sweep(&table, HEAD_SWEEPS);
    assert_eq!(client.wait_until_closed().await, "");
}

#[tokio::test]
async fn request_in_progress_is_never_closed() {
    let table = table(ConnectionLimits::with_total(1));
    let mut client = connect(&table, 1);
    client.send(b"GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    client.wait_for(Phase::Request).await;
    sweep(&table, 2 * IDLE_SWEEPS);
    assert!(!table.make_room() && client.is_open().await);
}

#[tokio::test]
async fn clients_with_most_connections_lose_first() {
    let table = table(ConnectionLimits::with_total(10));
    let mut idle = connect(&table, 1);
    idle.request().await;
    sweep(&table, IDLE_SWEEPS / 2);
    let mut silent = connect(&table, 2);
    sweep(&table, 2);
    let mut many: Vec<_> = (0..3).map(|_| connect(&table, 3)).collect();
    sweep(&table, 2);
    for left in [2, 1] {
        assert!(table.make_room() && silent.is_open().await && idle.is_open().await);
        let mut open = Vec::new();
        for mut one in many {
            if one.is_open().await {
                open.push(one);
            }
        }
        many = open;
        assert_eq!(many.len(), left);
    }
    // Among clients with a single connection each, the oldest is closed.
    assert!(table.make_room() && idle.is_open().await && many[0].is_open().await);
    silent.wait_until_closed().await;
}

#[tokio::test]
async fn incomplete_heads_close_before_idle() {
    let table = table(ConnectionLimits::with_total(10));
    let mut idle = connect(&table, 1);
    idle.request().await;
    let (oldest, younger) = (connect(&table, 2), connect(&table, 3));
    let mut answering = connect(&table, 1);
    answering.send(b"GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    answering.wait_for(Phase::Request).await;
    sweep(&table, 2);
    assert!(table.make_room());
    oldest.wait_until_closed().await;
    assert!(idle.is_open().await);
    assert!(table.make_room());
    younger.wait_until_closed().await;
    assert!(idle.is_open().await);
    let mut fresh = connect(&table, 3);
    assert!(table.make_room());
    idle.wait_until_closed().await;
    assert!(fresh.is_open().await);
    assert!(table.make_room());
    fresh.wait_until_closed().await;
    assert!(!table.make_room() && answering.is_open().await);
}

#[tokio::test]
async fn incomplete_heads_are_limited_per_client() {
    let table = table(ConnectionLimits::with_total(10_000));
    let mut other = connect(&table, 2);
    let mut first = connect(&table, 1);
    let mut rest: Vec<_> = (0..255).map(|_| connect(&table, 1)).collect();
    assert!(first.is_open().await);
    sweep(&table, 2);
    let mut newest = connect(&table, 1);
    first.wait_until_closed().await;
    assert!(other.is_open().await && rest[0].is_open().await);
    // Connections with a complete head are no longer counted.
    newest.request().await;
    let more = connect(&table, 1);
    assert!(rest[0].is_open().await);
    let _one_too_many = connect(&table, 1);
    rest.swap_remove(0).wait_until_closed().await;
    drop(more);
    // Many simultaneous connections have a moment to be read.
    let mut burst: Vec<_> = (0..300).map(|_| connect(&table, 3)).collect();
    sweep(&table, 1);
    assert!(burst[0].is_open().await);
    sweep(&table, 1);
    assert!(burst[44].is_open().await);
    for surplus in burst.drain(..44) {
        surplus.wait_until_closed().await;
    }
    // A trusted proxy connects for many clients.
    let proxy = "192.0.2.1:1".parse().unwrap();
    let trusted =
        Proxies::new(vec!["192.0.2.1/32".parse().unwrap()], signpost_platform::limits::ForwardedHeader::default());
    assert_eq!(trusted.client_of(proxy), None);
    let places: Vec<_> = (0..300).map(|_| table.enter(trusted.client_of(proxy))).collect();
    assert!(places.iter().all(|place| place.connection().phase() == Phase::Opening));
}

#[tokio::test]
async fn draining_closes_idle_connections() {
    let table = table(ConnectionLimits::with_total(10));
    let (silent, mut half, mut idle, mut asking) =
        (connect(&table, 1), connect(&table, 1), connect(&table, 1), connect(&table, 1));
    half.send(HALF).await;
    idle.request().await;
    asking.send(b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nhe").await;
    asking.wait_for(Phase::Body).await;
    table.drain();
    for client in [silent, half, idle] {
        assert_eq!(client.wait_until_closed().await, "");
    }
    asking.send(b"re").await;
    let answer = asking.wait_until_closed().await;
    assert!(answer.contains("connection: close") && answer.ends_with("here"), "{answer}");
}

#[test]
fn flood_is_limited_to_the_newest() {
    let table = table(ConnectionLimits::with_total(16_384));
    let client = Proxies::default().client_of("192.0.2.1:1".parse().unwrap());
    let places: Vec<_> = (0..16_384).map(|_| table.enter(client)).collect();
    sweep(&table, 2);
    let is_open = |place: &table::ConnectionPlace| place.connection().phase() == Phase::Opening;
    assert_eq!(places.iter().filter(|place| is_open(place)).count(), 256);
    assert!(places[16_128..].iter().all(is_open), "the newest stay");
}

#[tokio::test]
async fn oversized_head_is_rejected() {
    let table = table(ConnectionLimits::with_total(10));
    let mut client = connect(&table, 1);
    client.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ").await;
    for _ in 0..20 {
        // The server may close it during the write.
        drop(client.stream.write_all(&[b'x'; 8192]).await);
    }
    assert!(client.wait_until_closed().await.starts_with("HTTP/1.1 431 "));
}

#[test]
fn connections_leave_reserved_descriptors() {
    for (descriptors, connections) in [(200, 100), (1024, 512), (4096, 3584), (65_536, 16_384), (u64::MAX, 16_384)] {
        assert_eq!(connections_below(descriptors), connections);
    }
}
