//! The JSON Schemas of results, built from common parts. Models read them before every conversation, so they are short.
//! No member is null: unknown values are left out.

use serde_json::{Map, Value, json};

/// The description of members with texts of sources, to be treated as data only.
const WORDS: &str = "Source text";

const STATUSES: [&str; 6] = ["open", "closed", "temporarily_closed", "permanently_closed", "out_of_service", "unknown"];

/// Returns the schema of a list of results with the additional members of a tool; `always` lists the required members.
pub(crate) fn page(additions: Value, always: &[&str]) -> Value {
    let mut properties = members(json!({
        "atms": { "type": "array", "items": item() },
        "total": { "type": "integer" },
        "truncated": { "type": "boolean" },
        "dataAsOf": text(),
        "oldestDataAsOf": text(),
        "notice": notice(),
        "howToReport": text(),
        "advisories": advisories(),
        "attribution": texts(),
    }));
    properties.extend(members(additions));
    let required: Vec<_> = ["atms", "total", "truncated", "attribution"].iter().chain(always).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Returns the schema of the advisories.
fn advisories() -> Value {
    json!({ "type": "array", "items": { "type": "object" }, "description": "Tell people" })
}

/// Returns the schema of the resolved location of a search.
pub(crate) fn resolved_location() -> Value {
    json!({
        "type": "object",
        "description": "name, county, region, country, source, confidence 0 to 1, dropped, alternatives",
        "properties": { "lat": number(), "lon": number() },
    })
}

/// Returns the schema of the details of an ATM, and of the reply with several ATMs. A schema with alternatives would be
/// stricter, but some clients refuse it, so no member is required.
pub(crate) fn details() -> Value {
    let mut properties = members(json!({
        "id": { "type": "integer" },
        "status": status(),
        "freshness": { "type": "string", "enum": ["live", "recent", "aging", "stale", "never"],
                       "description": "Newest check: to 15 minutes, 90 days, 1 year, older" },
        "addressParts": object(WORDS),
        "lat": number(),
        "lon": number(),
        "coins": { "type": "object", "additionalProperties": yes_or_no() },
        "trades": object("By coin: buy, sell, lightning"),
        "fiat": texts(),
        "fees": object("buyPercent, buyFixed, sellPercent, sellFixed, currency"),
        "limits": object("min, max, maxDay, kycAbove, currency"),
        "kyc": { "type": "string", "enum": ["none", "phone", "id"] },
        "placement": object(WORDS),
        "machine": object(WORDS),
        "images": texts(),
        "sources": { "type": "array", "items": { "type": "object", "properties": {
            "name": text(),
            "atmId": { "type": "integer" },
            "parts": texts(),
        } } },
        "attribution": texts(),
        "reports": object("Visitors: summary, people, disputed, newest, foundThere"),
        "notice": notice(),
        "advisories": advisories(),
        "listed": { "type": "boolean" },
        "atms": { "type": "array", "items": { "type": "object" }, "description": "For atmIds" },
        "notFound": { "type": "array", "items": { "type": "integer" } },
    }));
    let own = [
        "statusReason",
        "statusAsOf",
        "lastConfirmed",
        "url",
        "directions",
        "howToReport",
        "phone",
        "website",
        "email",
        "verifiedAt",
        "verifiedBy",
        "timeZone",
        "opensAt",
        "closesAt",
        "endDate",
        "brandWikidata",
    ];
    properties.extend(each(own, &text()));
    properties.extend(each(["buy", "sell", "wheelchair"], &yes_or_no()));
    let sources =
        ["name", "operator", "brand", "network", "locatedIn", "address", "hours", "supportHours", "operatorNotice"];
    properties.extend(each(sources, &words()));
    json!({ "type": "object", "properties": properties })
}

fn item() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "integer" },
            "name": words(),
            "operator": words(),
            "distance": text(),
            "distanceMeters": { "type": "integer" },
            "status": status(),
            "statusReason": text(),
            "statusAsOf": text(),
            "lastConfirmed": text(),
            "address": words(),
            "lat": number(),
            "lon": number(),
            "url": text(),
            "directions": text(),
            "phone": text(),
            "hours": text(),
            "opensAt": text(),
            "closesAt": text(),
            "fees": { "type": "object" },
            "limits": { "type": "object" },
            "reports": text(),
        },
        "required": ["id", "name", "distance", "distanceMeters", "status", "address", "lat", "lon"],
    })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn texts() -> Value {
    json!({ "type": "array", "items": text() })
}

fn number() -> Value {
    json!({ "type": "number" })
}

/// Returns the schema of a text of a source.
fn words() -> Value {
    json!({ "type": "string", "description": WORDS })
}

fn yes_or_no() -> Value {
    json!({ "type": "string", "enum": ["yes", "no"] })
}

fn status() -> Value {
    json!({ "type": "string", "enum": STATUSES })
}

fn notice() -> Value {
    json!({ "type": "string", "description": "Tell people this first" })
}

/// Returns the schema of an object whose members the description lists.
fn object(description: &str) -> Value {
    json!({ "type": "object", "description": description })
}

/// Returns members with one schema.
fn each<const N: usize>(names: [&str; N], member: &Value) -> Map<String, Value> {
    names.map(|name| (name.to_owned(), member.clone())).into_iter().collect()
}

/// Returns the members of an object.
pub(crate) fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
