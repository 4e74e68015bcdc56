//! Fuzz tests of the responses of authenticators. Each must be parsed correctly or rejected. The
//! bytes are mutated before they are encoded, because otherwise almost every mutation would only
//! break the encoding.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use signpost_auth::{PasskeyAssertion, PasskeyKey, PasskeyRegistration};

use super::{CHALLENGE, ORIGIN, creation_options, passkey, request, rp, vectors};
use crate::mutations::{Random, mutated, seed};
use crate::passkey::TestPasskey;

const TOKENS: &[&str] = &[
    "{",
    "}",
    "\"",
    ",",
    ":",
    "null",
    "true",
    "false",
    "\u{feff}",
    "\u{0}",
    "\u{1}",
    "\u{2}",
    "\u{3}",
    "&",
    " ",
    "!",
    "@",
    "A",
    "X",
    "Y",
    "`",
    "\u{7f}",
    "é",
    "\\u0000",
    "\"crossOrigin\":true",
    "\"topOrigin\":\"\",",
    "\"type\":\"webauthn.get\",",
    "webauthn.create",
    "https://evil.test",
    "fmt",
    "attStmt",
    "authData",
    "none",
    "packed",
];
const MUTATIONS: u32 = 4_000;

/// The decoded parts of valid responses.
struct Corpus {
    parts: Vec<Vec<u8>>,
    texts: Vec<Vec<u8>>,
    registration: Value,
    assertion: Value,
    key: PasskeyKey,
}

static CORPUS: LazyLock<Corpus> = LazyLock::new(|| {
    let registration = TestPasskey::create(&creation_options(&[-7]), ORIGIN, &[]).1;
    let rsa = TestPasskey::create(&creation_options(&[-257]), ORIGIN, &[]).1;
    let (mut passkey, key) = passkey(-7);
    let assertion = passkey.get(&request(), ORIGIN, &[]);
    let mut answers = vec![registration.clone(), rsa, assertion.clone()];
    for case in vectors().cases {
        answers.push(case.registration.response);
        answers.extend(case.assertion.map(|assertion| assertion.response));
    }
    let response = |answer: &Value| answer["response"].as_object().unwrap().clone();
    let texts = answers.iter().map(|answer| answer.to_string().into_bytes()).collect();
    let encoded = answers.iter().flat_map(|answer| response(answer).into_iter().map(|(_, value)| value));
    let parts = encoded.filter_map(|value| BASE64URL_NOPAD.decode(value.as_str()?.as_bytes()).ok()).collect::<Vec<_>>();
    assert!(parts.len() > 60, "{}", parts.len());
    Corpus { parts, texts, registration, assertion, key }
});

/// Tests the bytes as each part of an otherwise valid response.
fn check(bytes: &[u8]) {
    let Corpus { registration, assertion, key, .. } = &*CORPUS;
    for (answer, parts) in [
        (registration, &["clientDataJSON", "attestationObject"][..]),
        (assertion, &["clientDataJSON", "authenticatorData", "signature", "userHandle"]),
    ] {
        for part in parts {
            let mut answer = answer.clone();
            answer["response"][part] = json!(BASE64URL_NOPAD.encode(bytes));
            register(&answer.to_string());
            log_in(&answer.to_string(), key);
        }
    }
    if let Ok(key) = PasskeyKey::parse_hex(&data_encoding::HEXLOWER.encode(bytes)) {
        assert_eq!(key.canonical().len(), 2 * bytes.len());
    }
}

fn register(text: &str) {
    let Ok(new) = PasskeyRegistration::parse(text).and_then(|parsed| parsed.verify(&rp(), &CHALLENGE)) else { return };
    assert_eq!(PasskeyKey::parse_hex(&new.key.canonical()), Ok(new.key), "{text}");
    check_with_another_parser(&new.client_data_json, &new.authenticator_data, "webauthn.create");
    let id = new.id.as_bytes();
    assert_eq!(&new.authenticator_data[55..55 + id.len()], id, "{text}");
}

fn log_in(text: &str, key: &PasskeyKey) {
    let Ok(parsed) = PasskeyAssertion::parse(text) else { return };
    let Ok(asserted) = parsed.verify(&rp(), &CHALLENGE, key) else { return };
    check_with_another_parser(&asserted.client_data_json, &asserted.authenticator_data, "webauthn.get");
    let part = |name: &str| BASE64URL_NOPAD.decode(CORPUS.assertion["response"][name].as_str().unwrap().as_bytes());
    // Only the original response has a valid signature.
    assert_eq!(part("clientDataJSON"), Ok(asserted.client_data_json), "{text}");
    assert_eq!(part("authenticatorData"), Ok(asserted.authenticator_data), "{text}");
}

/// Checks an accepted response with another parser.
fn check_with_another_parser(client_data: &[u8], authenticator_data: &[u8], kind: &str) {
    let text = std::str::from_utf8(client_data).unwrap().trim_start_matches('\u{feff}');
    let read: Value = serde_json::from_str(text).unwrap();
    let expected = [kind, &BASE64URL_NOPAD.encode(&CHALLENGE), ORIGIN].map(|text| json!(text));
    assert_eq!([&read["type"], &read["challenge"], &read["origin"]].map(Value::clone), expected, "{text}");
    assert!(read.get("topOrigin").is_none() && read["crossOrigin"] != json!(true), "{text}");
    assert_eq!(&authenticator_data[..32], &Sha256::digest("login.test")[..]);
    assert_eq!(authenticator_data[32] & 5, 5);
}

fn check_mutation(random: &mut Random) {
    check(&mutated(random, &CORPUS.parts, TOKENS));
    let text = mutated(random, &CORPUS.texts, TOKENS);
    register(&String::from_utf8_lossy(&text));
    log_in(&String::from_utf8_lossy(&text), &CORPUS.key);
}

#[test]
fn corpus_is_parsed_or_rejected() {
    CORPUS.parts.iter().for_each(|part| check(part));
}

#[test]
fn mutated_corpus_is_parsed_or_rejected() {
    let mut random = Random(0x5169_6E70_6F73_7421);
    (0..MUTATIONS).for_each(|_| check_mutation(&mut random));
}

#[test]
#[ignore = "it takes a minute: make fuzz"]
fn a_minute_of_mutations_is_parsed_or_rejected() {
    let (mut random, begun, mut count) = (Random(seed()), Instant::now(), 0_u64);
    while begun.elapsed() < Duration::from_mins(1) {
        check_mutation(&mut random);
        count += 1;
    }
    println!("{count} answers of authenticators read or refused");
}
