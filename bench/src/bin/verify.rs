//! `POST /verify` over HTTP against raw libsecp256k1 on as many cores.

use std::time::{Duration, Instant};

use anyhow::Result;
use secp256k1::{Message, PublicKey, ecdsa};
use sha2::{Digest, Sha256};
use signpost_auth::Wallet;
use signpost_bench::{Variant, post, print, requests_per_second, server};

const TEXT: &str = "Sign this to login to example.com at 1700000000:AAAAAAAAAAAAAAAAAAAAAA";
const CONNECTIONS: usize = 32;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let wallet = Wallet::from_bytes([7; 32])?;
    let (key, signature) = (wallet.public_key().canonical(), wallet.sign(TEXT));
    let raw = raw_per_second(&key, &signature)?;
    let cores = std::thread::available_parallelism()?.get();
    let baseline = raw * f64::from(u32::try_from(cores)?);
    let running = server::start(None)?;
    let body = format!(r#"{{"public_key":"{key}","signature":"{signature}","message":"{TEXT}"}}"#);
    let request = post("/sandbox/v1/verify", &running.authorization, &body);
    let variant = Variant { name: "POST /verify", address: running.address, request };
    let served = requests_per_second(&[variant], CONNECTIONS).await?;
    println!("verify: ratio to raw libsecp256k1 on all cores, which the load shares (goal 0.35)");
    print("raw libsecp256k1, one core", raw, baseline);
    print("raw libsecp256k1, all cores", baseline, baseline);
    print("POST /verify, 32 connections", served[0], baseline);
    Ok(())
}

/// Parse key and signature, hash, verify: what a request must do at the least.
fn raw_per_second(key: &str, signature: &str) -> Result<f64> {
    let once = || -> Result<()> {
        let key: PublicKey = key.parse()?;
        let signature: ecdsa::Signature = signature.parse()?;
        let message = Message::from_digest(Sha256::digest(TEXT).into());
        Ok(ecdsa::verify(&signature, message, &key)?)
    };
    let (begun, mut count) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_secs(2) {
        once()?;
        count += 1;
    }
    Ok(f64::from(count) / begun.elapsed().as_secs_f64())
}
