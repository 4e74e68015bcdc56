//! The directory of a zip archive: the entries, and the data file among them.
//! <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>
//!
//! Only the parts of the format are read that archives of one data file need. The reader of the crate `zip` allocates
//! memory for as many entries as an archive claims to have, so a crafted file of a feed could exhaust it.

use super::compressed_error::CompressedError;
use super::error::ImportError;
use super::signatures::{EXCEL, KML, OPEN_DOCUMENT, OTHER_OFFICE, SHAPEFILE};

/// The method of an entry that is not compressed.
pub(super) const STORED: u16 = 0;
/// The method of an entry that is compressed with deflate (RFC 1951).
pub(super) const DEFLATED: u16 = 8;

const LOCAL_HEADER: &[u8] = b"PK\x03\x04";
const DIRECTORY_HEADER: &[u8] = b"PK\x01\x02";
const END_RECORD: &[u8] = b"PK\x05\x06";
/// The record at the beginning of an archive that is split into several files.
const SPLIT_MARKER: &[u8] = b"PK\x07\x08";
/// Sizes in bytes, without names, extra fields and comments.
const LOCAL_HEADER_BYTES: usize = 30;
const DIRECTORY_HEADER_BYTES: usize = 46;
const END_RECORD_BYTES: usize = 22;
/// Maximum size of the comment at the end of an archive, in bytes.
const MAX_COMMENT_BYTES: usize = 0xffff;

/// Maximum number of entries.
const MAX_ENTRIES: usize = 1_000;
/// Maximum number of names in an error.
const MAX_NAMES: usize = 5;
/// Maximum number of characters of a name in an error.
const MAX_NAME_CHARS: usize = 60;

/// The name extensions of data files.
const DATA: [&str; 10] =
    ["csv", "tsv", "json", "geojson", "geojsonl", "geojsons", "ndjson", "ndgeojson", "jsonl", "pbf"];

/// An entry of an archive.
pub(super) struct ZipEntry<'a> {
    /// Its name, for messages.
    pub(super) name: String,
    /// The compressed data.
    pub(super) packed: &'a [u8],
    /// The compression method.
    pub(super) method: u16,
    /// The declared size of the decompressed data, in bytes.
    pub(super) size: usize,
    /// The CRC-32 of the decompressed data.
    pub(super) checksum: u32,
}

/// An entry of the directory.
struct DirectoryEntry {
    path: String,
    is_encrypted: bool,
    method: u16,
    checksum: u32,
    packed_size: usize,
    size: usize,
    /// The position of the local header.
    at: usize,
}

/// Returns `true` if a file begins like a zip archive.
pub(super) fn begins_like_zip(bytes: &[u8]) -> bool {
    [LOCAL_HEADER, END_RECORD, SPLIT_MARKER].iter().any(|marker| bytes.starts_with(marker))
}

/// Returns the entry of the data file in an archive. Folders, hidden files, and texts such as `README.txt` next to a
/// data file are ignored.
///
/// # Errors
/// [`CompressedError`], if the archive is damaged or unsupported, or has no or several data files; and
/// [`ImportError::UnsupportedFormat`], if it is a workbook or a map of another program.
pub(super) fn data_entry(archive: &[u8]) -> Result<ZipEntry<'_>, ImportError> {
    let mut entries = directory(archive)?;
    entries.retain(|entry| !is_ignored(&entry.path));
    reject_other_formats(&entries)?;
    let entry = choose(&entries)?;
    if entry.is_encrypted {
        return Err(CompressedError::UnsupportedZip { feature: "encrypted".to_owned() }.into());
    }
    if [entry.packed_size, entry.size, entry.at].contains(&(u32::MAX as usize)) {
        return Err(zip64().into());
    }
    let packed = local_data(archive, entry).ok_or_else(|| damaged("its directory does not match its content"))?;
    let DirectoryEntry { method, checksum, size, .. } = *entry;
    Ok(ZipEntry { name: shorten(&entry.path), packed, method, size, checksum })
}

/// Reads the directory, which is at the end of the archive.
fn directory(archive: &[u8]) -> Result<Vec<DirectoryEntry>, CompressedError> {
    let end = find_end(archive).ok_or_else(|| damaged("it ends too early"))?;
    let disk = u16_at(archive, end + 4).ok_or_else(incomplete_directory)?;
    let count = u16_at(archive, end + 10).ok_or_else(incomplete_directory)?;
    let start = u32_at(archive, end + 16).ok_or_else(incomplete_directory)?;
    if start == u32::MAX || count == u16::MAX {
        return Err(zip64());
    }
    if disk != 0 {
        return Err(CompressedError::UnsupportedZip { feature: "split into several files".to_owned() });
    }
    if usize::from(count) > MAX_ENTRIES {
        return Err(CompressedError::TooManyEntries { max: MAX_ENTRIES });
    }
    let mut rest = archive.get(start as usize..end).ok_or_else(incomplete_directory)?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let (entry, length) = directory_entry(rest).ok_or_else(incomplete_directory)?;
        entries.push(entry);
        rest = rest.get(length..).ok_or_else(incomplete_directory)?;
    }
    Ok(entries)
}

fn zip64() -> CompressedError {
    CompressedError::UnsupportedZip { feature: "in the format ZIP64 for large archives".to_owned() }
}

