//! Edits TOML without changing other parts of the text.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use super::edit_error::EditError;
use super::members::{ENTRY_NAME, Members, SERVER_MEMBERS, find_member};

/// Reads the whole document.
pub(super) fn read(text: &str) -> Result<Value, EditError> {
    parse(text)?;
    let whole: Map<String, Value> = toml::from_str(text).map_err(|error| EditError(error.message().to_owned()))?;
    Ok(Value::Object(whole))
}

/// Adds or changes the entry.
pub(super) fn set(text: &str, container: &str, members: &Members) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let servers = document.entry(container).or_insert_with(|| {
        let mut table = Table::new();
        // The table gets no separate header.
        table.set_implicit(true);
        Item::Table(table)
    });
    let is_inline = servers.is_inline_table();
    let servers = servers.as_table_like_mut().ok_or_else(|| EditError::not_an_object(container))?;
    let entry = servers
        .entry(ENTRY_NAME)
        .or_insert_with(|| if is_inline { Item::Value(InlineTable::new().into()) } else { Item::Table(Table::new()) });
    let entry = entry.as_table_like_mut().ok_or_else(|| EditError::not_an_object(ENTRY_NAME))?;
    for name in SERVER_MEMBERS {
        set_member(entry, name, find_member(members, name));
    }
    Ok(document.to_string())
}

/// Removes the entry.
pub(super) fn remove(text: &str, container: &str) -> Result<String, EditError> {
    let mut document = parse(text)?;
    if let Some(servers) = document.get_mut(container) {
        servers.as_table_like_mut().ok_or_else(|| EditError::not_an_object(container))?.remove(ENTRY_NAME);
    }
    Ok(document.to_string())
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse::<DocumentMut>().map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = text.get(..at).unwrap_or_default();
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.rsplit('\n').next().unwrap_or_default().chars().count();
        EditError::at(line, column, error.message())
    })
}

fn set_member(entry: &mut dyn TableLike, name: &str, wanted: Option<&Value>) {
    match wanted.map(input) {
        None => drop(entry.remove(name)),
        // An equal value is not rewritten, to preserve its spelling and comment.
        Some(wanted) if entry.get(name).is_some_and(|found| is_same(found, &wanted)) => {}
        Some(wanted) => drop(entry.insert(name, wanted)),
    }
}

fn is_same(found: &Item, wanted: &Item) -> bool {
    found.is_array() == wanted.is_array() && texts(found).is_some_and(|found| Some(found) == texts(wanted))
}

/// Returns the text, or the list of texts, of an item. `None` if it contains other values.
fn texts(item: &Item) -> Option<Vec<&str>> {
    match item.as_array() {
        Some(items) => items.iter().map(|item| item.as_str()).collect(),
        None => Some(vec![item.as_str()?]),
    }
}

/// Converts a text or a list of texts. Entries have no other values.
fn input(value: &Value) -> Item {
    match value.as_array() {
        Some(items) => toml_edit::value(items.iter().map(|item| item.as_str().unwrap_or_default()).collect::<Array>()),
        None => toml_edit::value(value.as_str().unwrap_or_default()),
    }
}
