//! Suggestions after an import, from the columns that it did not use and the filters that matched nothing.

use std::collections::HashMap;

use super::cells;
use super::columns::{ColumnFilter, ColumnMap};
use super::counted_values::CountedValues;
use super::item::DocumentItem;
use super::options::Options;
use super::time::parse_time;
use super::truncated::MAX_LISTED;

/// Values of a column for the kind of a row, in lower case with spaces between words.
const ATM_KINDS: [&str; 9] = [
    "atm",
    "atms",
    "btm",
    "bitcoin atm",
    "bitcoin atms",
    "btc atm",
    "crypto atm",
    "cryptocurrency atm",
    "bitcoin machine",
];
/// Parts of the names of columns with dates, in lower case.
const DATE_WORDS: [&str; 14] = [
    "date",
    "time",
    "updated",
    "created",
    "modified",
    "checked",
    "verified",
    "reported",
    "confirmed",
    "seen",
    "visited",
    "added",
    "since",
    "timestamp",
];
/// Abbreviations of the English months, in lower case.
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/// Maximum number of columns in a sentence.
const MAX_SHOWN: usize = 20;
/// Maximum bytes of a date.
const MAX_DATE: usize = 40;

/// Suggestions for the next import of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// A filter for the rows that are ATMs, if no filter was used and a column has such a value in some rows.
    pub filter: Option<SuggestedFilter>,
    /// The filters that no row matched.
    pub unmatched: Vec<UnmatchedFilter>,
    /// The unused columns with dates.
    pub unused_dates: Vec<String>,
}

impl Suggestions {
    /// Returns the suggestions as sentences, with the options of `signpost atms import` that follow them.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if let Some(filter) = &self.filter {
            let condition = format!("{}={}", filter.column, filter.value);
            let option = quoted(&condition);
            sentences.push(format!(
                "{} of {} rows have {condition}; to import only these: --where {option}",
                filter.rows, filter.total
            ));
        }
        for UnmatchedFilter { column, value, values } in &self.unmatched {
            sentences.push(format!("no row has {column}={value}; the values of the column: {values}"));
        }
        if let Some(first) = self.unused_dates.first() {
            let option = quoted(&format!("verified_at={first}"));
            let shown: Vec<&str> = self.unused_dates.iter().take(MAX_SHOWN).map(String::as_str).collect();
            let more = self.unused_dates.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            sentences.push(format!(
                "columns with dates that are not used: {}{more}; if they date the records, map one, such as --map {option}",
                shown.join(", ")
            ));
        }
        sentences
    }
}

/// Returns an argument as a shell reads it.
fn quoted(argument: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "=_-.:@/".contains(letter);
    if argument.chars().all(is_plain) { argument.to_owned() } else { format!("'{}'", argument.replace('\'', "'\\''")) }
}

/// A filter for the rows that are ATMs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestedFilter {
    /// The column.
    pub column: String,
    /// Its value in these rows, as in the first of them.
    pub value: String,
    /// The number of these rows.
    pub rows: usize,
    /// The number of all rows.
    pub total: usize,
}

/// A filter that no row matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmatchedFilter {
    /// The column.
    pub column: String,
    /// The required value.
    pub value: String,
    /// The values of the column.
    pub values: CountedValues,
}

/// An observer of the filtered and the unused columns of an import.
pub(super) struct ColumnObserver {
    filters: Vec<ObservedFilter>,
    unused: Vec<UnusedColumn>,
    /// The positions in `unused` by name.
    by_name: HashMap<String, usize>,
    rows: usize,
    suggests_filter: bool,
}

struct ObservedFilter {
    filter: ColumnFilter,
    column: String,
    matches: usize,
    values: CountedValues,
}

struct UnusedColumn {
    name: String,
    /// Its position in the header.
    position: usize,
    has_date_name: bool,
    /// The first value for ATMs.
    atm_value: Option<String>,
    atm_rows: usize,
    filled: usize,
    dates: usize,
}

impl ColumnObserver {
    pub(super) fn new(columns: &ColumnMap, options: &Options) -> Self {
        let filters = columns.filters().iter().map(|filter| ObservedFilter {
            filter: filter.clone(),
            column: columns.name(filter.column).to_owned(),
            matches: 0,
            values: CountedValues::default(),
        });
        let unused: Vec<UnusedColumn> = columns
            .unused_positions()
            .take(MAX_LISTED)
            .map(|position| {
                let name = columns.name(position).to_owned();
                let lower = name.to_lowercase();
                let has_date_name = DATE_WORDS.iter().any(|word| lower.contains(word));
                UnusedColumn { name, position, has_date_name, atm_value: None, atm_rows: 0, filled: 0, dates: 0 }
            })
            .collect();
        let by_name = unused.iter().enumerate().map(|(at, column)| (column.name.clone(), at)).collect();
        // The sender of a submission has no filters.
        let suggests_filter = options.only.is_empty() && !options.strict;
        Self { filters: filters.collect(), unused, by_name, rows: 0, suggests_filter }
    }

