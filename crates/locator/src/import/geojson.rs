//! GeoJSON features (RFC 7946), with the columns of a table as properties, or with OpenStreetMap's tags. The features are
//! the members of a collection or of an array, or a file has a feature per line (GeoJSON text sequences, RFC 8142).

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::counted_values::CountedValues;
use super::document::{Document, DocumentMembers};
use super::error::ImportError;
use super::field::Field;
use super::format::{FileContent, Format, SourceFile};
use super::item::{self, DocumentItem};
use super::objects;
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
    recognise: |file| Ok(file.looks_like_json() && find_features(file.document()?)?.is_some()),
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
    if !file.looks_like_json() {
        return Ok(false);
    }
    let document = file.document()?;
    let Some(features) = find_features(document)? else { return Ok(false) };
    let first = document.first_of(features)?.unwrap_or_default();
    Ok(first["properties"]["@spider"].is_string())
}

/// Returns the unparsed features of a document. `None` if it has none.
fn find_features<'d, 'a>(document: &'d Document<'a>) -> Result<Option<&'d [&'a RawValue]>, ImportError> {
    if let Some(features) = document.list(FEATURES) {
        return Ok(Some(features));
    }
    for items in [document.list("").unwrap_or_default(), document.sequence()] {
        let first = document.first_of(items)?;
        if first.is_some_and(|first| first["type"] == "Feature") {
            return Ok(Some(items));
        }
    }
    Ok(None)
}

/// Returns the unparsed features of a document of this format.
fn require_features<'d, 'a>(
    document: &'d Document<'a>,
    format: &'static str,
) -> Result<&'d [&'a RawValue], ImportError> {
    match find_features(document)? {
        Some(features) => Ok(features),
        None => Err(ImportError::OtherJson { format, expected: format!("a list '{FEATURES}'") }),
    }
}

/// Returns the features of a collection. Properties that look like tags are read as tags; others are mapped by name
/// later.
fn features<'a>(file: &SourceFile<'a>) -> Result<FileContent<'a>, ImportError> {
    let document = file.document()?;
    let dated = item::cell(&document.member(TIMESTAMP)?);
    let mut others = CountedValues::default();
    let mut items = Vec::new();
    for feature in document.parse(require_features(document, GEOJSON.name)?) {
        let (number, feature) = feature?;
        // The features of ArcGIS have attributes.
        let has_attributes = feature["attributes"].is_object();
        let properties = objects::paths(&feature[if has_attributes { "attributes" } else { "properties" }]);
        if properties.contains_key("amenity") && !osm::may_be_atm(&properties) {
            others.add(&osm::kind(&properties));
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
            objects::set_nested(&mut item);
            item
        };
        place(&mut item, &feature);
        items.push(item);
    }
    let any_tagged = items.iter().any(|item| is_tagged(&item.properties));
    if !any_tagged {
        objects::complete(&mut items);
    }
    Ok(FileContent::Items { items, others, dated, is_read: if any_tagged { osm::is_read } else { is_read } })
}

/// Checks whether properties look like OpenStreetMap's tags.
fn is_tagged(properties: &BTreeMap<String, String>) -> bool {
    properties.keys().any(|key| key == "amenity" || key.starts_with("addr:") || key.starts_with("currency:"))
}

/// Checks for a property that is always read.
fn is_read(name: &str) -> bool {
    ["@id", "ref"].contains(&name) || objects::is_read(name)
}

/// Returns the features in the output of spiders: tags with the spider's name and the operator's own reference.
fn all_the_places<'a>(file: &SourceFile<'a>) -> Result<FileContent<'a>, ImportError> {
    let document = file.document()?;
    // A file of a single spider was chosen for its operator. In the output of all spiders, most ATMs only trade cash.
    let features = require_features(document, ALL_THE_PLACES.name)?;
    let mut first = None;
    let mut is_chosen = true;
    for feature in document.parse(features) {
        let spider = item::cell(&feature?.1["properties"]["@spider"]);
        is_chosen &= *first.get_or_insert_with(|| spider.clone()) == spider;
    }
    let attributes = document.member(ATTRIBUTES)?;
    let dated = first_time(COLLECTED.map(|name| item::cell(&attributes[name])));
    let mut items = Vec::new();
    let mut others = CountedValues::default();
    for feature in document.parse(features) {
        let (number, feature) = feature?;
        let tags = item::cells(feature["properties"].as_object());
        let is_atm = !tags.contains_key("amenity") || osm::may_be_atm(&tags);
        if !is_atm || !(is_chosen || osm::has_coin_tags(&tags)) {
            others.add(&osm::kind(&tags));
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
    let geometry = &feature["geometry"];
    collect(&geometry["coordinates"], MAX_DEPTH, &mut points);
    for part in geometry["geometries"].as_array().into_iter().flatten() {
        collect(&part["coordinates"], MAX_DEPTH, &mut points);
    }
    points.extend(degrees(&geometry["y"]).zip(degrees(&geometry["x"])));
    if let Some((lat, lon)) = middle(&points) {
        item.set(Field::Lat, Some(lat.to_string()));
        item.set(Field::Lon, Some(lon.to_string()));
    }
}

/// Collects the positions: longitude, latitude and an optional altitude.
fn collect(coordinates: &Value, depth: usize, points: &mut Vec<(f64, f64)>) {
    let Some(list) = coordinates.as_array() else { return };
    match (list.first().and_then(degrees), list.get(1).and_then(degrees)) {
        (Some(lon), Some(lat)) => points.push((lat, lon)),
        _ if depth > 1 => list.iter().for_each(|inner| collect(inner, depth - 1, points)),
        _ => {}
    }
}

/// Returns a number, also one that a program has written as text.
fn degrees(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    }
}
