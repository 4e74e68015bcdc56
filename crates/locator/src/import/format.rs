//! What a file format is: a name, how its files are recognised, and how they are read.

use std::cell::OnceCell;
use std::fmt;

use super::bounds::{Bounds, Stop};
use super::broken::Broken;
use super::document::{Document, DocumentMembers};
use super::item::DocumentItem;
use super::text::{self, RawRow};

/// A file format, as a row of [`FORMATS`](super::FORMATS).
pub struct Format {
    /// Its name on the command line, unique.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Of a JSON document, the member that is the list of its items (`""` is the document itself), and the members
    /// beside it that say something of all items.
    pub(super) json: Option<DocumentMembers>,
    /// Whether a file is of this format, by its content.
    pub(super) recognise: for<'a> fn(&SourceFile<'a>) -> Result<bool, Broken>,
    /// Reads a file of this format.
    pub(super) read: for<'a> fn(&SourceFile<'a>) -> Result<FileContent<'a>, Broken>,
}

/// What a format makes of a file.
pub(super) enum FileContent<'a> {
    /// Rows of cells, the header first.
    Rows(Vec<RawRow<'a>>),
    /// Machines that a document describes.
    Items {
        items: Vec<DocumentItem>,
        /// How many things in the document are no machines.
        others: usize,
        /// Whether the format reads a property by itself, whichever field that is.
        is_read: fn(&str) -> bool,
    },
}

/// A file, parsed only as far as the formats that look at it ask for, and once.
pub(super) struct SourceFile<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) bounds: Bounds,
    pub(super) stop: &'a Stop,
    /// The members of documents that any format reads.
    members: &'a [DocumentMembers],
    text: OnceCell<&'a str>,
    document: OnceCell<Document<'a>>,
}

impl<'a> SourceFile<'a> {
    pub(super) fn new(bytes: &'a [u8], bounds: Bounds, stop: &'a Stop, members: &'a [DocumentMembers]) -> Self {
        Self { bytes, bounds, stop, members, text: OnceCell::new(), document: OnceCell::new() }
    }

    /// The file as text.
    pub(super) fn text(&self) -> Result<&'a str, Broken> {
        if let Some(text) = self.text.get() {
            return Ok(text);
        }
        let text = text::decode(self.bytes)?;
        Ok(self.text.get_or_init(|| text))
    }

    /// The file as JSON.
    pub(super) fn document(&self) -> Result<&Document<'a>, Broken> {
        if let Some(document) = self.document.get() {
            return Ok(document);
        }
        let document = Document::open(self.bytes, self.bounds, self.stop, self.members)?;
        Ok(self.document.get_or_init(|| document))
    }

    /// Whether the file begins like JSON.
    pub(super) fn looks_like_json(&self) -> bool {
        let bytes = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(self.bytes);
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        matches!(first, Some(b'{' | b'['))
    }

    /// Whether the file is JSON with this list.
    pub(super) fn has_list(&self, list: &str) -> Result<bool, Broken> {
        Ok(self.looks_like_json() && self.document()?.has(list))
    }
}

/// Two formats of one name are one format.
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
