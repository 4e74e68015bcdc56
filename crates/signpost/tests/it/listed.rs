//! The tool list as clients receive it, byte for byte, and its agreement with the parser and the command line.

use std::fs;

use serde_json::{Map, Value, json};

use crate::assistant::server;

/// The response of `tools/list` after the last intentional change. To change it, run `write_the_list` with `--ignored`,
/// and review the difference.
const LISTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/listed.json");

/// Maximum length of the list, which a model reads in every conversation, at four characters per token.
const MAX_CHARACTERS: usize = 3_200 * 4;

async fn listed() -> Vec<Value> {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let mut reply = server().await.rpc(&message).await.with(200);
    let characters = reply["result"].to_string().chars().count();
    assert!(characters <= MAX_CHARACTERS, "tools/list has {characters} characters");
    let Value::Array(tools) = reply["result"]["tools"].take() else { panic!("{reply}") };
    tools
}

/// Returns the parts of a schema that allow null or several types, which some clients cannot read.
fn unportable(schema: &Value) -> Vec<&Value> {
    let inner = schema.as_object().into_iter().flat_map(|members| members.values());
    let inner = inner.chain(schema.as_array().into_iter().flatten()).flat_map(unportable);
    let here = schema.get("type").filter(|kind| !kind.is_string() && !kind.is_object() || *kind == "null");
    here.into_iter().chain(inner).collect()
}

#[tokio::test]
async fn schema_members_have_one_type() {
    for tool in listed().await {
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            assert_eq!(unportable(schema), Vec::<&Value>::new(), "{}", tool["name"]);
        }
    }
}

fn pretty(tools: &[Value]) -> String {
    serde_json::to_string_pretty(tools).unwrap() + "\n"
}

#[tokio::test]
async fn tool_list_is_unchanged() {
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

/// Returns the arguments of a valid call. The list does not contain them.
fn example(tool: &str) -> Map<String, Value> {
    let server = signpost_atm::mcp::server(false, None);
    let tool = server.tools().find(|one| one.name == tool).expect("a listed tool");
    tool.input_schema["examples"][0].as_object().expect("arguments").clone()
}

/// Returns the values of a keyword at any depth of a schema.
fn keyword<'a>(schema: &'a Value, name: &str) -> Vec<&'a Value> {
    let members = schema.as_object().into_iter().flat_map(|members| members.values());
    let inner = members.chain(schema.as_array().into_iter().flatten()).flat_map(|inner| keyword(inner, name));
    schema.get(name).into_iter().chain(inner).collect()
}

#[tokio::test]
async fn schemas_are_strict_and_have_no_examples() {
    for tool in listed().await {
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            assert_eq!(keyword(schema, "examples"), Vec::<&Value>::new(), "{}", tool["name"]);
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{}", tool["name"]);
    }
}

/// Returns values at and beyond the bounds of an argument, each with the schema's verdict.
fn at_the_bounds(schema: &Value) -> Vec<(Value, bool)> {
    let outside = [json!([]), json!({})].map(|value| (value, false)).to_vec();
    let more = match schema["type"].as_str().unwrap() {
        "integer" => {
            let (least, most) = (schema["minimum"].as_u64().unwrap(), schema["maximum"].as_u64().unwrap());
            let near = [(least - 1, false), (least, true), (most, true), (most + 1, false)];
            near.map(|(number, fits)| (json!(number), fits)).to_vec()
        }
        "number" => {
            let (least, most) = (schema["minimum"].as_f64().unwrap(), schema["maximum"].as_f64().unwrap());
            let near = [(least - 0.5, false), (least, true), (most, true), (most + 0.5, false)];
            near.map(|(number, fits)| (json!(number), fits)).to_vec()
        }
        "boolean" => vec![(json!(true), true), (json!("true"), false)],
        _ => match (schema["enum"].as_array(), schema["maxLength"].as_u64()) {
            (Some(words), _) => {
                let words = words.iter().map(|word| (word.clone(), true));
                words.chain([(json!("none of these"), false)]).collect()
            }
            (None, Some(most)) => {
                let longer = usize::try_from(most + 1).unwrap();
                vec![(json!(""), false), (json!("x".repeat(longer)), false), (json!(1), false)]
            }
            (None, None) => vec![(json!(1), false)],
        },
    };
    outside.into_iter().chain(more).collect()
}

#[tokio::test]
async fn parser_agrees_with_the_schemas() {
    let server = server().await;
    for tool in listed().await {
        let name = tool["name"].as_str().unwrap();
        let schema = &tool["inputSchema"];
        let example = example(name);
        for (argument, declared) in schema["properties"].as_object().unwrap() {
            for (value, fits) in at_the_bounds(declared) {
                let mut arguments = example.clone();
                // Both coordinates are required together.
                if ["lat", "lon"].contains(&argument.as_str()) {
                    arguments.extend([("lat".to_owned(), json!(30)), ("lon".to_owned(), json!(-97))]);
                }
                arguments.insert(argument.clone(), value.clone());
                let reply = server.call(name, Value::Object(arguments)).await.with(200);
                let refused = reply["error"]["code"] == -32602;
                assert_eq!(!refused, fits, "{name} {argument} {value}: {reply}");
                let named = reply["error"]["message"].as_str().is_none_or(|text| text.contains(argument.as_str()));
                assert!(named, "{name} {argument} {value}: {reply}");
            }
            for absent in schema["required"].as_array().unwrap().iter().filter(|one| **one == **argument) {
                let mut arguments = example.clone();
                arguments.remove(absent.as_str().unwrap());
                let reply = server.call(name, Value::Object(arguments)).await.with(200);
                assert!(reply["error"]["message"].as_str().unwrap().contains(&format!("{argument} is required")));
            }
        }
    }
}
