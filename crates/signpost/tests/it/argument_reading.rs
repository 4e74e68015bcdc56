//! Arguments as real clients send them, and the same calls without a sign of the protocol (docs/locator.md, Arguments).

use reqwest::Method;
use serde_json::{Value, json};

use crate::assistant::server;
use crate::harness::Service;

const FIND: &str = "find_nearest_bitcoin_atm";
const DETAILS: &str = "get_atm_details";
const STATUS: &str = "check_atm_status";
const LIST: &str = "list_atms_by_city";

const JSON: (&str, &str) = ("content-type", "application/json");

/// Sends a message like a client of this revision, or a bare message.
async fn send(server: &Service, revision: Option<&str>, message: &Value) -> Value {
    let version = revision.map(|revision| ("mcp-protocol-version", revision));
    let headers: Vec<_> = [JSON].into_iter().chain(version).collect();
    server.send(Method::POST, "/mcp", &headers, &message.to_string()).await.with(200)
}

/// Calls a tool like a client of 2025-11-25.
async fn call(server: &Service, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    send(server, Some("2025-11-25"), &message).await
}

#[track_caller]
fn structured(reply: &Value) -> &Value {
    assert_eq!(reply["result"]["isError"], false, "{reply}");
    &reply["result"]["structuredContent"]
}

/// Returns the text of a refused call.
#[track_caller]
fn refused(reply: &Value) -> &str {
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    reply["result"]["content"][0]["text"].as_str().expect("a text")
}

/// Messages of real clients, and a part of the error text for the bare message; `None` if it is valid.
fn client_messages() -> Vec<(&'static str, Value, Option<&'static str>)> {
    let call = |tool: &str, arguments: Value| json!({ "name": tool, "arguments": arguments });
    vec![
        ("tools/call", call(FIND, json!({ "location": 78701 })), Some("location must be a text")),
        (
            "tools/call",
            call(FIND, json!({ "lat": "30.2672", "lon": "-97.7431", "limit": "3" })),
            Some("received \"30.2672\""),
        ),
        ("tools/call", call(DETAILS, json!({ "atmId": "45" })), Some("received \"45\"")),
        (
            "tools/call",
            call(FIND, json!({ "location": "Austin, TX", "service": "", "coin": "", "units": "" })),
            Some("service must be"),
        ),
        // Coordinates override the location.
        ("tools/call", call(FIND, json!({ "location": "Austin, TX", "lat": 0, "lon": 0 })), None),
        (
            "tools/call",
            call(LIST, json!({ "state": "TX", "city": "Austin", "cursor": "" })),
            Some("cursor must be nextCursor"),
        ),
        (
            "tools/call",
            json!({ "name": FIND, "arguments": "{\"location\":\"Austin, TX\"}" }),
            Some("params.arguments must be an object, got a string"),
        ),
        ("tools/list", json!(null), Some("params must be an object, got null")),
        ("tools/list", json!([]), Some("params must be an object, got an array")),
        ("tools/list", json!({ "_meta": null }), Some("params._meta must be an object, got null")),
        ("tools/list", json!({ "cursor": "" }), Some("params.cursor is unknown")),
        (
            "prompts/get",
            call("compare_atms", json!({ "location": "Austin, TX", "amount": null })),
            Some("\"amount\" must be a string"),
        ),
        ("prompts/get", call("compare_atms", json!({ "location": "Austin, TX", "amount": "" })), None),
        (
            "tools/call",
            call(FIND, json!({ "location": "Austin, TX", "sessionId": "a", "toolCallId": "b" })),
            Some("there is no argument 'sessionId'"),
        ),
    ]
}

#[tokio::test]
async fn messages_of_real_clients_are_accepted() {
    let server = server().await;
    for (method, params, bare_error) in client_messages() {
        let message = json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params });
        for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            let reply = send(&server, Some(revision), &message).await;
            assert!(reply.get("result").is_some(), "{revision} {message}: {reply}");
            assert_ne!(reply["result"]["isError"], true, "{revision} {message}: {reply}");
        }
        let bare = send(&server, None, &message).await;
        match bare_error {
            Some(part) => {
                assert_eq!(bare["error"]["code"], -32602, "{message}: {bare}");
                assert!(bare["error"]["message"].as_str().is_some_and(|text| text.contains(part)), "{message}: {bare}");
            }
            None => assert!(bare.get("result").is_some(), "{message}: {bare}"),
        }
    }
}

