//! Measures MCP tool calls compared with a bare axum handler that returns an equal body and with
//! the official SDKs: the protocol layer with an empty tool, and the real search over 40,000 ATMs.
//! Also measures the minimum cost of a request.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use signpost_bench::goals::missing;
use signpost_bench::load::{check, median, print_all};
use signpost_bench::serve::{ATMS, found};
use signpost_bench::{
    Program, Server, Variant, compare, get, measure as load, post, read_reply, report, send_request, serve_or_measure,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CONNECTIONS: usize = 32;
/// Number of responses as server-sent events that are timed.
const EVENTS: usize = 2_000;

const JSON_MEDIA_TYPE: &str = "application/json";
const ACCEPT_BOTH: &str = "accept: application/json, text/event-stream\r\n";
const CALL_STUB: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find","arguments":{"location":"Austin, TX","limit":10}}}"#;
const STATELESS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"find","arguments":{"location":"Austin, TX","limit":10}}}"#;
const STATELESS_HEADERS: &str = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: find\r\n";
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const BY_NAME: &str = r#"{"location":"Austin, TX","limit":10}"#;
const ONE_ATM: &str = r#"{"lat":30.267,"lon":-97.743,"limit":1}"#;
const DETAILS: &str = r#"{"atmId":1}"#;
/// A header by which a message may wait for its turn.
const VERSION_HEADER: &str = "mcp-protocol-version: 2025-11-25\r\n";
const TEN_ATMS: &str = r#"{"lat":30.267,"lon":-97.743,"limit":10}"#;

fn main() -> Result<()> {
    serve_or_measure(measure)
}

async fn measure() -> Result<()> {
    let stub = Server::start_self(&["stub"])?;
    let program = Program::with_atms(&[])?;
    println!("memory when idle, a server with one tool");
    report("memory_stub", stub.resident_megabytes()?, None)?;
    protocol_layer(&stub).await?;
    minimal_requests(&program.server).await?;
    real_searches(&program.server).await?;
    println!("reply over SSE, one connection");
    events("signpost-mcp, a stub", &stub, CALL_STUB).await?;
    let slow = events("the program, search", &program.server, &search(BY_NAME)).await?;
    report("sse", slow, None)
}

/// Measures only the protocol layer, with an empty tool.
async fn protocol_layer(stub: &Server) -> Result<()> {
    let request = post("/mcp", ACCEPT_BOTH, CALL_STUB);
    let bare = bare_of(stub, &request).await?;
    let rmcp = baseline("rmcp", Command::new("target/baselines/release/rmcp-baseline").arg(found().json()));
    let mut typescript = Command::new("node");
    typescript.arg("bench/baselines/typescript/server.mjs").arg(found().json());
    let typescript = baseline("the TypeScript SDK", &mut typescript);
    let same = |name, server| Variant { name, server, request: request.clone() };
    let stateless = post("/mcp", &format!("{ACCEPT_BOTH}{STATELESS_HEADERS}"), STATELESS);
    let mut variants = vec![
        same("bare handler, the stub's bytes", &bare),
        same("signpost-mcp, a stub", stub),
        Variant { name: "the same, 2026-07-28", server: stub, request: stateless },
    ];
    variants.extend(rmcp.as_ref().map(|rmcp| same("rmcp 3.9, stateless, JSON", rmcp)));
    variants.extend(typescript.as_ref().map(|node| same("TypeScript SDK 1.32, stateless", node)));
    println!("tool call with a stub, {CONNECTIONS} connections, limits off");
    let measured = compare("stub", &variants, CONNECTIONS).await?;
    let [bare, signpost, stateless] = [0, 1, 2].map(|at| measured[at]);
    report("stub_2026", stateless.rate / bare.rate, Some([stateless.cpu_time, bare.cpu_time]))?;
    let others = [("stub_rmcp", &rmcp), ("stub_typescript", &typescript)].into_iter().filter(|(_, it)| it.is_some());
    for ((key, _), sdk) in others.zip(&measured[3..]) {
        report(key, signpost.rate / sdk.rate, Some([signpost.cpu_time, sdk.cpu_time]))?;
    }
    check("stub_generators", &variants, CONNECTIONS, &measured).await
}

