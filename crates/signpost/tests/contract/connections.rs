//! Bounds on open connections and requests in progress (docs/operate.md, Bounds).

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use signpost_platform::clock::Clock;
use signpost_server::ConnectionLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};

use crate::harness::{Integrator, Phone, Program, RunningProgram, Service, WAIT_TIMEOUT, text, until};

/// Number of connections, above the limit of a server with 1024 descriptors.
const CONNECTIONS: usize = 1100;

/// Creates an HTTP client that connects from this loopback address.
#[expect(clippy::disallowed_methods, reason = "the tests are clients, outside of the program")]
fn client(at: &str) -> Client {
    let at: IpAddr = at.parse().expect("an address");
    drop(rustls::crypto::ring::default_provider().install_default());
    // Under attack the listen queue can be full; TCP retries after 1, 3, 7 and 15 s.
    let builder = Client::builder().no_proxy().local_address(at).timeout(WAIT_TIMEOUT);
    builder.build().expect("a client")
}

async fn half_open(to: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(to).await.expect("a connection");
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: loc").await.expect("a connection");
    stream
}

/// Connects from this loopback address.
async fn connect_from(from: [u8; 4], to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((from, 0)))?;
    socket.connect(to).await
}

/// Opens `count` connections from an address and sends `sent` on each.
async fn many_that_sent(to: SocketAddr, from: [u8; 4], count: usize, sent: &[u8]) -> Vec<TcpStream> {
    let mut open = Vec::new();
    for _ in 0..count {
        let mut stream = connect_from(from, to).await.expect("a connection");
        stream.write_all(sent).await.expect("a connection");
        open.push(stream);
    }
    open
}

async fn many_half_open(to: SocketAddr) -> Vec<TcpStream> {
    // This process owns the client ends.
    assert!(ConnectionLimits::for_server().total > CONNECTIONS, "the tests need {CONNECTIONS} descriptors (ulimit -n)");
    let mut open = Vec::new();
    for _ in 0..CONNECTIONS {
        open.push(half_open(to).await);
    }
    open
}

/// Returns true if the server has closed the connection.
async fn is_closed(stream: &mut TcpStream) -> bool {
    let mut byte = [0];
    let read = tokio::time::timeout(Duration::from_millis(1), stream.read(&mut byte)).await;
    read.is_ok_and(|read| !matches!(read, Ok(1..)))
}

async fn assert_healthy(to: SocketAddr) {
    for at in ["127.0.0.1", "127.0.0.2"] {
        let answer = client(at).get(format!("http://{to}/health")).send().await;
        assert_eq!(answer.unwrap_or_else(|error| panic!("from {at}: {error}")).status(), 200);
    }
}

#[tokio::test]
async fn half_open_connections_do_not_block_others() {
    let service = Service::start().await;
    let mut open = many_half_open(service.app.listen).await;
    assert_healthy(service.app.listen).await;
    let last = open.len() - 1;
    until("the oldest is closed", async || is_closed(&mut open[0]).await.then_some(())).await;
    // The newest 256 connections of an address stay open.
    assert!(!is_closed(&mut open[last]).await);
    until("all but so many are closed", async || is_closed(&mut open[last - 256]).await.then_some(())).await;
    service.stop().await;
}

#[tokio::test]
async fn server_answers_1000_concurrent_requests() {
    let service = Service::start().await;
    let address = service.app.listen;
    assert!(ConnectionLimits::for_server().total > CONNECTIONS, "the tests need {CONNECTIONS} descriptors (ulimit -n)");
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

async fn serve(folder: &std::path::Path, descriptors: u32) -> (RunningProgram, SocketAddr) {
    let folder = folder.to_owned();
    let start = move || Program::serve_with_file_limit(&folder, descriptors);
    let server = tokio::task::spawn_blocking(start).await.expect("no panic");
    let address = server.address("listen").parse().expect("an address");
    (server, address)
}

#[tokio::test]
async fn server_reserves_descriptors() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, address) = serve(folder.path(), 200).await;
    let open = many_half_open(address).await;
    assert_healthy(address).await;
    // The database can still open its files.
    let ready = client("127.0.0.1").get(format!("http://{address}/health/ready")).send().await.expect("an answer");
    assert_eq!(ready.status(), 200);
    drop(open);
    server.kill();
}

