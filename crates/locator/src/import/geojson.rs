//! GeoJSON features (RFC 7946), with the columns of a table as properties, or with OpenStreetMap's tags.

use std::collections::BTreeMap;

use serde_json::Value;

use super::document::DocumentMembers;
use super::error::ImportError;
use super::field::Field;
use super::format::{FileContent, Format, SourceFile};
use super::item::{self, DocumentItem};
use super::osm;
use super::overpass::middle;
use super::time::first_time;

/// Maximum nesting of a geometry's coordinates: those of a `MultiPolygon`.
const MAX_DEPTH: usize = 4;

const FEATURES: &str = "features";
/// The time of the data in exports of overpass turbo.
const TIMESTAMP: &str = "timestamp";
/// The attributes of the run of a spider.
const ATTRIBUTES: &str = "dataset_attributes";
/// The attributes with the time of the run, the preferred attribute first.
const COLLECTED: [&str; 2] = ["spider:collection_time", "@timestamp"];

/// A `FeatureCollection` (RFC 7946), with the columns of a table as properties, or with OpenStreetMap's tags.
pub(super) const GEOJSON: Format = Format {
    name: "geojson",
    title: "GeoJSON",
    json: Some(DocumentMembers { list: FEATURES, others: &[TIMESTAMP] }),
    recognise: |file| file.has_list(FEATURES),
    read: features,
};

/// The output of a spider of `AllThePlaces`: `GeoJSON` with OpenStreetMap's tags.
pub(super) const ALL_THE_PLACES: Format = Format {
    name: "atp",
    title: "AllThePlaces",
    json: Some(DocumentMembers { list: FEATURES, others: &[ATTRIBUTES] }),
    recognise: has_spider_name,
    read: all_the_places,
};

fn has_spider_name(file: &SourceFile<'_>) -> Result<bool, ImportError> {
    if !file.has_list(FEATURES)? {
        return Ok(false);
    }
    let first = file.document()?.first(FEATURES)?.unwrap_or_default();
    Ok(first["properties"]["@spider"].is_string())
}

/// Returns the features of a collection. Properties that look like tags are read as tags; others are mapped by name
/// later.
fn features<'a>(file: &SourceFile<'a>) -> Result<FileContent<'a>, ImportError> {
    let document = file.document()?;
    let dated = item::cell(&document.member(TIMESTAMP)?);
    let mut others = 0;
    let mut items = Vec::new();
    for feature in document.items(FEATURES, GEOJSON.name)? {
        let (number, feature) = feature?;
        let properties = item::cells(feature["properties"].as_object());
        if properties.get("amenity").is_some_and(|amenity| amenity != "atm") {
            others += 1;
            continue;
        }
        let id = id_of(&feature, &properties);
        let mut item = if is_tagged(&properties) {
            let edited: Vec<String> =
                ["@timestamp", TIMESTAMP].iter().filter_map(|name| properties.get(*name).cloned()).collect();
            let edited = edited.iter().map(String::as_str);
            osm::item_of(number, id.as_deref().unwrap_or_default(), properties, edited)
        } else {
            let mut item = DocumentItem { number, properties, ..DocumentItem::default() };
            item.set(Field::Ref, id);
            item
        };
        place(&mut item, &feature);
        items.push(item);
    }
    let any_tagged = items.iter().any(|item| is_tagged(&item.properties));
    Ok(FileContent::Items { items, others, dated, is_read: if any_tagged { osm::is_read } else { is_read } })
}

/// Checks whether properties look like OpenStreetMap's tags.
fn is_tagged(properties: &BTreeMap<String, String>) -> bool {
    properties.keys().any(|key| key == "amenity" || key.starts_with("addr:") || key.starts_with("currency:"))
}

/// Checks for a property that is always read.
fn is_read(name: &str) -> bool {
    ["@id", "ref"].contains(&name)
}

/// Returns the features in the output of spiders: tags with the spider's name and the operator's own reference.
fn all_the_places<'a>(file: &SourceFile<'a>) -> Result<FileContent<'a>, ImportError> {
    let document = file.document()?;
    // A file of a single spider was chosen for its operator. In the output of all spiders, most ATMs only trade cash.
    let mut first = None;
    let mut is_chosen = true;
    for feature in document.items(FEATURES, ALL_THE_PLACES.name)? {
        let spider = item::cell(&feature?.1["properties"]["@spider"]);
        is_chosen &= *first.get_or_insert_with(|| spider.clone()) == spider;
    }
    let attributes = document.member(ATTRIBUTES)?;
    let dated = first_time(COLLECTED.map(|name| item::cell(&attributes[name])));
    let mut items = Vec::new();
    let mut others = 0;
    for feature in document.items(FEATURES, ALL_THE_PLACES.name)? {
        let (number, feature) = feature?;
        let tags = item::cells(feature["properties"].as_object());
        let is_atm = tags.get("amenity").is_none_or(|amenity| amenity == "atm");
        if !is_atm || !(is_chosen || osm::has_coin_tags(&tags)) {
            others += 1;
            continue;
        }
        let id = spider_id(&feature, &tags);
        let is_closed = tags.contains_key("closed");
        let url = tags.get("@source_uri").cloned();
        let mut item = osm::item_of(number, id.as_deref().unwrap_or_default(), tags, []);
        if is_closed {
            item.set(Field::Status, Some("permanently closed".to_owned()));
        }
        item.set(Field::SourceUrl, url);
        place(&mut item, &feature);
        items.push(item);
    }
    Ok(FileContent::Items { items, others, dated, is_read: osm::is_read })
}

/// Returns the operator's own reference with the name of the spider, else the ID of the feature.
fn spider_id(feature: &Value, tags: &BTreeMap<String, String>) -> Option<String> {
    let Some(own) = tags.get("ref").or_else(|| tags.get("@ref")) else { return id_of(feature, tags) };
    match tags.get("@spider") {
        Some(spider) => Some(format!("{spider}:{own}")),
        None => Some(own.clone()),
    }
}

fn id_of(feature: &Value, properties: &BTreeMap<String, String>) -> Option<String> {
    match properties.get("@id").or_else(|| properties.get("ref")) {
        Some(id) => Some(id.clone()),
        None => item::cell(&feature["id"]),
    }
}

/// Sets the coordinates to the geometry's point; for a line or an area, to its centre.
fn place(item: &mut DocumentItem, feature: &Value) {
    let mut points = Vec::new();
    collect(&feature["geometry"]["coordinates"], MAX_DEPTH, &mut points);
    if let Some((lat, lon)) = middle(&points) {
        item.set(Field::Lat, Some(lat.to_string()));
        item.set(Field::Lon, Some(lon.to_string()));
    }
}

/// Collects the positions: longitude, latitude and an optional altitude.
fn collect(coordinates: &Value, depth: usize, points: &mut Vec<(f64, f64)>) {
    let Some(list) = coordinates.as_array() else { return };
    match (list.first().and_then(Value::as_f64), list.get(1).and_then(Value::as_f64)) {
        (Some(lon), Some(lat)) => points.push((lat, lon)),
        _ if depth > 1 => list.iter().for_each(|inner| collect(inner, depth - 1, points)),
        _ => {}
    }
}
