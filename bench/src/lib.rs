//! The load that every HTTP measurement uses: over loopback, bounded, ended by itself.
//!
//! The variants of one measurement take turns, round by round, so that whatever else the machine does meets all of
//! them; only the ratios mean anything.

pub mod child;
pub mod server;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// How many rounds each variant gets; their median counts.
pub const ROUNDS: usize = 5;
/// How long one takes.
pub const ROUND: Duration = Duration::from_millis(600);

/// One request, sent again and again to one server.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What is measured.
    pub name: &'static str,
    /// Where the server listens.
    pub address: SocketAddr,
    /// The bytes of the request.
    pub request: Vec<u8>,
}

/// A POST of a JSON body; `headers` are lines that end with `\r\n`.
#[must_use]
pub fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
    with_body("POST", path, headers, body)
}

/// A PATCH, likewise.
#[must_use]
pub fn patch(path: &str, headers: &str, body: &str) -> Vec<u8> {
    with_body("PATCH", path, headers, body)
}

fn with_body(method: &str, path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}");
    format!("{head}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// A GET without anything.
#[must_use]
pub fn get(path: &str) -> Vec<u8> {
    get_with(path, "")
}

/// A GET; `headers` are lines that end with `\r\n`.
#[must_use]
pub fn get_with(path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n").into_bytes()
}

/// The requests per second of each variant: the median of its rounds.
///
/// # Errors
/// Where a server does not answer every request with a success.
pub async fn requests_per_second(variants: &[Variant], connections: usize) -> Result<Vec<f64>> {
    let mut counts = vec![Vec::new(); variants.len()];
    for _ in 0..ROUNDS {
        for (variant, counts) in variants.iter().zip(&mut counts) {
            counts.push(round(variant, connections).await.with_context(|| variant.name)?);
        }
    }
    Ok(counts.into_iter().map(per_second).collect())
}

/// The median of what was done in each round, as a rate.
///
/// # Panics
/// Where there was no round.
#[must_use]
pub fn per_second(mut counts: Vec<u32>) -> f64 {
    counts.sort_unstable();
    f64::from(counts[counts.len() / 2]) / ROUND.as_secs_f64()
}

/// Requests answered in one round, one after another on each connection.
///
/// # Errors
/// Where the server does not answer every request with a success.
pub async fn round(variant: &Variant, connections: usize) -> Result<u32> {
    let mut clients = JoinSet::new();
    for _ in 0..connections {
        clients.spawn(ask_again(variant.clone()));
    }
    clients.join_all().await.into_iter().sum()
}

async fn ask_again(variant: Variant) -> Result<u32> {
    let mut connection = TcpStream::connect(variant.address).await?;
    connection.set_nodelay(true)?;
    let (mut answered, mut reply, end) = (0, Vec::with_capacity(64 * 1024), Instant::now() + ROUND);
    while Instant::now() < end {
        connection.write_all(&variant.request).await?;
        read_reply(&mut connection, &mut reply).await?;
        answered += 1;
    }
    Ok(answered)
}

/// Reads one whole reply, with a `content-length` or in chunks.
///
/// # Errors
/// Where it is no success.
pub async fn read_reply(connection: &mut TcpStream, reply: &mut Vec<u8>) -> Result<()> {
    reply.clear();
    loop {
        ensure!(connection.read_buf(reply).await? > 0, "the server hung up");
        let Some(head) = reply.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
        let text = std::str::from_utf8(&reply[..head])?;
        ensure!(text.starts_with("HTTP/1.1 20"), "{text}\n{}", String::from_utf8_lossy(&reply[head..]));
        let length = text
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok());
        let is_whole = match length {
            Some(length) => reply.len() >= head + 4 + length,
            None => reply.ends_with(b"0\r\n\r\n"),
        };
        if is_whole {
            return Ok(());
        }
    }
}

/// The body of the answer to one request on a connection of its own.
///
/// # Errors
/// Where it is no success.
pub async fn ask(address: SocketAddr, request: &[u8]) -> Result<Vec<u8>> {
    exchange(&mut TcpStream::connect(address).await?, request).await
}

/// The body of the answer to one request.
///
/// # Errors
/// Where it is no success.
pub async fn exchange(connection: &mut TcpStream, request: &[u8]) -> Result<Vec<u8>> {
    connection.write_all(request).await?;
    let mut reply = Vec::new();
    read_reply(connection, &mut reply).await?;
    let head = reply.windows(4).position(|bytes| bytes == b"\r\n\r\n").context("a head")?;
    Ok(reply.split_off(head + 4))
}

/// Sends all requests over a few connections, each once; how many a second that were.
///
/// # Errors
/// Where the server does not answer every request with a success.
pub async fn burst(address: SocketAddr, requests: Vec<Vec<u8>>, connections: usize) -> Result<f64> {
    let (count, mut clients) = (requests.len(), JoinSet::new());
    let mut shares = vec![Vec::new(); connections];
    for (at, request) in requests.into_iter().enumerate() {
        shares[at % connections].push(request);
    }
    let begun = Instant::now();
    for share in shares {
        clients.spawn(async move {
            let mut connection = TcpStream::connect(address).await?;
            connection.set_nodelay(true)?;
            for request in share {
                let reply = exchange(&mut connection, &request).await?;
                // To Lightning wallets a refusal is a success of HTTP.
                ensure!(!reply.starts_with(br#"{"status":"ERROR""#), "{}", String::from_utf8_lossy(&reply));
            }
            anyhow::Ok(())
        });
    }
    for done in clients.join_all().await {
        done?;
    }
    #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
    Ok(count as f64 / begun.elapsed().as_secs_f64())
}

/// Where a handler listens that answers this to everything, on threads of its own.
///
/// # Errors
/// Where it does not start.
pub fn start_bare(content_type: &'static str, body: String) -> Result<SocketAddr> {
    let (told, started) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            told.send(listener.local_addr()?)?;
            let answer = async move || ([(CONTENT_TYPE, content_type)], body.clone());
            let router: Router = Router::new().route("/{*path}", axum::routing::get(answer));
            anyhow::Ok(axum::serve(listener, router).await?)
        })
    });
    started.recv().context("the bare handler did not start")
}

/// Prints one line of a result: what, how often a second, and which part of the baseline that is.
pub fn print(name: &str, per_second: f64, baseline: f64) {
    println!("  {name:<46} {per_second:>9.0} /s   {:>5.2}", per_second / baseline);
}
