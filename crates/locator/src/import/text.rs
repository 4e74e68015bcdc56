//! Decoding of text files, with the rows of a table and line numbers.

use std::borrow::Cow;

use super::error::ImportError;

/// A row of a table, before its cells are interpreted.
pub(super) struct RawRow<'a> {
    /// The number of the row's first line, starting from 1.
    pub(super) line: usize,
    /// The cells, or the reason why the row is invalid.
    pub(super) cells: Result<Vec<Cow<'a, str>>, String>,
}

/// Decodes a UTF-8 file and removes its byte order mark.
pub(super) fn decode(bytes: &[u8]) -> Result<&str, ImportError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(not_utf8(bytes, 0, "it looks like UTF-16"));
    }
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        return Err(not_utf8(bytes, at, "it contains a zero byte, as UTF-16 and spreadsheet files do"));
    }
    let text =
        std::str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error.valid_up_to(), "it looks like Latin-1"))?;
    if text.trim().is_empty() { Err(ImportError::Empty) } else { Ok(text) }
}

/// Creates the error for invalid UTF-8 at a position.
fn not_utf8(bytes: &[u8], position: usize, looks_like: &'static str) -> ImportError {
    ImportError::NotUtf8 { line: 1 + line_breaks(&bytes[..position]), looks_like }
}

/// Counts the line breaks: LF, CR LF, or CR.
pub(super) fn line_breaks(bytes: &[u8]) -> usize {
    let breaks = bytes.iter().enumerate().filter(|&(at, &byte)| {
        // Only the LF of CR LF is counted.
        byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
    });
    breaks.count()
}
