//! Tests the key derivation of the browser wallet (docs/browser-wallet.md, Keys), from the words to
//! the signature.

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use sha2::{Sha256, Sha512};
use signpost_auth::Wallet;

#[derive(Deserialize)]
struct Vectors {
    wallets: Vec<DerivedWallet>,
}

#[derive(Deserialize)]
struct DerivedWallet {
    words: String,
    seed: String,
    root: String,
    sites: Vec<Site>,
}

#[derive(Deserialize)]
struct Site {
    domain: String,
    public_key: String,
    signed: String,
    signature: String,
}

/// Computes HMAC-SHA-256.
fn hash(key: &[u8], data: &[u8]) -> [u8; 32] {
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.chain_update(data).finalize().into_bytes().into()
}

/// Derives the seed with PBKDF2 (RFC 8018) and HMAC-SHA-512, with the salt and the iterations of
/// BIP-39. It is 64 bytes long.
fn seed(words: &str) -> [u8; 64] {
    let mac = Hmac::<Sha512>::new_from_slice(words.as_bytes()).expect("HMAC takes keys of any length");
    let round = |data: &[u8]| -> [u8; 64] { mac.clone().chain_update(data).finalize().into_bytes().into() };
    let mut last = round(b"mnemonic\0\0\0\x01");
    let mut seed = last;
    for _ in 1..2048 {
        last = round(&last);
        seed.iter_mut().zip(last).for_each(|(sum, byte)| *sum ^= byte);
    }
    seed
}

#[test]
fn words_derive_one_key_for_each_domain() {
    let vectors: Vectors = super::read("browser_wallet");
    assert!(vectors.wallets.len() > 2);
    for wallet in vectors.wallets {
        let seed = seed(&wallet.words);
        let root = hash(b"signpost wallet root v1", &seed);
        assert_eq!((HEXLOWER.encode(&seed), HEXLOWER.encode(&root)), (wallet.seed, wallet.root));
        for Site { domain, public_key, signed, signature } in wallet.sites {
            let keys = (0..u32::MAX).map(|counter| {
                Wallet::from_bytes(hash(&root, format!("signpost wallet key v1\n{domain}\n{counter}").as_bytes()))
            });
            let key = keys.flatten().next().expect("nearly every number is a key");
            assert_eq!((key.public_key().canonical(), key.sign(&signed)), (public_key, signature), "{domain}");
        }
    }
}
