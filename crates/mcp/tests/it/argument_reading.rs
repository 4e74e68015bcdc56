//! Strict and lenient reading of parameters: the requests to which each applies, and the accepted input.

use axum::Router;
use futures_util::FutureExt;
use serde_json::{Map, Value, json};
use signpost_mcp::{
    Annotations, Arguments, Context, Handler, Headers, NormalizedArguments, Output, Prompt, PromptArgument,
    PromptMessage, Revision, Server, ServerInfo, Tool, router, serve_stdio,
};

use crate::fixture::{META, Stream, http, post, send, sent};

/// Creates a server with a tool and a prompt that return their arguments.
fn server() -> Server<()> {
    let argument = |name, required| PromptArgument { name, title: name, description: name, required, complete: None };
    Server::new(ServerInfo { name: "echo".into(), ..ServerInfo::default() })
        .normalize_arguments(normalize)
        .tool(Tool {
            name: "echo",
            title: "Echo",
            description: "Returns its arguments.",
            input_schema: json!({ "type": "object", "examples": [{ "n": 1 }] }),
            output_schema: None,
            annotations: Annotations::LOOKUP,
            icons: Vec::new(),
            meta: Map::new(),
            call: Handler::Sync(|(), arguments, call| {
                Output::structured(&json!({ "arguments": arguments, "notices": call.notices }))
            }),
        })
        .prompt(Prompt {
            name: "write",
            title: "Write",
            description: "Writes a letter.",
            arguments: vec![argument("to", true), argument("style", false)],
            icons: Vec::new(),
            get: Handler::Sync(|(), arguments, _| Ok(vec![PromptMessage::user(format!("{arguments:?}"))])),
        })
}

/// Adds an argument, and refuses calls with `bad`.
fn normalize(schema: &Value, mut arguments: Arguments) -> Result<NormalizedArguments, String> {
    assert_eq!(schema["examples"][0]["n"], 1);
    if arguments.contains_key("bad") {
        return Err("bad cannot be converted".to_owned());
    }
    arguments.insert("normalized".to_owned(), json!(true));
    Ok(NormalizedArguments { arguments, notices: vec!["One was added.".to_owned()] })
}

fn app() -> Router {
    router(server(), (), http())
}

