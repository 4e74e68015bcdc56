//! The JSON Schemas of results, from the same pieces for every tool.

use serde_json::{Map, Value, json};

/// Said of members that hold what somebody else wrote: a model must not take them for anything but data.
const WORDS: &str = "In the source's own words";

const STATUSES: [&str; 6] = ["open", "closed", "temporarily_closed", "permanently_closed", "out_of_service", "unknown"];

/// A list of results, with what a tool adds to it.
pub(crate) fn page(additions: Value) -> Value {
    let mut properties = members(json!({
        "atms": { "type": "array", "items": item() },
        "total": { "type": "integer", "minimum": 0, "description": "How many there are, listed or not" },
        "truncated": { "type": "boolean", "description": "Whether some are not listed" },
        "resolvedLocation": resolved_location(),
        "notice": { "type": "string", "description": "What people should be told first" },
        "attribution": attribution(),
        "nextCursor": { "type": "string", "description": "Give it as cursor for the next page" },
    }));
    let additions = members(additions);
    let required = ["atms", "total", "truncated", "attribution"].into_iter();
    let required: Vec<_> = required.chain(additions.keys().map(String::as_str)).map(Value::from).collect();
    properties.extend(additions);
    json!({ "type": "object", "properties": properties, "required": required })
}

pub(crate) fn details() -> Value {
    let tri = || json!({ "type": "string", "enum": ["yes", "no", "unknown"] });
    let mut properties = members(json!({
        "id": { "type": "integer" },
        "name": words(),
        "status": status(),
        "statusReason": { "type": "string" },
        "freshness": { "type": "string", "enum": ["live", "recent", "aging", "stale", "never"],
                       "description": "How old the newest report or check is: up to 15 minutes, 90 days, a year, more" },
        "address": words(),
        "addressParts": source_texts(&["street", "city", "region", "postcode", "country"]),
        "lat": { "type": "number" },
        "lon": { "type": "number" },
        "buy": tri(),
        "sell": tri(),
        "coins": { "type": "object", "additionalProperties": tri() },
        "trades": { "type": "object", "additionalProperties": { "type": "object", "properties": {
            "buy": tri(), "sell": tri(), "lightning": tri(),
        } } },
        "fiat": { "type": "array", "items": { "type": "string" } },
        "fees": texts(&["buyPercent", "buyFixed", "sellPercent", "sellFixed", "currency"]),
        "limits": texts(&["min", "max", "maxDay", "kycAbove", "currency"]),
        "kyc": { "type": "string" },
        "placement": { "type": "object", "properties": { "indoor": tri() } },
        "wheelchair": tri(),
        "machine": source_texts(&["manufacturer", "model", "ref"]),
        "images": { "type": "array", "items": words() },
        "sources": { "type": "array", "minItems": 1, "items": source() },
        "attribution": attribution(),
        "notice": { "type": "string" },
    }));
    let own = texts(&["brandWikidata", "statusAsOf", "verifiedAt", "timeZone", "opensAt", "closesAt"]);
    let sources = source_texts(&[
        "operator",
        "brand",
        "network",
        "locatedIn",
        "hours",
        "phone",
        "website",
        "email",
        "supportHours",
        "operatorNotice",
    ]);
    for mut texts in [own, sources] {
        properties.extend(members(texts["properties"].take()));
    }
    let required: Vec<_> = properties.keys().filter(|name| *name != "notice").cloned().collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// An object of texts that may be unknown.
fn texts(names: &[&str]) -> Value {
    let text = |name: &&str| ((*name).to_owned(), json!({ "type": ["string", "null"] }));
    json!({ "type": "object", "properties": names.iter().map(text).collect::<Map<_, _>>() })
}

/// The same of texts that a source wrote.
fn source_texts(names: &[&str]) -> Value {
    let text = |name: &&str| ((*name).to_owned(), json!({ "type": ["string", "null"], "description": WORDS }));
    json!({ "type": "object", "properties": names.iter().map(text).collect::<Map<_, _>>() })
}

/// A text that a source wrote.
fn words() -> Value {
    json!({ "type": "string", "description": WORDS })
}

fn attribution() -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": "What the sources' licences want to be said" })
}

fn source() -> Value {
    let mut properties = members(texts(&["importedAt", "attribution"])["properties"].take());
    properties.extend(members(source_texts(&["ref", "url"])["properties"].take()));
    properties.extend(members(json!({
        "name": { "type": "string" },
        "atmId": { "type": "integer", "description": "The id that this source's row has of its own" },
        "parts": { "type": "array", "items": { "type": "string" }, "description": "What is known from it" },
    })));
    json!({ "type": "object", "properties": properties, "required": ["name", "atmId", "parts"] })
}

fn item() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "integer", "description": "For get_atm_details" },
            "name": words(),
            "operator": words(),
            "distance": { "type": "string", "description": "With its unit" },
            "distanceMeters": { "type": "number", "minimum": 0 },
            "status": status(),
            "statusReason": { "type": "string" },
            "statusAsOf": { "type": ["string", "null"], "description": "When the source learned of it, RFC 3339" },
            "address": words(),
            "lat": { "type": "number" },
            "lon": { "type": "number" },
            "hours": { "type": "string",
                       "description": "In the grammar of OpenStreetMap's opening_hours, else in the source's own words" },
            "opensAt": { "type": "string", "description": "Of a closed machine: when it opens, on a clock there" },
            "closesAt": { "type": "string", "description": "Of an open machine: when it closes, on a clock there" },
        },
        "required": ["id", "name", "distance", "distanceMeters", "status", "address", "lat", "lon"],
    })
}

fn status() -> Value {
    json!({ "type": "string", "enum": STATUSES })
}

fn resolved_location() -> Value {
    let text = json!({ "type": ["string", "null"] });
    json!({
        "type": "object",
        "description": "How the location was understood",
        "properties": {
            "name": { "type": "string" }, "region": text, "country": text,
            "lat": { "type": "number" }, "lon": { "type": "number" },
            "source": { "type": "string" },
            "confidence": { "type": "number", "minimum": 0, "maximum": 1 },
            "alternatives": { "type": "array", "maxItems": 5, "items": { "type": "object" } },
        },
        "required": ["name", "lat", "lon", "source", "confidence", "alternatives"],
    })
}

/// The members of an object that was just written down.
pub(crate) fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
