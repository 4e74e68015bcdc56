//! Parser of the TOML file of advisories. Each invalid row is reported with its line, and the valid rows are returned.

use std::fmt;

use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::row::RowFields;
use super::{Advisories, Advisory};

/// The TOML file of advisories that is embedded in the program.
const EMBEDDED: &str = include_str!("../../data/advisories.toml");

/// Maximum number of rows in an advisories file.
const MAX_ROWS: usize = 1_000;
/// Maximum size of an advisories file, in bytes.
pub(super) const MAX_FILE_BYTES: usize = 1 << 20;

/// The result of parsing an advisories file: the valid rows, and an error for each invalid row.
#[derive(Debug, Default)]
pub struct FileRows {
    /// The valid rows.
    pub rows: Vec<Advisory>,
    /// The errors of the invalid rows.
    pub bad: Vec<InvalidRow>,
}

/// The error of an invalid row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InvalidRow {
    /// The line number of the error, or of the start of the row if it is unknown; the first line is 1.
    pub line: usize,
    /// The reason why the row is invalid.
    pub reason: String,
}

/// The error of an advisories file that cannot be read or has an invalid row.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {reason}")]
pub struct InvalidAdvisories {
    file: String,
    reason: String,
}

/// Returns the advisories that are embedded in the program.
///
/// # Panics
/// Never: a test parses the embedded file.
#[must_use]
pub fn embedded() -> Vec<Advisory> {
    let FileRows { rows, bad } = read_rows(EMBEDDED);
    assert!(bad.is_empty(), "the embedded advisories are read by a test: {bad:?}");
    rows
}

/// Parses the text of an advisories file.
#[must_use]
pub fn read_rows(text: &str) -> FileRows {
    if text.len() > MAX_FILE_BYTES {
        let reason = format!("the file is larger than {MAX_FILE_BYTES} bytes");
        return FileRows { rows: Vec::new(), bad: vec![InvalidRow { line: 1, reason }] };
    }
    let document = match DeTable::parse(text) {
        Ok(document) => document.into_inner(),
        Err(error) => {
            let start = error.span().map_or(0, |span| span.start);
            return FileRows { rows: Vec::new(), bad: vec![InvalidRow::at(text, start, error.message())] };
        }
    };
    let mut found = FileRows::default();
    for (key, value) in document {
        match (key.get_ref().as_ref(), value.into_inner()) {
            ("advisory", DeValue::Array(items)) => found.add_all(text, items),
            (name, _) => {
                let reason = format!("'{name}' is not known; a file holds [[advisory]] rows and nothing else");
                found.bad.push(InvalidRow::at(text, key.span().start, &reason));
            }
        }
    }
    found
}

impl FileRows {
    fn add_all<'i>(&mut self, text: &str, items: impl IntoIterator<Item = Spanned<DeValue<'i>>>) {
        for item in items {
            let start = item.span().start;
            if self.rows.len() >= MAX_ROWS {
                self.bad.push(InvalidRow::at(text, start, &format!("there are more than {MAX_ROWS} rows")));
                return;
            }
            let fields = match RowFields::deserialize(ValueDeserializer::from(item)) {
                Ok(fields) => fields,
                Err(error) => {
                    let start = error.span().map_or(start, |span| span.start);
                    self.bad.push(InvalidRow::at(text, start, error.message()));
                    continue;
                }
            };
            match fields.check() {
                Err(reason) => self.bad.push(InvalidRow::at(text, start, &reason)),
                Ok(row) if self.rows.iter().any(|known| known.id == row.id) => {
                    let reason = format!("{}: another row above has this id", row.id);
                    self.bad.push(InvalidRow::at(text, start, &reason));
                }
                Ok(row) => self.rows.push(row),
            }
        }
    }

    /// Merges these rows into the embedded advisories. `file` is the name of the file for the error.
    ///
    /// # Errors
    /// [`InvalidAdvisories`] if a row is invalid.
    pub fn merge_valid(self, file: &str) -> Result<Advisories, InvalidAdvisories> {
        let Some(first) = self.bad.first() else { return Ok(Advisories::merged(self.rows)) };
        let reason = match self.bad.len() - 1 {
            0 => first.to_string(),
            others => format!("{first}; {others} more ('signpost advisories check' lists all)"),
        };
        Err(InvalidAdvisories { file: file.to_owned(), reason })
    }
}

