//! An item of a document, in all formats.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::field::Field;
use crate::atm::Coin;
use crate::terms::Trade;
use crate::tri::Tri;

/// An ATM in a document: its known fields, and all properties of the source.
#[derive(Default)]
pub(super) struct DocumentItem {
    /// Its number in the file, from 1.
    pub(super) number: usize,
    /// The properties, by the source's own names.
    pub(super) properties: BTreeMap<String, String>,
    /// The known fields.
    pub(super) cells: BTreeMap<Field, String>,
    /// More dates of fields, used in this order if the cell of the field has no readable date.
    pub(super) dates: Vec<(Field, String)>,
    pub(super) coins: BTreeMap<Coin, Tri>,
    pub(super) trades: BTreeMap<Coin, Trade>,
    /// Whether it was removed, according to the source.
    pub(super) is_gone: bool,
}

impl DocumentItem {
    pub(super) fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }

    /// Sets a field to a value that is not blank.
    pub(super) fn set(&mut self, field: Field, value: Option<String>) {
        if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
            self.cells.insert(field, value);
        }
    }

    /// Returns the known fields, possibly with duplicates.
    pub(super) fn fields(&self) -> impl Iterator<Item = Field> {
        self.cells.keys().copied().chain(self.dates.iter().map(|(field, _)| *field))
    }

    /// Adds dates of a field, the preferred date first.
    pub(super) fn add_dates<'a>(&mut self, field: Field, dates: impl IntoIterator<Item = &'a str>) {
        self.dates.extend(dates.into_iter().map(|date| (field, date.to_owned())));
    }

    /// Sets fields to the properties with these names. If several properties map to one field, the first is used.
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

/// Returns a value as the cell of a table. `None` for null and objects.
pub(super) fn cell(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Array(list) => {
            let cells: Vec<String> = list.iter().filter_map(cell).collect();
            if cells.is_empty() { None } else { Some(cells.join(", ")) }
        }
        Value::Null | Value::Object(_) => None,
    }
}

/// Returns the members of an object as cells.
pub(super) fn cells(object: Option<&Map<String, Value>>) -> BTreeMap<String, String> {
    let members = object.into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.clone(), cell(value)?))).collect()
}