#[tokio::test]
async fn idle_connections_do_not_delay_shutdown() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut server, address) = serve(folder.path(), 1024).await;
    let (silent, mut half) = (TcpStream::connect(address).await.expect("a connection"), half_open(address).await);
    let idle = client("127.0.0.1");
    assert_eq!(idle.get(format!("http://{address}/health")).send().await.expect("an answer").status(), 200);
    server.terminate();
    let (ended, log) = tokio::task::spawn_blocking(move || server.wait_for_exit()).await.expect("no panic");
    assert!(ended.success() && !log.contains("deadline"), "{log}");
    assert!(is_closed(&mut half).await);
    drop((silent, idle));
}

#[tokio::test]
async fn server_detects_a_disconnected_client() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let path = format!("/sessions/{}/events", session["id"].as_str().expect("an id"));
    let stream = integrator.request(reqwest::Method::GET, &path).send().await.expect("an answer");
    until("it waits", async || (service.app.login.waiting.requests() == 1).then_some(())).await;
    drop(stream);
    // The disconnect is the only signal: the clock does not advance and no event is written.
    until("its place is free", async || (service.app.login.waiting.sessions() == 0).then_some(())).await;
    service.stop().await;
}

/// Duration of an attack.
const ATTACK_DURATION: Duration = Duration::from_secs(30);
/// Connections per attacking address, if there are ten. A server with 2048 descriptors serves 1536.
const ATTACKERS: u8 = 170;
/// Pause of an attacker before it replaces a connection that the server closed.
const PAUSE: Duration = Duration::from_millis(500);

/// Opens connections from these addresses, sends `sent` on each, and replaces those that the server closes, until
/// [`ATTACK_DURATION`] has passed.
async fn attack(to: SocketAddr, from: std::ops::RangeInclusive<u8>, sent: Vec<u8>) {
    let sent: Arc<[u8]> = sent.into();
    let mut connections = JoinSet::new();
    for address in from.cycle().take(10 * usize::from(ATTACKERS)) {
        let sent = Arc::clone(&sent);
        connections.spawn(async move {
            let mut pause = interval(PAUSE);
            loop {
                pause.tick().await;
                if let Ok(mut stream) = connect_from([127, 0, 1, address], to).await
                    && stream.write_all(&sent).await.is_ok()
                {
                    drop(stream.read_to_end(&mut Vec::new()).await);
                }
            }
        });
    }
    // The tasks do not end by themselves.
    drop(timeout(ATTACK_DURATION, connections.join_next()).await);
    connections.shutdown().await;
}

/// Requests the health endpoint and logs in from other addresses until the attack ends. Returns the number of
/// successful rounds.
async fn ask_during(attack: impl Future<Output = ()>, address: SocketAddr, key: &str) -> usize {
    let api = format!("http://{address}/sandbox/v1");
    let shop = Integrator { http: client("127.0.0.2"), api, key: Some(key.to_owned()) };
    let phone = Phone::of(1, &Clock::System);
    let mut attack = std::pin::pin!(attack);
    let mut answers = 0;
    let mut pause = interval(Duration::from_millis(200));
    loop {
        pause.tick().await;
        let asked = async {
            let health = client("127.0.0.3").get(format!("http://{address}/health")).send().await.expect("an answer");
            assert_eq!(health.status(), 200);
            let session = shop.create_session("shop.test").await;
            shop.authenticate(&session, &phone.answer(&session)).await.with(200);
        };
        tokio::select! {
            () = &mut attack => return answers,
            () = asked => answers += 1,
        }
    }
}

