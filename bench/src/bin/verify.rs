//! `POST /verify` over HTTP against raw libsecp256k1 on as many cores.

use std::thread;
use std::time::Instant;

use anyhow::Result;
use secp256k1::{Message, PublicKey, ecdsa};
use sha2::{Digest, Sha256};
use signpost_auth::Wallet;
use signpost_bench::{ROUND, ROUNDS, Variant, per_second, post, print, round, server};

const TEXT: &str = "Sign this to login to example.com at 1700000000:AAAAAAAAAAAAAAAAAAAAAA";
const CONNECTIONS: usize = 32;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let wallet = Wallet::from_bytes([7; 32])?;
    let (key, signature) = (wallet.public_key().canonical(), wallet.sign(TEXT));
    let running = server::start(None)?;
    let body = format!(r#"{{"public_key":"{key}","signature":"{signature}","message":"{TEXT}"}}"#);
    let request = post("/sandbox/v1/verify", &running.authorization, &body);
    let variant = Variant { name: "POST /verify", address: running.address, request };
    let (mut raw, mut served) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        raw.push(raw_round(&key, &signature)?);
        served.push(round(&variant, CONNECTIONS).await?);
    }
    let (raw, served) = (per_second(raw), per_second(served));
    println!("verify: ratio to raw libsecp256k1 on all cores, which the load shares (goal 0.35)");
    print("raw libsecp256k1, all cores", raw, raw);
    print("POST /verify, 32 connections", served, raw);
    Ok(())
}

/// Verifications in one round, on all cores at once.
fn raw_round(key: &str, signature: &str) -> Result<u32> {
    let cores = thread::available_parallelism()?.get();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(|| raw(key, signature))).collect();
        threads.into_iter().map(|thread| thread.join().expect("nothing there panics")).sum()
    })
}

/// Parse key and signature, hash, verify: what a request must do at the least.
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
