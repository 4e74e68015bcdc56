//! Places of BTC Map's API: v4 (`/v4/places` and its snapshot) and the elements of v2 and v3. A list may be a snapshot
//! or a list of changes, with marks of deleted places.

use std::collections::BTreeMap;

use serde_json::Value;

use super::counted_values::CountedValues;
use super::document::DocumentMembers;
use super::error::ImportError;
use super::field::Field;
use super::format::{FileContent, Format, SourceFile};
use super::item::{self, DocumentItem};
use super::osm;
use super::overpass::midpoint;

/// Members of a place, with the corresponding tags.
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

pub(super) const FORMAT: Format = Format {
    name: "btcmap",
    title: "BTC Map",
    json: Some(DocumentMembers { list: "", others: &[] }),
    recognise: is_list_of_places,
    read: machines,
};

fn is_list_of_places(file: &SourceFile<'_>) -> Result<bool, ImportError> {
    if !file.has_list("")? {
        return Ok(false);
    }
    let place = file.document()?.first("")?;
    Ok(place.is_none_or(|place| is_place(&place)))
}

/// Checks for the members of BTC Map. Other lists have objects with coordinates, too.
fn is_place(place: &Value) -> bool {
    // Icons of other programs are addresses of images.
    let has_icon = place["icon"].as_str().is_some_and(|icon| !icon.contains(['/', '.']));
    if has_icon || place["osm_json"].is_object() || place["deleted_at"].is_string() {
        return true;
    }
    let mut members = place.as_object().into_iter().flatten();
    members.any(|(name, _)| name.starts_with("osm:"))
}

/// Returns the places that are ATMs, and as gone those that are none any more.
fn machines<'a>(file: &SourceFile<'a>) -> Result<FileContent<'a>, ImportError> {
    let mut items = Vec::new();
    let mut others = CountedValues::default();
    for place in file.document()?.items("", FORMAT.name)? {
        let (number, place) = place?;
        let is_gone = place["deleted_at"].as_str().is_some_and(|at| !at.is_empty());
        let tags = tags(&place);
        let is_atm = match place["icon"].as_str().or_else(|| place["tags"]["icon:android"].as_str()) {
            Some(icon) => icon == "local_atm",
            None => osm::is_bitcoin_atm(&tags),
        };
        // Deleted places may have only a number, and other places may have been ATMs before.
        if !is_gone && !is_atm {
            others.add(&kind(&place, &tags));
        }
        items.push(item_of(number, &place, tags, is_gone || !is_atm));
    }
    Ok(FileContent::Items { items, others, dated: None, is_read: osm::is_read })
}

/// Returns the icon or the tag that shows the kind of a place.
fn kind(place: &Value, tags: &BTreeMap<String, String>) -> String {
    match place["icon"].as_str().or_else(|| place["tags"]["icon:android"].as_str()) {
        Some(icon) => format!("icon={icon}"),
        None => osm::kind(tags),
    }
}

fn tags(place: &Value) -> BTreeMap<String, String> {
    let mut tags = item::cells(place["osm_json"]["tags"].as_object());
    let members = item::cells(place.as_object());
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

fn item_of(number: usize, place: &Value, tags: BTreeMap<String, String>, is_gone: bool) -> DocumentItem {
    let id = item::cell(&place["id"]).unwrap_or_default();
    let edited = [&place["osm_json"]["timestamp"], &place["updated_at"]].into_iter().filter_map(Value::as_str);
    let mut item = osm::item_of(number, &id, tags, edited);
    item.set(Field::CreatedAt, place["created_at"].as_str().map(str::to_owned));
    let (lat, lon) = match &place["osm_json"] {
        Value::Object(element) => (element.get("lat"), element.get("lon")),
        _ => (place.get("lat"), place.get("lon")),
    };
    let bounds = &place["osm_json"]["bounds"];
    item.set(Field::Lat, lat.and_then(item::cell).or_else(|| Some(midpoint(bounds, "minlat", "maxlat")?.to_string())));
    item.set(Field::Lon, lon.and_then(item::cell).or_else(|| Some(midpoint(bounds, "minlon", "maxlon")?.to_string())));
    item.coins.entry(crate::atm::Coin::bitcoin()).or_insert(crate::tri::Tri::Yes);
    item.is_gone = is_gone;
    item
}
