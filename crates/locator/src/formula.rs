//! Protection against formula injection in exported tables. A spreadsheet evaluates a cell such as `=HYPERLINK(…)` as a
//! formula unless an apostrophe precedes it. Spreadsheets use the same escape and hide the apostrophe.

use std::borrow::Cow;

/// The first characters of formulas, including the full-width forms of East Asian keyboards. Tabs and line breaks are
/// included, because spreadsheets skip them before a formula.
const FORMULA_STARTS: [char; 11] =
    ['=', '@', '+', '-', '\t', '\r', '\n', '\u{ff1d}', '\u{ff20}', '\u{ff0b}', '\u{ff0d}'];

/// Prefixes a cell with an apostrophe if it is a formula and not a number.
pub(crate) fn escape(cell: &str) -> Cow<'_, str> {
    if is_formula(cell) && !is_number(cell) { format!("'{cell}").into() } else { cell.into() }
}

/// Removes the apostrophe that [`escape`] has added.
pub(crate) fn unescape(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|rest| is_formula(rest)).unwrap_or(cell)
}

/// Checks whether a cell is a formula. Leading apostrophes are ignored, so that [`escape`] is reversible for cells that
/// are already escaped.
fn is_formula(cell: &str) -> bool {
    cell.trim_start_matches('\'').starts_with(FORMULA_STARTS)
}

fn is_number(cell: &str) -> bool {
    cell.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte)) && cell.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_escaped_and_restored() {
        for (cell, written) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+1 512 555 0100", "'+1 512 555 0100"),
            ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
            ("\t=1", "'\t=1"),
            ("\n=1", "'\n=1"),
            ("\u{ff1d}1+1", "'\u{ff1d}1+1"),
            ("'=1", "''=1"),
            ("-80.19", "-80.19"),
            ("+5", "+5"),
            ("-1-1", "'-1-1"),
            ("-inf", "'-inf"),
            ("'s-Hertogenbosch", "'s-Hertogenbosch"),
            ("O'Brien", "O'Brien"),
            ("'", "'"),
            ("", ""),
        ] {
            assert_eq!(escape(cell), written);
            assert_eq!(unescape(written), cell);
        }
    }
}
