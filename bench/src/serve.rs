//! Runs the servers of a measurement. A measurement starts its own executable again for each
//! server, with arguments that select the server.

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::serve::ListenerExt;
use serde_json::{Map, json};
use signpost_atm::catalogue::{Snapshot, StoredCatalogue};
use signpost_locator::{Atm, AtmId, Point, Record};
use signpost_mcp::{
    Annotations, Handler, Http, Output, Server, ServerInfo, SessionLimits, Sessions, Structured, Tool, router,
};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::server;

/// Number of ATMs that searches cover.
pub const ATMS: u64 = 40_000;

/// Runs a measurement, or a server if the command-line arguments select a server.
///
/// # Errors
/// Returns an error if the measurement or the server fails.
pub fn serve_or_measure<F: Future<Output = Result<()>>>(measure: impl FnOnce() -> F) -> Result<()> {
    serve_or_measure_selected(&[], |_| measure())
}

/// Passes the selected measurements to `measure`, or runs a server if the command-line arguments
/// select a server.
///
/// # Errors
/// Returns an error if a name is unknown, or if the measurement or the server fails.
pub fn serve_or_measure_selected<F>(names: &[&str], measure: impl FnOnce(Vec<String>) -> F) -> Result<()>
where
    F: Future<Output = Result<()>>,
{
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().all(|name| names.contains(&name.as_str())) {
        // The load generator uses a single thread, so that the server gets most of two cores.
        return Builder::new_current_thread().enable_all().build()?.block_on(measure(arguments));
    }
    Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(serve(&arguments))
}

async fn serve(arguments: &[String]) -> Result<()> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["stub"] => {
            listen(router(stub(), found(), Http::new(Sessions::new(SessionLimits::default(), || [7; 16])))).await
        }
        ["bare", content_type, file] => listen(bare(content_type, std::fs::read(file)?.into())?).await,
        ["program", ref settings @ ..] => program(settings, false).await,
        ["locator", ref settings @ ..] => program(settings, true).await,
        _ => {
            bail!("unknown measurement; stub, bare, program and locator are reserved for the servers of a measurement")
        }
    }
}

async fn program(settings: &[&str], has_atms: bool) -> Result<()> {
    let settings = settings.iter().map(|setting| setting.split_once('=').context("a setting is KEY=VALUE"));
    let running = server::start_with(&settings.collect::<Result<Vec<_>>>()?)?;
    if has_atms {
        running.app.atm.catalogue.replace(sample_atms()?);
    }
    print!("{}", running.target.authorization);
    println!("http://{}/", running.target.address);
    std::future::pending().await
}

async fn listen(app: Router) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/", listener.local_addr()?);
    let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
    Ok(axum::serve(listener, app).await?)
}

/// Creates a handler that does the minimum work: it reads the body, if any, and responds.
fn bare(content_type: &str, reply: Bytes) -> Result<Router> {
    let content_type = HeaderValue::from_str(content_type)?;
    let answer = move || ([(CONTENT_TYPE, content_type)], reply);
    let (got, posted) = (answer.clone(), answer);
    Ok(Router::new().route("/{*path}", get(async move || got()).post(async move |_: Bytes| posted())))
}

/// Creates ATMs around Austin, dense enough that at least ten are always nearby.
fn sample_atms() -> Result<Snapshot> {
    let atm = |number: u64| {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let spiral = (number as f64).sqrt() * 0.02;
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let turn = number as f64 * 2.399_963;
        let point = Point::new(30.267 + spiral * turn.sin(), -97.743 + spiral * turn.cos())?;
        let mut record = Record::at(point);
        record.name = Some(format!("Machine {number}").into());
        record.address.formatted = Some(format!("{number} Congress Ave, Austin, TX 78701").into());
        Some(Atm { id: AtmId::new(number)?, source: "bench".into(), record: record.into() })
    };
    let atms = (1..=ATMS).map(atm).collect::<Option<Vec<_>>>().context("points on the earth")?;
    Ok(Snapshot::build(StoredCatalogue { version: 1, atms, ..StoredCatalogue::default() }))
}

fn stub() -> Server<Structured> {
    let name = || "bench".to_owned();
    Server::new(ServerInfo { name: name(), title: name(), version: "1.0.0".to_owned(), ..ServerInfo::default() }).tool(
        Tool {
            name: "find",
            title: "Find",
            description: "Returns what was made before.",
            input_schema: json!({ "type": "object" }),
            output_schema: None,
            annotations: Annotations::LOOKUP,
            icons: Vec::new(),
            meta: Map::new(),
            call: Handler::Sync(|found, _, _| Ok(Output::Structured(found.clone()))),
        },
    )
}

/// Returns ten records as large as typical search results.
///
/// # Panics
/// Never panics: the value is an object.
#[must_use]
pub fn found() -> Structured {
    let record = json!({ "id": 1234, "name": "Corner Market", "distance": "1.2 miles", "status": "open", "address": "100 Congress Ave, Austin, TX" });
    Structured::render(&json!({ "atms": vec![record; 10], "total": 10 })).expect("an object")
}
