//! JSON objects with coordinates: an array or a dictionary of them, also as the value of a member such as `data`, or an
//! object per line.
//! Their members are the columns of a table; members of nested objects have the names of their paths, `address.city`.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::column_name::normalized;
use super::coordinates::{self, COLUMNS, geojson_point};
use super::counted_values::CountedValues;
use super::document::{Document, DocumentMembers};
use super::error::ImportError;
use super::field::{FIELDS, Field};
use super::format::{FileContent, Format, SourceFile};
use super::item::DocumentItem;
use super::osm;
use super::position_arrays::ArrayOrder;
use super::submission::flatten;
use crate::point::Point;

/// Maximum depth of members that are read.
const MAX_DEPTH: usize = 3;
/// Maximum number of items that are searched for coordinates, to recognize the format.
const MAX_SEARCHED: usize = 20;
/// Maximum number of names of lists in an error.
const MAX_NAMES: usize = 5;
/// Fields that are also read from the members of nested objects.
const NESTED: [Field; 13] = [
    Field::Lat,
    Field::Lon,
    Field::Name,
    Field::Address,
    Field::Street,
    Field::City,
    Field::Region,
    Field::Postcode,
    Field::Country,
    Field::Hours,
    Field::Phone,
    Field::Website,
    Field::Email,
];
/// Fields of objects with ways to contact somebody.
const CONTACTS: [Field; 3] = [Field::Phone, Field::Website, Field::Email];
/// Names of objects for the operator and the brand, whose members `name` are read.
const NAMED_OBJECTS: [(Field, &str); 2] = [(Field::Operator, "operator.name"), (Field::Brand, "brand.name")];

/// Names of objects around the members of an item, in the replies of databases and other services.
const WRAPPERS: [&str; 7] = ["node", "_source", "fields", "attributes", "properties", "record", "item"];

/// Parts of the names of objects with an address.
const PLACES: [&str; 7] = ["address", "location", "place", "venue", "store", "site", "business"];

pub(super) const FORMAT: Format = Format {
    name: "json",
    title: "JSON objects with coordinates",
    json: Some(DocumentMembers { list: "", others: &[] }),
    recognise: |file| Ok(file.looks_like_json() && find_list(file.document()?)?.is_some()),
    read: machines,
};

/// Returns the unparsed objects of the only list in a document that has objects with coordinates. `None` if there is no
/// such list.
fn find_list<'a>(document: &Document<'a>) -> Result<Option<Vec<&'a RawValue>>, ImportError> {
    let array = document.list("").unwrap_or_default();
    if any_has_coordinates(document, array)? {
        return Ok(Some(array.to_vec()));
    }
    let mut found = Vec::new();
    for (path, items) in document.nested_lists()? {
        if any_has_coordinates(document, &items)? {
            found.push((path, items));
        }
    }
    if found.len() > 1 {
        let names =
            found.iter().take(MAX_NAMES).map(|(path, _)| signpost_text::clean_line(path).chars().take(60).collect());
        return Err(ImportError::SeveralLists { lists: names.collect::<Vec<String>>().join(", ") });
    }
    if let Some((_, items)) = found.pop() {
        return Ok(Some(items));
    }
    for items in document.dictionaries()? {
        if most_have_coordinates(document, &items)? {
            return Ok(Some(items));
        }
    }
    // An object next to a list may have coordinates too, for example those of the map's centre.
    let sequence = document.sequence();
    let has_coordinates = match sequence {
        [_] => most_have_coordinates(document, sequence)?,
        _ => any_has_coordinates(document, sequence)?,
    };
    Ok(if has_coordinates { Some(sequence.to_vec()) } else { None })
}

