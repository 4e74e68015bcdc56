//! Features (RFC 7946): with the columns of a table as properties, or with OpenStreetMap's tags.

use std::collections::BTreeMap;

use serde_json::Value;

use super::broken::Broken;
use super::document::DocumentMembers;
use super::field::Field;
use super::format::{FileContent, Format, SourceFile};
use super::item::{self, DocumentItem};
use super::osm;
use super::overpass::middle;

/// Deepest nesting of a geometry's coordinates: those of a `MultiPolygon`.
const MAX_DEPTH: usize = 4;

const FEATURES: &str = "features";
/// What a spider's output says of the run.
const ATTRIBUTES: &str = "dataset_attributes";

/// A `FeatureCollection` (RFC 7946), with the columns of a table as properties, or with OpenStreetMap's tags.
pub(super) const GEOJSON: Format = Format {
    name: "geojson",
    title: "GeoJSON",
    json: Some(DocumentMembers { list: FEATURES, others: &[] }),
    recognise: |file| file.has_list(FEATURES),
    read: features,
};

/// The output of a spider of `AllThePlaces`: `GeoJSON` with OpenStreetMap's tags.
pub(super) const ALL_THE_PLACES: Format = Format {
    name: "atp",
    title: "AllThePlaces",
    json: Some(DocumentMembers { list: FEATURES, others: &[ATTRIBUTES] }),
    recognise: names_its_spider,
    read: all_the_places,
};

fn names_its_spider(file: &SourceFile<'_>) -> Result<bool, Broken> {
    if !file.has_list(FEATURES)? {
        return Ok(false);
    }
    let first = file.document()?.first(FEATURES)?.unwrap_or_default();
    Ok(first["properties"]["@spider"].is_string())
}

/// The features of any collection. Properties that look like tags are read as such; others by their names, later.
fn features<'a>(file: &SourceFile<'a>) -> Result<FileContent<'a>, Broken> {
    let mut others = 0;
    let mut items = Vec::new();
    for feature in file.document()?.items(FEATURES, GEOJSON.name)? {
        let (number, feature) = feature?;
        let properties = item::cells(feature["properties"].as_object());
        if properties.get("amenity").is_some_and(|amenity| amenity != "atm") {
            others += 1;
            continue;
        }
        let id = id_of(&feature, &properties);
        let mut item = if is_tagged(&properties) {
            let edited = properties.get("@timestamp").or_else(|| properties.get("timestamp")).cloned();
            let mut item = osm::item_of(number, id.as_deref().unwrap_or_default(), properties, edited.as_deref());
            // Outside the map, being listed says nothing of being in service.
            if edited.is_none() && !item.cells.contains_key(&Field::VerifiedAt) && id_is_not_osm(id.as_deref()) {
                item.cells.remove(&Field::Status);
            }
            item
        } else {
            let mut item = DocumentItem { number, properties, ..DocumentItem::default() };
            item.set(Field::Ref, id);
            item
        };
        place(&mut item, &feature);
        items.push(item);
    }
    let any_tagged = items.iter().any(|item| is_tagged(&item.properties));
    Ok(FileContent::Items { items, others, is_read: if any_tagged { osm::is_read } else { is_read } })
}

/// Whether properties look like OpenStreetMap's tags.
fn is_tagged(properties: &BTreeMap<String, String>) -> bool {
    properties.keys().any(|key| key == "amenity" || key.starts_with("addr:") || key.starts_with("currency:"))
}

/// Whether a property is read whatever the others are called.
fn is_read(name: &str) -> bool {
    ["@id", "ref"].contains(&name)
}

/// The output of spiders: tags, each with the spider's name and the operator's own reference.
fn all_the_places<'a>(file: &SourceFile<'a>) -> Result<FileContent<'a>, Broken> {
    let document = file.document()?;
    let features = || document.items(FEATURES, ALL_THE_PLACES.name);
    let spider = |tags: &BTreeMap<String, String>| tags.get("@spider").cloned();
    // A file of one spider is one operator's: it was chosen. In the output of all, most machines deal in cash.
    let (mut first, mut is_chosen) = (None, true);
    for feature in features()? {
        let spider = item::cell(&feature?.1["properties"]["@spider"]);
        is_chosen &= *first.get_or_insert_with(|| spider.clone()) == spider;
    }
    let generated = document.member(ATTRIBUTES)?["@timestamp"].as_str().map(str::to_owned);
    let (mut items, mut others) = (Vec::new(), 0);
    for feature in features()? {
        let (number, feature) = feature?;
        let tags = item::cells(feature["properties"].as_object());
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
        let mut item = osm::item_of(number, id.as_deref().unwrap_or_default(), tags, generated.as_deref());
        if is_closed {
            item.set(Field::Status, Some("permanently closed".to_owned()));
        }
        item.set(Field::SourceUrl, url);
        place(&mut item, &feature);
        items.push(item);
    }
    Ok(FileContent::Items { items, others, is_read: osm::is_read })
}

fn id_of(feature: &Value, properties: &BTreeMap<String, String>) -> Option<String> {
    let named = |name: &str| properties.get(name).cloned();
    named("@id").or_else(|| named("ref")).or_else(|| item::cell(&feature["id"]))
}

fn id_is_not_osm(id: Option<&str>) -> bool {
    !id.is_some_and(|id| ["node/", "way/", "relation/"].iter().any(|kind| id.starts_with(kind)))
}

/// Puts the coordinates of the geometry in; of a line or an area, its middle.
fn place(item: &mut DocumentItem, feature: &Value) {
    let mut points = Vec::new();
    collect(&feature["geometry"]["coordinates"], MAX_DEPTH, &mut points);
    if let Some((lat, lon)) = middle(&points) {
        item.set(Field::Lat, Some(lat.to_string()));
        item.set(Field::Lon, Some(lon.to_string()));
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
