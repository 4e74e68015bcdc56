//! Tables: cells between commas or tabs, below a header.

use std::borrow::Cow;
use std::io::Read as _;

use super::broken::Broken;
use super::format::{FileContent, Format};
use super::text::{RawRow, line_breaks};
use crate::formula;

/// Most bytes in a row; a longer one is not a machine.
const MAX_ROW_BYTES: usize = 64 * 1024;

/// A row that no file holds. It is read after the last one: if it does not arrive whole, an open quote has swallowed it.
const END: &[u8] = b"\n\x1eend\x1e\n";

/// Cells between commas, or semicolons if the header has more of them. Cells may be quoted, and then hold separators,
/// line breaks and doubled quotes (RFC 4180).
pub(super) const CSV: Format = Format {
    name: "csv",
    title: "CSV",
    json: None,
    recognise: |file| Ok(!file.looks_like_json()),
    read: |file| {
        let text = file.text()?;
        let count = |separator: char| header(text).matches(separator).count();
        let delimiter = if count(';') > count(',') { b';' } else { b',' };
        Ok(FileContent::Rows(csv(text, delimiter, file.bounds.rows())?))
    },
};

/// Cells between tabs, always: a quote does not hide a tab or the end of a line. Quotes around a cell are taken off and
/// quotes inside it may be doubled or follow a backslash, as the letters of tabs and line breaks do.
pub(super) const TSV: Format = Format {
    name: "tsv",
    title: "TSV",
    json: None,
    recognise: |file| Ok(!file.looks_like_json() && header(file.text()?).contains('\t')),
    read: |file| Ok(FileContent::Rows(tsv(file.text()?, file.bounds.rows()))),
};

/// The first line that is not empty.
fn header(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// The first `most` rows. Empty lines are no rows.
fn tsv(text: &str, most: usize) -> Vec<RawRow<'_>> {
    let lines = (1..).zip(text.split('\n')).map(|(number, line)| (number, line.strip_suffix('\r').unwrap_or(line)));
    lines
        .filter(|(_, line)| !line.trim_matches(' ').is_empty())
        .take(most)
        .map(|(line, row)| {
            let short = row.len() <= MAX_ROW_BYTES;
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
            // Whoever wrote a tab or the end of a line so meant a gap.
            ('\\', Some('t' | 'n' | 'r')) => letters.next().map(|_| ' '),
            _ => None,
        };
        plain.push(escaped.unwrap_or(letter));
    }
    plain.trim().to_owned().into()
}

/// The first `most` rows. Empty lines are no rows.
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
        let cells = if end - start > MAX_ROW_BYTES {
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