#[tokio::test]
async fn stateless_body_is_read_leniently() {
    let server = server().await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params =
        json!({ "_meta": meta, "name": FIND, "arguments": { "lat": "30.2672", "lon": "-97.7431", "coin": "" } });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    // `/sse` does not require the headers of the revision.
    let reply = server.send(Method::POST, "/sse", &[JSON], &message.to_string()).await.with(200);
    assert!(structured(&reply)["total"].as_u64() > Some(0), "{reply}");
}

#[tokio::test]
async fn converted_arguments_have_the_results_of_valid_ones() {
    let server = server().await;
    for (tool, sent, valid) in [
        (
            FIND,
            json!({ "lat": "30.2672", "lon": "-97.7431", "limit": "3", "maxDistance": "1e1", "units": null }),
            json!({ "lat": 30.2672, "lon": -97.7431, "limit": 3, "maxDistance": 10 }),
        ),
        (FIND, json!({ "location": 78701 }), json!({ "location": "78701" })),
        (FIND, json!({ "location": "Austin, TX", "lat": 0, "lon": "0" }), json!({ "location": "Austin, TX" })),
        (FIND, json!({ "location": "", "lat": 30, "lon": -97 }), json!({ "lat": 30, "lon": -97 })),
        (
            STATUS,
            json!({ "location": "Austin, TX", "radius": "25", "random_string": "x" }),
            json!({ "location": "Austin, TX", "radius": 25 }),
        ),
        (DETAILS, json!({ "atmId": "45" }), json!({ "atmId": 45 })),
        (DETAILS, json!({ "atmId": "45.0" }), json!({ "atmId": 45 })),
        (LIST, json!({ "state": "TX", "city": "Austin", "cursor": "" }), json!({ "state": "TX", "city": "Austin" })),
    ] {
        let expected = server.call(tool, valid).await.with(200);
        assert_eq!(structured(&call(&server, tool, sent.clone()).await), structured(&expected), "{tool} {sent}");
    }
}

/// Calls in the form of public bug reports about other servers: the report, the tool, its arguments, and a part of the
/// error text; `None` if the call is accepted.
fn reported_calls() -> Vec<(&'static str, &'static str, Value, Option<&'static str>)> {
    vec![
        ("github/github-mcp-server#2044", DETAILS, json!({ "atmId": "45" }), None),
        ("anthropics/claude-code#24597", FIND, json!({ "location": "Austin, TX", "openNow": "false" }), None),
        ("QwenLM/qwen-code#379", DETAILS, json!({ "atmId": "45", "atmIds": "[46, 47]" }), None),
        ("GaloyMoney/drua#48", FIND, json!("{\"location\": \"Austin, TX\"}"), None),
        (
            "n8n-io/n8n#21500",
            FIND,
            json!({ "location": "Austin, TX", "toolCallId": "call_0", "action": "sendMessage", "chatInput": "Hello" }),
            None,
        ),
        ("lmstudio-ai/lmstudio-bug-tracker#1626", FIND, json!({ "location": 78701 }), None),
        ("ZenRows/zenrows-mcp#23", FIND, json!({ "location": "Austin, TX", "lat": null, "service": null }), None),
        (
            "metatool-ai/metamcp#365",
            FIND,
            json!({ "location": "Austin, TX", "lat": 0, "lon": 0, "coin": "", "limit": 0 }),
            Some("limit must be a whole number from 1 to 50, received 0"),
        ),
        (
            "anthropics/claude-code#95239",
            FIND,
            json!({ "location": "Austin, TX", "service": "null" }),
            Some("service must be \"buy\" or \"sell\", received \"null\""),
        ),
    ]
}

#[tokio::test]
async fn calls_of_public_reports_are_accepted_or_explained() {
    let server = server().await;
    for (report, tool, arguments, error) in reported_calls() {
        let reply = call(&server, tool, arguments).await;
        match error {
            None => assert!(!structured(&reply).is_null(), "{report}"),
            Some(part) => assert!(refused(&reply).contains(part), "{report}: {reply}"),
        }
    }
}

#[tokio::test]
async fn numeric_location_gets_its_leading_zeros() {
    let server = server().await;
    for tool in [FIND, STATUS] {
        let reply = call(&server, tool, json!({ "location": 2134 })).await;
        let found = structured(&reply);
        let expected = server.call(tool, json!({ "location": "02134" })).await.with(200);
        assert_eq!(found["resolvedLocation"], structured(&expected)["resolvedLocation"]);
        assert!(found["resolvedLocation"].is_object(), "{found}");
        let notice = found["notice"].as_str().expect("a notice");
        assert!(notice.contains("The number 2134 as location was read as the ZIP code 02134"), "{notice}");
        let five_digits = call(&server, tool, json!({ "location": 78701 })).await;
        assert!(!structured(&five_digits)["notice"].to_string().contains("ZIP code"), "{five_digits}");
    }
    // Coordinates override the location, so its conversion has no effect.
    let reply = call(&server, FIND, json!({ "location": 2134, "lat": 30.27, "lon": -97.74 })).await;
    assert!(!structured(&reply)["notice"].to_string().contains("ZIP code"), "{reply}");
}

