//! The outcome of an import as a document.

use serde_json::{Value, json};
use signpost_locator::import::Import;

use super::plan::ImportCounts;

/// Returns the outcome of an import as a document.
#[must_use]
pub fn describe_import(source: &str, changes: ImportCounts, import: &Import, dry_run: bool) -> Value {
    let ImportCounts { added, changed, unchanged, removed } = changes;
    let Import { skipped, doubts, filtered, columns, unused, counted, .. } = import;
    let columns: serde_json::Map<String, Value> =
        columns.iter().map(|(field, column)| (field.to_string(), column.as_str().into())).collect();
    json!({
        "source": source, "dry_run": dry_run,
        "added": added, "changed": changed, "unchanged": unchanged, "removed": removed, "filtered": filtered,
        "skipped": { "total": skipped.total, "first": skipped.first.iter().map(|row| {
            json!({ *counted: row.line, "reason": row.reason })
        }).collect::<Vec<_>>() },
        "doubts": { "total": doubts.total, "first": doubts.first.iter().map(|doubt| {
            json!({ *counted: doubt.line, "field": doubt.field.to_string(), "value": doubt.value,
                    "reason": doubt.reason })
        }).collect::<Vec<_>>() },
        "columns": columns,
        "unused_columns": { "total": unused.total, "first": unused.first },
    })
}