/// Starts a server with 2048 descriptors and an integrator.
async fn attacked(folder: &std::path::Path) -> (RunningProgram, SocketAddr, String) {
    let (server, address) = serve(folder, 2048).await;
    let arguments = ["keys", "create", "--environment", "sandbox", "--name", "shop", "--json"];
    let key = text(&Program::within(folder, &arguments).run_async().await.json(), "key").to_owned();
    let api = format!("http://{address}/sandbox/v1");
    Integrator { http: client("127.0.0.2"), api, key: Some(key.clone()) }.register_domain("shop.test").await;
    (server, address, key)
}

fn half_message(address: SocketAddr) -> Vec<u8> {
    let head = "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"jsonrpc\"";
    format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\n{head}").into_bytes()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn incomplete_bodies_do_not_block_other_clients() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, address, key) = attacked(folder.path()).await;
    // A single address exceeds its limit; ten addresses together use every permit.
    let attack = async {
        tokio::join!(attack(address, 1..=1, half_message(address)), attack(address, 2..=11, half_message(address)));
    };
    // The number of rounds depends on the machine; every request was answered.
    assert!(ask_during(attack, address, &key).await > 0);
    server.kill();
}

#[tokio::test]
async fn pipelined_heads_are_limited_per_address() {
    let service = Service::start().await;
    let address = service.app.listen;
    let request = format!("GET /health HTTP/1.1\r\nHost: {address}\r\n\r\nGET /health HTTP/1.1\r\nX: ");
    let sent = [request.into_bytes(), vec![b'x'; 60_000]].concat();
    assert!(ConnectionLimits::for_server().total > CONNECTIONS, "the tests need {CONNECTIONS} descriptors (ulimit -n)");
    let mut open = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(&sent).await.expect("a connection");
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.expect("an answer");
        open.push(stream);
    }
    assert_healthy(address).await;
    // 256 connections stay open and the others close, before the 10 s timeout of a request head.
    let started = tokio::time::Instant::now();
    let mut closed = JoinSet::new();
    for mut stream in open {
        closed.spawn(async move { drop(stream.read_to_end(&mut Vec::new()).await) });
    }
    for _ in 256..CONNECTIONS {
        closed.join_next().await.expect("a connection").expect("no panic");
    }
    assert!(started.elapsed() < Duration::from_secs(9), "{:?}", started.elapsed());
    service.stop().await;
}

#[tokio::test]
async fn early_rejection_closes_the_connection() {
    let service = Service::start().await;
    let address = service.app.listen;
    let post = format!("POST /nowhere HTTP/1.1\r\nHost: {address}\r\nContent-Length: 5\r\n\r\n");
    let last = format!("GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let answers = async |sent: String| {
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(sent.as_bytes()).await.expect("a connection");
        let mut answers = String::new();
        stream.read_to_string(&mut answers).await.expect("an answer");
        let statuses = answers.split("HTTP/1.1 ").skip(1).map(|answer| answer[..3].to_owned()).collect::<Vec<_>>();
        (statuses, answers.to_ascii_lowercase().matches("\r\nconnection: close\r\n").count())
    };
    assert_eq!(answers(post.clone()).await, (vec!["404".to_owned()], 1));
    // A body that arrived with its head is read, and the connection stays open for the next request.
    let both = answers(format!("{post}12345{last}")).await;
    assert_eq!(both, (vec!["404".to_owned(), "200".to_owned()], 1));
    // If the client expects "100 Continue", the server does not request the body.
    let asking = post.replace("Content-Length: 5", "Transfer-Encoding: chunked\r\nExpect: 100-continue");
    assert_eq!(answers(asking).await, (vec!["404".to_owned()], 1));
    service.stop().await;
}

/// Returns the resident memory of a process, in MB.
fn resident_megabytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib / 1024
}