impl InvalidAdvisories {
    /// Creates the error for a file that cannot be read at all.
    pub(super) fn unreadable(file: &str, error: &impl fmt::Display) -> Self {
        Self { file: file.to_owned(), reason: format!("cannot read the advisories: {error}") }
    }
}

impl InvalidRow {
    /// Creates the error for a byte offset in the text of a file.
    fn at(text: &str, offset: usize, reason: &str) -> Self {
        let line = 1 + text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count();
        Self { line, reason: signpost_text::clean_line(reason).trim().to_owned() }
    }
}

impl fmt::Display for InvalidRow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::Date;
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use super::*;
    use crate::advisories::{AdvisoryKind, AdvisoryStatus, MAX_WORDS, SourceClass};

    const ROW: &str = r#"
[[advisory]]
id = "x"
kind = "ban"
where = { country = "US", region = "MN" }
status = "in_force"
effective = 2026-08-01
text = "No machines."
source = { url = "https://example.com/law", title = "A law", class = "primary" }
checked = 2026-11-22
"#;

    /// Parses a file with a single row, and returns the error of this row.
    #[track_caller]
    fn parse_fault(text: &str) -> InvalidRow {
        let FileRows { rows, mut bad } = read_rows(text);
        assert!(rows.is_empty() && bad.len() == 1, "{rows:?} {bad:?}");
        bad.remove(0)
    }

    #[test]
    fn embedded_rows_are_valid_and_bounded() {
        let rows = embedded();
        assert!(rows.iter().any(|row| row.kind == AdvisoryKind::Ban && row.status == AdvisoryStatus::InForce));
        let is_long = |row: &&Advisory| row.text.split_whitespace().count() > 35;
        assert_eq!(rows.iter().find(is_long), None, "the length of a row");
        let is_news_alone = |row: &&Advisory| row.is_ban() && row.source.class == SourceClass::News;
        assert_eq!(rows.iter().find(is_news_alone), None, "a ban changes a status: it needs the law's own text");
    }

    #[test]
    fn complete_row_is_parsed() {
        let FileRows { rows, bad } = read_rows(ROW);
        assert_eq!(bad, []);
        assert_eq!(rows[0].area.label(), "MN");
        assert_eq!((rows[0].review_days, rows[0].checked.to_string().as_str()), (180, "2026-11-22"));
    }

    /// The replaced text, its replacement, the reported line, and a part of the reported reason.
    #[rustfmt::skip]
    const WRONG: [(&str, &str, usize, &str); 27] = [
        ("checked = 2026-11-22\n", "", 2, "checked"),
        (r#"url = "https://example.com/law", "#, "", 9, "url"),
        (r#"title = "A law""#, r#"title = " ""#, 2, "source.title"),
        ("https://example.com/law", "ftp://example.com/law", 2, "source.url"),
        ("https://example.com/law", "law", 2, "source.url"),
        ("https://example.com/law", "https://me:secret@example.com/law", 2, "source.url"),
        ("\"primary\"", "\"hearsay\"", 9, "hearsay"),
        ("kind = \"ban\"", "kind = \"bann\"", 4, "bann"),
        ("kind = \"ban\"", "kind = \"ban\"\ncolour = 1", 5, "colour"),
        ("region = \"MN\"", "region = \"MN\", county = \"x\"", 5, "county"),
        ("region = \"MN\"", "region = \"Minnesota\"", 2, "where.region"),
        ("region = \"MN\"", "region = \"ON\"", 2, "is not in"),
        ("country = \"US\"", "country = \"XX\"", 2, "where.country"),
        (r#"country = "US", region = "MN""#, r#"city = "Spokane""#, 2, "where.city"),
        (r#"region = "MN""#, r#"city = " ""#, 2, "where.city"),
        (r#"region = "MN""#, "bbox = [-97.0, 44.0, -93.0]", 5, "4"),
        (r#"region = "MN""#, "bbox = [-97.0, 49.0, -93.0, 44.0]", 2, "where.bbox"),
        ("status = \"in_force\"\neffective = 2026-08-01", "status = \"enacted\"", 2, "effective"),
        ("effective = 2026-08-01", "effective = 2026-08-01T00:00:00Z", 7, "date"),
        ("effective = 2026-08-01", "effective = \"2026-08-01\"", 7, "string"),
        ("effective = 2026-08-01", "effective = 2026-02-30", 7, "day"),
        ("effective = 2026-08-01", "effective = 2026-08-01\nuntil = 2026-08-01", 2, "until"),
        ("\"No machines.\"", "\" \"", 2, "text"),
        ("id = \"x\"", "id = \"X Y\"", 2, "id"),
        ("id = \"x\"", "", 2, "id"),
        ("checked = 2026-11-22", "checked = 2026-11-22\nreview_days = 0", 2, "review_days"),
        ("checked = 2026-11-22", "checked = 2026-11-22\nvalues = { colour = 1 }", 11, "colour"),
    ];

    #[test]
    fn invalid_row_is_rejected_with_its_line() {
        for (what, instead, line, expected) in WRONG {
            assert!(ROW.contains(what), "{what}");
            let bad = parse_fault(&ROW.replace(what, instead));
            assert_eq!(bad.line, line, "{what} → {instead}: {bad}");
            assert!(bad.reason.contains(expected), "{what} → {instead}: {bad}");
        }
        let long = format!("\"{}\"", "word ".repeat(MAX_WORDS + 1));
        assert!(parse_fault(&ROW.replace("\"No machines.\"", &long)).reason.contains("61 words"));
    }

    #[test]
    fn file_contains_only_rows() {
        assert_eq!(parse_fault("\n\n[advice]\n").line, 3);
        assert_eq!(parse_fault("advisory = 1").line, 1);
        assert_eq!(parse_fault("[[advisory]\n").line, 1);
        assert_eq!(parse_fault(&"#".repeat(MAX_FILE_BYTES + 1)).line, 1);
        assert!(read_rows("# nothing yet").bad.is_empty());
    }

    #[test]
    fn every_invalid_row_and_duplicate_id_is_reported() {
        let FileRows { rows, bad } = read_rows(&[ROW, ROW, &ROW.replace("\"ban\"", "\"no\"")].concat());
        assert_eq!(rows.len(), 1);
        let errors: Vec<_> = bad.iter().map(ToString::to_string).collect();
        assert!(errors[0].starts_with("line 12: x: another row") && errors[1].starts_with("line 24: "), "{errors:?}");
        let refused = read_rows(&ROW.repeat(3)).merge_valid("my.toml").unwrap_err().to_string();
        assert!(refused.starts_with("my.toml: line 12: ") && refused.contains("1 more"), "{refused}");
    }

    proptest! {
        #[test]
        fn any_file_is_parsed_or_rejected(text in ".*", at in 0..ROW.len(), byte in 0_u8..128) {
            prop_assert!(read_rows(&text).rows.is_empty());
            let mut row = ROW.as_bytes().to_vec();
            row[at] = byte;
            let FileRows { rows, bad } = read_rows(&String::from_utf8(row).unwrap());
            // The row is either parsed or rejected with a line of the file. If a changed character breaks the table
            // header, each of the eight keys is reported separately.
            prop_assert!(rows.len() <= 1 && rows.is_empty() != bad.is_empty() && bad.len() <= 8, "{:?}", bad);
            prop_assert!(bad.iter().all(|row| (1..=12).contains(&row.line)), "{:?}", bad);
            for row in &rows {
                let span = row.span(&TimeZone::UTC);
                prop_assert!(span.from < span.until && row.is_overdue(Date::MAX));
            }
        }
    }

    #[test]
    fn invisible_characters_are_removed() {
        let text = ROW.replace("No machines.", "No\u{200b} \u{202e}machines.");
        assert_eq!(read_rows(&text).rows[0].text, "No machines.");
    }
}
