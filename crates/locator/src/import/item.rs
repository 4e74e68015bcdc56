//! The common intermediate form of an ATM in a document of any format.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::field::Field;
use crate::atm::Coin;
use crate::terms::Trade;
use crate::tri::Tri;

/// An ATM in a document, with its recognized fields and all properties of the source.
#[derive(Default)]
pub(super) struct DocumentItem {
    /// The number of the item in the file, starting from 1.
    pub(super) number: usize,
    /// All properties, by the source's own names.
    pub(super) properties: BTreeMap<String, String>,
    /// The recognized fields.
    pub(super) cells: BTreeMap<Field, String>,
    /// Fallback dates of fields, used in this order if the cell of the field has no valid date.
    pub(super) dates: Vec<(Field, String)>,
    pub(super) coins: BTreeMap<Coin, Tri>,
    pub(super) trades: BTreeMap<Coin, Trade>,
    /// Whether the source marks the item as removed.
    pub(super) is_gone: bool,
}

impl DocumentItem {
    pub(super) fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }

    /// Sets a field, unless the value is missing or blank.
    pub(super) fn set(&mut self, field: Field, value: Option<String>) {
        if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
            self.cells.insert(field, value);
        }
    }

    /// Returns the recognized fields, possibly with duplicates.
    pub(super) fn fields(&self) -> impl Iterator<Item = Field> {
        self.cells.keys().copied().chain(self.dates.iter().map(|(field, _)| *field))
    }

    /// Adds fallback dates of a field, in order of preference.
    pub(super) fn add_dates<'a>(&mut self, field: Field, dates: impl IntoIterator<Item = &'a str>) {
        self.dates.extend(dates.into_iter().map(|date| (field, date.to_owned())));
    }

    /// Sets fields from the properties with these names. If several properties map to a field, the first is used.
    pub(super) fn set_all(&mut self, fields: &[(Field, &str)]) {
        for (field, name) in fields {
            if let Some(value) = self.properties.get(*name)
                && !value.trim().is_empty()
            {
                self.cells.entry(*field).or_insert_with(|| value.clone());
            }
        }
    }
}

/// Converts a JSON value to the cell of a table. Returns `None` for null and other objects than those of `MongoDB`.
pub(super) fn cell(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        // Some programs write whole numbers with a fraction, `17.0`.
        Value::Number(number) => {
            let text = number.to_string();
            Some(text.strip_suffix(".0").map(ToOwned::to_owned).unwrap_or(text))
        }
        Value::Bool(value) => Some(value.to_string()),
        Value::Array(list) => {
            let cells: Vec<String> = list.iter().filter_map(cell).collect();
            if cells.is_empty() { None } else { Some(cells.join(", ")) }
        }
        Value::Object(members) => extended(members),
        Value::Null => None,
    }
}

/// Converts a value of `MongoDB` Extended JSON, such as `{"$oid": "…"}` or `{"$date": "…"}`, to a cell.
fn extended(members: &Map<String, Value>) -> Option<String> {
    let mut members = members.iter();
    match (members.next(), members.next()) {
        (Some((name, value)), None) if name.starts_with('$') => cell(value),
        _ => None,
    }
}

/// Converts the members of an object to cells.
pub(super) fn cells(object: Option<&Map<String, Value>>) -> BTreeMap<String, String> {
    let members = object.into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.clone(), cell(value)?))).collect()
}
