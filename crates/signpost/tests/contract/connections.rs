//! What clients do that open connections and say nothing (docs/operate.md, Bounds).

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use reqwest::Client;
use signpost::server::connections::ConnectionLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::harness::{Program, Running, Service, until};

/// More than a server with 1024 descriptors can hold.
const MANY: usize = 1100;

/// A client of its own, at an address of this machine, who wants an answer before a person would give up.
#[expect(clippy::disallowed_methods, reason = "the tests are clients, outside of the program")]
fn client(at: &str) -> Client {
    let at: IpAddr = at.parse().expect("an address");
    let builder = Client::builder().no_proxy().local_address(at).timeout(Duration::from_secs(20));
    builder.build().expect("a client")
}

async fn half_open(to: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(to).await.expect("a connection");
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: loc").await.expect("a connection");
    stream
}

async fn many_half_open(to: SocketAddr) -> Vec<TcpStream> {
    // This process holds the other ends.
    assert!(ConnectionLimits::of_server().total > MANY, "the tests need {MANY} descriptors (ulimit -n)");
    let mut open = Vec::new();
    for _ in 0..MANY {
        open.push(half_open(to).await);
    }
    open
}

/// Whether the server has closed it.
async fn is_closed(stream: &mut TcpStream) -> bool {
    let mut byte = [0];
    let read = tokio::time::timeout(Duration::from_millis(1), stream.read(&mut byte)).await;
    read.is_ok_and(|read| !matches!(read, Ok(1..)))
}

async fn is_healthy(to: SocketAddr) {
    for at in ["127.0.0.1", "127.0.0.2"] {
        let answer = client(at).get(format!("http://{to}/health")).send().await;
        assert_eq!(answer.unwrap_or_else(|error| panic!("from {at}: {error}")).status(), 200);
    }
}

#[tokio::test]
async fn half_open_connections_from_one_address_keep_nobody_out() {
    let service = Service::start().await;
    let mut open = many_half_open(service.app.listen).await;
    is_healthy(service.app.listen).await;
    let last = open.len() - 1;
    until("the oldest is closed", async || is_closed(&mut open[0]).await.then_some(())).await;
    // Of those of one address 256 stay, the newest.
    assert!(!is_closed(&mut open[last]).await);
    until("all but so many are closed", async || is_closed(&mut open[last - 256]).await.then_some(())).await;
    service.stop().await;
}

#[tokio::test]
async fn a_thousand_at_one_address_who_ask_at_once_are_all_answered() {
    let service = Service::start().await;
    let address = service.app.listen;
    assert!(ConnectionLimits::of_server().total > MANY, "the tests need {MANY} descriptors (ulimit -n)");
    let mut clients = JoinSet::new();
    for _ in 0..1000 {
        clients.spawn(async move {
            let mut stream = TcpStream::connect(address).await.expect("a connection");
            let ask = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            stream.write_all(ask).await.expect("a connection");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.expect("an answer");
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        });
    }
    clients.join_all().await;
    service.stop().await;
}

async fn serve(folder: &std::path::Path, descriptors: u32) -> (Running, SocketAddr) {
    let folder = folder.to_owned();
    let start = move || Program::serves_with(&folder, descriptors);
    let server = tokio::task::spawn_blocking(start).await.expect("no panic");
    let address = server.address("listen").parse().expect("an address");
    (server, address)
}

#[tokio::test]
async fn a_server_with_few_descriptors_keeps_some_for_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, address) = serve(folder.path(), 200).await;
    let open = many_half_open(address).await;
    is_healthy(address).await;
    // The database still has what it needs.
    let ready = client("127.0.0.1").get(format!("http://{address}/health/ready")).send().await.expect("an answer");
    assert_eq!(ready.status(), 200);
    drop(open);
    server.kill();
}

#[tokio::test]
async fn connections_without_a_request_do_not_hold_up_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut server, address) = serve(folder.path(), 1024).await;
    let (silent, mut half) = (TcpStream::connect(address).await.expect("a connection"), half_open(address).await);
    let idle = client("127.0.0.1");
    assert_eq!(idle.get(format!("http://{address}/health")).send().await.expect("an answer").status(), 200);
    server.terminate();
    let (ended, log) = tokio::task::spawn_blocking(move || server.ends()).await.expect("no panic");
    assert!(ended.success() && !log.contains("deadline"), "{log}");
    assert!(is_closed(&mut half).await);
    drop((silent, idle));
}

#[tokio::test]
async fn a_client_that_goes_away_is_noticed() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.opens("shop.test").await;
    let path = format!("/sessions/{}/events", session["id"].as_str().expect("an id"));
    let stream = integrator.request(reqwest::Method::GET, &path).send().await.expect("an answer");
    until("it waits", async || (service.app.login.waiting.requests() == 1).then_some(())).await;
    drop(stream);
    // By its connection alone: the clock stands still, and nothing is written to it.
    until("its place is free", async || service.app.login.waiting.is_empty().then_some(())).await;
    service.stop().await;
}
