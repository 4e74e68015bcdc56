//! Tests signatures and keys with `vectors/signature.json`.

use data_encoding::HEXLOWER;
use serde::Deserialize;
use signpost_auth::{PublicKey, Signature, Wallet, message_hash, verify};

#[derive(Deserialize)]
struct Vectors {
    keys: Vec<KeyPair>,
    signed: Vec<Signed>,
    verified: Vec<Verified>,
    malformed_public_keys: Vec<MalformedKey>,
    malformed_signatures: Vec<MalformedSignature>,
}

#[derive(Deserialize)]
struct KeyPair {
    secret_key: String,
    public_key: String,
    uncompressed: String,
}

#[derive(Deserialize)]
struct Signed {
    name: String,
    secret_key: String,
    message: String,
    message_hash: String,
    signature: String,
}

#[derive(Deserialize)]
struct Verified {
    name: String,
    public_key: String,
    message: String,
    signature: String,
    valid: bool,
}

#[derive(Deserialize)]
struct MalformedKey {
    name: String,
    public_key: String,
}

#[derive(Deserialize)]
struct MalformedSignature {
    name: String,
    signature: String,
}

pub(crate) fn wallet(secret_key: &str) -> Wallet {
    Wallet::from_bytes(HEXLOWER.decode(secret_key.as_bytes()).unwrap().try_into().unwrap()).unwrap()
}

#[test]
fn key_has_one_canonical_spelling() {
    for KeyPair { secret_key, public_key, uncompressed } in crate::read::<Vectors>("signature").keys {
        let wallet = wallet(&secret_key);
        assert_eq!(wallet.public_key().canonical(), public_key);
        assert_eq!(PublicKey::parse(&uncompressed).as_ref(), Ok(wallet.public_key()));
    }
}

#[test]
fn wallet_signs_by_rfc_6979() {
    for Signed { name, secret_key, message, message_hash: hash, signature } in
        crate::read::<Vectors>("signature").signed
    {
        assert_eq!(wallet(&secret_key).sign(&message), signature, "{name}");
        assert_eq!(message_hash(message.as_bytes()), hash, "{name}");
    }
}

#[test]
fn signature_verifies_only_its_key_and_text() {
    for Verified { name, public_key, message, signature, valid } in crate::read::<Vectors>("signature").verified {
        let (key, signature) = (PublicKey::parse(&public_key).unwrap(), Signature::parse(&signature).unwrap());
        assert_eq!(verify(&key, &signature, message.as_bytes()), valid, "{name}");
    }
}

#[test]
fn malformed_input_fails_to_parse() {
    let vectors: Vectors = crate::read("signature");
    for MalformedKey { name, public_key } in vectors.malformed_public_keys {
        assert!(PublicKey::parse(&public_key).is_err(), "{name}");
    }
    for MalformedSignature { name, signature } in vectors.malformed_signatures {
        assert!(Signature::parse(&signature).is_err(), "{name}");
    }
}
