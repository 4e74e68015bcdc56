//! What all formats of documents share.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::field::Field;
use crate::atm::Coin;
use crate::terms::Trade;
use crate::tri::Tri;

/// A machine in a document: what of it is said in our terms, and all of it in the source's.
#[derive(Default)]
pub(super) struct DocumentItem {
    /// Its number in the file, from 1.
    pub(super) number: usize,
    /// What the source says, by the source's own names.
    pub(super) properties: BTreeMap<String, String>,
    /// The same by field, as far as it is known.
    pub(super) cells: BTreeMap<Field, String>,
    pub(super) coins: BTreeMap<Coin, Tri>,
    pub(super) trades: BTreeMap<Coin, Trade>,
    /// Whether the source says that it is there no more, and nothing else.
    pub(super) is_gone: bool,
}

impl DocumentItem {
    pub(super) fn set(&mut self, field: Field, value: Option<String>) {
        if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
            self.cells.insert(field, value);
        }
    }

    /// Puts each property that is there into the field beside it; of several for one field the first counts.
    pub(super) fn set_all(&mut self, fields: &[(Field, &str)]) {
        for (field, name) in fields {
            let value = self.properties.get(*name).filter(|value| !value.trim().is_empty()).cloned();
            if let Some(value) = value {
                self.cells.entry(*field).or_insert(value);
            }
        }
    }
}

/// A value as a cell of a table would hold it; `None` for nothing and for objects.
pub(super) fn cell(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Array(list) => {
            let cells: Vec<String> = list.iter().filter_map(cell).collect();
            (!cells.is_empty()).then(|| cells.join(", "))
        }
        Value::Null | Value::Object(_) => None,
    }
}

/// The members of an object as cells.
pub(super) fn cells(object: Option<&Map<String, Value>>) -> BTreeMap<String, String> {
    let members = object.into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.clone(), cell(value)?))).collect()
}
