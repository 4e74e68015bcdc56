//! Why nothing of a file can be used.

use std::fmt;

use super::field::Field;

/// Why nothing of a file can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// There is nothing in it but white space.
    #[error("the file is empty; it must have a header line and a line for each ATM")]
    Empty,
    /// It is in another encoding.
    #[error("line {line} is not UTF-8 ({looks_like}); save the file as UTF-8 and import it again")]
    NotUtf8 {
        /// The first line that is not.
        line: usize,
        /// The encoding it may have.
        looks_like: &'static str,
    },
    /// A quoted cell does not end.
    #[error("the quote in line {line} is never closed; close it, or double the quotes that belong to the text")]
    OpenQuote {
        /// The line of the row that it is in.
        line: usize,
    },
    /// The header cannot be read.
    #[error("the header cannot be read: {0}")]
    Header(String),
    /// The header does not say where the coordinates are.
    #[error("no column found for {field}; map it ({field}=COLUMN). {columns}")]
    NoCoordinates {
        /// `lat` or `lon`.
        field: Field,
        /// What there is.
        columns: ColumnList,
    },
    /// An option names a column that is not there.
    #[error("there is no column {column:?}. {columns}")]
    NoSuchColumn {
        /// The name in the option.
        column: String,
        /// What there is.
        columns: ColumnList,
    },
    /// There is a header and nothing else.
    #[error("the file has a header but no rows")]
    NoRows,
    /// A document cannot be read.
    #[error("line {line} is not JSON: {reason}")]
    NotJson {
        /// Where.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A document can be read, and is of no format that is known.
    #[error("the file is JSON in no known format; known formats: {known} (choose one with --format)")]
    UnknownJson {
        /// The formats of documents.
        known: String,
    },
    /// A document lacks what its format has.
    #[error("the file is not {format}: it does not have {expected} at its top")]
    OtherJson {
        /// The format it was taken for.
        format: &'static str,
        /// What such a document has.
        expected: String,
    },
    /// There are no machines in a document.
    #[error("the file contains no ATMs (of {others} items, none is an ATM that trades coins)")]
    NoMachines {
        /// How many other things there are.
        others: usize,
    },
    /// It holds more than was to be read.
    #[error("it contains more than {most} items, the maximum for one import; split it")]
    TooManyItems {
        /// How many may be in it.
        most: usize,
    },
    /// One thing in it is far larger than a machine.
    #[error("item {item} is longer than {most} bytes")]
    ItemTooLong {
        /// Its number, from 1.
        item: usize,
        /// How long it may be.
        most: usize,
    },
    /// Whoever waited for it went away.
    #[error("the import was stopped")]
    Stopped,
    /// A binary extract cannot be read.
    #[error("the file is not an OpenStreetMap extract (.osm.pbf), or is damaged: {0}")]
    NotPbf(String),
    /// A binary extract requires that its reader knows a feature, and this one does not.
    #[error(
        "the OpenStreetMap extract requires the feature {feature:?}, which is not supported ({supported} are): import an \
         extract of the current data, without history"
    )]
    UnsupportedFeature {
        /// Its name, the first 60 characters.
        feature: String,
        /// The supported features.
        supported: String,
    },
}

/// The columns of a file, for an error message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnList(pub Vec<String>);

impl fmt::Display for ColumnList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_SHOWN: usize = 50;
        f.write_str("the columns are: ")?;
        for (at, column) in self.0.iter().take(MAX_SHOWN).enumerate() {
            let column: String = column.chars().take(60).collect();
            write!(f, "{}{column}", if at == 0 { "" } else { ", " })?;
        }
        if self.0.len() > MAX_SHOWN { write!(f, " and {} more", self.0.len() - MAX_SHOWN) } else { Ok(()) }
    }
}