    /// Observes a row of a table. Returns the reason why it is filtered out, if it is.
    pub(super) fn observe_row(&mut self, cells: &[std::borrow::Cow<'_, str>]) -> Option<String> {
        let cell = |position: usize| cells.get(position).map_or("", |cell| cell);
        for observed in &mut self.filters {
            if let Some(reason) = observed.mismatch(cell(observed.filter.column)) {
                return Some(reason);
            }
        }
        self.rows += 1;
        for column in &mut self.unused {
            column.observe(cell(column.position));
        }
        None
    }

    /// Observes an item of a document. Returns the reason why it is filtered out, if it is.
    pub(super) fn observe_item(&mut self, item: &DocumentItem) -> Option<String> {
        for observed in &mut self.filters {
            if let Some(reason) = observed.mismatch(item.property(&observed.column).unwrap_or_default()) {
                return Some(reason);
            }
        }
        self.rows += 1;
        for (name, value) in &item.properties {
            if let Some(at) = self.by_name.get(name) {
                self.unused[*at].observe(value);
            }
        }
        None
    }

    /// Returns the suggestions after all rows were observed.
    pub(super) fn suggestions(self) -> Suggestions {
        let rows = self.rows;
        let unmatched =
            self.filters.into_iter().filter(|observed| observed.matches == 0 && observed.values.total() > 0);
        let unmatched = unmatched.map(|observed| UnmatchedFilter {
            column: observed.column,
            value: observed.filter.value,
            values: observed.values,
        });
        let with_atms = self.unused.iter().find(|column| (1..rows).contains(&column.atm_rows));
        let filter = with_atms.filter(|_| self.suggests_filter).map(|column| SuggestedFilter {
            column: cells::text(&column.name),
            value: column.atm_value.clone().unwrap_or_default(),
            rows: column.atm_rows,
            total: rows,
        });
        let dated = self.unused.iter().filter(|column| column.dates > 0 && 2 * column.dates >= column.filled);
        Suggestions {
            filter,
            unmatched: unmatched.collect(),
            unused_dates: dated.map(|column| cells::text(&column.name).chars().take(60).collect()).collect(),
        }
    }
}

impl ObservedFilter {
    /// Returns the reason why a cell does not match, if it does not.
    fn mismatch(&mut self, cell: &str) -> Option<String> {
        let value = cells::text(cell);
        self.values.add(if value.is_empty() { "(blank)" } else { &value });
        if self.filter.matches(&value) {
            self.matches += 1;
            return None;
        }
        let column = &self.column;
        Some(if value.is_empty() { format!("{column} is blank") } else { format!("{column}={value}") })
    }
}

impl UnusedColumn {
    fn observe(&mut self, cell: &str) {
        let cell = cell.trim();
        if cell.is_empty() {
            return;
        }
        self.filled += 1;
        self.dates += usize::from(is_date(cell, self.has_date_name));
        if is_atm_kind(cell) {
            self.atm_rows += 1;
            self.atm_value.get_or_insert_with(|| cells::text(cell));
        }
    }
}

fn is_atm_kind(text: &str) -> bool {
    /// Maximum bytes of a kind.
    const MAX_LEN: usize = 20;
    text.len() <= MAX_LEN && ATM_KINDS.contains(&text.to_ascii_lowercase().replace(['_', '-'], " ").as_str())
}

/// Checks for a date, also in notations that are not read. A number is a date only in a column with a name for dates.
fn is_date(text: &str, has_date_name: bool) -> bool {
    if !(6..=MAX_DATE).contains(&text.len()) {
        return false;
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if parse_time(text).is_some() {
        return has_date_name || !is_number;
    }
    is_local_date(text) || is_date_with_month(text)
}

/// Checks for a day with slashes, full stops or hyphens, such as `11/20/2026`, possibly with a time.
fn is_local_date(text: &str) -> bool {
    let day = text.split([' ', 'T']).next().unwrap_or_default().trim_end_matches(',');
    let parts: Vec<&str> = day.split(['/', '.', '-']).collect();
    let are_numbers = parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    are_numbers && matches!(lengths[..], [1..=2, 1..=2, 4] | [4, 1..=2, 1..=2])
}

/// Checks for a date with the English name of its month, such as `Nov 20, 2026`.
fn is_date_with_month(text: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let has_month = words.clone().any(|word| {
        let name = word.get(..3).unwrap_or_default().to_ascii_lowercase();
        MONTHS.contains(&name.as_str())
    });
    has_month && words.any(|word| word.len() == 4 && (word.starts_with("19") || word.starts_with("20")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        for (argument, expected) in [
            ("category=atm", "category=atm"),
            ("Type of place=ATM", "'Type of place=ATM'"),
            ("a=$(rm x)", "'a=$(rm x)'"),
            ("a='b", "'a='\\''b'"),
        ] {
            assert_eq!(quoted(argument), expected);
        }
    }

    #[test]
    fn dates_are_recognized_in_foreign_notations() {
        for text in [
            "2026-11-20",
            "2026-11-20T12:00:00Z",
            "2026-11-20 12:00:00",
            "11/20/2026",
            "20.11.2026",
            "2026/11/20 09:00",
            "11/20/2026, 9:00 AM",
            "Nov 20, 2026",
            "20 November 2026",
        ] {
            assert!(is_date(text, false), "{text}");
        }
        for text in
            ["", "1795176000", "305-555-0100", "10.5", "192.168.0.100", "Mo-Fr 09:00-17:00", "May", "1/2", "unknown"]
        {
            assert!(!is_date(text, false), "{text}");
        }
        assert!(is_date("1795176000", true) && !is_date("12", true));
    }

    #[test]
    fn kinds_of_atms_are_recognized() {
        for (text, expected) in [
            ("atm", true),
            ("ATM", true),
            ("Bitcoin_ATM", true),
            ("bitcoin-atm", true),
            ("bank", false),
            ("atmosphere", false),
        ] {
            assert_eq!(is_atm_kind(text), expected, "{text}");
        }
    }
}
