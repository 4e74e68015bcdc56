//! The options of an import.

use jiff::Timestamp;

use super::bounds::{Bounds, CancelFlag};
use super::field::Field;
use super::formats::FormatChoice;
use crate::country::Country;

/// The options of an import.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The format of the file.
    pub format: FormatChoice,
    /// The columns of fields. A column name of `""` means no column. Other fields are guessed from the header.
    pub map: Vec<(Field, String)>,
    /// Columns and values: only rows with all of these values are read.
    pub only: Vec<(String, String)>,
    /// The country of rows without one.
    pub country: Option<Country>,
    /// Whether a document has only changes, so that it may contain no ATMs.
    pub partial: bool,
    /// Whether the file must be as its format defines: it is not decompressed, converted from UTF-16, or repaired.
    pub strict: bool,
    /// The date of records that have none.
    pub as_of: Option<Timestamp>,
    /// The current time: reports from the future are ignored.
    pub now: Option<Timestamp>,
    /// The limits of the size of the file.
    pub bounds: Bounds,
    /// Stops the import from another thread.
    pub cancel: CancelFlag,
}
