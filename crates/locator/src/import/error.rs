//! Errors of a whole file.

use std::fmt;

use super::compressed_error::CompressedError;
use super::counted_values::CountedValues;
use super::field::Field;

/// The reason why a whole file is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// It is blank.
    #[error("the file is empty; it must have a header line and a line for each ATM")]
    Empty,
    /// It is not UTF-8.
    #[error("line {line} is not UTF-8 ({looks_like}); save the file as UTF-8 and import it again")]
    NotUtf8 {
        /// The first invalid line.
        line: usize,
        /// The probable encoding.
        looks_like: &'static str,
    },
    /// A quoted cell does not end.
    #[error("the quote in line {line} is never closed; close it, or double the quotes that belong to the text")]
    OpenQuote {
        /// The first line of its row.
        line: usize,
    },
    /// The header cannot be read.
    #[error("the header cannot be read: {0}")]
    Header(String),
    /// The header has no column of coordinates.
    #[error(
        "no column found for {field}; map it ({field}=COLUMN), or a column with latitude and longitude \
         (coordinates=COLUMN). {columns}"
    )]
    NoCoordinates {
        /// `lat` or `lon`.
        field: Field,
        /// The columns of the file.
        columns: ColumnList,
    },
    /// An option names a missing column.
    #[error("there is no column {column:?}. {columns}")]
    NoSuchColumn {
        /// The name in the option.
        column: String,
        /// The columns of the file.
        columns: ColumnList,
    },
    /// It has only a header.
    #[error("the file has a header but no rows")]
    NoRows,
    /// A document is not valid JSON.
    #[error("line {line} is not JSON: {reason}")]
    NotJson {
        /// The line of the error.
        line: usize,
        /// The error.
        reason: String,
    },
    /// It is in a format that the import does not read.
    #[error("the file is {kind}, which is not supported: {remedy}")]
    UnsupportedFormat {
        /// The format, with its article.
        kind: &'static str,
        /// The export or conversion that results in a supported format.
        remedy: &'static str,
    },
    /// It is a compressed file that cannot be read.
    #[error(transparent)]
    Compressed(#[from] CompressedError),
    /// An Overpass response is incomplete according to its remark.
    #[error(
        "the Overpass response is incomplete, its remark is {remark:?}: nothing is imported; send the query again later, \
         for a smaller area, or with a longer [timeout:…]"
    )]
    IncompleteResponse {
        /// The first 200 characters of the remark.
        remark: String,
    },
    /// A document contains several lists of objects with coordinates.
    #[error("the file contains several lists of objects with coordinates ({lists}); import a file with one of them")]
    SeveralLists {
        /// The paths of the lists.
        lists: String,
    },
    /// The coordinates are arrays of numbers in an unknown order.
    #[error(
        "the coordinates are arrays of two numbers, and none of them shows whether the latitude or the longitude comes \
         first: write them as members 'lat' and 'lon', or as GeoJSON"
    )]
    UnknownOrder,
    /// The format of a document is unknown.
    #[error("the file is JSON in no known format; known formats: {known} (choose one with --format)")]
    UnknownJson {
        /// The known formats of documents.
        known: String,
    },
    /// A document does not have the structure of its format.
    #[error("the file is not {format}: it does not have {expected} at its top")]
    OtherJson {
        /// The assumed format.
        format: &'static str,
        /// The missing structure.
        expected: String,
    },
    /// A document contains no ATMs.
    #[error("the file contains no ATMs (of {total} items, none is an ATM that trades coins){}", of_kinds(.others), total = .others.total())]
    NoMachines {
        /// The other items, by the tag or property that shows that they are no ATMs.
        others: CountedValues,
    },
    /// It contains more items than the limit.
    #[error("it contains more than {max} items, the maximum for one import; split it")]
    TooManyItems {
        /// The limit.
        max: usize,
    },
    /// An item is too large.
    #[error("item {item} is longer than {max} bytes")]
    ItemTooLong {
        /// The number of the item, from 1.
        item: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The import was stopped.
    #[error("the import was cancelled")]
    Cancelled,
    /// A binary extract is damaged.
    #[error("the file is not an OpenStreetMap extract (.osm.pbf), or is damaged: {0}")]
    NotPbf(String),
    /// A binary extract requires an unsupported feature.
    #[error(
        "the OpenStreetMap extract requires the feature {feature:?}, which is not supported ({supported} are): import an \
         extract of the current data, without history"
    )]
    UnsupportedFeature {
        /// The first 60 characters of its name.
        feature: String,
        /// The supported features.
        supported: String,
    },
}

/// Returns the kinds of items for the end of a message.
fn of_kinds(others: &CountedValues) -> String {
    if others.total() == 0 { String::new() } else { format!("; they are: {others}") }
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
