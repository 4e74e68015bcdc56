//! The JSON Schemas of arguments and results, from the same pieces for every tool.

use serde_json::{Map, Value, json};

const STATUSES: [&str; 6] = ["open", "closed", "temporarily_closed", "permanently_closed", "out_of_service", "unknown"];

pub(super) fn input(properties: &Value, required: &[&str], example: &str) -> Value {
    let example: Value = serde_json::from_str(example).expect("an example is JSON");
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
        "examples": [example],
    })
}

pub(super) fn location() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 200,
            "description": "A place as people write it: \"Austin, TX\", \"78701\", \"Toronto, Canada\". Either this, \
                            or lat and lon" })
}

pub(super) fn lat() -> Value {
    json!({ "type": "number", "minimum": -90, "maximum": 90, "description": "Latitude in degrees; needs lon" })
}

pub(super) fn lon() -> Value {
    json!({ "type": "number", "minimum": -180, "maximum": 180, "description": "Longitude in degrees; needs lat" })
}

pub(super) fn units() -> Value {
    json!({ "type": "string", "enum": ["miles", "km"], "default": "miles",
            "description": "The unit of distances in texts; arguments are always in miles" })
}

/// A list of results, with what a tool adds to it.
pub(super) fn page(additions: Value) -> Value {
    let mut properties = members(json!({
        "atms": { "type": "array", "items": item() },
        "total": { "type": "integer", "minimum": 0, "description": "How many there are, listed or not" },
        "truncated": { "type": "boolean", "description": "Whether some are not listed" },
        "resolvedLocation": resolved_location(),
        "notice": { "type": "string", "description": "What people should be told first" },
        "attribution": { "type": "array", "items": { "type": "string" } },
        "nextCursor": { "type": "string", "description": "Give it as cursor for the next page" },
    }));
    let additions = members(additions);
    let required = ["atms", "total", "truncated", "attribution"].into_iter();
    let required: Vec<_> = required.chain(additions.keys().map(String::as_str)).map(Value::from).collect();
    properties.extend(additions);
    json!({ "type": "object", "properties": properties, "required": required })
}

pub(super) fn details() -> Value {
    let tri = || json!({ "type": "string", "enum": ["yes", "no", "unknown"] });
    let mut properties = members(json!({
        "id": { "type": "integer" },
        "name": { "type": "string" },
        "status": status(),
        "statusReason": { "type": "string" },
        "freshness": { "type": "string", "enum": ["live", "recent", "aging", "stale", "never"],
                       "description": "How old the newest report or check is: up to 15 minutes, 90 days, a year, more" },
        "address": { "type": "string" },
        "addressParts": texts(&["street", "city", "region", "postcode", "country"]),
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
        "machine": texts(&["manufacturer", "model", "ref"]),
        "images": { "type": "array", "items": { "type": "string" } },
        "sources": { "type": "array", "minItems": 1, "items": source() },
        "attribution": { "type": "array", "items": { "type": "string" } },
        "notice": { "type": "string" },
    }));
    properties.extend(members(
        texts(&[
            "operator",
            "brand",
            "brandWikidata",
            "network",
            "locatedIn",
            "statusAsOf",
            "verifiedAt",
            "hours",
            "timeZone",
            "opensAt",
            "closesAt",
            "phone",
            "website",
            "email",
            "supportHours",
            "operatorNotice",
        ])["properties"]
            .take(),
    ));
    let required: Vec<_> = properties.keys().filter(|name| *name != "notice").cloned().collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// An object of texts that may be unknown.
fn texts(names: &[&str]) -> Value {
    let text = |name: &&str| ((*name).to_owned(), json!({ "type": ["string", "null"] }));
    json!({ "type": "object", "properties": names.iter().map(text).collect::<Map<_, _>>() })
}

fn source() -> Value {
    let mut properties = members(texts(&["ref", "url", "importedAt", "attribution"])["properties"].take());
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
            "name": { "type": "string" },
            "operator": { "type": "string" },
            "distance": { "type": "string", "description": "With its unit" },
            "distanceMeters": { "type": "number", "minimum": 0 },
            "status": status(),
            "statusReason": { "type": "string" },
            "statusAsOf": { "type": ["string", "null"], "description": "When the source learned of it, RFC 3339" },
            "address": { "type": "string" },
            "lat": { "type": "number" },
            "lon": { "type": "number" },
            "hours": { "type": "string", "description": "In the grammar of OpenStreetMap's opening_hours" },
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
pub(super) fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
