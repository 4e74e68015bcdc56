//! Measures `POST /verify` compared with libsecp256k1 on an equal number of cores.

use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use axum::body::Body;
use axum::http::Request;
use secp256k1::{Message, PublicKey, ecdsa};
use sha2::{Digest, Sha256};
use signpost_auth::Wallet;
use signpost_bench::load::{Measured, round};
use signpost_bench::{Program, ROUND, ROUNDS, Variant, per_second, post, print, report, serve_or_measure, server};
use tower::ServiceExt;

const TEXT: &str = "Sign this to login to example.com at 1700000000:AAAAAAAAAAAAAAAAAAAAAA";
const CONNECTIONS: usize = 32;

fn main() -> Result<()> {
    serve_or_measure(measure)
}

async fn measure() -> Result<()> {
    let wallet = Wallet::from_bytes([7; 32])?;
    let (key, signature) = (wallet.public_key().canonical(), wallet.sign(TEXT));
    in_process(&key, &signature).await?;
    let program = Program::start(&[])?;
    let body = format!(r#"{{"public_key":"{key}","signature":"{signature}","message":"{TEXT}"}}"#);
    let request = post("/sandbox/v1/verify", &program.target.authorization, &body);
    let variant = Variant { name: "POST /verify, 32 connections", server: &program.server, request };
    let (mut raw, mut served) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        raw.push(raw_round(&key, &signature)?);
        served.push(round(&variant, CONNECTIONS).await?);
    }
    let (raw, served) = (per_second(raw), Measured::of(&served)?);
    println!("verify: raw libsecp256k1 on all cores, which the load shares");
    print("raw libsecp256k1, all cores", raw, raw);
    print(variant.name, served.rate, raw);
    println!("  {}", served.cpu_time);
    report("verify", served.rate / raw, None)
}

/// Measures the handler without a socket compared with the library, both on a single core.
async fn in_process(key: &str, signature: &str) -> Result<()> {
    let running = server::start_with(&[])?;
    let router = signpost::server::routes::front(&running.app).router;
    let body = format!(r#"{{"public_key":"{key}","signature":"{signature}","message":"{TEXT}"}}"#);
    let bearer = running.target.authorization.trim().split_once(": ").map(|(_, bearer)| bearer.to_owned());
    let bearer = bearer.context("an authorization line")?;
    let (mut raws, mut handler) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        raws.push(raw(key, signature)?);
        let (begun, mut count) = (Instant::now(), 0);
        while begun.elapsed() < ROUND {
            let request = Request::post("/sandbox/v1/verify").header("authorization", &bearer);
            let request = request.header("host", "localhost").header("content-type", "application/json");
            let request = request.body(Body::from(body.clone()))?;
            let response = router.clone().oneshot(request).await?;
            ensure!(response.status() == 200, "{}", response.status());
            count += 1;
        }
        handler.push(count);
    }
    let (raws, handler) = (per_second(raws), per_second(handler));
    println!("verify in process: ratio to raw libsecp256k1 on one core");
    print("raw libsecp256k1, one core", raws, raws);
    print("the handler, no sockets", handler, raws);
    report("verify_process", handler / raws, None)
}

/// Verifies signatures on all cores for a round. Returns their number.
fn raw_round(key: &str, signature: &str) -> Result<u32> {
    let cores = thread::available_parallelism()?.get();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(|| raw(key, signature))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    })
}

/// Parses the key and the signature, hashes the message and verifies: the minimum work of a
/// request.
fn raw(key: &str, signature: &str) -> Result<u32> {
    let (begun, mut count) = (Instant::now(), 0);
    while begun.elapsed() < ROUND {
        let (key, signature) = (key.parse::<PublicKey>()?, signature.parse::<ecdsa::Signature>()?);
        let message = Message::from_digest(Sha256::digest(TEXT).into());
        ecdsa::verify(&signature, message, &key)?;
        count += 1;
    }
    Ok(count)
}
