//! How a file is read.

use jiff::Timestamp;

use super::bounds::{Bounds, Stop};
use super::field::Field;
use super::formats::FormatChoice;
use crate::country::Country;

/// How to read a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The format of the file.
    pub format: FormatChoice,
    /// Which column holds which field. A column name of `""` says that no column does. What is not named here is
    /// guessed from the header.
    pub map: Vec<(Field, String)>,
    /// Column and value: only rows that have all of these values are read.
    pub only: Vec<(String, String)>,
    /// The country of rows that do not say.
    pub country: Option<Country>,
    /// Whether a document has only what changed, so that it may hold no machines.
    pub partial: bool,
    /// The time: what a source claims to have learned later is not believed.
    pub now: Option<Timestamp>,
    /// How much is read.
    pub bounds: Bounds,
    /// By which another thread ends the reading.
    pub stop: Stop,
}
