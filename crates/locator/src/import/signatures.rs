//! Formats that are recognized by their first bytes, but not supported: the error names the format and the remedy.

use super::error::ImportError;

/// Bytes at the beginning of a file in which the format of XML and HTML is searched.
const SEARCHED_BYTES: usize = 4 << 10;
/// The position of the signature of a tar archive.
const TAR_AT: usize = 257;

/// A format that the import does not read.
pub(super) struct UnsupportedFormat {
    /// Its name with an article.
    kind: &'static str,
    remedy: &'static str,
}

const TO_CSV: &str = "save the sheet with the ATMs as CSV (UTF-8)";
const TO_GEOJSON: &str = "convert it to GeoJSON, for example with QGIS or ogr2ogr";
const DECOMPRESS: &str = "decompress it, or compress the data file with gzip or zip";
const EXTRACT: &str = "extract it, and import the data file";
const EXPORT: &str = "export the ATMs as CSV or GeoJSON";

pub(super) const EXCEL: UnsupportedFormat = UnsupportedFormat { kind: "an Excel workbook", remedy: TO_CSV };
pub(super) const OPEN_DOCUMENT: UnsupportedFormat = UnsupportedFormat { kind: "an OpenDocument file", remedy: TO_CSV };
pub(super) const OTHER_OFFICE: UnsupportedFormat = UnsupportedFormat { kind: "an Office document", remedy: EXPORT };
pub(super) const KML: UnsupportedFormat = UnsupportedFormat {
    kind: "KML",
    remedy: "export CSV from the map, or convert it to GeoJSON, for example with QGIS or ogr2ogr",
};
pub(super) const SHAPEFILE: UnsupportedFormat = UnsupportedFormat { kind: "a shapefile", remedy: TO_GEOJSON };
const GPX: UnsupportedFormat = UnsupportedFormat { kind: "GPX", remedy: TO_GEOJSON };
const OSM_XML: UnsupportedFormat =
    UnsupportedFormat { kind: "OSM XML", remedy: "use an extract (.osm.pbf), or query Overpass with [out:json]" };
const HTML: UnsupportedFormat = UnsupportedFormat {
    kind: "an HTML page",
    remedy: "it may be a login or error page; download the data itself as CSV, JSON or GeoJSON",
};
const XML: UnsupportedFormat = UnsupportedFormat { kind: "XML", remedy: EXPORT };
const TAR: UnsupportedFormat = UnsupportedFormat { kind: "a tar archive", remedy: EXTRACT };

/// The first bytes of binary formats.
const BINARY: [(&[u8], UnsupportedFormat); 13] = [
    (b"%PDF-", UnsupportedFormat { kind: "a PDF document", remedy: EXPORT }),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", UnsupportedFormat { kind: "an old Excel or Office file", remedy: TO_CSV }),
    (b"\0\0\x27\x0a", SHAPEFILE),
    (b"SQLite format 3\0", UnsupportedFormat { kind: "an SQLite database or GeoPackage", remedy: EXPORT }),
    (b"PAR1\x15", UnsupportedFormat { kind: "Parquet", remedy: EXPORT }),
    (b"BZh91AY&SY", UnsupportedFormat { kind: "compressed with bzip2", remedy: DECOMPRESS }),
    (b"\xfd7zXZ\0", UnsupportedFormat { kind: "compressed with xz", remedy: DECOMPRESS }),
    (b"\x28\xb5\x2f\xfd", UnsupportedFormat { kind: "compressed with Zstandard", remedy: DECOMPRESS }),
    (b"7z\xbc\xaf\x27\x1c", UnsupportedFormat { kind: "a 7z archive", remedy: EXTRACT }),
    (b"Rar!\x1a\x07", UnsupportedFormat { kind: "a RAR archive", remedy: EXTRACT }),
    (b"\x89PNG", UnsupportedFormat { kind: "a PNG image", remedy: EXPORT }),
    (b"\xff\xd8\xff", UnsupportedFormat { kind: "a JPEG image", remedy: EXPORT }),
    (b"{\\rtf", UnsupportedFormat { kind: "a rich text document", remedy: EXPORT }),
];

/// Elements and declarations of text formats, in lower case.
const ELEMENTS: [(&str, UnsupportedFormat); 9] = [
    ("<kml", KML),
    ("<gpx", GPX),
    ("<osm", OSM_XML),
    ("<!doctype html", HTML),
    ("<html", HTML),
    ("<head", HTML),
    ("<body", HTML),
    ("<script", HTML),
    ("<meta", HTML),
];

impl UnsupportedFormat {
    /// Returns the error that names the format.
    pub(super) const fn refusal(&self) -> ImportError {
        ImportError::UnsupportedFormat { kind: self.kind, remedy: self.remedy }
    }
}

/// Rejects files in known, but unsupported formats.
///
/// # Errors
/// [`ImportError::UnsupportedFormat`].
pub(super) fn reject_unsupported(bytes: &[u8]) -> Result<(), ImportError> {
    for (signature, format) in &BINARY {
        if bytes.starts_with(signature) {
            return Err(format.refusal());
        }
    }
    if bytes.get(TAR_AT..).is_some_and(|rest| rest.starts_with(b"ustar")) {
        return Err(TAR.refusal());
    }
    reject_markup(bytes)
}

/// Rejects XML and HTML by the first known element.
fn reject_markup(bytes: &[u8]) -> Result<(), ImportError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    if !bytes.starts_with(b"<") {
        return Ok(());
    }
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(SEARCHED_BYTES)]).to_ascii_lowercase();
    let found = ELEMENTS.iter().filter_map(|(element, format)| Some((start.find(element)?, format)));
    if let Some((_, format)) = found.min_by_key(|(at, _)| *at) {
        return Err(format.refusal());
    }
    if start.starts_with("<?xml") || start.starts_with("<!") { Err(XML.refusal()) } else { Ok(()) }
}
