//! What a tool call costs above a bare axum handler that returns the same bytes.
//!
//! `cargo bench -p signpost-mcp` serves on loopback, one thread for the server and one for the load, and ends by
//! itself after a few seconds. The rounds of all variants alternate, so that whatever else the machine does meets all
//! of them; only the ratios mean anything.

use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use serde_json::{Value, json};
use signpost_mcp::{
    Annotations, Context, Http, Info, Revision, Server, SessionLimits, Sessions, Structured, Tool, router,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const CONNECTIONS: usize = 32;
const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(250);

const LEGACY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find","arguments":{"location":"Austin, TX","limit":10}}}"#;
const STATELESS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"find","arguments":{"location":"Austin, TX","limit":10}}}"#;
const STATELESS_HEADERS: &str = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: find\r\n";

/// A name and the request that is sent again and again.
struct Variant {
    name: &'static str,
    request: Vec<u8>,
}

fn variant(name: &'static str, path: &str, headers: &str, body: &str) -> Variant {
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
    );
    Variant { name, request: request.into_bytes() }
}

fn server() -> Server<Structured> {
    let info = Info {
        name: "bench".into(),
        title: "Bench".into(),
        version: "1.0.0".into(),
        website_url: None,
        instructions: None,
    };
    Server::new(info).tool(Tool {
        name: "find",
        title: "Find",
        description: "Returns what was made before.",
        input_schema: json!({ "type": "object" }),
        output_schema: None,
        annotations: Annotations::LOOKUP,
        call: |found, _, _| Ok(found.clone()),
    })
}

/// Ten records, as large as those of a search.
fn found() -> Structured {
    let record = json!({ "id": 1234, "name": "Corner Market", "distance": "1.2 miles", "status": "open", "address": "100 Congress Ave, Austin, TX" });
    Structured::render(&json!({ "atms": vec![record; 10], "total": 10 })).expect("an object")
}

fn app() -> Router {
    let reply = server().answer(&found(), &Context::session(Revision::ASSUMED), LEGACY.as_bytes());
    let same = Bytes::from(reply.body.expect("a reply"));
    let parsed = same.clone();
    let sessions = Sessions::new(SessionLimits::default(), || [0; 16]);
    router(server(), found(), Http::new(sessions))
        .route("/bare", post(async move |_: Bytes| ([(CONTENT_TYPE, "application/json")], same.clone())))
        .route("/json", post(async move |_: Json<Value>| ([(CONTENT_TYPE, "application/json")], parsed.clone())))
}

/// The length of the one reply that is on its way.
async fn reply_length(connection: &mut TcpStream) -> usize {
    let mut reply = Vec::new();
    loop {
        assert!(connection.read_buf(&mut reply).await.expect("a reply") > 0, "the server hung up");
        let text = String::from_utf8_lossy(&reply);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        assert!(head.starts_with("HTTP/1.1 200") && !body.contains("\"error\""), "{text}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        let length: usize = length.parse().expect("a number");
        if body.len() == length {
            return reply.len();
        }
    }
}

/// Requests answered in one round, one after another on each connection.
async fn round(address: std::net::SocketAddr, request: &[u8]) -> usize {
    let mut clients = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let request = request.to_vec();
        clients.spawn(async move {
            let mut connection = TcpStream::connect(address).await.expect("the server listens");
            connection.set_nodelay(true).expect("an option of every TCP socket");
            connection.write_all(&request).await.expect("the server reads");
            let mut reply = vec![0; reply_length(&mut connection).await];
            let (mut answered, end) = (1, Instant::now() + ROUND);
            while Instant::now() < end {
                connection.write_all(&request).await.expect("the server reads");
                connection.read_exact(&mut reply).await.expect("a reply of the same length");
                answered += 1;
            }
            answered
        });
    }
    clients.join_all().await.into_iter().sum()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let variants = [
        variant("bare handler, same bytes", "/bare", "", LEGACY),
        variant("bare handler, body parsed to a Value", "/json", "", LEGACY),
        variant("tools/call", "/mcp", "", LEGACY),
        variant("tools/call, 2026-07-28", "/mcp", STATELESS_HEADERS, STATELESS),
    ];
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        listener.set_nonblocking(true).expect("an option of every socket");
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(async {
            let listener = TcpListener::from_std(listener).expect("a listener");
            let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
            axum::serve(listener, app()).await
        })
    });

    let mut counts = variants.each_ref().map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for (variant, counts) in variants.iter().zip(&mut counts) {
            counts.push(round(address, &variant.request).await);
        }
    }
    let medians = counts.map(|mut counts| {
        counts.sort_unstable();
        counts[ROUNDS / 2]
    });
    for (variant, median) in variants.iter().zip(medians) {
        let per_second = median * 1000 / usize::try_from(ROUND.as_millis()).expect("a short round");
        let percent = median * 100 / medians[0];
        println!("{:<38} {per_second:>8} requests/s  {percent:>4} % of bare", variant.name);
    }
}
