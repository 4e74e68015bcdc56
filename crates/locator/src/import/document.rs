//! JSON documents, read item by item, because a parsed document would need a multiple of its size in memory.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::bounds::{Bounds, CancelFlag};
use super::error::ImportError;

/// Maximum bytes of a member next to the items.
const MAX_MEMBER_BYTES: usize = 64 * 1024;

/// The top-level members of a document that a format reads.
#[derive(Clone, Copy)]
pub(super) struct DocumentMembers {
    /// The name of the list of items; `""` is the document itself.
    pub(super) list: &'static str,
    /// The names of other members.
    pub(super) others: &'static [&'static str],
}

/// A document with located, but unparsed items.
pub(super) struct Document<'a> {
    bytes: &'a [u8],
    bounds: Bounds,
    cancel: &'a CancelFlag,
    /// The items of each list; a list without a name is the document.
    lists: Vec<(&'static str, Vec<&'a RawValue>)>,
    members: Vec<(&'static str, &'a RawValue)>,
}

impl<'a> Document<'a> {
    /// Opens a document. `wanted` are the members that all formats read, because the format is still unknown.
    pub(super) fn open(
        bytes: &'a [u8],
        bounds: Bounds,
        cancel: &'a CancelFlag,
        wanted: &[DocumentMembers],
    ) -> Result<Self, ImportError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(ImportError::Empty);
        }
        let max = bounds.items;
        let is_full = Cell::new(false);
        let mut lists = Vec::new();
        let mut members = Vec::new();
        let top = Top { wanted, list: ItemList { max, is_full: &is_full }, lists: &mut lists, members: &mut members };
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let read = json.deserialize_any(top).and_then(|()| json.end());
        if is_full.get() {
            return Err(ImportError::TooManyItems { max });
        }
        read.map_err(|error| not_json(&error, 0))?;
        Ok(Self { bytes, bounds, cancel, lists, members })
    }

    /// Returns `true` if there is a list of this name.
    pub(super) fn has(&self, list: &str) -> bool {
        self.lists.iter().any(|(name, _)| *name == list)
    }

    /// Returns the items of a required list, with their numbers.
    pub(super) fn items(
        &self,
        list: &'static str,
        format: &'static str,
    ) -> Result<impl Iterator<Item = Result<(usize, Value), ImportError>>, ImportError> {
        let Some((_, items)) = self.lists.iter().find(|(name, _)| *name == list) else {
            let expected = if list.is_empty() { "a list of objects".to_owned() } else { format!("a list '{list}'") };
            return Err(ImportError::OtherJson { format, expected });
        };
        Ok((1..).zip(items).map(|(number, item)| {
            self.cancel.check()?;
            let max = self.bounds.item_bytes;
            if item.get().len() > max {
                return Err(ImportError::ItemTooLong { item: number, max });
            }
            Ok((number, self.value(item)?))
        }))
    }

    /// Returns the first item of a list, if any.
    pub(super) fn first(&self, list: &'static str) -> Result<Option<Value>, ImportError> {
        match self.items(list, "")?.next() {
            Some(item) => Ok(Some(item?.1)),
            None => Ok(None),
        }
    }

    /// Returns a member next to the lists; null if it is missing or too long.
    pub(super) fn member(&self, name: &str) -> Result<Value, ImportError> {
        match self.members.iter().find(|(known, _)| *known == name) {
            Some((_, member)) if member.get().len() <= MAX_MEMBER_BYTES => self.value(member),
            _ => Ok(Value::Null),
        }
    }

    fn value(&self, part: &RawValue) -> Result<Value, ImportError> {
        serde_json::from_str(part.get()).map_err(|error| {
            // A part is a slice of the document, so its position follows from its address.
            let before = part.get().as_ptr().addr().saturating_sub(self.bytes.as_ptr().addr());
            let before = self.bytes.get(..before).unwrap_or_default();
            not_json(&error, before.split(|byte| *byte == b'\n').count() - 1)
        })
    }
}

/// Creates the error for invalid JSON that begins after this number of lines.
fn not_json(error: &serde_json::Error, lines: usize) -> ImportError {
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

/// A visitor that locates the items of a document.
struct Top<'m, 'a> {
    wanted: &'m [DocumentMembers],
    list: ItemList<'m>,
    lists: &'m mut Vec<(&'static str, Vec<&'a RawValue>)>,
    members: &'m mut Vec<(&'static str, &'a RawValue)>,
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
        self.lists.extend(items.map(|items| ("", items)));
        Ok(())
    }

    // The last of duplicate members is used, as in most parsers.
    fn visit_map<A: MapAccess<'a>>(self, mut object: A) -> Result<(), A::Error> {
        while let Some(name) = object.next_key::<String>()? {
            if let Some(list) = self.wanted.iter().map(|wanted| wanted.list).find(|list| *list == name) {
                self.lists.retain(|(known, _)| *known != list);
                self.lists.extend(object.next_value_seed(self.list)?.map(|items| (list, items)));
            } else if let Some(member) =
                self.wanted.iter().flat_map(|wanted| wanted.others).find(|other| **other == name)
            {
                self.members.retain(|(known, _)| known != member);
                self.members.push((member, object.next_value()?));
            } else {
                object.next_value::<IgnoredAny>()?;
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
