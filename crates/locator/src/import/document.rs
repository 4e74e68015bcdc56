//! JSON documents, read item by item, because a parsed document would need a multiple of its size in memory.

use serde_json::Value;
use serde_json::value::RawValue;

use super::bounds::{Bounds, CancelFlag};
pub(super) use super::document_parts::DocumentMembers;
use super::document_parts::{DocumentParts, not_json};
use super::error::ImportError;

/// Maximum bytes of a member next to the items.
const MAX_MEMBER_BYTES: usize = 64 * 1024;
/// Maximum depth of the members that are searched for lists.
const MAX_LIST_DEPTH: usize = 3;
/// Maximum number of members that are searched for lists.
const MAX_SEARCHED: usize = 64;
/// The character before each text of a sequence of JSON texts (RFC 7464).
const RECORD_SEPARATOR: u8 = 0x1e;

/// A document with located, but unparsed items.
pub(super) struct Document<'a> {
    bytes: &'a [u8],
    bounds: Bounds,
    cancel: &'a CancelFlag,
    parts: DocumentParts<'a>,
    /// The objects of a file with an object per line. An object without a known list is a sequence of itself.
    sequence: Vec<&'a RawValue>,
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
        let Some(first) = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) else {
            return Err(ImportError::Empty);
        };
        let mut document = Self { bytes, bounds, cancel, parts: DocumentParts::default(), sequence: Vec::new() };
        if *first == RECORD_SEPARATOR {
            document.sequence = sequence(bytes, bounds.items, cancel)?;
            return Ok(document);
        }
        let mut parts = DocumentParts::read(bytes, wanted, bounds.items)?;
        match parts.rest.take() {
            Some(_) if *first == b'{' => document.sequence = sequence(bytes, bounds.items, cancel)?,
            // Only objects may follow each other without a separator.
            Some(error) => return Err(error),
            None => {
                if parts.has_only_unknown_members() {
                    document.sequence = sequence(bytes, bounds.items, cancel)?;
                }
                document.parts = parts;
            }
        }
        Ok(document)
    }

    /// Returns `true` if there is a list of this name.
    pub(super) fn has(&self, list: &str) -> bool {
        self.list(list).is_some()
    }

    /// Returns the unparsed items of a list.
    pub(super) fn list(&self, list: &str) -> Option<&[&'a RawValue]> {
        self.parts.lists.iter().find(|(name, _)| *name == list).map(|(_, items)| &items[..])
    }

    /// Returns the unparsed objects of a file with an object per line.
    pub(super) fn sequence(&self) -> &[&'a RawValue] {
        &self.sequence
    }

    /// Returns the lists in members and below them, with their paths such as `data.atms`.
    pub(super) fn nested_lists(&self) -> Result<Vec<(String, Vec<&'a RawValue>)>, ImportError> {
        let mut found = Vec::new();
        for (name, items) in self.parts.lists.iter().filter(|(name, _)| !name.is_empty()) {
            found.push(((*name).to_owned(), items.clone()));
        }
        let mut open: Vec<(String, &'a RawValue, usize)> = Vec::new();
        for (name, part) in self.parts.containers.iter().take(MAX_SEARCHED).rev() {
            open.push((name.clone(), *part, 1));
        }
        let mut searched = 0;
        while let Some((path, part, depth)) = open.pop() {
            searched += 1;
            if searched > MAX_SEARCHED {
                break;
            }
            self.cancel.check()?;
            let mut parts = DocumentParts::read(part.get().as_bytes(), &[], self.bounds.items)?;
            if let Some((_, items)) = parts.lists.pop() {
                found.push((path, items));
            } else if depth < MAX_LIST_DEPTH {
                for (name, part) in parts.containers.into_iter().take(MAX_SEARCHED).rev() {
                    open.push((format!("{path}.{name}"), part, depth + 1));
                }
            }
        }
        Ok(found)
    }

    /// Returns the objects in each dictionary of objects, `{"1": {…}, "2": {…}}`: the document and its members.
    pub(super) fn dictionaries(&self) -> Result<Vec<Vec<&'a RawValue>>, ImportError> {
        let mut found: Vec<Vec<&'a RawValue>> = self.parts.dictionary().into_iter().collect();
        for (_, part) in self.parts.containers.iter().take(MAX_SEARCHED) {
            self.cancel.check()?;
            let parts = DocumentParts::read(part.get().as_bytes(), &[], self.bounds.items)?;
            found.extend(parts.dictionary());
        }
        Ok(found)
    }

    /// Parses items, with their numbers.
    pub(super) fn parse(&self, items: &[&'a RawValue]) -> impl Iterator<Item = Result<(usize, Value), ImportError>> {
        (1..).zip(items).map(|(number, item)| {
            self.cancel.check()?;
            let max = self.bounds.item_bytes;
            if item.get().len() > max {
                return Err(ImportError::ItemTooLong { item: number, max });
            }
            Ok((number, self.value(item)?))
        })
    }

    /// Returns the items of a required list, with their numbers.
    pub(super) fn items(
        &self,
        list: &'static str,
        format: &'static str,
    ) -> Result<impl Iterator<Item = Result<(usize, Value), ImportError>>, ImportError> {
        let Some(items) = self.list(list) else {
            let expected = if list.is_empty() { "a list of objects".to_owned() } else { format!("a list '{list}'") };
            return Err(ImportError::OtherJson { format, expected });
        };
        Ok(self.parse(items))
    }

    /// Returns the first item of a list, if any.
    pub(super) fn first(&self, list: &str) -> Result<Option<Value>, ImportError> {
        self.first_of(self.list(list).unwrap_or_default())
    }

    /// Returns the first of unparsed items, if any.
    pub(super) fn first_of(&self, items: &[&'a RawValue]) -> Result<Option<Value>, ImportError> {
        match self.parse(items).next() {
            Some(item) => Ok(Some(item?.1)),
            None => Ok(None),
        }
    }

    /// Returns a member next to the lists; null if it is missing or too long.
    pub(super) fn member(&self, name: &str) -> Result<Value, ImportError> {
        match self.parts.members.iter().find(|(known, _)| *known == name) {
            Some((_, member)) if member.get().len() <= MAX_MEMBER_BYTES => self.value(member),
            _ => Ok(Value::Null),
        }
    }

    fn value(&self, part: &RawValue) -> Result<Value, ImportError> {
        serde_json::from_str(part.get()).map_err(|error| {
            // A part is a slice of the document, so its position follows from its address.
            let before = part.get().as_ptr().addr().saturating_sub(self.bytes.as_ptr().addr());
            let before = self.bytes.get(..before).unwrap_or_default();
            not_json(&error, lines(before))
        })
    }
}

/// Locates the JSON texts of a file that has one after the other, usually one per line, with or without a record
/// separator before each.
fn sequence<'a>(bytes: &'a [u8], max: usize, cancel: &CancelFlag) -> Result<Vec<&'a RawValue>, ImportError> {
    let mut texts = Vec::new();
    let mut rest = bytes;
    loop {
        cancel.check()?;
        let is_between = |byte: &&u8| byte.is_ascii_whitespace() || **byte == RECORD_SEPARATOR;
        rest = &rest[rest.iter().take_while(is_between).count()..];
        if rest.is_empty() {
            return Ok(texts);
        }
        if texts.len() == max {
            return Err(ImportError::TooManyItems { max });
        }
        let mut reader = serde_json::Deserializer::from_slice(rest).into_iter::<&RawValue>();
        match reader.next() {
            Some(Ok(text)) => texts.push(text),
            Some(Err(error)) => return Err(not_json(&error, lines(&bytes[..bytes.len() - rest.len()]))),
            None => return Ok(texts),
        }
        rest = &rest[reader.byte_offset()..];
    }
}

/// Returns the number of complete lines.
fn lines(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}
