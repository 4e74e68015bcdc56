//! Quotes in CSV that are escaped by a backslash, as some programs write them: `"The \"Big\" Corner"`. In CSV they are
//! doubled (RFC 4180), and a backslash is a letter like others.

use std::borrow::Cow;

/// An escaped quote.
const ESCAPED: &[u8] = b"\\\"";

/// A table in which quotes are doubled.
pub(super) struct DoubledQuotes<'a> {
    pub(super) text: Cow<'a, str>,
    /// The number of lines with quotes that were escaped by a backslash.
    pub(super) lines: usize,
}

/// Replaces escaped quotes in quoted cells by doubled quotes of equal length, if a table escapes quotes at all.
pub(super) fn double_quotes(text: &str, delimiter: u8) -> DoubledQuotes<'_> {
    let bytes = text.as_bytes();
    if !escapes_quotes(bytes, delimiter) {
        return DoubledQuotes { text: text.into(), lines: 0 };
    }
    let mut doubled = bytes.to_vec();
    let mut lines = 0;
    let mut is_counted = false;
    let mut is_quoted = false;
    let mut is_start = true;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let mut length = 1;
        if byte == b'\n' {
            is_counted = false;
        }
        if rest.starts_with(ESCAPED) {
            if is_quoted {
                doubled[at] = b'"';
            }
            lines += usize::from(!is_counted);
            is_counted = true;
            length = 2;
        } else if is_quoted && (rest.starts_with(b"\\\\") || rest.starts_with(b"\"\"")) {
            length = 2;
        } else if byte == b'"' && (is_quoted || is_start) {
            is_quoted = !is_quoted;
        }
        is_start = !is_quoted && (byte == delimiter || byte == b'\n' || byte == b'\r');
        at += length;
    }
    let text = String::from_utf8(doubled).expect("an ASCII character replaced another");
    DoubledQuotes { text: text.into(), lines }
}

/// Returns a cell without the backslashes before quotes. Escaped quotes in cells without quotes around them remain after
/// [`double_quotes`].
pub(super) fn unescape(cell: &str) -> Cow<'_, str> {
    if cell.contains("\\\"") { cell.replace("\\\"", "\"").into() } else { cell.into() }
}

/// Checks for a quote after a backslash that is neither the end of a cell nor doubled, which does not occur in CSV by the
/// RFC.
fn escapes_quotes(bytes: &[u8], delimiter: u8) -> bool {
    let mut rest = bytes;
    while let Some(at) = rest.windows(ESCAPED.len()).position(|window| window == ESCAPED) {
        rest = &rest[at + ESCAPED.len()..];
        match rest.first() {
            None => return false,
            Some(next) if *next == delimiter || b"\"\r\n".contains(next) => {}
            Some(_) => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_quotes_become_doubled_quotes() {
        for (text, expected, lines) in [
            (r#"1,"The \"Big\" Corner",x"#, r#"1,"The ""Big"" Corner",x"#, 1),
            (r#""97°44'35.2\"W, 30°16'1.9\"N","Austin""#, r#""97°44'35.2""W, 30°16'1.9""N","Austin""#, 1),
            ("\"a \\\"b\\\"\",1\n\"c\",2\n\"d \\\"e\\\"\",3", "\"a \"\"b\"\"\",1\n\"c\",2\n\"d \"\"e\"\"\",3", 2),
            // A backslash that is escaped itself does not escape the quote.
            (r#""say \"hi\" \\",2"#, r#""say ""hi"" \\",2"#, 1),
            // The cell has no quotes around it.
            (r#"5\" pipe,1"#, r#"5\" pipe,1"#, 1),
            // CSV by the RFC: the cells end with a backslash, or have a quote after it.
            (r#""C:\dir\",1"#, r#""C:\dir\",1"#, 0),
            (r#""a\""b",1"#, r#""a\""b",1"#, 0),
            ("\"C:\\\"\n", "\"C:\\\"\n", 0),
            (r#""C:\""#, r#""C:\""#, 0),
            ("plain,1", "plain,1", 0),
        ] {
            let doubled = double_quotes(text, b',');
            assert_eq!((&*doubled.text, doubled.lines), (expected, lines), "{text}");
        }
        assert_eq!(unescape(r#"5\" pipe"#), "5\" pipe");
    }
}
