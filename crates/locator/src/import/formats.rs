//! The supported formats. A new format is a file that declares it, and a row of [`FORMATS`].

use std::fmt;
use std::str::FromStr;

use super::document::DocumentMembers;
use super::error::ImportError;
use super::format::{Format, SourceFile};
use super::{btcmap, coinmap, geojson, objects, overpass, pbf, submission, table};

/// All formats, in the order of detection: the first format that recognises a file reads it.
pub const FORMATS: &[Format] = &[
    pbf::FORMAT,
    overpass::FORMAT,
    submission::FORMAT,
    geojson::ALL_THE_PLACES,
    geojson::GEOJSON,
    btcmap::FORMAT,
    coinmap::FORMAT,
    objects::FORMAT,
    table::TSV,
    table::CSV,
];

/// The format of a file: a format of [`FORMATS`] by name, or the first that recognises the file.
///
/// ```
/// use signpost_locator::import::FormatChoice;
///
/// assert_eq!("osm-pbf".parse::<FormatChoice>().unwrap().name(), "osm-pbf");
/// assert_eq!("auto".parse(), Ok(FormatChoice::Auto));
/// let error = "xml".parse::<FormatChoice>().unwrap_err().to_string();
/// assert!(error.starts_with("unknown format 'xml'; known formats: auto, osm-pbf, "));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FormatChoice {
    /// Detect the format by the content.
    #[default]
    Auto,
    /// This format, without detection.
    Named(&'static Format),
}

/// A name that no format has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format '{0}'; known formats: {known}", known = list(FormatChoice::all().map(FormatChoice::name)))]
pub struct UnknownFormat(pub String);

impl FormatChoice {
    /// Returns all choices.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Auto).chain(FORMATS.iter().map(Self::Named))
    }

    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Named(format) => format.name,
        }
    }
}

impl FromStr for FormatChoice {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::all().find(|choice| choice.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

impl fmt::Display for FormatChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns the format that recognises a file.
pub(super) fn detect(file: &SourceFile<'_>) -> Result<&'static Format, ImportError> {
    for format in FORMATS {
        if (format.recognise)(file)? {
            return Ok(format);
        }
    }
    // Only JSON gets here, because all other files are tables.
    let json = FORMATS.iter().filter(|format| format.json.is_some());
    Err(ImportError::UnknownJson { known: list(json.map(|format| format.title)) })
}

/// Returns the members of documents that all formats read.
pub(super) fn members() -> Vec<DocumentMembers> {
    FORMATS.iter().filter_map(|format| format.json).collect()
}

fn list(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
