//! Checks every reply against `openapi.yaml`.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::Validator;
use reqwest::Method;
use serde_json::{Map, Value, json};

pub(crate) static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("../../../../openapi.yaml")).expect("YAML"));

/// The schemas with closed objects: see [`closed`].
static SCHEMAS: LazyLock<Value> = LazyLock::new(|| {
    let schemas = DOCUMENT["components"]["schemas"].as_object().expect("schemas");
    schemas.iter().map(|(name, schema)| (name.clone(), part(schema))).collect::<Map<_, _>>().into()
});

/// Returns the operations by name, each with its path, method and description.
pub(crate) fn operations() -> impl Iterator<Item = (&'static str, &'static str, &'static Value)> {
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().expect("an item").iter();
        let methods = methods.filter(|(name, _)| matches!(name.as_str(), "get" | "post" | "patch" | "delete"));
        methods.map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
    })
}

/// Returns the events by kind, each with the description of its request.
pub(crate) fn webhooks() -> impl Iterator<Item = (&'static str, &'static Value)> {
    let webhooks = DOCUMENT["webhooks"].as_object().expect("webhooks");
    webhooks.iter().map(|(kind, item)| (kind.as_str(), &item["post"]))
}

/// Checks that the path, status, media type and body of a reply are documented.
pub(crate) fn check(method: &Method, path: &str, status: u16, media_type: &str, body: &str) {
    let (rest, is_sandbox) = match path.strip_prefix("/sandbox/v1") {
        Some(rest) => (rest, true),
        None => match path.strip_prefix("/v1") {
            Some(rest) => (rest, false),
            None => return,
        },
    };
    if matches!(*method, Method::OPTIONS | Method::HEAD) {
        return;
    }
    let received = format!("{method} {path}: {status} {body}");
    let Some((template, item)) = item(rest).filter(|(_, item)| is_sandbox || item.get("servers").is_none()) else {
        assert!(matches!(status, 404 | 503), "an undocumented path: {received}");
        return;
    };
    let name = method.as_str().to_lowercase();
    let Some(operation) = item.get(&name) else {
        assert!(matches!(status, 401 | 405 | 429 | 503), "an undocumented method: {received}");
        return;
    };
    let (exact, class) = (status.to_string(), format!("{}XX", status / 100));
    let named = [exact, class].into_iter().find(|status| operation["responses"].get(status).is_some());
    let status = named.unwrap_or_else(|| panic!("an undocumented status: {received}"));
    let response = resolve(&operation["responses"][&status]);
    match response.get("content") {
        None => assert!(body.is_empty(), "an undocumented body: {received}"),
        Some(content) => {
            let media_type = media_type.split(';').next().unwrap_or_default();
            let described = content.get(media_type);
            let described = described.unwrap_or_else(|| panic!("{media_type} is not documented: {received}"));
            if media_type == "application/json" {
                let key = format!("{name} {template} {status}");
                let value: Value = serde_json::from_str(body).expect("JSON");
                if let Err(error) = validator(&key, &described["schema"]).validate(&value) {
                    panic!("{error} at {}: {received}", error.instance_path());
                }
            }
        }
    }
    record_observation(format!("{name} {template} {status}"));
    let refusal: Value = serde_json::from_str(body).unwrap_or_default();
    if let Some(code) = refusal["error"]["code"].as_str() {
        let codes = operation["x-codes"].get(&status).unwrap_or(&response["x-codes"]);
        let is_documented = codes.as_array().is_some_and(|codes| codes.iter().any(|one| one == code));
        assert!(is_documented, "an undocumented code: {received}");
    }
}

/// Returns the path item that matches a path, preferring the fewest parameters.
fn item(rest: &str) -> Option<(&'static str, &'static Value)> {
    let segments: Vec<_> = rest.split('/').collect();
    let matches = |template: &str| {
        let places: Vec<_> = template.split('/').collect();
        let fits = |(place, segment): (&&str, &&str)| {
            if place.starts_with('{') { !segment.is_empty() } else { place == segment }
        };
        places.len() == segments.len() && places.iter().zip(&segments).all(fits)
    };
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    let fitting = paths.iter().filter(|(template, _)| matches(template));
    fitting.min_by_key(|(template, _)| template.matches('{').count()).map(|(template, item)| (template.as_str(), item))
}

/// Resolves a reference; returns any other value unchanged.
pub(crate) fn resolve(value: &'static Value) -> &'static Value {
    match value["$ref"].as_str() {
        Some(pointer) => DOCUMENT.pointer(&pointer[1..]).unwrap_or_else(|| panic!("{pointer} is not there")),
        None => value,
    }
}

/// Checks a value against a schema by name.
pub(crate) fn fits(schema: &str, value: &Value) -> Result<(), String> {
    let validator = validator(schema, &json!({ "$ref": format!("#/components/schemas/{schema}") }));
    validator.validate(value).map_err(|error| format!("{error} at {}: no {schema}: {value}", error.instance_path()))
}

/// Returns the schema with its objects closed. Clients ignore unknown members, so the document leaves objects open; in
/// tests an undocumented member is an error.
fn closed(schema: &Value) -> Value {
    let mut closed = part(schema);
    closed["unevaluatedProperties"] = false.into();
    closed
}

/// Closes the member schemas of a schema that is part of a composition, and leaves the schema itself open.
fn part(schema: &Value) -> Value {
    let members = schema.as_object().expect("a schema is an object").iter().map(|(word, value)| {
        let value = match (word.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.iter().map(|(name, schema)| (name.clone(), closed(schema))).collect::<Map<_, _>>().into()
            }
            ("items", schema) => closed(schema),
            ("allOf" | "anyOf" | "oneOf", Value::Array(parts)) => parts.iter().map(part).collect(),
            _ => value.clone(),
        };
        (word.clone(), value)
    });
    Value::Object(members.collect())
}

fn validator(key: &str, schema: &Value) -> Arc<Validator> {
    static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let mut validators = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || {
        let whole = json!({ "allOf": [closed(schema)], "components": { "schemas": *SCHEMAS } });
        Arc::new(jsonschema::draft202012::new(&whole).unwrap_or_else(|error| panic!("{key}: {error}")))
    };
    Arc::clone(validators.entry(key.to_owned()).or_insert_with(make))
}

/// Returns the file in which this test binary records seen replies, for the check after all tests.
pub(crate) fn seen_file() -> PathBuf {
    let built = std::env::current_exe().and_then(|exe| exe.metadata()?.modified()).expect("a binary");
    let built = built.duration_since(std::time::UNIX_EPOCH).expect("a time").as_nanos();
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("seen-{built}"))
}

/// Records a documented reply that a test received, one per line.
fn record_observation(line: String) {
    static OBSERVATIONS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut seen = OBSERVATIONS.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.contains(&line) {
        return;
    }
    let file = seen_file();
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    let mut file = OpenOptions::new().create(true).append(true).open(file).expect("a file");
    writeln!(file, "{line}").expect("a line");
    seen.insert(line);
}
