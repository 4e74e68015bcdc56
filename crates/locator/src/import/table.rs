//! Tables: cells between commas or tabs, below a header.

use std::borrow::Cow;
use std::io::Read as _;

use super::error::ImportError;
use super::format::{FileContent, Format};
use super::text::{RawRow, line_breaks};
use crate::formula;

/// Maximum bytes of a row.
const MAX_ROW_BYTES: usize = 64 * 1024;

/// A sentinel row after the last row. If it is not read as a row, it is inside an open quote.
const END: &[u8] = b"\n\x1eend\x1e\n";

/// Cells between commas, or semicolons if the header has more of them. Quoted cells may contain separators, line breaks
/// and doubled quotes (RFC 4180).
pub(super) const CSV: Format = Format {
    name: "csv",
    title: "CSV",
    json: None,
    recognise: |file| Ok(!file.looks_like_json()),
    read: |file| {
        let text = file.text()?;
        let header = header(text);
        let delimiter = if header.matches(';').count() > header.matches(',').count() { b';' } else { b',' };
        Ok(FileContent::Rows(csv(text, delimiter, file.bounds.rows())?))
    },
};

/// Cells between tabs, also in quotes. Quotes around a cell are removed; quotes inside it may be doubled or escaped by
/// a backslash, like tabs and line breaks.
pub(super) const TSV: Format = Format {
    name: "tsv",
    title: "TSV",
    json: None,
    recognise: |file| Ok(!file.looks_like_json() && header(file.text()?).contains('\t')),
    read: |file| Ok(FileContent::Rows(tsv(file.text()?, file.bounds.rows()))),
};

/// Returns the first line that is not blank.
fn header(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// Returns the first `max` rows. Empty lines are skipped.
fn tsv(text: &str, max: usize) -> Vec<RawRow<'_>> {
    let lines = (1..).zip(text.split('\n')).map(|(number, line)| (number, line.strip_suffix('\r').unwrap_or(line)));
    lines
        .filter(|(_, line)| !line.trim_matches(' ').is_empty())
        .take(max)
        .map(|(line, row)| {
            let cells =
                if row.len() > MAX_ROW_BYTES { Err(too_long()) } else { Ok(row.split('\t').map(plain).collect()) };
            RawRow { line, cells }
        })
        .collect()
}

fn too_long() -> String {
    "the row is longer than 64 KiB".to_owned()
}

/// Returns a cell of a tab-separated row without quotes and formula guard.
fn plain(cell: &str) -> Cow<'_, str> {
    match unquoted(cell) {
        Cow::Borrowed(cell) => formula::unescape(cell).into(),
        Cow::Owned(cell) => formula::unescape(&cell).to_owned().into(),
    }
}

/// Returns a cell of a tab-separated row without its quotes and backslashes.
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
            // An escaped tab or line break becomes a space.
            ('\\', Some('t' | 'n' | 'r')) => letters.next().map(|_| ' '),
            _ => None,
        };
        plain.push(escaped.unwrap_or(letter));
    }
    plain.trim().to_owned().into()
}

/// Returns the first `max` rows. Empty lines are skipped.
fn csv(text: &str, delimiter: u8, max: usize) -> Result<Vec<RawRow<'_>>, ImportError> {
    let bytes = text.as_bytes();
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(bytes.chain(END));
    let mut rows = Vec::new();
    let mut record = csv::ByteRecord::new();
    let mut line = 1;
    let mut end = 0;
    loop {
        // The reader counts lines too, but not empty lines before a row.
        let start = end + bytes[end..].iter().take_while(|byte| b"\r\n".contains(byte)).count();
        if start == bytes.len() || rows.len() == max {
            return Ok(rows);
        }
        line += line_breaks(&bytes[end..start]);
        let more = reader.read_byte_record(&mut record).unwrap_or(false);
        end = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX).min(bytes.len() + END.len());
        if !more || end > bytes.len() + 1 {
            return Err(ImportError::OpenQuote { line });
        }
        end = end.min(bytes.len());
        // The line break after a row may be partly read, and is counted before the next row.
        end -= bytes[start..end].iter().rev().take_while(|byte| b"\r\n".contains(byte)).count();
        let last_line = line + line_breaks(&bytes[start..end]);
        let cells: Result<Vec<Cow<'_, str>>, String> = if end - start > MAX_ROW_BYTES {
            Err(too_long())
        } else if last_line > line && !is_well_quoted(&bytes[start..end], delimiter) {
            Err(format!("the row goes on to line {last_line}: a quote in it is never closed, or not doubled"))
        } else {
            let cells = record.iter().map(|cell| formula::unescape(String::from_utf8_lossy(cell).trim()).to_owned());
            Ok(cells.map(Cow::from).collect())
        };
        let is_blank = matches!(cells.as_deref(), Ok([cell]) if cell.is_empty());
        if !is_blank {
            rows.push(RawRow { line, cells });
        }
        line = last_line;
    }
}

/// Checks that quotes are only around whole cells, and doubled inside them. The reader accepts other quotes: right for
/// `5" pipe`, but wrong if a stray quote joins two rows.
fn is_well_quoted(row: &[u8], delimiter: u8) -> bool {
    let mut at = 0;
    let mut quoted = false;
    while let Some(byte) = row.get(at) {
        if *byte == b'"' {
            match row.get(at + 1) {
                Some(b'"') if quoted => at += 1,
                next if quoted && next.is_none_or(|next| *next == delimiter) => quoted = false,
                _ if !quoted && (at == 0 || row[at - 1] == delimiter) => quoted = true,
                _ => return false,
            }
        }
        at += 1;
    }
    !quoted
}
