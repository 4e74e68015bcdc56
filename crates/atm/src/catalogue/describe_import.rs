//! The outcome of an import as a document.

use serde_json::{Value, json};
use signpost_locator::import::Import;

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
    for (member, date) in [("oldest", dates.oldest), ("newest", dates.newest)] {
        if let Some(date) = date {
            document["dates"][member] = json!(date);
        }
    }
    document
}
