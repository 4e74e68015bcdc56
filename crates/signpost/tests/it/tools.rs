//! The four tools over HTTP: arguments, results and errors (ATM locator specification, §4; docs/locator.md, Tools).

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use signpost_atm::catalogue::{Snapshot, StoredCatalogue};
use signpost_locator::{ArcStr, Atm, AtmId, Hours, Point, Record};

use crate::assistant::server;
use crate::harness::{Reply, Service};

const FIND: &str = "find_nearest_bitcoin_atm";
const DETAILS: &str = "get_atm_details";
const STATUS: &str = "check_atm_status";
const LIST: &str = "list_atms_by_city";

/// Returns the structured result of a successful call; its text must be equal.
#[track_caller]
fn structured(reply: &Reply) -> Value {
    let body = reply.with(200);
    let result = &body["result"];
    assert_eq!(result["isError"], false, "{body}");
    assert_eq!(result["content"].as_array().unwrap().len(), 1);
    assert_eq!(result["content"][0]["type"], "text");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    text
}

/// Returns the error text of a failed call.
#[track_caller]
fn failed(reply: &Reply) -> String {
    let body = reply.with(200);
    assert_eq!(body["result"]["isError"], true, "{body}");
    assert!(body["result"].get("structuredContent").is_none());
    body["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

/// Returns invalid calls, each with a part of the expected error.
fn bad_calls() -> Vec<(&'static str, Value, &'static str)> {
    let long = "x".repeat(201);
    vec![
        (FIND, json!({}), "location"),
        (FIND, json!({ "location": "   " }), "location"),
        (FIND, json!({ "location": long }), "location"),
        (FIND, json!({ "lat": 1 }), "lon"),
        (FIND, json!({ "lon": 1 }), "lat"),
        (FIND, json!({ "location": "Miami, FL", "lat": 1 }), "lon"),
        (FIND, json!({ "lat": 90.01, "lon": 0 }), "-90 to 90"),
        (FIND, json!({ "lat": 0, "lon": -180.5 }), "-180 to 180"),
        (FIND, json!({ "location": "Miami, FL", "limit": 0 }), "1 to 50"),
        (FIND, json!({ "location": "Miami, FL", "limit": 51 }), "1 to 50"),
        (FIND, json!({ "location": "Miami, FL", "limit": 1.5 }), "1 to 50"),
        (FIND, json!({ "location": "Miami, FL", "maxDistance": 0.9 }), "1 to 100"),
        (FIND, json!({ "location": "Miami, FL", "maxDistance": 100.1 }), "1 to 100"),
        (FIND, json!({ "location": "Miami, FL", "radius": 5 }), "'radius'"),
        (FIND, json!({ "location": "Miami, FL", "openNow": "yes" }), "openNow"),
        (FIND, json!({ "location": "Miami, FL", "service": "rent" }), "service"),
        (FIND, json!({ "location": "Miami, FL", "coin": "?" }), "coin"),
        (FIND, json!({ "location": "Miami, FL", "coin": "BTX" }), "DASH, DGB, DOGE"),
        (FIND, json!({ "location": "Miami, FL", "coin": "lightning" }), "BTC"),
        (
            FIND,
            json!({ "lat": -118.25, "lon": 34.05 }),
            "-90 to 90, received -118.25; did you mean lat 34.05, lon -118.25?",
        ),
        (FIND, json!({ "location": "Miami, FL", "units": "leagues" }), "units"),
        (
            FIND,
            json!({ "location": "Paris", "country": "XX" }),
            "country must be a two-letter country code of ISO 3166-1",
        ),
        (FIND, json!({ "location": "Paris", "country": "FRA" }), "received \"FRA\""),
        (FIND, json!({ "location": "Paris", "country": "France" }), "such as DE"),
        (FIND, json!({ "location": "Paris", "country": 5 }), "country"),
        (FIND, json!({ "country": "FR" }), "location"),
        (STATUS, json!({ "location": "Paris", "country": "F" }), "country"),
        (LIST, json!({ "city": "Austin", "state": "TX", "country": "US" }), "there is no argument 'country'"),
        (DETAILS, json!({}), "atmId"),
        (DETAILS, json!({ "atmId": 0 }), "atmId"),
        (DETAILS, json!({ "atmId": -1 }), "atmId"),
        (DETAILS, json!({ "atmId": 1.5 }), "atmId"),
        (DETAILS, json!({ "atmId": 9_007_199_254_740_993_u64 }), "received 9007199254740993"),
        (STATUS, json!({ "location": "Miami, FL", "radius": 0 }), "1 to 100"),
        (STATUS, json!({ "location": "Miami, FL", "limit": 51 }), "1 to 50"),
        (LIST, json!({ "city": "Austin" }), "state"),
        (LIST, json!({ "state": "TX" }), "city"),
        (LIST, json!({ "state": "ZZ", "city": "Austin" }), "state"),
        (LIST, json!({ "state": "Texas", "city": "Austin" }), "two-letter"),
        (LIST, json!({ "state": "TX", "city": "Austin", "cursor": "?" }), "cursor"),
    ]
}

/// Returns calls that are invalid only if they are bare, each with a part of the expected error.
fn bad_bare_calls() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        (FIND, json!({ "location": "" }), "location"),
        (FIND, json!({ "location": 5 }), "location"),
        (FIND, json!({ "lat": "1", "lon": 0 }), "lat"),
        (FIND, json!({ "location": "Miami, FL", "limit": "10" }), "1 to 50"),
        (FIND, json!({ "lat": 30, "lon": -97, "country": "" }), "country"),
        (DETAILS, json!({ "atmId": "1" }), "atmId"),
    ]
}

