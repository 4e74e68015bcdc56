//! The outcome of an import as a document.

use serde_json::{Value, json};
use signpost_locator::import::{CountedValues, Import, Suggestions};

use super::plan::ImportCounts;

/// Returns the outcome of an import as a document.
#[must_use]
pub fn describe_import(source: &str, changes: ImportCounts, import: &Import, dry_run: bool) -> Value {
    let ImportCounts { added, changed, unchanged, removed } = changes;
    let Import { skipped, invalid_cells, filtered, dates, columns, unused, counted, .. } = import;
    let columns: serde_json::Map<String, Value> =
        columns.iter().map(|(field, column)| (field.to_string(), column.as_str().into())).collect();
    let mut document = json!({
        "source": source, "dry_run": dry_run,
        "added": added, "changed": changed, "unchanged": unchanged, "removed": removed, "filtered": filtered,
        "skipped": { "total": skipped.total, "first": skipped.first.iter().map(|row| {
            json!({ *counted: row.line, "reason": row.reason })
        }).collect::<Vec<_>>() },
        "doubts": { "total": invalid_cells.total, "first": invalid_cells.first.iter().map(|cell| {
            json!({ *counted: cell.line, "field": cell.field.to_string(), "value": cell.value,
                    "reason": cell.reason })
        }).collect::<Vec<_>>() },
        "dates": { "undated": dates.undated },
        "columns": columns,
        "unused_columns": { "total": unused.total, "first": unused.first },
    });
    if *filtered > 0 {
        document["filtered_by"] = describe_counts(&import.filtered_by);
    }
    describe_suggestions(&mut document, &import.suggestions);
    if !import.notices.is_empty() {
        document["notices"] = json!(import.notices);
    }
    for (member, date) in [("oldest", dates.oldest), ("newest", dates.newest)] {
        if let Some(date) = date {
            document["dates"][member] = json!(date);
        }
    }
    document
}

/// Adds the suggestions that there are.
fn describe_suggestions(document: &mut Value, suggestions: &Suggestions) {
    let Suggestions { filter, unmatched, unused_dates } = suggestions;
    if let Some(filter) = filter {
        document["suggested_filter"] = json!({
            "column": filter.column, "value": filter.value, "rows": filter.rows, "total": filter.total,
        });
    }
    if !unmatched.is_empty() {
        let unmatched = unmatched.iter().map(|filter| {
            json!({ "column": filter.column, "value": filter.value, "values": describe_counts(&filter.values) })
        });
        document["unmatched_filters"] = Value::Array(unmatched.collect());
    }
    if !unused_dates.is_empty() {
        document["unused_dates"] = json!(unused_dates);
    }
}

fn describe_counts(counts: &CountedValues) -> Value {
    let values = counts.most_frequent().into_iter();
    Value::Object(values.map(|(value, count)| (value.to_owned(), count.into())).collect())
}
