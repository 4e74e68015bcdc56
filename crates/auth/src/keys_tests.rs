//! Tests of public keys and signatures against another implementation of secp256k1.

use k256::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use k256::ecdsa::{Signature as OracleSignature, SigningKey, VerifyingKey};
use proptest::prelude::*;

use super::*;

/// The order of the group.
const ORDER: &str = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
const GENERATOR: &str = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
const GENERATOR_Y: &str = "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";

fn uncompressed(prefix: &str) -> String {
    format!("{prefix}{}{GENERATOR_Y}", &GENERATOR[2..])
}

fn signature(key: &SigningKey, message: &[u8]) -> OracleSignature {
    key.sign_prehash(&Sha256::digest(message)).unwrap()
}

fn high_s(signature: &OracleSignature) -> OracleSignature {
    let (r, s) = signature.split_scalars();
    OracleSignature::from_scalars(*r, -*s).unwrap()
}

fn oracle_accepts(key: &VerifyingKey, der: &[u8], message: &[u8]) -> bool {
    OracleSignature::from_der(der)
        .is_ok_and(|signature| key.verify_prehash(&Sha256::digest(message), &signature.normalize_s()).is_ok())
}

fn keys() -> impl Strategy<Value = SigningKey> {
    any::<[u8; 32]>().prop_filter_map("zero or above the order", |bytes| SigningKey::from_slice(&bytes).ok())
}

#[test]
fn point_spellings_identify_one_user() {
    let compressed = PublicKey::parse(GENERATOR).unwrap();
    for spelling in [GENERATOR.to_uppercase(), uncompressed("04"), uncompressed("04").to_uppercase()] {
        let key = PublicKey::parse(&spelling).unwrap();
        assert_eq!(key, compressed);
        assert_eq!(key.canonical(), GENERATOR);
        assert_eq!(key.as_given(), spelling);
        assert_eq!(std::collections::HashSet::from([key, compressed.clone()]).len(), 1);
    }
}

#[test]
fn malformed_key_has_a_reason() {
    use MalformedPublicKey::{Length, NotHex, NotOnCurve, Prefix};
    for (text, reason) in [
        (String::new(), Length(0)),
        ("02".to_owned(), Length(2)),
        (GENERATOR[2..].to_owned(), Length(64)),
        (format!("0x{GENERATOR}"), Length(68)),
        (format!("{GENERATOR}00"), Length(68)),
        (format!("0x{}", &GENERATOR[2..]), NotHex),
        (format!(" {}", &GENERATOR[1..]), NotHex),
        ("é".repeat(33), NotHex),
        (format!("04{}", &GENERATOR[2..]), Prefix),
        (format!("00{}", &GENERATOR[2..]), Prefix),
        (uncompressed("06"), Prefix),
        (uncompressed("07"), Prefix),
        (uncompressed("02"), Prefix),
        (format!("02{}", "f".repeat(64)), NotOnCurve),
        (format!("02{:064x}", 5), NotOnCurve),
        (format!("04{}{}", &GENERATOR[2..], &GENERATOR[2..]), NotOnCurve),
    ] {
        assert_eq!(PublicKey::parse(&text), Err(reason), "{text}");
    }
}

#[test]
fn malformed_signature_has_a_reason() {
    use MalformedSignature::{Length, NotDer, NotHex, OutOfRange};
    let order = format!("022100{ORDER}");
    for (text, reason) in [
        ("", Some(Length(0))),
        ("3006020101020101", None),
        ("30060201010201010", Some(NotHex)),
        ("0x06020101020101", Some(NotHex)),
        ("300602010102010100", Some(NotDer)),
        ("3081060201010201010", Some(NotHex)),
        ("308106020101020101", Some(NotDer)),
        ("30070281010102010100", Some(NotDer)),
        ("3007020200010201 01", Some(NotHex)),
        ("300702020001020101", Some(NotDer)),
        ("300702010102020001", Some(NotDer)),
        ("3106020101020101", Some(NotDer)),
        ("3005020101020101", Some(NotDer)),
        ("3080020101020101", Some(NotDer)),
        ("3006020100020101", Some(OutOfRange)),
        ("3006020101020100", Some(OutOfRange)),
        ("3006020181020101", Some(OutOfRange)),
        (&format!("3026{order}020101"), Some(OutOfRange)),
        (&format!("3026020101{order}"), Some(OutOfRange)),
        (&"30".repeat(73), Some(Length(146))),
        (&"é".repeat(10), Some(NotHex)),
    ] {
        assert_eq!(Signature::parse(text).err(), reason, "{text}");
    }
}

#[test]
fn key_hash_is_lowercase_sha256() {
    let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(message_hash(b""), empty);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn oracle_signature_verifies(key in keys(), message: Vec<u8>, other: Vec<u8>, upper: bool, full: bool) {
        let point = key.verifying_key().to_sec1_point(!full);
        let public = PublicKey::parse(&HEXLOWER.encode(point.as_bytes())).unwrap();
        for signed in [signature(&key, &message), high_s(&signature(&key, &message))] {
            let hex = HEXLOWER.encode(signed.to_der().as_bytes());
            let signed = Signature::parse(&if upper { hex.to_uppercase() } else { hex }).unwrap();
            prop_assert!(verify(&public, &signed, &message));
            prop_assert_eq!(verify(&public, &signed, &other), message == other);
        }
    }

    #[test]
    fn changed_signature_matches_the_oracle(
        key in keys(), index: prop::sample::Index, change in 0..3, byte: u8, high: bool,
    ) {
        let message = b"Sign this to login to example.com";
        let signed = signature(&key, message);
        let mut der = if high { high_s(&signed) } else { signed }.to_der().as_bytes().to_vec();
        let index = index.index(der.len());
        match change {
            0 => der[index] = byte,
            1 => der.insert(index, byte),
            _ => drop(der.remove(index)),
        }
        let public = PublicKey::parse(&HEXLOWER.encode(key.verifying_key().to_sec1_point(true).as_bytes())).unwrap();
        let ours = Signature::parse(&HEXLOWER.encode(&der));
        prop_assert_eq!(ours.is_ok(), OracleSignature::from_der(&der).is_ok(), "{:02x?}", der);
        prop_assert_eq!(
            ours.is_ok_and(|ours| verify(&public, &ours, message)),
            oracle_accepts(key.verifying_key(), &der, message)
        );
    }

    #[test]
    fn changed_key_matches_the_oracle(key in keys(), index: prop::sample::Index, byte: u8, full: bool) {
        let mut bytes = key.verifying_key().to_sec1_point(!full).as_bytes().to_vec();
        let index = index.index(bytes.len());
        bytes[index] = byte;
        let ours = PublicKey::parse(&HEXLOWER.encode(&bytes));
        prop_assert_eq!(ours.is_ok(), VerifyingKey::from_sec1_bytes(&bytes).is_ok());
    }

    #[test]
    fn arbitrary_text_never_panics(text in "[0-9a-fA-F]{0,150}|\\PC{0,80}") {
        let _ = (PublicKey::parse(&text), Signature::parse(&text));
    }
}
