//! From bytes to rows of cells.

use std::borrow::Cow;
use std::io::Read as _;

use super::{Broken, Format};
use crate::formula;

/// Most bytes in a row; a longer one is not a machine.
const LONGEST_ROW: usize = 64 * 1024;

/// A row that no file holds. It is read after the last one: if it does not arrive whole, an open quote has swallowed it.
const END: &[u8] = b"\n\x1eend\x1e\n";

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
        return Err(wrong(at, "it holds a zero byte, as UTF-16 and spreadsheet files do"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| wrong(error.valid_up_to(), "it looks like Latin-1"))?;
    if text.trim().is_empty() { Err(Broken::Empty) } else { Ok(text) }
}

/// The rows of a text: of tab-separated cells if it is said or the header has a tab. Empty lines are no rows.
/// Of more rows than `most` the first.
pub(super) fn rows(text: &str, format: Format, most: usize) -> Result<Vec<RawRow<'_>>, Broken> {
    let header = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match format {
        Format::Tsv => Ok(tsv(text, most)),
        Format::Auto if header.contains('\t') => Ok(tsv(text, most)),
        _ => {
            let count = |separator: char| header.matches(separator).count();
            csv(text, if count(';') > count(',') { b';' } else { b',' }, most)
        }
    }
}

fn tsv(text: &str, most: usize) -> Vec<RawRow<'_>> {
    let lines = (1..).zip(text.split('\n')).map(|(number, line)| (number, line.strip_suffix('\r').unwrap_or(line)));
    lines
        .filter(|(_, line)| !line.trim_matches(' ').is_empty())
        .take(most)
        .map(|(line, row)| {
            let short = row.len() <= LONGEST_ROW;
            RawRow { line, cells: short.then(|| row.split('\t').map(plain).collect()).ok_or_else(too_long) }
        })
        .collect()
}

fn too_long() -> String {
    "the row is longer than 64 KiB".to_owned()
}

/// A cell of a tab-separated row as it was before it was quoted.
fn plain(cell: &str) -> Cow<'_, str> {
    match unquoted(cell) {
        Cow::Borrowed(cell) => formula::unguarded(cell).into(),
        Cow::Owned(cell) => formula::unguarded(&cell).to_owned().into(),
    }
}

/// A cell of a tab-separated row without its quotes and backslashes.
fn unquoted(cell: &str) -> Cow<'_, str> {
    let cell = cell.trim();
    let Some(inner) = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')) else { return cell.into() };
    if !inner.contains(['"', '\\']) {
        return inner.into();
    }
    let mut plain = String::with_capacity(inner.len());
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = match (letter, letters.peek()) {
            ('"', Some('"')) | ('\\', Some('"' | '\\')) => letters.next(),
            _ => None,
        };
        plain.push(escaped.unwrap_or(letter));
    }
    plain.into()
}

fn csv(text: &str, delimiter: u8, most: usize) -> Result<Vec<RawRow<'_>>, Broken> {
    let bytes = text.as_bytes();
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(bytes.chain(END));
    let mut rows = Vec::new();
    let mut record = csv::ByteRecord::new();
    let (mut line, mut end) = (1, 0);
    loop {
        // The reader counts lines too, but not the empty ones before a row.
        let start = end + bytes[end..].iter().take_while(|byte| b"\r\n".contains(byte)).count();
        if start == bytes.len() || rows.len() == most {
            return Ok(rows);
        }
        line += line_breaks(&bytes[end..start]);
        let more = reader.read_byte_record(&mut record).unwrap_or(false);
        end = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX).min(bytes.len() + END.len());
        if !more || end > bytes.len() + 1 {
            return Err(Broken::OpenQuote { line });
        }
        end = end.min(bytes.len());
        // The line break after a row may be half read: it is counted before the next one.
        end -= bytes[start..end].iter().rev().take_while(|byte| b"\r\n".contains(byte)).count();
        let last_line = line + line_breaks(&bytes[start..end]);
        let cells = if end - start > LONGEST_ROW {
            Err(too_long())
        } else if last_line > line && !is_well_quoted(&bytes[start..end], delimiter) {
            Err(format!("the row goes on to line {last_line}: a quote in it is never closed, or not doubled"))
        } else {
            let plain = |cell| formula::unguarded(String::from_utf8_lossy(cell).trim()).to_owned().into();
            Ok(record.iter().map(plain).collect())
        };
        if !cells
            .as_ref()
            .is_ok_and(|cells: &Vec<Cow<str>>| cells.iter().all(|cell| cell.is_empty()) && cells.len() == 1)
        {
            rows.push(RawRow { line, cells });
        }
        line = last_line;
    }
}

/// Whether quotes stand only around whole cells, and doubled inside them. The reader forgives others, which is right
/// for `5" pipe` and wrong where a stray quote has made one row of two.
fn is_well_quoted(row: &[u8], delimiter: u8) -> bool {
    let outside = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == delimiter);
    let (mut at, mut quoted) = (0, false);
    while let Some(byte) = row.get(at) {
        if *byte == b'"' {
            match row.get(at + 1) {
                Some(b'"') if quoted => at += 1,
                next if quoted && outside(next) => quoted = false,
                _ if !quoted && outside(at.checked_sub(1).and_then(|before| row.get(before))) => quoted = true,
                _ => return false,
            }
        }
        at += 1;
    }
    !quoted
}

/// How many lines end in these bytes: with LF, CR LF, or CR alone.
fn line_breaks(bytes: &[u8]) -> usize {
    let alone = |at: usize| bytes.get(at + 1) != Some(&b'\n');
    bytes.iter().enumerate().filter(|&(at, &byte)| byte == b'\n' || (byte == b'\r' && alone(at))).count()
}