/// Sends a bare call and returns its error text.
async fn bare_error(server: &Service, tool: &str, arguments: &Value, part: &str) -> String {
    let body = server.call(tool, arguments.clone()).await.with(200);
    let error = &body["error"];
    assert_eq!((error["code"].as_i64(), &body["id"]), (Some(-32602), &json!(1)), "{arguments} {body}");
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("Invalid params: ") && message.contains(part), "{arguments}: {message}");
    assert!(message.contains("for example {"), "{message}");
    message.to_owned()
}

#[tokio::test]
async fn bare_calls_are_read_strictly() {
    let server = server().await;
    for (tool, arguments, part) in bad_bare_calls() {
        bare_error(&server, tool, &arguments, part).await;
    }
}

#[tokio::test]
async fn invalid_argument_error_depends_on_revision() {
    let server = server().await;
    for (tool, arguments, part) in bad_calls() {
        let message = bare_error(&server, tool, &arguments, part).await;
        for body in [newer(&server, tool, &arguments).await, newest(&server, tool, &arguments).await] {
            assert_eq!(body["result"]["isError"], true, "{body}");
            assert_eq!(body["result"]["content"][0]["text"], message, "{body}");
        }
    }
}

/// Calls a tool like a client of 2025-11-25.
async fn newer(server: &Service, tool: &str, arguments: &Value) -> Value {
    let headers = [("content-type", "application/json"), ("mcp-protocol-version", "2025-11-25")];
    let params = json!({ "name": tool, "arguments": arguments });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    server.send(Method::POST, "/mcp", &headers, &message.to_string()).await.with(200)
}

/// Calls a tool like a client of 2026-07-28.
async fn newest(server: &Service, tool: &str, arguments: &Value) -> Value {
    let headers = [
        ("content-type", "application/json"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", tool),
    ];
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "_meta": meta, "name": tool, "arguments": arguments });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    server.send(Method::POST, "/mcp", &headers, &message.to_string()).await.with(200)
}

#[tokio::test]
async fn search_returns_the_nearest_sample_atms() {
    let server = server().await;
    let found = structured(&server.call(FIND, json!({ "location": "Miami, FL", "limit": 10.0 })).await);
    let atms = found["atms"].as_array().unwrap();
    assert!(atms.len() >= 3 && found["notice"].as_str().unwrap().contains("sample"));
    assert_eq!((found["total"].as_u64(), found["truncated"].as_bool()), (Some(atms.len() as u64), Some(false)));
    let distances: Vec<_> = atms.iter().map(|atm| atm["distanceMeters"].as_f64().unwrap()).collect();
    assert!(distances.is_sorted() && distances[0] < 16_093.0);
    let miles = format!("{:.1} miles", distances[0] / 1609.344);
    assert!(distances.iter().all(|metres| metres.fract() == 0.0));
    assert_eq!((atms[0]["distance"].as_str(), atms[0]["status"].as_str()), (Some(miles.as_str()), Some("open")));
    assert!(atms[0]["address"].as_str().unwrap().contains("Miami") && atms[0]["id"].is_u64());
    let place = &found["resolvedLocation"];
    assert_eq!(
        (place["name"].as_str(), place["region"].as_str(), place["country"].as_str()),
        (Some("Miami"), Some("Florida"), Some("US"))
    );
    assert!(found["attribution"].as_array().unwrap().iter().any(|line| line.as_str().unwrap().contains("GeoNames")));
    let one = structured(&server.call(FIND, json!({ "location": "miami fl", "limit": 1, "units": "km" })).await);
    assert_eq!((one["atms"].as_array().unwrap().len(), one["truncated"].as_bool()), (1, Some(true)));
    assert!(one["atms"][0]["distance"].as_str().unwrap().ends_with(" km"));
}

