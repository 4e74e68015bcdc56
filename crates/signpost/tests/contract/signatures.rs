//! docs/api.md, Signatures: the encodings of keys and signatures that `authenticate` and `/verify` accept.

use data_encoding::HEXLOWER;
use k256::ecdsa::signature::hazmat::PrehashSigner;
use k256::ecdsa::{Signature, SigningKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Integrator, Service, members, text};

/// The secret key of `Service::phone`, for an independent implementation.
fn key() -> SigningKey {
    SigningKey::from_slice(&[7; 32]).expect("a key")
}

fn public_key(compressed: bool) -> String {
    HEXLOWER.encode(key().verifying_key().to_sec1_point(compressed).as_bytes())
}

fn hybrid() -> String {
    let full = public_key(false);
    let is_odd = u8::from_str_radix(&full[128..], 16).expect("hex") % 2 == 1;
    format!("{}{}", if is_odd { "07" } else { "06" }, &full[2..])
}

fn signed(message: &str) -> Signature {
    key().sign_prehash(&Sha256::digest(message)).expect("a signature")
}

fn hex(signature: &Signature) -> String {
    HEXLOWER.encode(signature.to_der().as_bytes())
}

/// Returns the other valid signature with this `r`: its `s` is negated.
fn other_s(signature: &Signature) -> Signature {
    let (r, s) = signature.split_scalars();
    Signature::from_scalars(*r, -*s).expect("a signature")
}

fn with_leading_zero(der: &str) -> String {
    let mut bytes = HEXLOWER.decode(der.as_bytes()).expect("hex");
    bytes[1] += 1;
    bytes[3] += 1;
    bytes.insert(4, 0);
    HEXLOWER.encode(&bytes)
}

async fn verify(integrator: &Integrator, public_key: &str, signature: &str, message: &str) -> crate::harness::Reply {
    let body = json!({ "public_key": public_key, "signature": signature, "message": message });
    integrator.post("/verify", &body).await
}

/// Returns malformed signatures.
fn malformed(good: &str) -> Vec<String> {
    vec![
        String::new(),
        " ".to_owned(),
        "not hex".to_owned(),
        format!("0x{good}"),
        good[..good.len() - 1].to_owned(),
        good[..good.len() - 2].to_owned(),
        format!("{good}00"),
        format!("{good} "),
        good.replacen("30", "31", 1),
        with_leading_zero(good),
        "3006020100020101".to_owned(),
        "00".repeat(64),
        "30".repeat(5000),
        "é".repeat(70),
    ]
}

/// Returns malformed keys.
fn no_keys() -> Vec<String> {
    let good = public_key(true);
    vec![
        String::new(),
        "not hex".to_owned(),
        good[2..].to_owned(),
        format!("{good}00"),
        format!("0x{good}"),
        format!("04{}", &good[2..]),
        format!("05{}", &good[2..]),
        format!("02{}", "f".repeat(64)),
        format!("02{:064x}", 5),
        hybrid(),
        public_key(false)[..128].to_owned(),
        "é".repeat(33),
        "02".repeat(20_000),
    ]
}

#[tokio::test]
async fn signature_is_valid_in_every_encoding() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    for message in ["", "Sign this", "ü \u{1F600}\n\u{0}", &"long ".repeat(4000)] {
        let signature = signed(message);
        for key in
            [public_key(true), public_key(false), public_key(true).to_uppercase(), public_key(false).to_uppercase()]
        {
            for signature in [hex(&signature), hex(&other_s(&signature)), hex(&signature).to_uppercase()] {
                let reply = verify(&integrator, &key, &signature, message).await.with(200);
                let hash = format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(message)));
                assert_eq!(reply, json!({ "valid": true, "public_key": key, "message_hash": hash }));
            }
        }
    }
}

#[tokio::test]
async fn wrong_signature_is_a_result_and_no_error() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let (key, good) = (public_key(true), hex(&signed("message")));
    let other_key =
        HEXLOWER.encode(SigningKey::from_slice(&[8; 32]).unwrap().verifying_key().to_sec1_point(true).as_bytes());
    for (key, signature, message) in [
        (&key, &good, "Message"),
        (&key, &good, "message "),
        (&key, &hex(&signed("other")), "message"),
        (&key, &"3006020101020101".to_owned(), "message"),
        (&other_key, &good, "message"),
    ] {
        let reply = verify(&integrator, key, signature, message).await.with(200);
        assert_eq!(members(&reply), ["valid", "public_key", "message_hash"].into());
        assert_eq!((&reply["valid"], &reply["public_key"]), (&json!(false), &json!(key)));
        let hash = HEXLOWER.encode(&Sha256::digest(message));
        assert_eq!(text(&reply, "message_hash"), format!("sha256:{hash}"));
    }
}

#[tokio::test]
async fn malformed_values_name_the_expected_format() {
    let service = Service::start().await;
    let integrator = service.integrator().await;
    let good = hex(&signed("message"));
    for signature in malformed(&good) {
        let reply = verify(&integrator, &public_key(true), &signature, "message").await;
        let details = reply.assert_error(400, "invalid_signature");
        assert_eq!(details["public_key"], public_key(true));
        assert!(text(&details, "expected_format").contains("DER-encoded ECDSA signature"), "{details}");
    }
    for key in no_keys() {
        let reply = verify(&integrator, &key, &good, "message").await;
        assert!(text(&reply.assert_error(400, "invalid_public_key"), "expected_format").contains("33"));
        assert!(reply.text.len() < 1000, "{}", reply.text);
    }
}

#[tokio::test]
async fn authenticate_accepts_every_encoding() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    for (key, high, upper) in [
        (public_key(true), false, false),
        (public_key(true), true, false),
        (public_key(true).to_uppercase(), false, true),
        (public_key(false), false, false),
        (public_key(false).to_uppercase(), true, true),
    ] {
        let session = integrator.create_session("shop.test").await;
        let mut answer = service.phone().answer(&session);
        let signature = signed(text(&answer, "challenge"));
        let signature = hex(&if high { other_s(&signature) } else { signature });
        answer["public_key"] = json!(key);
        answer["signature"] = json!(if upper { signature.to_uppercase() } else { signature });
        let seen = integrator.authenticate(&session, &answer).await.with(200);
        assert_eq!(seen["user"]["public_key"], key);
        assert_eq!(integrator.get_session(&session).await.with(200), seen);
    }
    let response: Vec<Value> = service.outbox().await.into_iter().map(|queued| queued.body["data"].clone()).collect();
    assert_eq!(response.len(), 5);
    assert!(response.iter().any(|data| data["public_key"] == public_key(false).to_uppercase()));
}

#[tokio::test]
async fn authenticate_rejects_malformed_and_wrong_values() {
    let service = Service::start().await;
    let integrator = service.shop().await;
    let session = integrator.create_session("shop.test").await;
    let answer = service.phone().answer(&session);
    let changed = |member: &str, value: &str| {
        let mut answer = answer.clone();
        answer[member] = json!(value);
        answer
    };
    for signature in malformed(text(&answer, "signature")) {
        let reply = integrator.authenticate(&session, &changed("signature", &signature)).await;
        reply.assert_error(406, "invalid_signature");
    }
    let other =
        HEXLOWER.encode(SigningKey::from_slice(&[8; 32]).unwrap().verifying_key().to_sec1_point(true).as_bytes());
    for key in no_keys().into_iter().chain([other]) {
        let reply = integrator.authenticate(&session, &changed("public_key", &key)).await;
        reply.assert_error(406, "invalid_signature");
    }
    integrator.authenticate(&session, &answer).await.with(200);
}
