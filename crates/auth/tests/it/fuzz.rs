//! Fuzz tests of the parsers of challenges, signatures, QR data, Lightning login URLs, answers and
//! events, with mutations of the texts in `vectors/`. Each input must be parsed correctly or
//! rejected. `make test` runs a few thousand fixed inputs, and `make fuzz` runs random inputs for a
//! minute.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use serde_json::Value;
use signpost_auth::receiver::{EventHeaders, EventRules, classify, handle_event};
use signpost_auth::{
    Answer, AuthCallback, AuthUrl, Challenge, HostBoundChallenge, Lnurl, QrData, Signature, WebhookSecret,
};

use crate::mutations::{Random, mutated, seed};
use crate::receiver::AppState;

const TOKENS: &[&str] = &[
    "svc:",
    ":",
    "svc://auth?v=1",
    "svc://auth?v=2",
    "&number=1",
    "lnurl1",
    "LNURL1",
    "lightning:",
    "keyauth://",
    "https://",
    "http://",
    "?lightning=",
    "&k1=",
    "&sig=",
    "&key=",
    "tag=login",
    " through ",
    " with ",
    "&",
    "=",
    "%00",
    "%",
    "login",
    "register",
    "localhost",
    "é",
    "\u{0}",
    " ",
    "30",
    "02",
    "00",
    "ff",
    "{",
    "}",
    "\"",
    "null",
    "-1",
    "1e400",
    "\"event\":\"test\",",
    "\"challenge\":",
    "[",
    "]",
    ",",
];
/// Number of mutations of each kind in `make test`.
const MUTATIONS: u32 = 4_000;

/// All texts in the test vectors, at any depth.
static CORPUS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut texts = Vec::new();
    for name in ["challenge", "lnurl", "receiver", "signature", "webhook"] {
        collect_texts(&crate::read::<Value>(name), &mut texts);
    }
    texts.sort();
    texts.dedup();
    assert!(texts.len() > 100);
    texts
});

fn collect_texts(value: &Value, texts: &mut Vec<Vec<u8>>) {
    match value {
        Value::String(text) => texts.push(text.clone().into_bytes()),
        Value::Array(all) => all.iter().for_each(|one| collect_texts(one, texts)),
        Value::Object(members) => {
            if members.contains_key("public_key") {
                texts.push(value.to_string().into_bytes());
            }
            members.values().for_each(|one| collect_texts(one, texts));
        }
        _ => {}
    }
}

fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(challenge) = Challenge::parse(&text) {
        assert!(text == challenge.to_string() || text == challenge.sentence(), "{text}");
    }
    if let Ok(through) = HostBoundChallenge::parse(&text) {
        assert!(text == through.to_string() && Challenge::parse(&text).is_err(), "{text}");
    }
    if let Ok(qr) = QrData::parse(&text) {
        let again = QrData::parse(&qr.to_string()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(again.to_string(), qr.to_string(), "{text}");
    }
    check_lightning(&text);
    let der = data_encoding::HEXLOWER_PERMISSIVE.decode(bytes);
    let oracle = der.is_ok_and(|der| k256::ecdsa::Signature::from_der(&der).is_ok());
    assert_eq!(Signature::parse(&text).is_ok(), oracle, "{text}");
    if let Ok(answer) = Answer::parse(bytes) {
        let again = Answer::parse(&serde_json::to_vec(&answer).unwrap()).unwrap();
        assert!(again == answer, "{text}");
        drop(answer.verify());
    }
    check_event(bytes);
}

/// Parses a text as a Lightning login URL, and as the query of a Lightning wallet.
fn check_lightning(text: &str) {
    if let Ok(url) = Lnurl::decode(text) {
        assert_eq!(Lnurl::new(&url).unwrap().to_string(), text.to_lowercase(), "{text}");
    }
    if let Ok(read) = AuthUrl::parse(text) {
        assert_eq!(AuthUrl::parse(read.url().as_str()).as_ref(), Ok(&read), "{text}");
        assert!(read.url().scheme() == "https" || signpost_auth::is_loopback_url(read.url()), "{text}");
    }
    if let Ok(callback) = AuthCallback::parse(text) {
        assert!(text.len() > 80 && !callback.signature_hex().is_empty(), "{text}");
    }
}

/// Parses a body as an event. It is always rejected without a signature, and may be invalid even
/// with a signature.
fn check_event(body: &[u8]) {
    static SECRET: LazyLock<WebhookSecret> = LazyLock::new(|| WebhookSecret::from_bytes(&[5; 32]));
    let rules = EventRules { secrets: vec![SECRET.clone()], allowed_sources: Vec::new() };
    let (site, unsigned) = (AppState::default(), EventHeaders::default());
    let reply = handle_event(&site, None, &unsigned, body, &rules, 0).now_or_never().expect("no await");
    assert_eq!(reply.status, 401);
    drop(classify(&unsigned, body, &rules, 0));
    let signature = SECRET.x_svc_signature(body);
    let signed = EventHeaders { x_svc_signature: Some(&signature), ..unsigned };
    let reply = handle_event(&site, None, &signed, body, &rules, 0).now_or_never().expect("no await");
    assert!(matches!(reply.status, 200 | 400), "{}", reply.body);
}

#[test]
fn corpus_is_parsed_or_rejected() {
    CORPUS.iter().for_each(|text| check(text));
}

#[test]
fn mutated_corpus_is_parsed_or_rejected() {
    let mut random = Random(0x5169_6E70_6F73_7421);
    for _ in 0..MUTATIONS {
        check(&mutated(&mut random, &CORPUS, TOKENS));
    }
}

#[test]
#[ignore = "it takes a minute: make fuzz"]
fn a_minute_of_mutations_is_parsed_or_rejected() {
    let (mut random, begun, mut count) = (Random(seed()), Instant::now(), 0_u64);
    while begun.elapsed() < Duration::from_mins(1) {
        check(&mutated(&mut random, &CORPUS, TOKENS));
        count += 1;
    }
    println!("{count} texts read or refused as challenge, code, link, signature, answer and event");
}
