//! The login page: from memory against a bare handler with the same bytes, its size with all that it loads, and how long
//! after a wallet's answer it shows that.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use signpost_auth::{Challenge, K1, Wallet};
use signpost_bench::server::Door;
use signpost_bench::{Program, Server, Variant, ask, compare, get, get_with, or_measure, report};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CONNECTIONS: usize = 32;
/// How many logins are watched, one after the other.
const LOGINS: usize = 100;
const SESSION: &str =
    r#"{"domain":"localhost","mode":"register","flow":"page","metadata":{"return_url":"http://localhost:9/in"}}"#;

fn main() -> Result<()> {
    or_measure(measure)
}

async fn measure() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let ours = Program::start(&[&format!("data_dir={}", folder.path().display())])?;
    ours.door.host("localhost", "http://localhost:9/").await?;
    serving(&ours).await?;
    watching(&ours.door).await
}

/// A login page in a browser that owns it.
struct OpenPage {
    path: String,
    cookie: String,
    document: String,
    /// What a Lightning wallet requests to log in there.
    answer: Vec<u8>,
}

async fn open(ours: &Door) -> Result<OpenPage> {
    let made = ours.post("/sandbox/v1/sessions", SESSION).await?;
    let session: Value = serde_json::from_slice(&made)?;
    let member = |name: &str| session[name].as_str().with_context(|| name.to_owned());
    let (id, page_url) = (member("id")?, member("page_url")?);
    let path = format!("/{}", page_url.splitn(4, '/').last().unwrap_or_default());
    let mut connection = TcpStream::connect(ours.address).await?;
    connection.write_all(&get_with(&path, "connection: close\r\n")).await?;
    let mut reply = String::new();
    connection.read_to_string(&mut reply).await?;
    let (head, document) = reply.split_once("\r\n\r\n").context("a head")?;
    let set = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).context("a cookie")?;
    let cookie = format!("cookie: {}\r\n", set.split(';').next().unwrap_or_default());
    let (k1, wallet) = (K1::of(&Challenge::parse(member("challenge")?)?), Wallet::from_bytes([7; 32])?);
    let (sig, key) = (wallet.sign_k1(k1), wallet.public_key().canonical());
    let answer = get(&format!("/lnurl/{}?tag=login&k1={k1}&sig={sig}&key={key}", &id[id.len() - 12..]));
    Ok(OpenPage { path, cookie, document: document.to_owned(), answer })
}

async fn serving(ours: &Program) -> Result<()> {
    let page = open(&ours.door).await?;
    let request = get_with(&page.path, &page.cookie);
    let bare = Server::bare("text/html; charset=utf-8", page.document.as_bytes())?;
    let variants = [
        Variant { name: "bare handler, the same bytes", server: &bare, request: request.clone() },
        Variant { name: "GET /login/{id}", server: &ours.server, request },
    ];
    println!("showing a login page that waits, {CONNECTIONS} connections");
    compare("page", &variants, CONNECTIONS).await?;
    let mut bytes = gzipped(page.document.as_bytes())?;
    for asset in assets(&ours.door, &page.document).await? {
        bytes += gzipped(&ask(ours.door.address, &get(&asset)).await?)?;
    }
    report("page_bytes", f64::from(u32::try_from(bytes)?) / 1e3, None)
}

/// The addresses of what a page loads, and of what that imports.
async fn assets(ours: &Door, document: &str) -> Result<BTreeSet<String>> {
    let (mut found, mut next) = (BTreeSet::new(), vec![document.to_owned()]);
    while let Some(text) = next.pop() {
        for part in text.split("/assets/").skip(1) {
            let name: String =
                part.chars().take_while(|letter| letter.is_ascii_alphanumeric() || "-._".contains(*letter)).collect();
            let path = format!("/assets/{name}");
            if found.insert(path.clone()) {
                next.push(String::from_utf8_lossy(&ask(ours.address, &get(&path)).await?).into_owned());
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

/// From the reply to the wallet until the page, told by its event stream, was fetched anew: what a browser then draws.
async fn watching(ours: &Door) -> Result<()> {
    let mut waits = Vec::new();
    for _ in 0..LOGINS {
        let page = open(ours).await?;
        let mut stream = TcpStream::connect(ours.address).await?;
        stream.write_all(&get_with(&format!("{}/events", page.path), &page.cookie)).await?;
        read_until(&mut stream, "waiting").await?;
        let reply = ask(ours.address, &page.answer).await?;
        ensure!(reply == br#"{"status":"OK"}"#, "{}", String::from_utf8_lossy(&reply));
        let answered = Instant::now();
        read_until(&mut stream, "done").await?;
        let shown = ask(ours.address, &get_with(&page.path, &page.cookie)).await?;
        waits.push(answered.elapsed());
        ensure!(String::from_utf8_lossy(&shown).contains(r#"data-state="done""#), "the page does not show the login");
    }
    waits.sort_unstable();
    println!("from the answer of a wallet until its page shows it, {LOGINS} logins");
    println!("  half below {:?}, 99 of 100 below {:?}", waits[LOGINS / 2], waits[LOGINS * 99 / 100]);
    report("page_shown", waits[LOGINS / 2].as_secs_f64() * 1e3, None)
}

/// Reads a stream of events until one is of this state.
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