#[tokio::test]
async fn coordinates_take_precedence_over_location() {
    let server = server().await;
    let both = json!({ "location": "Austin, TX", "lat": 25.77, "lon": -80.19 });
    let found = structured(&server.call(FIND, both).await);
    assert!(found["notice"].as_str().unwrap().contains("lat and lon were used"));
    assert!(found["atms"][0]["address"].as_str().unwrap().contains("Miami") && found.get("resolvedLocation").is_none());
    let found = structured(&server.call(FIND, json!({ "location": "25.77, -80.19" })).await);
    assert_eq!(found["resolvedLocation"]["source"], "coordinates");
    let found = structured(&server.call(FIND, json!({ "location": "Springfield" })).await);
    assert!(!found["resolvedLocation"]["alternatives"].as_array().unwrap().is_empty());
    assert!(found["notice"].as_str().unwrap().contains("there is also"));
}

#[tokio::test]
async fn empty_result_suggests_the_next_step() {
    let server = server().await;
    for (tool, radius) in [(FIND, "maxDistance"), (STATUS, "radius")] {
        let found = structured(&server.call(tool, json!({ "lat": 0, "lon": -150, radius: 1 })).await);
        assert_eq!((found["total"].as_u64(), found["atms"].as_array().map(Vec::len)), (Some(0), Some(0)));
        let notice = found["notice"].as_str().unwrap();
        assert!(notice.contains("within 1.0 miles") && notice.contains("call get_atm_details with atmId"), "{notice}");
        let near = structured(&server.call(tool, json!({ "lat": 26.5, "lon": -80.19, radius: 1 })).await);
        let notice = near["notice"].as_str().unwrap();
        let next = notice.split(&format!("call again with {radius} ")).nth(1).unwrap();
        let next: f64 = next.trim_end_matches('.').parse().unwrap();
        let found = structured(&server.call(tool, json!({ "lat": 26.5, "lon": -80.19, radius: next })).await);
        assert!(found["total"].as_u64().unwrap() > 0, "{notice}");
    }
}

#[tokio::test]
async fn unknown_place_or_atm_suggests_a_remedy() {
    let server = server().await;
    let response = failed(&server.call(FIND, json!({ "location": "Xyzzyville, TX" })).await);
    assert!(response.contains("Xyzzyville") && response.contains("Austin, TX"), "{response}");
    let response = failed(&server.call(FIND, json!({ "location": "Miami, WY" })).await);
    assert!(response.contains("Did you mean Miami, FL"), "{response}");
    let response = failed(&server.call(DETAILS, json!({ "atmId": 9_007_199_254_740_992_u64 })).await);
    assert!(response.contains("find_nearest_bitcoin_atm"), "{response}");
    let response = failed(&server.call(LIST, json!({ "state": "TX", "city": "Nowhere at all" })).await);
    assert!(response.contains("Texas"), "{response}");
}

#[tokio::test]
async fn details_return_the_complete_record() {
    let server = server().await;
    let found = structured(&server.call(FIND, json!({ "location": "Austin, TX" })).await);
    let details = structured(&server.call(DETAILS, json!({ "atmId": found["atms"][0]["id"] })).await);
    assert_eq!((&details["id"], &details["name"]), (&found["atms"][0]["id"], &found["atms"][0]["name"]));
    assert_eq!((details["buy"].as_str(), details.get("sell")), (Some("yes"), None));
    assert_eq!((details["coins"]["BTC"].as_str(), details["hours"].as_str()), (Some("yes"), Some("24/7")));
    assert!(details["statusReason"].is_string() && details.get("phone").is_none());
    assert_eq!(details["sources"][0]["name"], "sample");
}

#[tokio::test]
async fn filters_exclude_unknown_values() {
    let server = server().await;
    let total = async |filter: Value| {
        let mut arguments = json!({ "location": "Austin, TX" });
        arguments.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
        structured(&server.call(FIND, arguments).await)["total"].as_u64().unwrap()
    };
    let all = total(json!({})).await;
    assert!(all > 0);
    for (filter, expected) in [
        (json!({ "openNow": true }), all),
        (json!({ "service": "buy", "coin": "btc" }), all),
        (json!({ "service": "buy", "coin": "Bitcoin" }), all),
        (json!({ "service": "sell" }), 0),
        (json!({ "coin": "DOGE" }), 0),
    ] {
        assert_eq!(total(filter.clone()).await, expected, "{filter}");
    }
}

#[tokio::test]
async fn status_check_counts_atms_by_status() {
    let server = server().await;
    let found = structured(&server.call(STATUS, json!({ "location": "Austin, TX" })).await);
    let open = found["counts"]["open"].as_u64().unwrap();
    assert!(open >= 3 && found["total"] == open && found["asOf"] == "2027-01-15T08:00:00Z");
    let one = structured(&server.call(STATUS, json!({ "location": "Austin, TX", "limit": 1 })).await);
    assert_eq!((one["atms"].as_array().unwrap().len(), &one["counts"]), (1, &found["counts"]));
    assert_eq!((&one["total"], &one["truncated"]), (&found["total"], &json!(true)));
}