#[tokio::test]
async fn ambiguous_values_are_refused() {
    let server = server().await;
    let number = "must be a number such as 10 or -97.74, or text with such a number in at most 32 characters, received";
    let text = |value: &str| json!({ "lat": value, "lon": 1 });
    for (tool, arguments, part) in [
        (FIND, text("0x10"), format!("lat {number} \"0x10\"; for example {{")),
        (FIND, text(" 1e3"), format!("lat {number} \" 1e3\"")),
        (FIND, text("Infinity"), format!("lat {number} \"Infinity\"")),
        (FIND, text("1,5"), format!("lat {number} \"1,5\"")),
        (FIND, text(&"1".repeat(33)), format!("lat {number} \"1111")),
        (FIND, text(&"1".repeat(900_000)), format!("lat {number} \"1111")),
        (DETAILS, json!({ "atmId": "" }), format!("atmId {number} \"\"")),
        // The bounds are those of numbers.
        (FIND, text("90.01"), "lat must be a number of degrees from -90 to 90, received 90.01".to_owned()),
        (FIND, json!({ "location": "Austin, TX", "limit": "51" }), "1 to 50, received 51".to_owned()),
        (FIND, json!({ "location": "Austin, TX", "limit": "1.5" }), "1 to 50, received 1.5".to_owned()),
        (DETAILS, json!({ "atmId": "9007199254740993" }), "received 9007199254740993".to_owned()),
        (DETAILS, json!({ "atmId": null }), "atmId".to_owned()),
        (FIND, json!({ "location": null }), "location, or lat together with lon, is required".to_owned()),
        (FIND, json!({ "location": "Austin, TX", "lat": 0 }), "lat requires lon".to_owned()),
        (FIND, json!({ "location": ["Austin"] }), "location must be a text".to_owned()),
        (LIST, json!({ "state": "TX", "city": 78701 }), "city must be a text".to_owned()),
        (FIND, json!({ "location": "Austin, TX", "openNow": 1 }), "openNow must be true or false".to_owned()),
        (FIND, json!({ "location": "Austin, TX", "service": " " }), "service must be".to_owned()),
    ] {
        let reply = call(&server, tool, arguments.clone()).await;
        let message = refused(&reply);
        assert!(message.starts_with("Invalid params: ") && message.contains(&part), "{part}: {message}");
        assert!(message.len() < 1000, "{message}");
    }
}

#[tokio::test]
async fn unknown_argument_error_suggests_the_name() {
    let server = server().await;
    for (tool, arguments, part) in [
        (FIND, json!({ "latitude": 30, "longitude": -97 }), "there is no argument 'latitude', did you mean 'lat'?"),
        (FIND, json!({ "lat": 30, "lng": -97 }), "there is no argument 'lng', did you mean 'lon'?"),
        (FIND, json!({ "query": "Austin, TX" }), "did you mean 'location'?"),
        (FIND, json!({ "location": "Austin, TX", "radius": 5 }), "did you mean 'maxDistance'?"),
        (FIND, json!({ "location": "Austin, TX", "max_distance": 5 }), "did you mean 'maxDistance'?"),
        (STATUS, json!({ "location": "Austin, TX", "maxDistance": 5 }), "did you mean 'radius'?"),
        (LIST, json!({ "stateCode": "TX", "city": "Austin" }), "did you mean 'state'?"),
        (
            LIST,
            json!({ "state": "TX", "city": "Austin", "colour": "" }),
            "there is no argument 'colour'; allowed are state",
        ),
    ] {
        let reply = call(&server, tool, arguments.clone()).await;
        let message = refused(&reply);
        assert!(message.contains(part), "{arguments}: {message}");
        let bare = server.call(tool, arguments.clone()).await.with(200);
        assert_eq!(bare["error"]["message"], message, "{arguments}");
    }
    let long = "x".repeat(100_000);
    let reply = call(&server, FIND, json!({ "location": "Austin, TX", (long): 1 })).await;
    assert!(refused(&reply).len() < 1000, "{reply}");
}
