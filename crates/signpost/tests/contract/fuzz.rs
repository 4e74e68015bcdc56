//! Bodies of requests made from real ones: what is taken is JSON with no field twice, and nothing breaks the reader.
//! `make test` tries the same few thousand each time, `make fuzz` goes on for a minute with others.

use std::time::{Duration, Instant};

use serde_json::Value;
use signpost_login::sessions::Requester;
use signpost_platform::web::Fields;

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

fn check(body: &[u8]) {
    if let Ok(mut fields) = Fields::parse(body) {
        let value: Value = match serde_json::from_slice(body) {
            Ok(value) => value,
            // Kept as it was written: JSON bounds no number, and what is given back must be what came.
            Err(error) if error.to_string().contains("number out of range") => return,
            Err(error) => panic!("{error}: {body:?}"),
        };
        let mut members = value.as_object().expect("an object").clone();
        for name in ["domain", "mode", "webhook_url", "confirm"] {
            let (text, sent) = (fields.optional_text(name), members.remove(name));
            let expected = sent.as_ref().map(Value::as_str);
            assert!(text.ok() == expected.map_or(Some(None), |sent| sent.map(|sent| Some(sent.to_owned()))));
        }
        assert_eq!(fields.done().is_ok(), members.is_empty());
    }
    if let Ok(text) = std::str::from_utf8(body)
        && let Ok(requester) = Requester::parse(text)
    {
        let kept = serde_json::to_string(&requester).expect("JSON");
        assert_eq!(Requester::parse(&kept).expect("what was kept"), requester);
    }
}

#[test]
fn what_is_made_from_bodies_is_read_or_refused() {
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
fn a_minute_of_bodies_is_read_or_refused() {
    let (corpus, mut random, begun, mut count) = (corpus(), Random(seed()), Instant::now(), 0_u64);
    while begun.elapsed() < Duration::from_mins(1) {
        check(&mutated(&mut random, &corpus, TOKENS));
        count += 1;
    }
    println!("{count} bodies read or refused");
}
