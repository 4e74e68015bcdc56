//! Tables: cells between commas or tabs, below a header.

use std::borrow::Cow;
use std::io::Read as _;

use super::backslash_quotes::{DoubledQuotes, double_quotes, unescape};
use super::error::ImportError;
use super::format::{FileContent, Format};
use super::text::{RawRow, line_breaks};
use crate::formula;

/// Maximum bytes of a row.
const MAX_ROW_BYTES: usize = 64 * 1024;

/// A sentinel row after the last row. If it is not read as a row, it is inside an open quote.
const END: &[u8] = b"\n\x1eend\x1e\n";

/// Separators of cells in CSV. If the header has equally many of two, the first is used.
const SEPARATORS: [u8; 3] = [b',', b';', b'|'];

/// Cells between commas, semicolons or vertical bars: the separator of the first line (`sep=;`), else the most frequent
/// in the header. Quoted cells may contain separators, line breaks and doubled quotes (RFC 4180).
pub(super) const CSV: Format = Format {
    name: "csv",
    title: "CSV",
    json: None,
    recognise: |file| Ok(!file.looks_like_json()),
    read: |file| {
        let (separator, text) = split_separator_line(file.text()?);
        let separator = separator.unwrap_or_else(|| most_frequent_separator(header(text)));
        let doubled = double_quotes(text, separator);
        let rows = csv(&doubled, separator, file.bounds.rows())?;
        let notice = match doubled.lines {
            0 => None,
            1 => Some("1 line has quotes after a backslash (\\\"), which are read as quotes".to_owned()),
            lines => Some(format!("{lines} lines have quotes after a backslash (\\\"), which are read as quotes")),
        };
        Ok(FileContent::Rows { rows, notice })
    },
};

/// Cells between tabs, also in quotes. Quotes around a cell are removed; quotes inside it may be doubled or escaped by
/// a backslash, like tabs and line breaks.
pub(super) const TSV: Format = Format {
    name: "tsv",
    title: "TSV",
    json: None,
    recognise: |file| Ok(!file.looks_like_json() && is_separated_by_tabs(file.text()?)),
    read: |file| {
        let (_, text) = split_separator_line(file.text()?);
        Ok(FileContent::Rows { rows: tsv(text, file.bounds.rows()), notice: None })
    },
};

fn is_separated_by_tabs(text: &str) -> bool {
    let (separator, text) = split_separator_line(text);
    if let Some(separator) = separator {
        return separator == b'\t';
    }
    let header = header(text);
    let tabs = header.matches('\t').count();
    tabs > 0 && SEPARATORS.iter().all(|other| header.bytes().filter(|byte| byte == other).count() <= tabs)
}

/// Splits off a first line that defines the separator, such as `sep=;`, which spreadsheets read and write. The rest
/// begins with the line break, so that lines are counted rightly.
fn split_separator_line(text: &str) -> (Option<u8>, &str) {
    let (first, rest) = text.split_at(text.find(['\r', '\n']).unwrap_or(text.len()));
    let first = first.trim_matches('"');
    let separator = match first.split_at_checked(4) {
        Some((name, separator)) if name.eq_ignore_ascii_case("sep=") => separator,
        _ => return (None, text),
    };
    match *separator.as_bytes() {
        [separator @ (b'\t' | b' '..=b'~')] if separator != b'"' && !separator.is_ascii_alphanumeric() => {
            (Some(separator), rest)
        }
        _ => (None, text),
    }
}

fn most_frequent_separator(header: &str) -> u8 {
    let count = |separator: u8| header.bytes().filter(|byte| *byte == separator).count();
    let mut best = SEPARATORS[0];
    for separator in SEPARATORS {
        if count(separator) > count(best) {
            best = separator;
        }
    }
    best
}

