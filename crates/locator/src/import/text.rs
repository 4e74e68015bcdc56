//! Files as text, and the rows of a table.

use std::borrow::Cow;

use super::broken::Broken;

/// A row of a file.
pub(super) struct RawRow<'a> {
    /// The line it starts on, from 1.
    pub(super) line: usize,
    /// Its cells, or why they cannot be told apart.
    pub(super) cells: Result<Vec<Cow<'a, str>>, String>,
}

/// The text of a file, without the byte order mark some programs begin it with.
pub(super) fn decode(bytes: &[u8]) -> Result<&str, Broken> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let wrong = |at: usize, looks_like| Broken::NotUtf8 { line: 1 + line_breaks(&bytes[..at]), looks_like };
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(wrong(0, "it looks like UTF-16"));
    }
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        return Err(wrong(at, "it contains a zero byte, as UTF-16 and spreadsheet files do"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| wrong(error.valid_up_to(), "it looks like Latin-1"))?;
    if text.trim().is_empty() { Err(Broken::Empty) } else { Ok(text) }
}

/// How many lines end in these bytes: with LF, CR LF, or CR alone.
pub(super) fn line_breaks(bytes: &[u8]) -> usize {
    let alone = |at: usize| bytes.get(at + 1) != Some(&b'\n');
    bytes.iter().enumerate().filter(|&(at, &byte)| byte == b'\n' || (byte == b'\r' && alone(at))).count()
}
