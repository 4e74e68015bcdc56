//! A file format: its name, its detection, and its reader.

use std::cell::OnceCell;
use std::fmt;

use super::bounds::{Bounds, CancelFlag};
use super::counted_values::CountedValues;
use super::document::{Document, DocumentMembers};
use super::encoding;
use super::error::ImportError;
use super::item::DocumentItem;
use super::text::{self, RawRow};

/// A file format, as a row of [`FORMATS`](super::FORMATS).
pub struct Format {
    /// Its name on the command line, unique.
    pub name: &'static str,
    /// Its title for people.
    pub title: &'static str,
    /// The members of a JSON document that the format reads.
    pub(super) json: Option<DocumentMembers>,
    /// Returns whether a file is of this format, by its content.
    pub(super) recognise: for<'a> fn(&SourceFile<'a>) -> Result<bool, ImportError>,
    /// Reads a file of this format.
    pub(super) read: for<'a> fn(&SourceFile<'a>) -> Result<FileContent<'a>, ImportError>,
}

/// The content of a file.
pub(super) enum FileContent<'a> {
    /// Rows of cells, the header first.
    Rows {
        rows: Vec<RawRow<'a>>,
        /// Repairs of the whole table, for the report.
        notice: Option<String>,
    },
    /// ATMs in a document.
    Items {
        items: Vec<DocumentItem>,
        /// The other items, by the tag or property that shows that they are no ATMs.
        others: CountedValues,
        /// The date of the document, for ATMs without a date.
        dated: Option<String>,
        /// Whether the format itself reads a property.
        is_read: fn(&str) -> bool,
    },
}

/// A file, parsed at most once, and only as far as the formats need.
pub(super) struct SourceFile<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) bounds: Bounds,
    pub(super) cancel: &'a CancelFlag,
    /// The members of documents that all formats read.
    members: &'a [DocumentMembers],
    text: OnceCell<&'a str>,
    document: OnceCell<Document<'a>>,
}

impl<'a> SourceFile<'a> {
    pub(super) fn new(bytes: &'a [u8], bounds: Bounds, cancel: &'a CancelFlag, members: &'a [DocumentMembers]) -> Self {
        Self { bytes, bounds, cancel, members, text: OnceCell::new(), document: OnceCell::new() }
    }

    /// Returns the file as text.
    pub(super) fn text(&self) -> Result<&'a str, ImportError> {
        if let Some(text) = self.text.get() {
            return Ok(text);
        }
        let text = text::decode(self.bytes)?;
        Ok(self.text.get_or_init(|| text))
    }

    /// Returns the file as JSON.
    pub(super) fn document(&self) -> Result<&Document<'a>, ImportError> {
        if let Some(document) = self.document.get() {
            return Ok(document);
        }
        let document = Document::open(self.bytes, self.bounds, self.cancel, self.members)?;
        Ok(self.document.get_or_init(|| document))
    }

    /// Returns `true` if the file begins like JSON.
    pub(super) fn looks_like_json(&self) -> bool {
        encoding::looks_like_json(self.bytes)
    }

    /// Returns `true` if the file is JSON with this list.
    pub(super) fn has_list(&self, list: &str) -> Result<bool, ImportError> {
        Ok(self.looks_like_json() && self.document()?.has(list))
    }
}

/// Formats are compared by name.
impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.name).finish()
    }
}
