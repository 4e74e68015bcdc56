//! Requirements for every tool result, checked on each result that a test receives.

use std::collections::HashMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;

/// Maximum size of a result, in bytes.
const MAX_BYTES: usize = 48_000;

static OUTPUTS: LazyLock<HashMap<&str, Validator>> = LazyLock::new(|| {
    let server = signpost_atm::mcp::server(false, None);
    let output = |schema: &Value| jsonschema::validator_for(schema).unwrap();
    server.tools().map(|tool| (tool.name, output(tool.output_schema.as_ref().unwrap()))).collect()
});

/// Checks the result of a call. Other requests and replies are ignored.
pub(crate) fn check(request: &str, reply: &str) {
    let Ok(reply) = serde_json::from_str::<Value>(reply) else { return };
    let Some(structured) = reply["result"].get("structuredContent") else { return };
    let request: Value = serde_json::from_str(request).unwrap();
    let name = request["params"]["name"].as_str().unwrap();
    let errors: Vec<_> = OUTPUTS[name].iter_errors(structured).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}");
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), *structured);
    assert!(is_known(structured), "{name}: {text}");
    assert!(text.len() <= MAX_BYTES, "{name} returned {} bytes", text.len());
}

/// The lists that may be empty to state that there is no ATM, no unknown ID, no other place or no attribution.
const MAY_BE_EMPTY: [&str; 4] = ["atms", "notFound", "alternatives", "attribution"];

/// Returns true if no member at any depth is null or empty, and no coordinate has more than six decimals.
fn is_known(value: &Value) -> bool {
    let holds = |(name, member): (&String, &Value)| {
        let is_empty = member.as_array().is_some_and(Vec::is_empty) || *member == Value::Object(serde_json::Map::new());
        let may_be_empty = MAY_BE_EMPTY.contains(&name.as_str()) || name == "counts";
        let is_fine = !["lat", "lon"].contains(&name.as_str())
            || member.to_string().split_once('.').is_none_or(|(_, decimals)| decimals.len() <= 6);
        !member.is_null() && (!is_empty || may_be_empty) && is_fine && is_known(member)
    };
    match value {
        Value::Object(members) => members.iter().all(holds),
        Value::Array(items) => items.iter().all(is_known),
        _ => true,
    }
}
