//! The parts of a JSON value: its list of items, its known members, and its other containers. They are located, but not
//! parsed.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::error::ImportError;

/// The top-level members of a document that a format reads.
#[derive(Clone, Copy)]
pub(super) struct DocumentMembers {
    /// The name of the list of items; `""` is the document itself.
    pub(super) list: &'static str,
    /// The names of other members.
    pub(super) others: &'static [&'static str],
}

/// The located parts of a JSON value.
#[derive(Default)]
pub(super) struct DocumentParts<'a> {
    /// The items of each list; a list without a name is the value itself.
    pub(super) lists: Vec<(&'static str, Vec<&'a RawValue>)>,
    /// The other members that a format reads.
    pub(super) members: Vec<(&'static str, &'a RawValue)>,
    /// The arrays and objects among the members that no format knows by name.
    pub(super) containers: Vec<(String, &'a RawValue)>,
    /// The error of other text after the value.
    pub(super) rest: Option<ImportError>,
    is_object: bool,
}

impl<'a> DocumentParts<'a> {
    /// Locates the parts of the first JSON value. Lists have at most `max` items.
    pub(super) fn read(bytes: &'a [u8], wanted: &[DocumentMembers], max: usize) -> Result<Self, ImportError> {
        let is_full = Cell::new(false);
        let mut parts = Self::default();
        let top = Top { wanted, list: ItemList { max, is_full: &is_full }, parts: &mut parts };
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let read = json.deserialize_any(top);
        if is_full.get() {
            return Err(ImportError::TooManyItems { max });
        }
        read.map_err(|error| not_json(&error, 0))?;
        parts.rest = json.end().err().map(|error| not_json(&error, 0));
        Ok(parts)
    }

    /// Returns the members of an object with at least two containers that are all objects, such as
    /// `{"1": {…}, "2": {…}}`.
    pub(super) fn dictionary(&self) -> Option<Vec<&'a RawValue>> {
        let values: Vec<&'a RawValue> = self.containers.iter().map(|(_, value)| *value).collect();
        if values.len() < 2 || values.iter().any(|value| !value.get().starts_with('{')) { None } else { Some(values) }
    }

    /// Returns `true` if the value is an object without the members of any format.
    pub(super) fn has_only_unknown_members(&self) -> bool {
        self.is_object && self.lists.is_empty()
    }
}

/// A visitor that locates the parts of a value.
struct Top<'m, 'a> {
    wanted: &'m [DocumentMembers],
    list: ItemList<'m>,
    parts: &'m mut DocumentParts<'a>,
}

/// A visitor that locates the items of a list; other values have none. Fails at the first item above the limit.
#[derive(Clone, Copy)]
struct ItemList<'m> {
    max: usize,
    is_full: &'m Cell<bool>,
}

/// Visitor methods for scalars; they contain no items.
macro_rules! nothing_in_scalars {
    ($nothing:expr) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("JSON")
        }

        fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
            Ok($nothing)
        }

        fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
            Ok($nothing)
        }

        fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
            Ok($nothing)
        }

        fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
            Ok($nothing)
        }

        fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
            Ok($nothing)
        }

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok($nothing)
        }
    };
}

impl<'a> Visitor<'a> for Top<'_, 'a> {
    type Value = ();

    nothing_in_scalars!(());

    fn visit_seq<A: SeqAccess<'a>>(self, items: A) -> Result<(), A::Error> {
        let items = self.list.visit_seq(items)?;
        self.parts.lists.extend(items.map(|items| ("", items)));
        Ok(())
    }

    // The last of duplicate members is used, as in most parsers.
    fn visit_map<A: MapAccess<'a>>(self, mut object: A) -> Result<(), A::Error> {
        let parts = self.parts;
        parts.is_object = true;
        while let Some(name) = object.next_key::<String>()? {
            if let Some(list) = self.wanted.iter().map(|wanted| wanted.list).find(|list| *list == name) {
                parts.lists.retain(|(known, _)| *known != list);
                parts.lists.extend(object.next_value_seed(self.list)?.map(|items| (list, items)));
            } else if let Some(member) =
                self.wanted.iter().flat_map(|wanted| wanted.others).find(|other| **other == name)
            {
                parts.members.retain(|(known, _)| known != member);
                parts.members.push((member, object.next_value()?));
            } else {
                let value: &RawValue = object.next_value()?;
                if value.get().starts_with(['[', '{']) && parts.containers.len() < self.list.max {
                    parts.containers.push((name, value));
                }
            }
        }
        Ok(())
    }
}

impl<'a> DeserializeSeed<'a> for ItemList<'_> {
    type Value = Option<Vec<&'a RawValue>>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for ItemList<'_> {
    type Value = Option<Vec<&'a RawValue>>;

    nothing_in_scalars!(None);

    fn visit_seq<A: SeqAccess<'a>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some(item) = items.next_element()? {
            if found.len() == self.max {
                self.is_full.set(true);
                return Err(A::Error::custom("too many items"));
            }
            found.push(item);
        }
        Ok(Some(found))
    }

    fn visit_map<A: MapAccess<'a>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

/// Creates the error for invalid JSON that begins after this number of lines.
pub(super) fn not_json(error: &serde_json::Error, lines: usize) -> ImportError {
    let reason = if error.is_eof() { "it ends too early".to_owned() } else { plain(error) };
    ImportError::NotJson { line: lines + error.line(), reason }
}

/// Returns the error message without the position.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}