/// Returns the first line that is not blank.
fn header(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// Returns the first `max` rows. Empty lines are skipped.
fn tsv(text: &str, max: usize) -> Vec<RawRow<'_>> {
    let mut rows = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while !rest.is_empty() && rows.len() < max {
        let (row, after) = rest.split_at(row_length(rest));
        rest = after.strip_prefix('\n').unwrap_or(after);
        let first_line = line;
        line += 1 + row.bytes().filter(|byte| *byte == b'\n').count();
        let row = row.strip_suffix('\r').unwrap_or(row);
        if row.trim_matches(' ').is_empty() {
            continue;
        }
        let cells = if row.len() > MAX_ROW_BYTES { Err(too_long()) } else { Ok(row.split('\t').map(plain).collect()) };
        rows.push(RawRow { line: first_line, cells });
    }
    rows
}

/// Returns the length of a row of tab-separated cells, without its line break. The last cell of a line goes on to the
/// next lines if its quote is closed there before the next tab.
fn row_length(text: &str) -> usize {
    let mut start = 0;
    loop {
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = &text[start..end];
        let cell = line.rsplit('\t').next().unwrap_or_default().trim_start_matches(' ');
        let is_open = cell.starts_with('"') && !cell.replace("\\\"", "").matches('"').count().is_multiple_of(2);
        match if is_open { closing_quote(&text[end..]) } else { None } {
            Some(length) => start = end + length,
            None => return end,
        }
    }
}

/// Returns the length of the rest of a quoted cell, with its closing quote. `None` if a tab or the limit comes first.
fn closing_quote(rest: &str) -> Option<usize> {
    let bytes = &rest.as_bytes()[..rest.len().min(MAX_ROW_BYTES)];
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, bytes.get(at + 1)) {
            (b'\t', _) => return None,
            (b'"' | b'\\', Some(b'"')) => at += 1,
            (b'"', None | Some(b'\t' | b'\r' | b'\n')) => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

fn too_long() -> String {
    "the row is longer than 64 KiB".to_owned()
}

/// Returns a cell of a tab-separated row without quotes and formula guard.
fn plain(cell: &str) -> Cow<'_, str> {
    match unquoted(cell) {
        Cow::Borrowed(cell) => formula::unescape(text_of_formula(cell)).into(),
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
            ('\\', Some('t')) => letters.next().map(|_| ' '),
            ('\\', Some('n' | 'r')) => letters.next().map(|_| '\n'),
            _ => None,
        };
        plain.push(escaped.unwrap_or(letter));
    }
    plain.trim().to_owned().into()
}

/// Returns the first `max` rows. Empty lines are skipped.
fn csv(table: &DoubledQuotes<'_>, delimiter: u8, max: usize) -> Result<Vec<RawRow<'static>>, ImportError> {
    let bytes = table.text.as_bytes();
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
        let cells: Result<Vec<Cow<'static, str>>, String> = if end - start > MAX_ROW_BYTES {
            Err(too_long())
        } else if last_line > line && !is_well_quoted(&bytes[start..end], delimiter) {
            Err(format!("the row goes on to line {last_line}: a quote in it is never closed, or not doubled"))
        } else {
            Ok(record.iter().map(|cell| clean(cell, table.lines > 0).into()).collect())
        };
        let is_blank = matches!(cells.as_deref(), Ok([cell]) if cell.is_empty());
        if !is_blank {
            rows.push(RawRow { line, cells });
        }
        line = last_line;
    }
}

/// Returns a cell without blanks around it and without formula guard, if quotes are escaped also without the backslashes
/// before them.
fn clean(cell: &[u8], has_escaped_quotes: bool) -> String {
    let cell = String::from_utf8_lossy(cell);
    let cell = if has_escaped_quotes { unescape(cell.trim()) } else { cell.trim().into() };
    formula::unescape(text_of_formula(&cell)).to_owned()
}

/// Returns the text of a formula such as `="02134"`, which programs write so that spreadsheets keep the zero.
fn text_of_formula(cell: &str) -> &str {
    let inner = cell.strip_prefix("=\"").and_then(|cell| cell.strip_suffix('"'));
    inner.filter(|inner| !inner.contains('"')).unwrap_or(cell)
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
