//! Compares the functions of the client with the operations of `openapi.yaml`, and its error codes
//! with `docs/api.md`.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use signpost_auth::client::ErrorCode;

use super::openapi;

/// Tags of operations that browsers, wallets and the command line call.
const TAGS_WITHOUT_CALLS: [&str; 3] = ["Command line", "Hosted handlers", "Reference"];

/// Returns the operations of the document, such as `GET /sessions`.
fn documented_operations() -> BTreeSet<String> {
    let document = openapi();
    let mut operations = BTreeSet::new();
    for (path, item) in document.0["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let tag = operation["tags"][0].as_str().unwrap_or_default();
            if operation.get("operationId").is_some() && !TAGS_WITHOUT_CALLS.contains(&tag) {
                operations.insert(format!("{} {path}", method.to_uppercase()));
            }
        }
    }
    operations
}

/// Returns the operations that the documentation of public functions names, such as "Sends
/// `GET /sessions`".
fn operations_of_functions() -> BTreeSet<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/client");
    let mut operations = BTreeSet::new();
    for file in fs::read_dir(folder).unwrap() {
        let source = fs::read_to_string(file.unwrap().path()).unwrap();
        for (at, _) in source.match_indices("/// Sends `") {
            let (documentation, function) = source[at..].split_once("pub async fn ").expect("a function");
            assert!(!documentation.contains("}\n"), "documentation without a function: {documentation}");
            assert!(function.contains("&self"), "{function}");
            operations.insert(documentation.split('`').nth(1).unwrap().to_owned());
        }
    }
    operations
}

#[test]
fn every_operation_has_a_function() {
    let documented = documented_operations();
    let functions = operations_of_functions();
    assert!(documented.len() > 30, "the document was not read: {documented:?}");
    let missing: Vec<_> = documented.difference(&functions).collect();
    assert!(missing.is_empty(), "no function sends {missing:?}");
    let unknown: Vec<_> = functions.difference(&documented).collect();
    assert!(unknown.is_empty(), "not in openapi.yaml: {unknown:?}");
}

#[test]
fn every_documented_code_is_known() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/api.md")).unwrap();
    let mut seen = 0;
    for line in page.lines() {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let is_error = cells.next().is_some_and(|status| status.len() == 3 && status.parse::<u16>().is_ok());
        let code = cells.next().and_then(|code| code.strip_prefix('`')?.strip_suffix('`'));
        let Some(code) = code.filter(|_| is_error) else { continue };
        seen += 1;
        assert!(!matches!(ErrorCode::from(code), ErrorCode::Other(_)), "{code}");
    }
    assert!(seen > 30, "the table was not read: {seen}");
    let mut codes = Vec::new();
    collect_codes(&openapi().0, &mut codes);
    assert!(codes.len() > 30, "the document was not read: {codes:?}");
    for code in codes {
        assert!(!matches!(ErrorCode::from(code.as_str()), ErrorCode::Other(_)), "{code}");
    }
}

/// Collects the codes that the operations of the document list as `x-codes`.
fn collect_codes(node: &Value, codes: &mut Vec<String>) {
    match node {
        Value::Object(members) => {
            for (name, member) in members {
                let lists =
                    member.as_object().filter(|_| name == "x-codes").into_iter().flat_map(|lists| lists.values());
                let listed = lists.filter_map(Value::as_array).flatten().filter_map(Value::as_str);
                codes.extend(listed.map(str::to_owned));
                collect_codes(member, codes);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_codes(item, codes)),
        _ => {}
    }
}

#[test]
fn unknown_codes_are_preserved() {
    let code: ErrorCode = serde_json::from_str("\"too_late\"").unwrap();
    assert_eq!(code, ErrorCode::Other("too_late".to_owned()));
    assert_eq!(format!("{code}: {}", code == "too_late"), "too_late: true");
    assert_eq!(serde_json::to_string(&ErrorCode::SessionExpired).unwrap(), "\"session_expired\"");
}
