//! The tools as clients see them, byte for byte, and their arguments as the parser takes them.

use std::fs;

use serde_json::{Value, json};

use crate::assistant::server;

/// What `tools/list` returned when the tools were last changed on purpose. To change it: run this test's neighbour
/// `write_the_list` with `--ignored`, and read the difference.
const LISTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/listed.json");

/// The tools, without their icons: the same picture each time.
async fn listed() -> Vec<Value> {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let mut reply = server().await.rpc(&message).await.with(200);
    let Value::Array(mut tools) = reply["result"]["tools"].take() else { panic!("{reply}") };
    for tool in &mut tools {
        assert!(tool.as_object_mut().unwrap().remove("icons").is_some_and(|icons| icons[0]["src"].is_string()));
    }
    tools
}

fn pretty(tools: &[Value]) -> String {
    serde_json::to_string_pretty(tools).unwrap() + "\n"
}

#[tokio::test]
async fn the_tools_are_listed_as_clients_know_them() {
    let listed = pretty(&listed().await);
    let known = fs::read_to_string(LISTED).unwrap();
    for (line, (now, then)) in (1..).zip(listed.lines().zip(known.lines())) {
        assert_eq!(now, then, "line {line} of listed.json");
    }
    assert_eq!(listed.len(), known.len());
}

#[tokio::test]
#[ignore = "writes the file that the test above holds the tools to"]
async fn write_the_list() {
    fs::write(LISTED, pretty(&listed().await)).unwrap();
}
