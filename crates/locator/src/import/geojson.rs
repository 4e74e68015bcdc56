//! Features (RFC 7946): with the columns of a table as properties, or with OpenStreetMap's tags.

use std::collections::BTreeMap;

use serde_json::Value;

use super::document::Document;
use super::json::{self, Entry};
use super::overpass::middle;
use super::{Broken, Field, osm};

/// Deepest nesting of a geometry's coordinates: those of a `MultiPolygon`.
const DEEPEST: usize = 4;

/// The features of any collection. Properties that look like tags are read as such; others by their names, later.
pub(super) fn entries(document: &Document<'_>) -> Result<(Vec<Entry>, usize), Broken> {
    let mut others = 0;
    let mut entries = Vec::new();
    for feature in document.items("features", "geojson")? {
        let (number, feature) = feature?;
        let properties = json::cells(feature["properties"].as_object());
        if properties.get("amenity").is_some_and(|amenity| amenity != "atm") {
            others += 1;
            continue;
        }
        let id = id_of(&feature, &properties);
        let mut entry = if is_tagged(&properties) {
            let edited = properties.get("@timestamp").or_else(|| properties.get("timestamp")).cloned();
            let mut entry = osm::entry(number, id.as_deref().unwrap_or_default(), properties, edited.as_deref());
            // Outside the map, being listed says nothing of being in service.
            if edited.is_none() && !entry.cells.contains_key(&Field::VerifiedAt) && id_is_not_osm(id.as_deref()) {
                entry.cells.remove(&Field::Status);
            }
            entry
        } else {
            let mut entry = Entry { number, properties, ..Entry::default() };
            entry.put(Field::Ref, id);
            entry
        };
        place(&mut entry, &feature);
        entries.push(entry);
    }
    Ok((entries, others))
}

/// Whether properties look like OpenStreetMap's tags.
fn is_tagged(properties: &BTreeMap<String, String>) -> bool {
    properties.keys().any(|key| key == "amenity" || key.starts_with("addr:") || key.starts_with("currency:"))
}

/// The same of any of these.
pub(super) fn are_tagged(entries: &[Entry]) -> bool {
    entries.iter().any(|entry| is_tagged(&entry.properties))
}

/// Whether a property is read whatever the others are called.
pub(super) fn is_read(name: &str) -> bool {
    ["@id", "ref"].contains(&name)
}

/// The output of spiders: tags, each with the spider's name and the operator's own reference.
pub(super) fn all_the_places(document: &Document<'_>) -> Result<(Vec<Entry>, usize), Broken> {
    let features = || document.items("features", "atp");
    let spider = |tags: &BTreeMap<String, String>| tags.get("@spider").cloned();
    // A file of one spider is one operator's: it was chosen. In the output of all, most machines deal in cash.
    let (mut first, mut is_chosen) = (None, true);
    for feature in features()? {
        let spider = json::cell(&feature?.1["properties"]["@spider"]);
        is_chosen &= *first.get_or_insert_with(|| spider.clone()) == spider;
    }
    let generated = document.member("dataset_attributes")?["@timestamp"].as_str().map(str::to_owned);
    let (mut entries, mut others) = (Vec::new(), 0);
    for feature in features()? {
        let (number, feature) = feature?;
        let tags = json::cells(feature["properties"].as_object());
        let is_atm = tags.get("amenity").is_none_or(|amenity| amenity == "atm");
        if !is_atm || !(is_chosen || osm::deals_in_coins(&tags)) {
            others += 1;
            continue;
        }
        let own = tags.get("ref").or_else(|| tags.get("@ref")).cloned();
        let id = own.map(|own| spider(&tags).map_or_else(|| own.clone(), |spider| format!("{spider}:{own}")));
        let id = id.or_else(|| id_of(&feature, &tags));
        let is_closed = tags.contains_key("end_date") || tags.contains_key("closed");
        let url = tags.get("@source_uri").cloned();
        let mut entry = osm::entry(number, id.as_deref().unwrap_or_default(), tags, generated.as_deref());
        if is_closed {
            entry.put(Field::Status, Some("permanently closed".to_owned()));
        }
        entry.put(Field::SourceUrl, url);
        place(&mut entry, &feature);
        entries.push(entry);
    }
    Ok((entries, others))
}

fn id_of(feature: &Value, properties: &BTreeMap<String, String>) -> Option<String> {
    let named = |name: &str| properties.get(name).cloned();
    named("@id").or_else(|| named("ref")).or_else(|| json::cell(&feature["id"]))
}

fn id_is_not_osm(id: Option<&str>) -> bool {
    !id.is_some_and(|id| ["node/", "way/", "relation/"].iter().any(|kind| id.starts_with(kind)))
}

/// Puts the coordinates of the geometry in; of a line or an area, its middle.
fn place(entry: &mut Entry, feature: &Value) {
    let mut points = Vec::new();
    collect(&feature["geometry"]["coordinates"], DEEPEST, &mut points);
    if let Some((lat, lon)) = middle(&points) {
        entry.put(Field::Lat, Some(lat.to_string()));
        entry.put(Field::Lon, Some(lon.to_string()));
    }
}

/// Positions are longitude, latitude and perhaps an altitude.
fn collect(coordinates: &Value, depth: usize, points: &mut Vec<(f64, f64)>) {
    let Some(list) = coordinates.as_array() else { return };
    match (list.first().and_then(Value::as_f64), list.get(1).and_then(Value::as_f64)) {
        (Some(lon), Some(lat)) => points.push((lat, lon)),
        _ if depth > 1 => list.iter().for_each(|inner| collect(inner, depth - 1, points)),
        _ => {}
    }
}
