//! `GET /sessions/{id}`, read from the database each time, against a bare axum handler with the same bytes.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use signpost_bench::{Variant, ask, get_with, post, print, requests_per_second, server, start_bare};

const CONNECTIONS: usize = 32;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let ours = server::start(Some(folder.path()))?;
    let domain = json!({ "domain": "localhost", "webhook_url": "http://127.0.0.1:1/" }).to_string();
    ask(ours.address, &post("/sandbox/v1/domains", &ours.authorization, &domain)).await?;
    let made = post("/sandbox/v1/sessions", &ours.authorization, r#"{"domain":"localhost"}"#);
    let session: Value = serde_json::from_slice(&ask(ours.address, &made).await?)?;
    let path = format!("/sandbox/v1/sessions/{}", session["id"].as_str().context("an id")?);
    let request = get_with(&path, &ours.authorization);
    let body = String::from_utf8(ask(ours.address, &request).await?)?;
    let bare = start_bare("application/json", body)?;
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
