//! `GET /sessions/{id}`, read from the database each time, against a bare axum handler with the same bytes.

use anyhow::{Context, Result};
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get as route;
use serde_json::{Value, json};
use signpost_bench::{Variant, get_with, post, print, read_reply, requests_per_second, server};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

const CONNECTIONS: usize = 32;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let ours = server::start(Some(folder.path()))?;
    let domain = json!({ "domain": "localhost", "webhook_url": "http://127.0.0.1:1/" }).to_string();
    ask(&ours, post("/sandbox/v1/domains", &ours.authorization, &domain)).await?;
    let made = post("/sandbox/v1/sessions", &ours.authorization, r#"{"domain":"localhost"}"#);
    let session: Value = serde_json::from_slice(&ask(&ours, made).await?)?;
    let path = format!("/sandbox/v1/sessions/{}", session["id"].as_str().context("an id")?);
    let request = get_with(&path, &ours.authorization);
    let body = String::from_utf8(ask(&ours, request.clone()).await?)?;
    let bare = bare(body)?;
    let variants = [
        Variant { name: "bare handler, the same bytes", address: bare, request: request.clone() },
        Variant { name: "GET /sessions/{id}", address: ours.address, request },
    ];
    let rates = requests_per_second(&variants, CONNECTIONS).await?;
    println!("polling a session, {CONNECTIONS} connections (goal 0.5)");
    for (variant, rate) in variants.iter().zip(&rates) {
        print(variant.name, *rate, rates[0]);
    }
    Ok(())
}

/// A handler that answers this to everything, on threads of its own.
fn bare(body: String) -> Result<std::net::SocketAddr> {
    let (told, started) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            told.send(listener.local_addr()?)?;
            let answer = async move || ([(CONTENT_TYPE, "application/json")], body.clone());
            let router: Router = Router::new().route("/{*path}", route(answer));
            anyhow::Ok(axum::serve(listener, router).await?)
        })
    });
    started.recv().context("the bare handler did not start")
}

async fn ask(ours: &server::Running, request: Vec<u8>) -> Result<Vec<u8>> {
    let mut connection = TcpStream::connect(ours.address).await?;
    connection.write_all(&request).await?;
    let mut reply = Vec::new();
    read_reply(&mut connection, &mut reply).await?;
    let head = reply.windows(4).position(|bytes| bytes == b"\r\n\r\n").context("a head")?;
    Ok(reply.split_off(head + 4))
}
