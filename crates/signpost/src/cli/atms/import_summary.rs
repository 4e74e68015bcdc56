//! The summary of an import for people.

use signpost_locator::DataDates;
use signpost_locator::import::{Import, Truncated};

/// Maximum number of columns, skipped rows and invalid cells that are printed.
const MAX_PRINTED: usize = 20;

/// Returns the lines of the summary: the data, the columns, suggestions, and the rows and cells that were not used.
pub(super) fn lines(import: &Import) -> Vec<String> {
    let Import { skipped, invalid_cells, filtered, filtered_by, dates, columns, unused, counted, .. } = import;
    let mut lines = Vec::new();
    if *filtered > 0 {
        lines.push(format!("filtered out: {filtered_by}"));
    }
    lines.extend(describe_dates(dates));
    lines.extend(import.notices.iter().map(|notice| signpost_text::clean_line(notice).into_owned()));
    let read = columns.iter().map(|(field, column)| format!("{field}={column}"));
    if !columns.is_empty() {
        lines.push(format!("columns used: {}", read.collect::<Vec<_>>().join(", ")));
    }
    if unused.total > 0 {
        lines.push(format!("columns not used: {}", first_of(&unused.first, unused.total)));
    }
    lines.extend(import.suggestions.sentences());
    list(&mut lines, "skipped", skipped, |row| format!("{counted} {}: {}", row.line, row.reason));
    list(&mut lines, "values not understood", invalid_cells, |cell| {
        format!("{counted} {}: {} '{}' {}", cell.line, cell.field, cell.value, cell.reason)
    });
    lines
}

/// Returns the first names of a list, and the number of the others.
fn first_of(names: &[String], total: usize) -> String {
    let first: Vec<&str> = names.iter().take(MAX_PRINTED).map(String::as_str).collect();
    let more = total - first.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", first.join(", "))
}

/// Returns the line with the dates of the data, and the number of records without a date.
fn describe_dates(dates: &DataDates) -> Option<String> {
    let period = dates.oldest.zip(dates.newest).map(|(oldest, newest)| {
        let days = [oldest, newest].map(|at| at.strftime("%Y-%m-%d").to_string());
        if days[0] == days[1] { format!("data of {}", days[0]) } else { format!("data of {} to {}", days[0], days[1]) }
    });
    let undated = match dates.undated {
        0 => None,
        count => Some(format!("{count} without a date, so of unknown status (--as-of DATE gives them one)")),
    };
    let all: Vec<String> = [period, undated].into_iter().flatten().collect();
    if all.is_empty() { None } else { Some(all.join("; ")) }
}

fn list<T>(lines: &mut Vec<String>, title: &str, listed: &Truncated<T>, text: impl Fn(&T) -> String) {
    if listed.total == 0 {
        return;
    }
    lines.push(format!("{title}: {}", listed.total));
    lines.extend(listed.first.iter().take(MAX_PRINTED).map(|item| format!("  {}", text(item))));
    if listed.total > MAX_PRINTED {
        lines.push(format!("  … and {} more (--json lists more of them)", listed.total - MAX_PRINTED));
    }
}
