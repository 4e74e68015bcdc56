//! JSON responses of OpenStreetMap's Overpass API, for all variants of its `out` statement.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::counted_values::CountedValues;
use super::document::DocumentMembers;
use super::error::ImportError;
use super::field::Field;
use super::format::{FileContent, Format, SourceFile};
use super::item::{self, DocumentItem};
use super::osm;

/// The positions of nodes, by ID.
type Nodes = HashMap<i64, (f64, f64)>;

const ELEMENTS: &str = "elements";
/// The member with the state of the database.
const DATABASE: &str = "osm3s";
/// The member with the errors and notices of the query.
const REMARK: &str = "remark";
/// Parts of remarks about errors, in lower case. After such an error, the response has only a part of the elements, with
/// the status 200. Other remarks are notices.
const ERRORS: [&str; 4] = ["error", "timed out", "out of memory", "abort"];

pub(super) const FORMAT: Format = Format {
    name: "overpass",
    title: "Overpass",
    json: Some(DocumentMembers { list: ELEMENTS, others: &[DATABASE, REMARK] }),
    recognise: |file| file.has_list(ELEMENTS),
    read: machines,
};

/// Returns the elements that are ATMs.
fn machines<'a>(file: &SourceFile<'a>) -> Result<FileContent<'a>, ImportError> {
    let document = file.document()?;
    check_remark(&document.member(REMARK)?)?;
    let dated = item::cell(&document.member(DATABASE)?["timestamp_osm_base"]);
    let mut nodes = Nodes::new();
    for element in document.items(ELEMENTS, FORMAT.name)? {
        let (_, element) = element?;
        nodes.extend(element["id"].as_i64().zip(point(&element)));
    }
    let mut items = Vec::new();
    let mut others = CountedValues::default();
    for element in document.items(ELEMENTS, FORMAT.name)? {
        let (number, element) = element?;
        let tags = item::cells(element["tags"].as_object());
        if osm::is_bitcoin_atm(&tags) {
            items.push(item_of(number, &element, tags, &nodes));
        } else {
            others.add(&osm::kind(&tags));
        }
    }
    Ok(FileContent::Items { items, others, dated, is_read: osm::is_read })
}

/// Checks that the response is complete: ATMs that are missing in a truncated response would be removed.
fn check_remark(remark: &Value) -> Result<(), ImportError> {
    let remark = item::cell(remark).unwrap_or_default();
    let lower = remark.to_lowercase();
    if ERRORS.iter().any(|error| lower.contains(error)) {
        let remark = signpost_text::clean_line(&remark).trim().chars().take(200).collect();
        return Err(ImportError::IncompleteResponse { remark });
    }
    Ok(())
}

fn item_of(number: usize, element: &Value, tags: BTreeMap<String, String>, nodes: &Nodes) -> DocumentItem {
    let id = format!("{}/{}", element["type"].as_str().unwrap_or("element"), element["id"]);
    let mut item = osm::item_of(number, &id, tags, element["timestamp"].as_str());
    if let Some((lat, lon)) = point(element).or_else(|| centre(element, nodes)) {
        item.set(Field::Lat, Some(lat.to_string()));
        item.set(Field::Lon, Some(lon.to_string()));
    }
    item.set(Field::SourceUrl, Some(format!("https://www.openstreetmap.org/{id}")));
    item
}

fn point(element: &Value) -> Option<(f64, f64)> {
    Some((element["lat"].as_f64()?, element["lon"].as_f64()?))
}

/// Returns the centre of a way or relation: the given centre (`out center`), else the centre of its box (`out bb`),
/// else the centre of its points (`out geom`, or its nodes in the response).
fn centre(element: &Value, nodes: &Nodes) -> Option<(f64, f64)> {
    if let Some(centre) = point(&element["center"]) {
        return Some(centre);
    }
    let bounds = &element["bounds"];
    if let Some(centre) = midpoint(bounds, "minlat", "maxlat").zip(midpoint(bounds, "minlon", "maxlon")) {
        return Some(centre);
    }
    let mut points: Vec<(f64, f64)> = element["geometry"].as_array().into_iter().flatten().filter_map(point).collect();
    for id in element["nodes"].as_array().into_iter().flatten() {
        points.extend(id.as_i64().and_then(|id| nodes.get(&id)));
    }
    middle(&points)
}

/// Returns the middle between two members of an object.
pub(super) fn midpoint(bounds: &Value, low: &str, high: &str) -> Option<f64> {
    Some(f64::midpoint(bounds[low].as_f64()?, bounds[high].as_f64()?))
}

/// Returns the middle of points that do not cross the date line.
pub(super) fn middle(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let (first, rest) = points.split_first()?;
    let start = (first.0, first.0, first.1, first.1);
    let (south, north, west, east) = rest.iter().fold(start, |(south, north, west, east), (lat, lon)| {
        (south.min(*lat), north.max(*lat), west.min(*lon), east.max(*lon))
    });
    Some((f64::midpoint(south, north), f64::midpoint(west, east)))
}