#[tokio::test]
async fn memory_of_large_heads_is_released() {
    let folder = tempfile::tempdir().expect("a folder");
    let (server, address) = serve(folder.path(), 2048).await;
    assert_healthy(address).await;
    let before = resident_megabytes(server.process());
    let head = [b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ".as_slice(), &vec![b'x'; 60_000]].concat();
    // 60 MB of request heads, from several addresses.
    let mut open = Vec::new();
    for from in 1..=4 {
        open.extend(many_that_sent(address, [127, 0, 1, from], 250, &head).await);
    }
    let has_grown = async || Some(resident_megabytes(server.process())).filter(|now| *now >= before + 40);
    let most = until("the heads take memory", has_grown).await;
    drop(open);
    // Memory pages that contain other data are not released.
    until("it is given back", async || (resident_megabytes(server.process()) + 30 <= most).then_some(())).await;
    server.kill();
}

#[tokio::test]
async fn requests_in_progress_are_limited_per_address() {
    let service = Service::with(&[("services", "atm,auth"), ("rate_limit_mcp", "off")]).await;
    let address = service.app.listen;
    let half = format!("POST /v1/atms/1/reports HTTP/1.1\r\nHost: {address}\r\n");
    let half = format!("{half}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{");
    let mut open = many_that_sent(address, [127, 0, 0, 1], 256, half.as_bytes()).await;
    let mcp = format!("http://{address}/mcp");
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let send = async |from: &str| {
        let request = client(from).post(&mcp).header("content-type", "application/json").body(ping);
        let reply = request.send().await.expect("an answer");
        (reply.status().as_u16(), reply.headers().contains_key("retry-after"), reply.text().await.expect("a body"))
    };
    let get = async |path: &str| {
        let reply = client("127.0.0.1").get(format!("http://{address}{path}")).send().await.expect("an answer");
        (reply.status().as_u16(), reply.text().await.expect("a body"))
    };
    let is_refused = async || Some(get("/v1/nowhere").await).filter(|(status, _)| *status == 429);
    let (_, problem) = until("the bound is reached", is_refused).await;
    let problem: serde_json::Value = serde_json::from_str(&problem).expect("JSON");
    let details = serde_json::json!({ "limit": "in_progress", "at_once": 256, "retry_after": 1 });
    assert_eq!(problem["error"]["details"], details);
    // Health checks from that address still succeed.
    assert_eq!(get("/health").await.0, 200);
    let (status, has_pause, body) = send("127.0.0.1").await;
    let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
    assert!(status == 429 && has_pause && body["id"] == 7 && body["error"]["code"] == -31429, "{body}");
    // The rejection does not wait for the rest of a body.
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(&half_message(address)).await.expect("a connection");
    let mut refused = String::new();
    stream.read_to_string(&mut refused).await.expect("an answer");
    assert!(refused.starts_with("HTTP/1.1 429 ") && refused.contains("\"id\":null"), "{refused}");
    // Other addresses and requests with an API key are not limited.
    assert_eq!(send("127.0.0.2").await.0, 200);
    let integrator = service.shop().await;
    integrator.create_session("shop.test").await;
    // Closed connections release their permits.
    open.clear();
    until("places are free", async || (send("127.0.0.1").await.0 == 200).then_some(())).await;
    service.stop().await;
}

#[tokio::test]
async fn limits_use_the_forwarded_client_ip() {
    let settings = [("services", "atm,auth"), ("rate_limit_mcp", "off"), ("trusted_proxies", "127.0.0.1")];
    let service = Service::with(&settings).await;
    let address = service.app.listen;
    let half = format!("POST /v1/atms/1/reports HTTP/1.1\r\nHost: {address}\r\nX-Forwarded-For: 203.0.113.9\r\n");
    let half = format!("{half}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{");
    let open = many_that_sent(address, [127, 0, 0, 1], 256, half.as_bytes()).await;
    let status = async |client: &str| {
        let url = format!("http://{address}/v1/nowhere");
        let request = self::client("127.0.0.1").get(url).header("x-forwarded-for", client);
        request.send().await.expect("an answer").status().as_u16()
    };
    until("the bound is reached", async || (status("203.0.113.9").await == 429).then_some(())).await;
    assert_eq!(status("198.51.100.7").await, 404);
    drop(open);
    service.stop().await;
}
