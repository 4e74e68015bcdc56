//! Tests of initialization, discovery, calls and lists, and of the headers that must match the body.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use signpost_mcp::{Annotations, CallError, Context, Handler, Headers, Revision, Server, ServerInfo, Structured, Tool};

use crate::fixture::{META, answered, app, post, send, sent, server};

fn answer(revision: Revision, body: &str) -> Value {
    let reply = answered(40, &Context::session(revision), body.as_bytes());
    assert_eq!(reply.status, 200, "{:?}", reply.body.map(String::from_utf8));
    serde_json::from_slice(&reply.body.unwrap()).unwrap()
}

fn call(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#)
}

fn stateless(method: &str) -> Value {
    answer(Revision::ASSUMED, &call(method, &format!(r#""_meta":{META}"#)))["result"].take()
}

#[test]
fn initialize_negotiates_the_revision() {
    let cases = [
        (r#""protocolVersion":"2024-11-05""#, "2024-11-05"),
        (r#""protocolVersion":"2025-03-26""#, "2025-03-26"),
        (r#""protocolVersion":"2025-06-18""#, "2025-06-18"),
        (r#""protocolVersion":"2025-11-25""#, "2025-11-25"),
        (r#""protocolVersion":"2026-07-28""#, "2025-11-25"),
        (r#""protocolVersion":"1999-01-01""#, "2025-11-25"),
        ("", "2025-11-25"),
    ];
    for (params, expected) in cases {
        let reply = answered(0, &Context::session(Revision::ASSUMED), call("initialize", params).as_bytes());
        let json: Value = serde_json::from_slice(&reply.body.unwrap()).unwrap();
        assert_eq!(json["result"]["protocolVersion"], expected);
        assert_eq!(reply.negotiated.unwrap().as_str(), expected);
        assert_eq!(json["result"]["capabilities"], json!({ "tools": {} }));
        assert_eq!(json["result"]["instructions"], "Add first.");
        let server_info =
            json!({ "name": "fixture", "title": "Fixture", "version": "1.2.3", "websiteUrl": "https://example.com" });
        assert_eq!(json["result"]["serverInfo"], server_info);
    }
}

#[test]
fn only_initialize_negotiates_a_revision() {
    let reply = answered(0, &Context::session(Revision::V2025_11_25), call("ping", "").as_bytes());
    assert_eq!(reply.negotiated, None);
    assert_eq!(reply.body.unwrap(), br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
}

#[test]
fn value_is_sent_structured_and_as_text() {
    let result = answer(Revision::ASSUMED, &call("tools/call", r#""name":"add","arguments":{"n":2}"#))["result"].take();
    let value = json!({ "sum": 42, "note": "say \"hi\"\n", "revision": "2025-03-26" });
    assert_eq!(result["structuredContent"], value);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), value);
    assert_eq!((&result["isError"], result["content"].as_array().unwrap().len()), (&json!(false), 1));
    assert!(result.get("resultType").is_none() && result.get("_meta").is_none());
}

#[test]
fn stateless_result_is_complete_and_names_the_server() {
    let params = format!(r#""_meta":{META},"name":"add","arguments":{{"n":2}}"#);
    let result = answer(Revision::V2024_11_05, &call("tools/call", &params))["result"].take();
    assert_eq!(result["structuredContent"]["revision"], "2026-07-28");
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "fixture");
}

#[test]
fn discover_equals_initialize() {
    let result = stateless("server/discover");
    let revisions = json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    assert_eq!(result["supportedVersions"], revisions);
    assert_eq!(result["capabilities"], json!({ "tools": {} }));
    assert_eq!(result["instructions"], "Add first.");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["version"], "1.2.3");
    assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("public")));
    assert!(result["ttlMs"].as_u64().is_some());
}

#[test]
fn list_is_byte_identical_every_time() {
    let list = call("tools/list", "");
    let bytes = || answered(0, &Context::session(Revision::ASSUMED), list.as_bytes()).body.unwrap();
    assert_eq!(bytes(), bytes());
    let legacy = answer(Revision::ASSUMED, &list)["result"].take();
    let names: Vec<_> = legacy["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["add", "fail", "break", "panic"]);
    assert_eq!(names, server().tools().map(|tool| tool.name).collect::<Vec<_>>());
    let annotations =
        json!({ "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false });
    assert_eq!(legacy["tools"][0]["annotations"], annotations);
    assert_eq!(legacy["tools"][0]["outputSchema"]["type"], "object");
    assert_eq!(legacy.as_object().unwrap().len(), 1);

    let modern = stateless("tools/list");
    assert_eq!(modern["tools"], legacy["tools"]);
    assert_eq!((&modern["resultType"], &modern["cacheScope"]), (&json!("complete"), &json!("public")));
    assert!(modern["ttlMs"].as_u64().is_some());
}

#[test]
fn dropped_methods_are_unknown() {
    let unknown = |context: &Context<'_>, body: String, status: u16| {
        let reply = answered(0, context, body.as_bytes());
        assert_eq!(reply.status, status);
        assert!(std::str::from_utf8(&reply.body.unwrap()).unwrap().contains("-32601"), "{body}");
    };
    let session = Context::session(Revision::V2025_11_25);
    unknown(&session, call("initialize", &format!(r#""_meta":{META}"#)), 404);
    let legacy = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}"#;
    unknown(&session, call("server/discover", legacy), 200);
}

#[test]
fn ping_is_answered_at_every_revision() {
    for revision in Revision::ALL {
        let meta = if revision.is_stateless() { format!(r#""_meta":{META}"#) } else { String::new() };
        let reply = answered(0, &Context::session(revision), call("ping", &meta).as_bytes());
        assert_eq!(reply.status, 200, "{revision}");
        assert_eq!(reply.body.unwrap(), br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "{revision}");
    }
}

#[test]
fn notification_has_no_reply() {
    let notifications = [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"panic"}}"#,
        r#"{"jsonrpc":"2.0","method":"no/such","params":7}"#,
    ];
    for (body, revision) in notifications.iter().flat_map(|body| Revision::ALL.map(move |revision| (body, revision))) {
        let reply = answered(0, &Context::session(revision), body.as_bytes());
        assert_eq!((reply.status.as_u16(), reply.body), (202, None), "{body}");
    }
}

/// A test case: the `_meta` member, the headers, and the expected status and error code.
type Sign = (&'static str, [Option<&'static str>; 3], Option<(u16, &'static str)>);

const SIGNS: &[Sign] = {
    const V: Option<&str> = Some("2026-07-28");
    const M: Option<&str> = Some("tools/call");
    const N: Option<&str> = Some("add");
    &[
        (META, [V, M, N], None),
        (META, [V, M, Some("=?base64?YWRk?=")], None),
        (META, [None, M, N], Some((400, "-32020"))),
        (META, [V, None, N], Some((400, "-32020"))),
        (META, [V, M, None], Some((400, "-32020"))),
        (META, [Some("2025-11-25"), M, N], Some((400, "-32020"))),
        (META, [Some("1999-01-01"), M, N], Some((400, "-32020"))),
        (META, [V, Some("tools/list"), N], Some((400, "-32020"))),
        (META, [V, Some("TOOLS/CALL"), N], Some((400, "-32020"))),
        (META, [V, M, Some("fail")], Some((400, "-32020"))),
        (META, [V, M, Some("=?base64?YWR?=")], Some((400, "-32020"))),
        (META, [V, M, Some("=?base64?ZmFpbA==?=")], Some((400, "-32020"))),
        ("{}", [V, M, N], Some((400, "-32602"))),
        (r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#, [V, M, N], Some((400, "-32602"))),
        (r#"{"io.modelcontextprotocol/clientCapabilities":{}}"#, [V, M, N], Some((400, "-32602"))),
        (r#"{"io.modelcontextprotocol/clientCapabilities":{}}"#, [None; 3], Some((400, "-32602"))),
        (
            r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":1}"#,
            [V, M, N],
            Some((400, "-32602")),
        ),
        (r#"{"io.modelcontextprotocol/protocolVersion":20260728}"#, [V, M, N], Some((400, "-32602"))),
        (r#"{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}"#, [None; 3], Some((400, "-32022"))),
        ("[]", [V, M, N], Some((400, "-32602"))),
        ("[]", [None; 3], Some((200, "-32602"))),
        ("{}", [Some("1999-01-01"), None, None], Some((400, "-32022"))),
        ("{}", [Some("\u{e9}"), None, None], Some((400, "-32022"))),
        ("{}", [Some("2025-11-25"), Some("tools/list"), Some("fail")], None),
        (r#"{"progressToken":1}"#, [None; 3], None),
    ]
};

#[test]
fn stateless_headers_must_match_the_body() {
    for (meta, headers, expected) in SIGNS {
        let [version, method, name] = headers.map(|header| header.map(str::as_bytes));
        let sent = sent([version, method, name]);
        let headers = Headers(Some(&sent));
        let context = Context { headers, headers_required: true, ..Context::session(Revision::ASSUMED) };
        let body = call("tools/call", &format!(r#""_meta":{meta},"name":"add","arguments":{{"n":1}}"#));
        let reply = answered(0, &context, body.as_bytes());
        let text = String::from_utf8(reply.body.unwrap()).unwrap();
        let (status, contains) = expected.unwrap_or((200, "structuredContent"));
        assert_eq!(reply.status, status, "{meta} {sent:?} {text}");
        assert!(text.contains(contains), "{meta} {sent:?} {text}");
        assert!(text.starts_with(r#"{"jsonrpc":"2.0","id":1,"#));
    }
}

#[test]
fn optional_headers_must_match_the_body() {
    let body = call("tools/call", &format!(r#""_meta":{META},"name":"add","arguments":{{"n":1}}"#));
    let status = |name| {
        let sent = sent([None, None, name]);
        let headers = Headers(Some(&sent));
        let context = Context { headers, ..Context::session(Revision::ASSUMED) };
        answered(0, &context, body.as_bytes()).status
    };
    assert_eq!(status(None), 200);
    assert_eq!(status(Some(b"add")), 200);
    assert_eq!(status(Some(b"fail")), 400);
}

#[tokio::test]
async fn unknown_version_error_lists_supported_versions() {
    for path in ["/mcp", "/sse"] {
        let body = r#"{"jsonrpc":"2.0","id":"x","method":"tools/list"}"#;
        let answer = send(&app(), post(path, "MCP-Protocol-Version: 2031-01-01", body)).await;
        assert_eq!(answer.status, 400);
        let error = answer.json()["error"].take();
        assert!(error["message"].as_str().unwrap().starts_with("Unsupported protocol version: \"2031-01-01\""));
        assert_eq!((&error["code"], &error["data"]["requested"]), (&json!(-32022), &json!("2031-01-01")));
        assert_eq!(error["data"]["supported"].as_array().unwrap().len(), 5);
    }
}

#[test]
fn value_is_an_object_on_one_line() {
    let foreign = RawValue::from_string("{\r\n \"a\":\n1}".into()).unwrap();
    assert_eq!(Structured::render(&BTreeMap::from([("b", foreign)])).unwrap().json(), r#"{"b":{"a":1}}"#);
    for no_object in [json!([1]), json!("{}"), json!(null)] {
        assert!(matches!(Structured::render(&no_object), Err(CallError::Internal(_))), "{no_object}");
    }
}

#[test]
#[should_panic(expected = "two tools are called \"add\"")]
fn duplicate_tool_name_is_rejected() {
    let tool = || Tool::<i64> {
        name: "add",
        title: "",
        description: "",
        input_schema: json!({}),
        output_schema: None,
        annotations: Annotations::LOOKUP,
        icons: Vec::new(),
        meta: serde_json::Map::new(),
        call: Handler::Sync(|_, _, _| unreachable!()),
    };
    drop(Server::new(ServerInfo::default()).tool(tool()).tool(tool()));
}
