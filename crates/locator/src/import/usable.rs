//! The error of an import in which nothing can be used.

use super::Import;
use super::suggestions::UnmatchedFilter;

/// The reason why nothing in a file can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nothing in the file can be used: {0}")]
pub struct NothingUsable(String);

impl NothingUsable {
    /// Returns the reason why an import has no ATMs.
    #[must_use]
    pub fn of(import: &Import) -> Self {
        if let Some(UnmatchedFilter { column, value, values }) = import.suggestions.unmatched.first() {
            return Self(format!("no row has {column}={value}; the values of {column} are: {values}"));
        }
        let mut reasons = Vec::new();
        if let Some(first) = import.skipped.first.first() {
            let total = counted_rows(import.skipped.total, "is skipped", "are skipped");
            reasons.push(format!("{total}, the first is {} {} ({})", import.counted, first.line, first.reason));
        }
        if import.filtered > 0 {
            let total = counted_rows(import.filtered, "is filtered out", "are filtered out");
            reasons.push(format!("{total}: {}", import.filtered_by));
        }
        Self(if reasons.is_empty() { "it has no rows".to_owned() } else { reasons.join("; ") })
    }
}

fn counted_rows(count: usize, singular: &str, plural: &str) -> String {
    if count == 1 { format!("1 row {singular}") } else { format!("{count} rows {plural}") }
}
