//! Edits JSON with comments without changing other parts of the text.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};

use super::edit_error::EditError;
use super::members::{ENTRY_NAME, Members, SERVER_MEMBERS, find_member};

/// The byte order mark, which some editors write at the start of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads the whole document. An empty text is an object without members.
pub(super) fn read(text: &str, container: &str, trailing_commas: bool) -> Result<Value, EditError> {
    let (_, root) = parse(text, trailing_commas)?;
    let Some(object) = top(&root)? else { return Ok(Value::Object(Map::new())) };
    // JSON parsers disagree on duplicate members.
    if let Some(servers) = servers(&object, container)? {
        unique_member(&servers, ENTRY_NAME)?;
    }
    object.to_serde_value().ok_or_else(|| EditError("a value in it is not understood".to_owned()))
}

/// Adds or changes the entry.
pub(super) fn set(text: &str, container: &str, members: &Members, trailing_commas: bool) -> Result<String, EditError> {
    let (mark, root) = parse(text, trailing_commas)?;
    let is_new = top(&root)?.is_none();
    let object = root.object_value_or_set();
    let servers = match servers(&object, container)? {
        Some(servers) => servers,
        None => object.object_value_or_set(container),
    };
    match unique_member(&servers, ENTRY_NAME)? {
        None => {
            let members = members.iter().map(|(name, value)| ((*name).to_owned(), input(value)));
            servers.append(ENTRY_NAME, CstInputValue::Object(members.collect()));
        }
        Some(entry) => {
            let entry = entry.object_value().ok_or_else(|| EditError::not_an_object(ENTRY_NAME))?;
            for name in SERVER_MEMBERS {
                set_member(&entry, name, find_member(members, name))?;
            }
        }
    }
    let mut changed = format!("{mark}{root}");
    if is_new && !changed.ends_with('\n') {
        changed.push('\n');
    }
    Ok(changed)
}

/// Removes the entry.
pub(super) fn remove(text: &str, container: &str, trailing_commas: bool) -> Result<String, EditError> {
    let (mark, root) = parse(text, trailing_commas)?;
    if let Some(object) = top(&root)?
        && let Some(servers) = servers(&object, container)?
        && let Some(entry) = unique_member(&servers, ENTRY_NAME)?
    {
        entry.remove();
    }
    Ok(format!("{mark}{root}"))
}

fn parse(text: &str, trailing_commas: bool) -> Result<(&str, CstRootNode), EditError> {
    let rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mark = &text[..text.len() - rest.len()];
    let options = ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: trailing_commas,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let root = CstRootNode::parse(rest, &options).map_err(|error| {
        let reason = error.kind().to_string();
        let mut letters = reason.chars();
        let reason: String = letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect();
        EditError::at(error.line_display(), error.column_display(), &reason)
    })?;
    Ok((mark, root))
}

/// Returns the top-level object. `None` if the file is empty.
fn top(root: &CstRootNode) -> Result<Option<CstObject>, EditError> {
    match (root.value(), root.object_value()) {
        (None, _) => Ok(None),
        (Some(_), Some(object)) => Ok(Some(object)),
        (Some(_), None) => Err(EditError("the file is no object with members".to_owned())),
    }
}

fn servers(object: &CstObject, container: &str) -> Result<Option<CstObject>, EditError> {
    let Some(found) = unique_member(object, container)? else { return Ok(None) };
    found.object_value().map(Some).ok_or_else(|| EditError::not_an_object(container))
}

/// Returns the member with this name.
///
/// # Errors
/// Returns an error if there are several members.
fn unique_member(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, EditError> {
    let mut found = object.properties().into_iter().filter(|member| member.decoded_name().as_deref() == Some(name));
    let first = found.next();
    if found.next().is_some() { Err(EditError::duplicate(name)) } else { Ok(first) }
}

fn set_member(entry: &CstObject, name: &str, wanted: Option<&Value>) -> Result<(), EditError> {
    match (unique_member(entry, name)?, wanted) {
        (Some(member), Some(value)) if member.to_serde_value().as_ref() == Some(value) => {}
        (Some(member), Some(value)) => member.set_value(input(value)),
        (Some(member), None) => member.remove(),
        (None, Some(value)) => drop(entry.append(name, input(value))),
        (None, None) => {}
    }
    Ok(())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}