/// Checks for coordinates of the objects themselves: an object may contain the coordinates of many others.
fn most_have_coordinates<'a>(document: &Document<'a>, items: &[&'a RawValue]) -> Result<bool, ImportError> {
    let searched = &items[..items.len().min(MAX_SEARCHED)];
    let mut count = 0;
    for item in document.parse(searched) {
        let (number, object) = item?;
        let item = item_of((number, unwrap(object)));
        let is_point = |field: &Field| top_level(&item.properties, *field).is_some();
        count += usize::from([Field::Lat, Field::Lon].iter().all(is_point));
    }
    Ok(count > 0 && count * 2 > searched.len())
}

fn any_has_coordinates<'a>(document: &Document<'a>, items: &[&'a RawValue]) -> Result<bool, ImportError> {
    for item in document.parse(&items[..items.len().min(MAX_SEARCHED)]) {
        let (number, object) = item?;
        let object = unwrap(object);
        let mut order = ArrayOrder::default();
        order.observe(&object);
        if order.has_arrays || has_coordinates(&item_of((number, object))) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has_coordinates(item: &DocumentItem) -> bool {
    let has_field = |field: &Field| item.cells.contains_key(field) || top_level(&item.properties, *field).is_some();
    if [Field::Lat, Field::Lon].iter().all(has_field) {
        return true;
    }
    let mut both = item.properties.iter().filter(|(name, _)| COLUMNS.contains(&normalized(name).as_str()));
    both.any(|(_, value)| coordinates::point("", "", value).is_ok())
}

/// Returns the objects of the list. Elements of OpenStreetMap that are no ATMs are filtered out.
fn machines<'a>(file: &SourceFile<'a>) -> Result<FileContent<'a>, ImportError> {
    let document = file.document()?;
    let Some(list) = find_list(document)? else {
        let expected = "a list of objects with members such as 'lat' and 'lon'".to_owned();
        return Err(ImportError::OtherJson { format: FORMAT.name, expected });
    };
    let mut order = ArrayOrder::default();
    for object in document.parse(&list) {
        let (number, object) = object?;
        order.observe(&unwrap(object));
        // The other items are parsed only once.
        if number >= MAX_SEARCHED && !order.has_arrays {
            break;
        }
    }
    let mut items = Vec::new();
    let mut others = CountedValues::default();
    for object in document.parse(&list) {
        let (number, object) = object?;
        let object = unwrap(object);
        let point = order.point(&object);
        let mut item = item_of((number, object));
        if let Some(point) = point
            && !has_coordinates(&item)
        {
            set_point(&mut item, point);
        }
        if item.properties.contains_key("amenity") && !osm::may_be_atm(&item.properties) {
            others.add(&osm::kind(&item.properties));
        } else {
            items.push(item);
        }
    }
    if order.is_unknown() && !items.iter().any(has_coordinates) {
        return Err(ImportError::UnknownOrder);
    }
    complete(&mut items);
    Ok(FileContent::Items { items, others, dated: None, is_read })
}

/// Creates the item of an object. Members of nested objects set only the fields that no top-level member has.
fn item_of((number, object): (usize, Value)) -> DocumentItem {
    let mut properties = paths(&object);
    properties.retain(|path, _| !is_ambiguous(&object, path));
    let mut item = DocumentItem { number, properties, ..DocumentItem::default() };
    let point = object.as_object().into_iter().flatten().find_map(|(_, member)| geojson_point(member));
    if let Some(point) = point {
        set_point(&mut item, point);
    }
    set_nested(&mut item);
    item
}

fn set_point(item: &mut DocumentItem, point: Point) {
    item.set(Field::Lat, Some(point.lat().to_string()));
    item.set(Field::Lon, Some(point.lon().to_string()));
}

/// Returns an object with the members of the objects around its data, such as `fields` or `node`. Own members take
/// precedence.
fn unwrap(mut object: Value) -> Value {
    let Some(members) = object.as_object_mut() else { return object };
    for wrapper in WRAPPERS {
        let Some(Value::Object(inner)) = members.get(wrapper) else { continue };
        let inner = inner.clone();
        members.remove(wrapper);
        for (name, value) in inner {
            members.entry(name).or_insert(value);
        }
    }
    object
}

