//! A tool call against a bare axum handler that answers the same bytes: of the protocol layer alone with a tool that
//! does nothing, and of the real search over 40,000 machines.

use std::net::SocketAddr;
use std::sync::mpsc;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post as route;
use axum::serve::ListenerExt;
use serde_json::json;
use signpost::atms::{Snapshot, Stored};
use signpost::mcp::Locator;
use signpost_bench::{Variant, post, print, requests_per_second, server};
use signpost_locator::{Atm, AtmId, Point, Record};
use signpost_mcp::{
    Annotations, Context, Handler, Http, Info, Output, Revision, Server, SessionLimits, Sessions, Structured, Tool,
    router,
};

const CONNECTIONS: usize = 32;
const MACHINES: u64 = 40_000;

const STUB: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find","arguments":{"location":"Austin, TX","limit":10}}}"#;
const STATELESS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"find","arguments":{"location":"Austin, TX","limit":10}}}"#;
const STATELESS_HEADERS: &str = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: find\r\n";
const SEARCH: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_nearest_bitcoin_atm","arguments":{"location":"Austin, TX","limit":10}}}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let running = server::start(None)?;
    running.app.catalogue.replace(machines()?);
    let locator = Locator { catalogue: running.app.catalogue.clone(), clock: running.app.clock.clone() };
    let context = Context::session(Revision::ASSUMED);
    let stub_reply = stub().answer(&found(), &context, STUB.as_bytes()).await.body.context("a reply")?;
    let search_reply =
        signpost::mcp::server().answer(&locator, &context, SEARCH.as_bytes()).await.body.context("a reply")?;
    let bytes = search_reply.len();
    let address = serve(stub_reply.into(), search_reply.into())?;
    let variants = [
        Variant { name: "bare, stub's bytes", address, request: post("/bare/stub", "", STUB) },
        Variant { name: "stub", address, request: post("/mcp", "", STUB) },
        Variant { name: "stub, 2026-07-28", address, request: post("/mcp", STATELESS_HEADERS, STATELESS) },
        Variant { name: "bare, search's bytes", address, request: post("/bare/search", "", SEARCH) },
        Variant { name: "search", address: running.address, request: post("/mcp", "", SEARCH) },
    ];
    let served = requests_per_second(&variants, CONNECTIONS).await?;
    println!("tool call: ratio to a bare axum handler that answers the same bytes, 32 connections, limits off");
    print("bare handler, the stub tool's bytes", served[0], served[0]);
    print("signpost-mcp, a stub tool (goal 0.85)", served[1], served[0]);
    print("signpost-mcp, a stub tool, 2026-07-28 (goal 0.7)", served[2], served[0]);
    print(&format!("bare handler, the search's {bytes} bytes"), served[3], served[3]);
    print("the program, search of 40,000 (goal 0.6)", served[4], served[3]);
    Ok(())
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
        Some(Atm { id: AtmId::new(number)?, source: "bench".to_owned(), record })
    };
    let atms = (1..=MACHINES).map(atm).collect::<Option<Vec<_>>>().context("points on the earth")?;
    Snapshot::build(Stored { version: 1, atms, sources: Vec::new() })
}

fn stub() -> Server<Structured> {
    let name = || "bench".to_owned();
    let info = Info { name: name(), title: name(), version: "1.0.0".to_owned(), ..Info::default() };
    Server::new(info).tool(Tool {
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

/// The bare handlers and the stub, on two threads like the program.
fn serve(stub_reply: Bytes, search_reply: Bytes) -> Result<SocketAddr> {
    let bare = |reply: Bytes| route(async move |_: Bytes| ([(CONTENT_TYPE, "application/json")], reply.clone()));
    let sessions = Sessions::new(SessionLimits::default(), || [0; 16]);
    let app: Router = router(stub(), found(), Http::new(sessions))
        .route("/bare/stub", bare(stub_reply))
        .route("/bare/search", bare(search_reply));
    let (told, address) = mpsc::channel();
    std::thread::spawn(move || -> Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
            told.send(listener.local_addr()?).context("nobody waits")?;
            let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
            Ok(axum::serve(listener, app).await?)
        })
    });
    address.recv().context("the baseline did not start")
}