#[tokio::test]
async fn city_is_found_in_other_spellings() {
    let server = server().await;
    let austin = structured(&server.call(LIST, json!({ "state": "TX", "city": "Austin" })).await);
    let ids: Vec<_> = austin["atms"].as_array().unwrap().iter().map(|atm| atm["id"].as_u64().unwrap()).collect();
    assert!(ids.len() >= 3 && ids.is_sorted());
    for (state, city) in [("tx", "AUSTIN"), (" TX ", " austin "), ("Tx", "Aust\u{ed}n")] {
        assert_eq!(structured(&server.call(LIST, json!({ "state": state, "city": city })).await), austin);
    }
    let saint = structured(&server.call(LIST, json!({ "state": "MO", "city": "St. Louis" })).await);
    assert_eq!(saint, structured(&server.call(LIST, json!({ "state": "MO", "city": "Saint Louis" })).await));
    let empty = structured(&server.call(LIST, json!({ "state": "ON", "city": "Toronto" })).await);
    assert_eq!((empty["total"].as_u64(), empty.get("nextCursor")), (Some(0), None));
    assert!(empty["notice"].as_str().unwrap().contains("The nearest is "), "{empty}");
}

#[tokio::test]
async fn results_match_their_schemas() {
    let server = server().await;
    let listed = server.rpc(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })).await.with(200);
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, [FIND, DETAILS, STATUS, LIST]);
    let calls = [
        (FIND, json!({ "location": "Miami, FL", "limit": 50, "maxDistance": 100 })),
        (FIND, json!({ "lat": 0, "lon": -150 })),
        (DETAILS, json!({ "atmId": 1 })),
        (STATUS, json!({ "location": "78701" })),
        (LIST, json!({ "state": "TX", "city": "Austin" })),
        (LIST, json!({ "state": "ON", "city": "Toronto" })),
    ];
    let mut seen = BTreeSet::new();
    for (name, arguments) in calls {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        assert!(tool["title"].is_string() && tool["annotations"]["readOnlyHint"] == true);
        let input = jsonschema::validator_for(&tool["inputSchema"]).unwrap();
        assert!(input.is_valid(&arguments), "{name} {arguments}");
        let output = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        let result = structured(&server.call(name, arguments).await);
        let errors: Vec<_> = output.iter_errors(&result).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        seen.insert(name);
    }
    assert_eq!(seen.len(), tools.len());
}

/// Returns ATMs at a single location, with very long texts. A server that sees the version of its database does not
/// reload them.
fn verbose(version: i64) -> Snapshot {
    let atm = |number: u64| {
        let mut record = Record::at(Point::new(30.267, -97.743).unwrap());
        let long = |word: &str| Some(ArcStr::from(format!("\"{word} {number}\" {}", "ありがとう\"".repeat(300))));
        (record.name, record.operator) = (long("Name"), long("Operator"));
        record.hours = Hours::parse(&long("Hours").unwrap());
        (record.address.city, record.address.region) = (Some("Austin".into()), Some("TX".into()));
        record.address.formatted = long("Address");
        Atm { id: AtmId::new(number).unwrap(), source: "test".into(), record: record.into() }
    };
    Snapshot::build(StoredCatalogue { version, atms: (1..=120).map(atm).collect(), ..StoredCatalogue::default() })
}

#[tokio::test]
async fn large_result_is_truncated_with_a_cursor() {
    let server = server().await;
    let version = server.app.atm.catalogue.snapshot().version();
    server.app.atm.catalogue.replace(verbose(version));
    // The size of every result is checked when it is received.
    let found = structured(&server.call(FIND, json!({ "lat": 30.267, "lon": -97.743, "limit": 50 })).await);
    let listed = found["atms"].as_array().unwrap().len();
    assert!((1..50).contains(&listed), "{listed}");
    assert_eq!((found["total"].as_u64(), found["truncated"].as_bool()), (Some(120), Some(true)));
    let area = structured(&server.call(STATUS, json!({ "lat": 30.267, "lon": -97.743 })).await);
    assert_eq!((area["total"].as_u64(), area["truncated"].as_bool()), (Some(120), Some(true)));
    let (mut ids, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = json!({ "state": "TX", "city": "Austin", "cursor": cursor });
        let page = structured(&server.call(LIST, page).await);
        ids.extend(page["atms"].as_array().unwrap().iter().map(|atm| atm["id"].as_u64().unwrap()));
        match page.get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    assert_eq!(ids, (1..=120).collect::<Vec<_>>());
}
