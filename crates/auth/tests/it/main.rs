//! Integration tests of the crate with the test vectors in `vectors/`, which the SDKs in other
//! languages share.

mod browser_wallet;
mod challenge;
mod client;
mod documented;
mod fuzz;
mod lnurl;
mod login;
#[path = "../../../../tests/mutations.rs"]
mod mutations;
#[path = "../../../../tests/passkey.rs"]
mod passkey;
mod passkeys;
mod receiver;
mod router;
mod signature;
mod webhook;
mod wycheproof;

use serde::de::DeserializeOwned;

fn read<T: DeserializeOwned>(name: &str) -> T {
    let path = format!("{}/../../vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}
