//! `POST /verify` (specification, §2 and §4; contract, §3.2).

use serde_json::json;

use crate::harness::{Phone, server};

const TEXT: &str = "caf\u{e9} svc:login:example.com";

#[tokio::test]
async fn a_signature_is_valid_wrong_or_malformed() {
    let server = server().await;
    let integrator = server.integrator().await;
    let (phone, other) = (Phone::new(1), Phone::new(2));
    let key = phone.0.public_key().canonical();
    let signature = phone.0.sign(TEXT);
    let upper = key.to_uppercase();
    let hybrid = format!("06{}", "11".repeat(64));
    let trailing = format!("{signature}00");
    let table = [
        (key.as_str(), signature.as_str(), TEXT, 200, "true"),
        (upper.as_str(), signature.as_str(), TEXT, 200, "true"),
        (key.as_str(), signature.as_str(), "another text", 200, "false"),
        (key.as_str(), signature.as_str(), "", 200, "false"),
        (&other.0.public_key().canonical(), signature.as_str(), TEXT, 200, "false"),
        (key.as_str(), &other.0.sign(TEXT), TEXT, 200, "false"),
        (key.as_str(), "", TEXT, 400, "invalid_signature"),
        (key.as_str(), "zz", TEXT, 400, "invalid_signature"),
        (key.as_str(), "3006020101020101ff", TEXT, 400, "invalid_signature"),
        (key.as_str(), trailing.as_str(), TEXT, 400, "invalid_signature"),
        ("", signature.as_str(), TEXT, 400, "invalid_public_key"),
        ("02", signature.as_str(), TEXT, 400, "invalid_public_key"),
        (hybrid.as_str(), signature.as_str(), TEXT, 400, "invalid_public_key"),
        (&format!("02{}", "ff".repeat(32)), signature.as_str(), TEXT, 400, "invalid_public_key"),
    ];
    for (key, signature, message, status, expected) in table {
        let body = json!({ "public_key": key, "signature": signature, "message": message });
        let reply = integrator.post("/verify", body).await;
        if status == 400 {
            let details = reply.expect_error(400, expected);
            assert_eq!(details["public_key"], key);
            assert!(details["expected_format"].as_str().unwrap().contains("secp256k1"));
            continue;
        }
        let shown = reply.expect(200);
        assert_eq!(shown.as_object().unwrap().len(), 3, "{shown}");
        assert_eq!((shown["valid"].to_string().as_str(), shown["public_key"].as_str()), (expected, Some(key)));
        assert!(shown["message_hash"].as_str().unwrap().strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64));
    }
}

#[tokio::test]
async fn the_hash_is_of_the_texts_utf_8_bytes() {
    let server = server().await;
    let body = json!({
        "public_key": Phone::new(1).0.public_key().canonical(),
        "signature": Phone::new(1).0.sign("abc"),
        "message": "abc",
    });
    let shown = server.integrator().await.post("/verify", body).await.expect(200);
    let known = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!((shown["message_hash"].as_str(), shown["valid"].as_bool()), (Some(known), Some(true)));
}
