//! Places of BTC Map's API: v4 (`/v4/places` and its snapshot) and the elements of v2 and v3. A list may be a whole
//! snapshot or what changed; what was deleted says so.

use std::collections::BTreeMap;

use serde_json::Value;

use super::document::Document;
use super::json::{self, Entry};
use super::{Broken, Field, osm};

/// Members of a place beside its tags, and the tags that they stand for.
const PLAIN: [(&str, &str); 8] = [
    ("name", "name"),
    ("address", "addr:full"),
    ("opening_hours", "opening_hours"),
    ("phone", "phone"),
    ("website", "website"),
    ("email", "email"),
    ("image", "image"),
    ("verified_at", "check_date"),
];

/// The places that are machines, and how many are not.
pub(super) fn entries(document: &Document<'_>) -> Result<(Vec<Entry>, usize), Broken> {
    let mut entries = Vec::new();
    let mut others = 0;
    for place in document.items("", "btcmap")? {
        let (number, place) = place?;
        let is_gone = place["deleted_at"].as_str().is_some_and(|at| !at.is_empty());
        let tags = tags(&place);
        let is_atm = match place["icon"].as_str().or_else(|| place["tags"]["icon:android"].as_str()) {
            Some(icon) => icon == "local_atm",
            None => osm::is_bitcoin_atm(&tags),
        };
        // What was deleted may have lost all it had: its number is enough to take it out. What is no machine may have
        // been one the last time.
        others += usize::from(!is_gone && !is_atm);
        entries.push(entry(number, &place, tags, is_gone || !is_atm));
    }
    Ok((entries, others))
}

fn tags(place: &Value) -> BTreeMap<String, String> {
    let mut tags = json::cells(place["osm_json"]["tags"].as_object());
    let members = json::cells(place.as_object());
    for (member, value) in &members {
        if let Some(tag) = member.strip_prefix("osm:") {
            tags.insert(tag.to_owned(), value.clone());
        }
    }
    for (member, tag) in PLAIN {
        if let Some(value) = members.get(member) {
            tags.entry(tag.to_owned()).or_insert_with(|| value.clone());
        }
    }
    tags
}

fn entry(number: usize, place: &Value, tags: BTreeMap<String, String>, is_gone: bool) -> Entry {
    let id = json::cell(&place["id"]).unwrap_or_default();
    let edited = place["osm_json"]["timestamp"].as_str().or_else(|| place["updated_at"].as_str());
    let mut entry = osm::entry(number, &id, tags, edited);
    let (lat, lon) = match &place["osm_json"] {
        Value::Object(element) => (element.get("lat"), element.get("lon")),
        _ => (place.get("lat"), place.get("lon")),
    };
    let middle = |low: &str, high: &str| {
        let side = |name: &str| place["osm_json"]["bounds"][name].as_f64();
        Some(f64::midpoint(side(low)?, side(high)?).to_string())
    };
    entry.put(Field::Lat, lat.and_then(json::cell).or_else(|| middle("minlat", "maxlat")));
    entry.put(Field::Lon, lon.and_then(json::cell).or_else(|| middle("minlon", "maxlon")));
    entry.coins.entry(crate::atm::Coin::bitcoin()).or_insert(crate::atm::Tri::Yes);
    entry.is_gone = is_gone;
    entry
}
