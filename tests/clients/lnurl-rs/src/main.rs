//! Answers a login code with the Rust library for Lightning wallets, and prints the result as JSON.

use std::error::Error;

use bitcoin::Network;
use bitcoin::bip32::{DerivationPath, Xpriv};
use bitcoin::hex::FromHex;
use bitcoin::secp256k1::{Message, Secp256k1};
use lnurl::lnurl::LnUrl;
use lnurl::{Builder, Response, get_derivation_path};
use url::Url;

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut arguments = std::env::args().skip(1);
    let (code, seed) = arguments.next().zip(arguments.next()).ok_or("a code and a seed")?;
    runtime.block_on(log_in(code, &<[u8; 32]>::from_hex(&seed)?))
}

async fn log_in(code: String, seed: &[u8]) -> Result<(), Box<dyn Error>> {
    let lnurl = LnUrl::decode(code)?;
    if !lnurl.is_lnurl_auth() {
        return Err("not a login".into());
    }
    let url = Url::parse(&lnurl.url)?;
    let k1 = url.query_pairs().find(|(name, _)| name == "k1").ok_or("no k1")?.1;
    let (curve, master) = (Secp256k1::new(), Xpriv::new_master(Network::Bitcoin, seed)?);
    let hashing_key = master.derive_priv(&curve, &"m/138'/0".parse::<DerivationPath>()?)?;
    let path = get_derivation_path(hashing_key.private_key.secret_bytes(), &url)?;
    let key = master.derive_priv(&curve, &path)?.private_key;
    let signature = curve.sign_ecdsa(&Message::from_digest(<[u8; 32]>::from_hex(&k1)?), &key);
    let public_key = key.public_key(&curve);
    let reply = Builder::default().build_async()?.lnurl_auth(lnurl, signature, public_key).await?;
    let status = match reply {
        Response::Ok(()) => "OK".to_owned(),
        Response::Error { reason } => reason,
    };
    let told = serde_json::json!({ "host": url.host_str(), "key": public_key.to_string(), "status": status });
    println!("{told}");
    Ok(())
}