fn message(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

fn call(arguments: &str) -> String {
    message("tools/call", &format!(r#"{{"name":"echo","arguments":{arguments}}}"#))
}

/// Handles a message like `POST /mcp`, with this version header.
fn reply(version: Option<&str>, body: &str) -> Value {
    let headers = sent([version.map(str::as_bytes), None, None]);
    let context = Context { headers: Headers(Some(&headers)), ..Context::session(Revision::ASSUMED) };
    let reply = server().handle(&(), &context, body.as_bytes()).now_or_never().expect("nothing waits");
    serde_json::from_slice(&reply.body.expect("a reply")).expect("JSON")
}

const CLIENT: Option<&str> = Some("2025-11-25");

fn is_lenient(reply: &str) -> bool {
    reply.contains(r#""normalized":true"#) && reply.contains("One was added.")
}

#[test]
fn version_header_makes_reading_lenient() {
    assert!(!is_lenient(&reply(None, &call("{}")).to_string()));
    for revision in Revision::ALL.into_iter().filter(|revision| !revision.is_stateless()) {
        assert!(is_lenient(&reply(Some(revision.as_str()), &call("{}")).to_string()), "{revision}");
    }
    assert_eq!(reply(Some("2031-01-01"), &call("{}"))["error"]["code"], -32022);
}

#[test]
fn stateless_body_makes_reading_lenient() {
    let with_meta = |meta: &str| message("tools/call", &format!(r#"{{"_meta":{meta},"name":"echo"}}"#));
    assert!(is_lenient(&reply(None, &with_meta(META)).to_string()));
    let older = r#"{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}"#;
    for meta in ["{}", older, r#"{"progressToken":1}"#] {
        let reply = reply(None, &with_meta(meta));
        assert!(reply["result"]["isError"] == false && !is_lenient(&reply.to_string()), "{reply}");
    }
}

#[tokio::test]
async fn initialized_stream_is_read_leniently() {
    let app = app();
    for path in ["/mcp", "/sse"] {
        let strict = send(&app, post(path, "", call("{}"))).await;
        assert!(!is_lenient(&strict.json().to_string()), "{path}");
        let lenient = send(&app, post(path, "MCP-Protocol-Version: 2025-06-18", call("{}"))).await;
        assert!(is_lenient(&lenient.json().to_string()), "{path}");
    }
    let mut stream = Stream::open(&app).await;
    let initialize = message("initialize", r#"{"protocolVersion":"2024-11-05"}"#);
    for (body, expected) in [(call("{}"), false), (initialize, false), (call("{}"), true)] {
        send(&app, post(&stream.endpoint, "", body)).await;
        assert_eq!(is_lenient(&stream.message().await), expected);
    }
    let mut other = Stream::open(&app).await;
    send(&app, post(&other.endpoint, "", call("{}"))).await;
    assert!(!is_lenient(&other.message().await), "another session");
}

#[tokio::test]
async fn stdio_is_read_leniently() {
    let mut output = Vec::new();
    let input = format!("\u{feff}\n\u{feff}{}\n{}", call("{}"), message("tools/list", "null"));
    serve_stdio(&server(), &(), input.as_bytes(), &mut output).await.unwrap();
    let output = String::from_utf8(output).unwrap();
    let replies: Vec<_> = output.lines().collect();
    assert_eq!(replies.len(), 2, "{output}");
    assert!(is_lenient(replies[0]) && replies[1].contains(r#""tools":["#), "{output}");
}

#[test]
fn blank_members_are_absent() {
    for (method, params) in [
        ("tools/list", "null"),
        ("tools/list", "[]"),
        ("tools/list", r#""""#),
        ("tools/list", r#"{"_meta":null}"#),
        ("tools/list", r#"{"_meta":[]}"#),
        ("tools/list", r#"{"_meta":""}"#),
        ("tools/list", r#"{"cursor":""}"#),
        ("prompts/list", r#"{"cursor":""}"#),
        ("tools/call", r#"{"name":"echo","arguments":null}"#),
        ("tools/call", r#"{"name":"echo","arguments":""}"#),
        ("tools/call", r#"{"name":"echo","arguments":[ ]}"#),
        ("prompts/get", r#"{"name":"write","arguments":{"to":"Ada","style":null}}"#),
        (
            "prompts/get",
            r#"{"name":"write","arguments":{"to":"Ada","style":"","sessionId":5,"action":"","random_string":null}}"#,
        ),
        ("prompts/get", r#"{"name":"write","arguments":"{\"to\":\"Ada\"}"}"#),
    ] {
        let lenient = reply(CLIENT, &message(method, params));
        assert!(lenient.get("result").is_some(), "{method} {params}: {lenient}");
        let is_letter = method == "prompts/get";
        assert_eq!(lenient.to_string().contains(r#"{\"to\": \"Ada\"}"#), is_letter, "{lenient}");
        let strict = reply(None, &message(method, params));
        assert_eq!(strict["error"]["code"], -32602, "{method} {params}: {strict}");
    }
    for params in [r#"{"_meta":7}"#, "[1]", r#"" ""#, r#"{"cursor":" "}"#, r#"{"cursor":[]}"#, r#"{"_meta":[1]}"#] {
        assert_eq!(reply(CLIENT, &message("tools/list", params))["error"]["code"], -32602, "{params}");
    }
    let unknown = reply(CLIENT, &message("prompts/get", r#"{"name":"write","arguments":{"to":"Ada","Style":""}}"#));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("it takes to, style"), "{unknown}");
    let required = reply(CLIENT, &message("prompts/get", r#"{"name":"write","arguments":{"to":null}}"#));
    assert_eq!(required["error"]["code"], -32602, "{required}");
}

#[test]
fn blank_context_of_a_completion_is_absent() {
    let complete = |version, context: &str| {
        let parameters = format!(
            r#"{{"ref":{{"type":"ref/prompt","name":"write"}},"argument":{{"name":"to","value":""}},"context":{context}}}"#
        );
        reply(version, &message("completion/complete", &parameters))
    };
    for context in ["null", r#"{"arguments":null}"#, r#"{"arguments":{"style":null}}"#] {
        assert!(complete(CLIENT, context).get("result").is_some(), "{context}");
        assert_eq!(complete(None, context)["error"]["code"], -32602, "{context}");
    }
    assert_eq!(complete(CLIENT, r#"{"arguments":{"style":1}}"#)["error"]["code"], -32602);
}

#[test]
fn arguments_as_json_text_are_parsed_once() {
    let text = |json: &str| call(&serde_json::to_string(json).unwrap());
    for json in [r#"{"n":1}"#, " \t\r\n{\"n\":1} ", r#"{"\u006e":1}"#] {
        let lenient = reply(CLIENT, &text(json));
        let arguments = &lenient["result"]["structuredContent"]["arguments"];
        assert_eq!(*arguments, json!({ "n": 1, "normalized": true }), "{lenient}");
        let strict = reply(None, &text(json));
        let message = strict["error"]["message"].as_str().unwrap();
        assert!(message.contains("params.arguments must be an object, got a string; for example"), "{message}");
    }
}

#[test]
fn hostile_json_text_is_refused() {
    let twice = |json: &str| serde_json::to_string(json).unwrap();
    let deep = format!("{}{}", r#"{"a":"#.repeat(200), "}".repeat(200));
    let deeper = format!(r#"{{"a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let nested = twice(r#"{"n":1}"#);
    let nested_twice = twice(&nested);
    for (json, part) in [
        (r#"{"n":1,"n":2}"#, "has \"n\" twice; send it once"),
        (r#"{"a":{"n":1,"\u006e":2}}"#, "has \"n\" twice; send it once"),
        (deep.as_str(), "nested more than 127 levels deep"),
        (&deeper, "nested more than 127 levels deep"),
        (&nested, "got a string that contains a string"),
        (&nested_twice, "got a string that contains a string"),
        ("[1]", "got a string that is not the JSON of an object"),
        ("null", "got a string that is not the JSON of an object"),
        ("n=1", "got a string that is not the JSON of an object"),
        (" ", "got a string that is not the JSON of an object"),
        ("\u{feff}{}", "got a string that is not the JSON of an object"),
        ("{", "EOF while parsing"),
        ("{}{}", "trailing characters"),
        (r#"{"n":1e999}"#, "number out of range"),
        (r#"{"n":NaN}"#, "expected"),
    ] {
        let reply = reply(CLIENT, &call(&serde_json::to_string(json).unwrap())).to_string();
        let shown: String = json.chars().take(40).collect();
        assert!(reply.contains(&part.replace('"', "\\\"")), "{shown}: {reply}");
        assert!(reply.len() < 1000, "{shown}: {} bytes", reply.len());
    }
    // Text of a whole message, within the limit of its size.
    let huge = format!(r#"{{"n":"{}"}}"#, "x".repeat(900_000));
    let echoed = reply(CLIENT, &call(&serde_json::to_string(&huge).unwrap()));
    assert_eq!(echoed["result"]["structuredContent"]["arguments"]["n"].as_str().map(str::len), Some(900_000));
    // A lone surrogate is not a text.
    let surrogate = reply(CLIENT, &call(r#""{\"n\":\"\ud800\"}""#));
    assert!(surrogate.to_string().contains("must be an object, got a string"), "{surrogate}");
    // In a prompt.
    let prompt =
        reply(CLIENT, &message("prompts/get", r#"{"name":"write","arguments":"{\"to\":\"a\",\"to\":\"b\"}"}"#));
    assert!(prompt.to_string().contains("twice"), "{prompt}");
}

#[test]
fn refused_conversion_is_a_bad_argument() {
    let result = reply(CLIENT, &call(r#"{"bad":1}"#))["result"].take();
    assert_eq!(result["isError"], true);
    assert_eq!(result["content"][0]["text"], "Invalid params: bad cannot be converted");
    let older = reply(Some("2025-06-18"), &call(r#"{"bad":1}"#));
    assert_eq!(older["error"]["message"], "Invalid params: bad cannot be converted");
    assert_eq!(reply(None, &call(r#"{"bad":1}"#))["result"]["isError"], false);
}

#[tokio::test]
async fn byte_order_mark_is_skipped() {
    let app = app();
    let body = format!("\u{feff}{}", message("ping", "{}"));
    for path in ["/mcp", "/sse"] {
        let answer = send(&app, post(path, "", body.clone())).await;
        assert_eq!((answer.status.as_u16(), answer.json()), (200, json!({ "jsonrpc": "2.0", "id": 1, "result": {} })));
    }
    for bad in ["\u{feff}", "\u{feff}\u{feff}{}", "{}\u{feff}", " \u{feff}{}"] {
        assert_eq!(send(&app, post("/mcp", "", bad)).await.json()["error"]["code"], -32700, "{bad:?}");
    }
}

#[test]
fn examples_are_not_listed() {
    let tools = reply(None, &message("tools/list", "{}"));
    assert_eq!(tools["result"]["tools"][0]["inputSchema"], json!({ "type": "object" }));
    let error = reply(None, &call("7"))["error"].take();
    assert!(
        error["message"].as_str().unwrap().ends_with(r#"for example {"name":"echo","arguments":{"n":1}}"#),
        "{error}"
    );
}