/// Measures requests that need almost no work in the program.
async fn minimal_requests(program: &Server) -> Result<()> {
    for (key, name, request) in
        [("health", "GET /health", get("/health")), ("ping", "ping", post("/mcp", ACCEPT_BOTH, PING))]
    {
        let bare = bare_of(program, &request).await?;
        let variants = [
            Variant { name: "bare handler, the same bytes", server: &bare, request: request.clone() },
            Variant { name, server: program, request },
        ];
        println!("{name}, {CONNECTIONS} connections");
        let measured = load(&variants, CONNECTIONS).await?;
        print_all(&variants, &measured);
        let [bare, signpost] = [0, 1].map(|at| measured[at].cpu_time);
        report(key, signpost.all() / bare.all(), Some([signpost, bare]))?;
    }
    Ok(())
}

async fn real_searches(program: &Server) -> Result<()> {
    let limited = Program::with_atms(&["rate_limit_mcp=1000000/s"])?;
    println!("search of {ATMS} machines, {CONNECTIONS} connections");
    for (key, name, call) in [
        ("search", "the program, by name", search(BY_NAME)),
        ("search_one", "by coordinates, one", search(ONE_ATM)),
        ("search_ten", "by coordinates, ten", search(TEN_ATMS)),
        ("details", "details of one", tool_call("get_atm_details", DETAILS)),
    ] {
        let request = post("/mcp", ACCEPT_BOTH, &call);
        let bare = bare_of(program, &request).await?;
        let mut variants = vec![
            Variant { name: "bare handler, the same bytes", server: &bare, request: request.clone() },
            Variant { name, server: program, request: request.clone() },
        ];
        if key == "search" {
            variants.push(Variant { name: "the same, its limiter on", server: &limited.server, request });
            let may_wait = post("/mcp", &format!("{ACCEPT_BOTH}{VERSION_HEADER}"), &call);
            variants.push(Variant { name: "the same, may wait", server: &limited.server, request: may_wait });
        }
        let measured = compare(key, &variants, CONNECTIONS).await?;
        if let [_, free, limited, waiting] = measured[..] {
            report("search_limited", limited.rate / free.rate, Some([limited.cpu_time, free.cpu_time]))?;
            report("search_waiting", waiting.rate / free.rate, Some([waiting.cpu_time, free.cpu_time]))?;
            check("search_generators", &variants, CONNECTIONS, &measured).await?;
        }
    }
    Ok(())
}

fn search(arguments: &str) -> String {
    tool_call("find_nearest_bitcoin_atm", arguments)
}

fn tool_call(tool: &str, arguments: &str) -> String {
    let call = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{call}}}"#)
}

/// Returns the p99 time from a POST to its event, in milliseconds.
async fn events(name: &str, server: &Server, body: &str) -> Result<f64> {
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
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        read_reply(&mut posts, &mut reply).await?;
    }
    times.sort_unstable_by(f64::total_cmp);
    let slow = times[times.len() * 99 / 100];
    println!("  {name:<36} {:.2} ms, p99 {slow:.2} ms", median(times));
    Ok(slow)
}

async fn listen(stream: &mut TcpStream) -> Result<String> {
    let mut buffer = vec![0; 64 * 1024];
    let length = stream.read(&mut buffer).await?;
    ensure!(length > 0, "the stream ended");
    Ok(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

/// Starts a bare handler with the response of this server. Fails if the response is an error.
async fn bare_of(server: &Server, request: &[u8]) -> Result<Server> {
    let body = send_request(server.address, request).await?;
    let text = String::from_utf8_lossy(&body);
    ensure!(!text.contains(r#""error":"#) && !text.contains(r#""isError":true"#), "{text}");
    Server::bare(JSON_MEDIA_TYPE, &body)
}

/// Returns a baseline server, or `None` if it cannot start, so that the other measurements
/// continue.
fn baseline(name: &str, command: &mut Command) -> Option<Server> {
    Server::start(command).inspect_err(|error| missing(name, &format!("{error:#}"))).ok()
}
