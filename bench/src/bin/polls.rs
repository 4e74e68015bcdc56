//! Measures `GET /sessions/{id}` compared with a bare axum handler that returns an equal body.

use anyhow::{Context, Result};
use signpost_bench::load::check;
use signpost_bench::{Program, Server, Variant, compare, get_with, send_request, serve_or_measure};

const CONNECTIONS: usize = 32;

fn main() -> Result<()> {
    serve_or_measure(measure)
}

async fn measure() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = Program::start(&[&format!("data_dir={}", folder.path().display())])?;
    program.target.register("localhost", "http://127.0.0.1:1/").await?;
    let session = program.target.create().await?;
    let path = format!("/sandbox/v1/sessions/{}", session["id"].as_str().context("an id")?);
    let request = get_with(&path, &program.target.authorization);
    let bare = Server::bare("application/json", &send_request(program.target.address, &request).await?)?;
    let variants = [
        Variant { name: "bare handler, the same bytes", server: &bare, request: request.clone() },
        Variant { name: "GET /sessions/{id}", server: &program.server, request },
    ];
    println!("polling a session, {CONNECTIONS} connections");
    let measured = compare("polls", &variants, CONNECTIONS).await?;
    check("polls_generators", &variants, CONNECTIONS, &measured).await
}
