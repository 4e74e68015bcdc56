//! Measures the login page: served from the cache compared with a bare handler that returns an
//! equal body, its size with all assets, and the delay between a wallet's answer and the updated
//! page.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use signpost_bench::login_page::OpenPage;
use signpost_bench::server::ApiTarget;
use signpost_bench::{Program, Server, Variant, compare, get, get_with, report, send_request, serve_or_measure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CONNECTIONS: usize = 32;
/// Number of logins that are observed, in sequence.
const LOGINS: usize = 100;

fn main() -> Result<()> {
    serve_or_measure(measure)
}

async fn measure() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = Program::start(&[&format!("data_dir={}", folder.path().display())])?;
    program.target.host("localhost", "http://localhost:9/").await?;
    measure_serving(&program).await?;
    measure_updates(&program.target).await
}

async fn measure_serving(program: &Program) -> Result<()> {
    let page = OpenPage::open(&program.target).await?;
    let request = get_with(&page.path, &page.cookie);
    let bare = Server::bare("text/html; charset=utf-8", page.document.as_bytes())?;
    let variants = [
        Variant { name: "bare handler, the same bytes", server: &bare, request: request.clone() },
        Variant { name: "GET /login/{id}", server: &program.server, request },
    ];
    println!("showing a login page that waits, {CONNECTIONS} connections");
    compare("page", &variants, CONNECTIONS).await?;
    let mut bytes = gzipped(page.document.as_bytes())?;
    for asset in assets(&program.target, &page.document).await? {
        bytes += gzipped(&send_request(program.target.address, &get(&asset)).await?)?;
    }
    report("page_bytes", f64::from(u32::try_from(bytes)?) / 1e3, None)
}

/// Returns the URLs of the assets that a page loads, including imported modules.
async fn assets(target: &ApiTarget, document: &str) -> Result<BTreeSet<String>> {
    let (mut found, mut next) = (BTreeSet::new(), vec![document.to_owned()]);
    while let Some(text) = next.pop() {
        for part in text.split("/assets/").skip(1) {
            let name: String =
                part.chars().take_while(|letter| letter.is_ascii_alphanumeric() || "-._".contains(*letter)).collect();
            let path = format!("/assets/{name}");
            if found.insert(path.clone()) {
                next.push(String::from_utf8_lossy(&send_request(target.address, &get(&path)).await?).into_owned());
            }
        }
    }
    ensure!(!found.is_empty(), "the page loads nothing");
    Ok(found)
}

fn gzipped(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}

/// Measures the time from the response to the wallet until the page has received an event and
/// fetched the new document, which a browser would then render.
async fn measure_updates(target: &ApiTarget) -> Result<()> {
    let mut latencies = Vec::new();
    for _ in 0..LOGINS {
        let page = OpenPage::open(target).await?;
        let mut stream = TcpStream::connect(target.address).await?;
        stream.write_all(&get_with(&format!("{}/events", page.path), &page.cookie)).await?;
        read_until(&mut stream, "waiting").await?;
        let reply = send_request(target.address, &page.answer).await?;
        ensure!(reply == br#"{"status":"OK"}"#, "{}", String::from_utf8_lossy(&reply));
        let answered = Instant::now();
        read_until(&mut stream, "done").await?;
        let shown = send_request(target.address, &get_with(&page.path, &page.cookie)).await?;
        latencies.push(answered.elapsed());
        ensure!(String::from_utf8_lossy(&shown).contains(r#"data-state="done""#), "the page does not show the login");
    }
    latencies.sort_unstable();
    println!("from the answer of a wallet until its page shows it, {LOGINS} logins");
    println!("  p50 {:?}, p99 {:?}", latencies[LOGINS / 2], latencies[LOGINS * 99 / 100]);
    report("page_shown", latencies[LOGINS / 2].as_secs_f64() * 1e3, None)
}

/// Reads an event stream until an event reports this state.
async fn read_until(stream: &mut TcpStream, state: &str) -> Result<()> {
    let (mut read, wanted) = (Vec::new(), format!(r#""state":"{state}""#));
    loop {
        let more = tokio::time::timeout(Duration::from_secs(10), stream.read_buf(&mut read)).await;
        let text = String::from_utf8_lossy(&read);
        match more {
            Ok(Ok(bytes)) if bytes > 0 && text.contains(&wanted) => return Ok(()),
            Ok(Ok(bytes)) if bytes > 0 => {}
            _ => bail!("the stream ended without {wanted}: {text}"),
        }
    }
}