/// Returns the position of the end record. A comment may follow it.
fn find_end(archive: &[u8]) -> Option<usize> {
    let last = archive.len().checked_sub(END_RECORD_BYTES)?;
    let first = last.saturating_sub(MAX_COMMENT_BYTES);
    (first..=last).rev().find(|at| {
        let comment = u16_at(archive, at + 20).map(usize::from);
        archive[*at..].starts_with(END_RECORD) && comment == Some(last - at)
    })
}

/// Reads an entry of the directory. Returns it with its length in bytes.
fn directory_entry(rest: &[u8]) -> Option<(DirectoryEntry, usize)> {
    if !rest.starts_with(DIRECTORY_HEADER) {
        return None;
    }
    let name_bytes = usize::from(u16_at(rest, 28)?);
    let extra_bytes = usize::from(u16_at(rest, 30)?);
    let comment_bytes = usize::from(u16_at(rest, 32)?);
    let name = rest.get(DIRECTORY_HEADER_BYTES..)?.get(..name_bytes)?;
    let entry = DirectoryEntry {
        path: String::from_utf8_lossy(name).into_owned(),
        is_encrypted: u16_at(rest, 8)? & 1 != 0,
        method: u16_at(rest, 10)?,
        checksum: u32_at(rest, 16)?,
        packed_size: u32_at(rest, 20)? as usize,
        size: u32_at(rest, 24)? as usize,
        at: u32_at(rest, 42)? as usize,
    };
    Some((entry, DIRECTORY_HEADER_BYTES + name_bytes + extra_bytes + comment_bytes))
}

/// Returns the compressed data after the local header of an entry. The sizes in this header are not used, because they
/// may be missing.
fn local_data<'a>(archive: &'a [u8], entry: &DirectoryEntry) -> Option<&'a [u8]> {
    let header = archive.get(entry.at..)?;
    if !header.starts_with(LOCAL_HEADER) {
        return None;
    }
    let name_bytes = usize::from(u16_at(header, 26)?);
    let extra_bytes = usize::from(u16_at(header, 28)?);
    header.get(LOCAL_HEADER_BYTES + name_bytes + extra_bytes..)?.get(..entry.packed_size)
}

/// Checks for folders, and for files that programs add to archives.
fn is_ignored(path: &str) -> bool {
    let mut parts = path.split(['/', '\\']);
    path.ends_with(['/', '\\'])
        || parts.any(|part| part.starts_with('.') || ["__MACOSX", "Thumbs.db", "desktop.ini"].contains(&part))
}

/// Rejects formats of other programs that are zip archives.
fn reject_other_formats(entries: &[DirectoryEntry]) -> Result<(), ImportError> {
    let has = |test: fn(&str) -> bool| entries.iter().any(|entry| test(&entry.path.to_ascii_lowercase()));
    if has(|path| path == "[content_types].xml") {
        let workbook = has(|path| path.starts_with("xl/"));
        return Err(if workbook { EXCEL.refusal() } else { OTHER_OFFICE.refusal() });
    }
    if has(|path| path == "mimetype") && has(|path| path == "content.xml") {
        return Err(OPEN_DOCUMENT.refusal());
    }
    if has(is_data) {
        return Ok(());
    }
    if has(|path| extension(path) == "kml") {
        return Err(KML.refusal());
    }
    if has(|path| extension(path) == "shp") {
        return Err(SHAPEFILE.refusal());
    }
    Ok(())
}

/// Returns the data file: the only file with the extension of a data file, else the only file, else the only text that
/// is no description.
fn choose(entries: &[DirectoryEntry]) -> Result<&DirectoryEntry, CompressedError> {
    let data: Vec<&DirectoryEntry> = entries.iter().filter(|entry| is_data(&entry.path)).collect();
    match &data[..] {
        [entry] => return Ok(entry),
        [] => {}
        _ => return Err(CompressedError::SeveralFiles { names: names(&data) }),
    }
    if let [entry] = entries {
        return Ok(entry);
    }
    let texts: Vec<&DirectoryEntry> = entries.iter().filter(|entry| is_text(&entry.path)).collect();
    match &texts[..] {
        [entry] => Ok(entry),
        [] => Err(CompressedError::NoDataFile { names: names(&entries.iter().collect::<Vec<_>>()) }),
        _ => Err(CompressedError::SeveralFiles { names: names(&texts) }),
    }
}

/// Checks for the name extension of a data file.
pub(super) fn is_data(path: &str) -> bool {
    DATA.contains(&extension(path).as_str())
}

/// Checks for a text that is no description of the data.
fn is_text(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let is_description =
        ["readme", "license", "licence", "copying", "attribution"].iter().any(|of| name.starts_with(of));
    extension(path) == "txt" && !is_description
}

fn extension(path: &str) -> String {
    path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default()
}

/// Returns the first names, for an error.
fn names(entries: &[&DirectoryEntry]) -> String {
    if entries.is_empty() {
        return "it is empty".to_owned();
    }
    let shown: Vec<String> = entries.iter().take(MAX_NAMES).map(|entry| shorten(&entry.path)).collect();
    let more = entries.len() - shown.len();
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

fn shorten(path: &str) -> String {
    signpost_text::clean_line(path).chars().take(MAX_NAME_CHARS).collect()
}

fn incomplete_directory() -> CompressedError {
    damaged("its directory is incomplete")
}

fn damaged(reason: &str) -> CompressedError {
    CompressedError::Damaged { kind: "zip", reason: reason.to_owned() }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let number = bytes.get(at..)?.first_chunk::<2>()?;
    Some(u16::from_le_bytes(*number))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let number = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*number))
}
