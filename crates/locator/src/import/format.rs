//! How files are written, and how to tell.

use super::document::Document;
use super::{Broken, Options};

/// How a file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Whatever its beginning looks like.
    #[default]
    Auto,
    /// Cells between commas, or semicolons if the header has more of them. Cells may be quoted, and then hold
    /// separators, line breaks and doubled quotes (RFC 4180).
    Csv,
    /// Cells between tabs, always: a quote does not hide a tab or the end of a line. Quotes around a cell are taken off
    /// and quotes inside it may be doubled or follow a backslash.
    Tsv,
    /// A `FeatureCollection` (RFC 7946), with the columns of a table as properties, or with OpenStreetMap's tags.
    GeoJson,
    /// What OpenStreetMap's Overpass API answers in JSON.
    Overpass,
    /// OpenStreetMap's binary extracts (`.osm.pbf`).
    OsmPbf,
    /// A list of places of BTC Map's API (v2 to v4), snapshots and changes alike.
    BtcMap,
    /// What a spider of `AllThePlaces` puts out: `GeoJSON` with OpenStreetMap's tags.
    AllThePlaces,
    /// What operators push to directories: `{"providerId", "apiTimestamp", "locations": […]}`.
    Submission,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Auto,
        Self::Csv,
        Self::Tsv,
        Self::GeoJson,
        Self::Overpass,
        Self::OsmPbf,
        Self::BtcMap,
        Self::AllThePlaces,
        Self::Submission,
    ];

    /// The format of this name.
    ///
    /// ```
    /// # use signpost_locator::import::Format;
    /// assert_eq!(Format::named("osm-pbf"), Some(Format::OsmPbf));
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::GeoJson => "geojson",
            Self::Overpass => "overpass",
            Self::OsmPbf => "osm-pbf",
            Self::BtcMap => "btcmap",
            Self::AllThePlaces => "atp",
            Self::Submission => "submission",
        }
    }
}

/// A file, taken apart as far as its format goes.
pub(super) enum Opened<'a> {
    /// The text of a table.
    Table(Format),
    /// A document.
    Json(Format, Document<'a>),
    /// An extract of OpenStreetMap.
    Pbf,
}

/// What a file is: as it was said, else as it looks.
pub(super) fn open<'a>(bytes: &'a [u8], options: &'a Options) -> Result<Opened<'a>, Broken> {
    match options.format {
        said @ (Format::Csv | Format::Tsv) => Ok(Opened::Table(said)),
        Format::OsmPbf => Ok(Opened::Pbf),
        Format::Auto if looks_like_pbf(bytes) => Ok(Opened::Pbf),
        Format::Auto if !looks_like_json(bytes) => Ok(Opened::Table(Format::Auto)),
        Format::Auto => {
            let document = Document::open(bytes, options)?;
            let format = format_of(&document)?.ok_or(Broken::UnknownJson)?;
            Ok(Opened::Json(format, document))
        }
        said => Ok(Opened::Json(said, Document::open(bytes, options)?)),
    }
}

/// The first block of every extract is called so.
fn looks_like_pbf(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(64)];
    start.first() == Some(&0) && start.windows(9).any(|window| window == b"OSMHeader")
}

fn looks_like_json(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(first, Some(b'{' | b'['))
}

fn format_of(document: &Document<'_>) -> Result<Option<Format>, Broken> {
    if document.has("elements") {
        return Ok(Some(Format::Overpass));
    }
    if document.has("locations") {
        return Ok(Some(Format::Submission));
    }
    if document.has("features") {
        let first = document.first("features")?.unwrap_or_default();
        let is_spiders = first["properties"]["@spider"].is_string();
        return Ok(Some(if is_spiders { Format::AllThePlaces } else { Format::GeoJson }));
    }
    if !document.has("") {
        return Ok(None);
    }
    let place = document.first("")?;
    let is_place = place.is_none_or(|place| place["osm_json"].is_object() || !place["lat"].is_null());
    Ok(is_place.then_some(Format::BtcMap))
}
