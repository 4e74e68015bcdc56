//! Fuzz tests of request bodies, made by mutation of real bodies: accepted bodies are JSON objects with known members
//! of the right types, without duplicates, and no body breaks the parser. `make test` runs a fixed set of a few
//! thousand, `make fuzz` random bodies for a minute.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use signpost_login::sessions::{Requester, RequesterBody};
use signpost_platform::web::JsonBody;
use signpost_platform::web::problem::Problem;

use crate::mutations::{Random, mutated, seed};

const CORPUS: &[&str] = &[
    "{}",
    r#"{"domain":"shop.test","mode":"login","webhook_url":"https://shop.test/w","confirm":"code"}"#,
    r#"{"domain":"shop.test","metadata":{"return_url":"/in?a=1","custom_data":"\u00e9\ud83d\ude00"},"flow":"same_device"}"#,
    r#"{"requester":{"ip":"203.0.113.9","country":"US","user_agent":"a \"quoted\" one"}}"#,
    r#"{"ip":"::1","country":"CA","user_agent":""}"#,
    r#"{"public_key":"02","signature":"3006020101020101","message":"m"}"#,
    r#"{"a":[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]],"b":{"c":[true,false,null,-0.0,1e-9]}}"#,
    r#"{"domain":"shop.test","domain":"twice.test"}"#,
    r#"{"domain":"shop.test","metadata":{"custom_data":"x","number":1e4001}}"#,
];
const TOKENS: &[&str] =
    &["{", "}", "[", "]", ",", ":", "\"", "\\", "null", "1e400", "\\ud800", "\"domain\":", "é", "\u{0}"];
const MUTATIONS: u32 = 5_000;

fn corpus() -> Vec<Vec<u8>> {
    CORPUS.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Members of some bodies.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    domain: Option<String>,
    mode: Option<String>,
    webhook_url: Option<String>,
    confirm: Option<String>,
}

fn check(body: &[u8]) {
    match JsonBody::<Sample>::parse(body) {
        Ok(JsonBody(Sample { domain, mode, webhook_url, confirm })) => {
            let value: Value = serde_json::from_slice(body).expect("JSON");
            let mut members = value.as_object().expect("an object").clone();
            let sample = [("domain", domain), ("mode", mode), ("webhook_url", webhook_url), ("confirm", confirm)];
            for (name, text) in sample {
                assert_eq!(members.remove(name), text.map(Value::String), "{body:?}");
            }
            assert!(members.is_empty(), "{body:?}");
        }
        Err(Problem::InvalidRequest { field, .. }) if field != "body" => {
            let value: Value = match serde_json::from_slice(body) {
                Ok(value) => value,
                // JSON numbers have no limits, and raw members preserve them.
                Err(error) if error.to_string().contains("number out of range") => return,
                Err(error) => panic!("{error}: {body:?}"),
            };
            let member = value.as_object().expect("an object").get(&field).expect("the member");
            let is_known = ["domain", "mode", "webhook_url", "confirm"].contains(&field.as_str());
            assert!(!is_known || !member.is_string(), "{field}: {body:?}");
        }
        Err(_) => {}
    }
    if let Ok(JsonBody(sent)) = JsonBody::<RequesterBody>::parse(body)
        && let Ok(requester) = Requester::try_from(sent)
    {
        let stored = serde_json::to_vec(&requester).expect("JSON");
        let JsonBody(read) = JsonBody::<RequesterBody>::parse(&stored).expect("a stored requester");
        assert_eq!(Requester::try_from(read).expect("a stored requester"), requester);
    }
}

#[test]
fn mutated_bodies_are_parsed_or_rejected() {
    let (corpus, mut random) = (corpus(), Random(0x5169_6E70_6F73_7421));
    for body in &corpus {
        check(body);
    }
    for _ in 0..MUTATIONS {
        check(&mutated(&mut random, &corpus, TOKENS));
    }
}

#[test]
#[ignore = "it takes a minute: make fuzz"]
fn a_minute_of_bodies_is_parsed_or_rejected() {
    let (corpus, mut random, begun, mut count) = (corpus(), Random(seed()), Instant::now(), 0_u64);
    while begun.elapsed() < Duration::from_mins(1) {
        check(&mutated(&mut random, &corpus, TOKENS));
        count += 1;
    }
    println!("{count} bodies read or refused");
}