/// Sets the fields that only the members of nested objects have.
pub(super) fn set_nested(item: &mut DocumentItem) {
    for field in NESTED {
        if !item.cells.contains_key(&field) && top_level(&item.properties, field).is_none() {
            let value = nested(&item.properties, field).map(str::to_owned);
            item.set(field, value);
        }
    }
    for (field, path) in NAMED_OBJECTS {
        if top_level(&item.properties, field).is_none() {
            let value = item.property(path).map(str::to_owned);
            item.set(field, value);
        }
    }
}

/// Returns the members of an object and of the objects in it, by their paths.
pub(super) fn paths(object: &Value) -> BTreeMap<String, String> {
    let mut properties = BTreeMap::new();
    flatten("", object, &mut properties, MAX_DEPTH);
    properties
}

/// Checks for an array of coordinates, whose order is not that of a text.
fn is_ambiguous(object: &Value, path: &str) -> bool {
    let pointer = format!("/{}", path.replace('.', "/"));
    COLUMNS.contains(&normalized(path).as_str()) && object.pointer(&pointer).is_some_and(Value::is_array)
}

/// Sets the fields of all items that some items have from nested objects: fields that a format sets are not mapped by
/// name later.
pub(super) fn complete(items: &mut [DocumentItem]) {
    let named = NAMED_OBJECTS.iter().map(|(field, _)| *field);
    for field in NESTED.into_iter().chain(named) {
        if !items.iter().any(|item| item.cells.contains_key(&field)) {
            continue;
        }
        for item in items.iter_mut().filter(|item| !item.cells.contains_key(&field)) {
            let value = top_level(&item.properties, field).map(str::to_owned);
            item.set(field, value);
        }
    }
}

/// Returns the value of a field that a top-level member has.
fn top_level(properties: &BTreeMap<String, String>, field: Field) -> Option<&str> {
    best_named(properties, field, |path| Some(path))
}

/// Returns the value of a field that a member of a nested object has. The city of an operator is no city of an ATM.
fn nested(properties: &BTreeMap<String, String>, field: Field) -> Option<&str> {
    if [Field::Lat, Field::Lon].contains(&field) {
        return best_named(properties, field, |path| path.rsplit_once('.').map(|(_, name)| name));
    }
    let of_place = best_named(properties, field, |path| {
        let (parents, name) = path.rsplit_once('.')?;
        let parent = parents.rsplit('.').next().map(normalized)?;
        PLACES.iter().any(|place| parent.contains(place)).then_some(name)
    });
    if of_place.is_some() || !CONTACTS.contains(&field) {
        return of_place;
    }
    best_named(properties, field, |path| {
        let (parents, name) = path.rsplit_once('.')?;
        let parent = parents.rsplit('.').next().map(normalized)?;
        parent.starts_with("contact").then_some(name)
    })
}

/// Returns the value with the best name of a field's columns, of equal names the least nested. `name_of` is the part of a
/// path that is compared, if any.
fn best_named(properties: &BTreeMap<String, String>, field: Field, name_of: fn(&str) -> Option<&str>) -> Option<&str> {
    let (.., names) = FIELDS.iter().find(|(known, ..)| *known == field)?;
    for best in *names {
        let candidates =
            properties.iter().filter(|(path, _)| name_of(path).is_some_and(|name| normalized(name) == *best));
        if let Some((_, value)) = candidates.min_by_key(|(path, _)| path.matches('.').count()) {
            return Some(value);
        }
    }
    None
}

/// Checks for a member of a nested object that is read.
pub(super) fn is_read(name: &str) -> bool {
    if NAMED_OBJECTS.iter().any(|(_, path)| *path == name) {
        return true;
    }
    let Some((_, last)) = name.rsplit_once('.') else { return false };
    let last = normalized(last);
    ["coordinates", "type"].contains(&last.as_str())
        || NESTED
            .iter()
            .any(|field| FIELDS.iter().any(|(known, _, names)| known == field && names.contains(&last.as_str())))
}
