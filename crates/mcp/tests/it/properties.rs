//! Property tests of the replies to arbitrary bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;
use signpost_mcp::{Context, Headers, MAX_MESSAGE_BYTES, Revision, RpcResponse, serve_stdio};

use crate::fixture::{META, Start, answered, sent, server};

#[derive(Deserialize)]
struct Answered<'a> {
    jsonrpc: String,
    #[serde(borrow)]
    id: &'a RawValue,
    result: Option<serde_json::Map<String, serde_json::Value>>,
    error: Option<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    code: i32,
    message: String,
}

/// Checks that a reply is a single line with either a result or an error, and that its status matches.
pub(crate) fn is_answer(reply: &RpcResponse) -> Result<(), TestCaseError> {
    let Some(body) = &reply.body else {
        prop_assert_eq!(reply.status, 202);
        return Ok(());
    };
    prop_assert!(!body.contains(&b'\n'));
    let answered: Answered<'_> = serde_json::from_slice(body).expect("a JSON-RPC reply");
    prop_assert_eq!(answered.jsonrpc, "2.0");
    prop_assert_eq!(answered.result.is_some(), answered.error.is_none());
    match answered.error {
        None => prop_assert_eq!(reply.status, 200),
        Some(Problem { code, message }) => {
            let words = match code {
                -32700 => "Parse error: ",
                -32600 => "Invalid request: ",
                -32601 => "Method not found: ",
                -32602 => "Invalid params: ",
                -32002 => "Resource not found: ",
                -32020 => "Header mismatch: ",
                -32021 => "Missing client capability: ",
                -32022 => "Unsupported protocol version: ",
                -32603 => "Internal error",
                _ => "a code of the table",
            };
            prop_assert!(message.starts_with(words), "{code} {message}");
            prop_assert!(message.len() < 1000, "{message}");
        }
    }
    let id = answered.id.get();
    let echoed = id.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit());
    prop_assert!(echoed || id == "null", "{}", id);
    Ok(())
}

/// Returns a strategy that combines parts of messages, so that many results are nearly valid.
fn almost_a_message() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "null",
        "true",
        "1",
        "-1.5e3",
        "1e999",
        "\"",
        "\\ud800",
        "\\\"",
        "é",
        " ",
        "\n",
        r#""jsonrpc":"2.0""#,
        r#""id":1"#,
        r#""id":"x""#,
        r#""id":null"#,
        r#""method":"tools/call""#,
        r#""method":"initialize""#,
        r#""method":"tools/list""#,
        r#""method":"server/discover""#,
        r#""params":{"#,
        r#""name":"add""#,
        r#""name":"fail""#,
        r#""arguments":{"#,
        r#""n":2"#,
        r#""_meta":"#,
        META,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"n":1}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"#,
    ]);
    vec(piece, 0..24).prop_map(|pieces| pieces.concat().into_bytes())
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![vec(any::<u8>(), 0..200), almost_a_message()]
}

fn header() -> impl Strategy<Value = Option<Vec<u8>>> {
    let known = prop::sample::select(vec!["2026-07-28", "2025-11-25", "tools/call", "add", "=?base64?YWRk?="]);
    prop::option::of(prop_oneof![known.prop_map(|text| text.as_bytes().to_vec()), vec(any::<u8>(), 0..12)])
}

/// Returns a strategy for JSON numbers of any size.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        "-?(0|[1-9][0-9]{0,60})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,4})?",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_answered(
        body in body(), version in header(), method in header(), name in header(),
        headers_required: bool, revision in prop::sample::select(Revision::ALL.to_vec()),
    ) {
        let sent = sent([version.as_deref(), method.as_deref(), name.as_deref()]);
        let headers = Headers(Some(&sent));
        let context = Context { headers, headers_required, ..Context::session(revision) };
        is_answer(&answered(1, &context, &body))?;
    }

    #[test]
    fn id_is_returned_unchanged(id in prop_oneof![
        number(), any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        r#""(\\u[0-9a-c][0-9a-f]{3}|\\[nrtbf/"\\]|[a-z]){0,20}""#,
    ]) {
        for rest in [r#""method":"ping""#, r#""method":"none""#, r#""method":"tools/call""#, r#""method":1"#] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#);
            let reply = answered(1, &Context::session(Revision::ASSUMED), body.as_bytes()).body.unwrap();
            let begins = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
            prop_assert!(reply.starts_with(begins.as_bytes()), "{} {:?}", id, String::from_utf8(reply));
        }
    }

    #[test]
    fn any_stdio_input_yields_only_replies(input in vec(body(), 0..6)) {
        let mut output = Vec::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(serve_stdio(&server(), &Start(1), &*input.join(&b'\n'), &mut output)).unwrap();
        for line in output.split_inclusive(|byte| *byte == b'\n') {
            prop_assert!(line.len() <= MAX_MESSAGE_BYTES && line.ends_with(b"\n"));
            let answered: Answered<'_> = serde_json::from_slice(line).unwrap();
            prop_assert_eq!(answered.jsonrpc, "2.0");
        }
    }
}
