//! The English summary of an ATM's reports for tool replies. It never contains text written by reporters.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::evidence::ReportVerdict;
use super::{DecidedBy, Finding};

/// Returns a clause that describes a finding.
fn claim(seen: Finding) -> &'static str {
    match seen {
        Finding::There => "it is there",
        Finding::Gone => "it is gone",
        Finding::Broken => "it does not work",
        Finding::WrongPlace => "it is somewhere else",
        Finding::WrongHours => "its hours are wrong",
        Finding::Other => "something else is wrong",
    }
}

/// Formats a number of people, such as `1 person` or `2 people`.
fn count_people(count: usize) -> String {
    if count == 1 { "1 person".to_owned() } else { format!("{count} people") }
}

/// Summarizes the verdict of an ATM's reports in a clause, or returns `None` if there are no reports.
#[must_use]
pub fn describe(verdict: &ReportVerdict) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    if let Some(decision) = verdict.decision {
        let role = match decision.by {
            DecidedBy::Operator => "its operator",
            DecidedBy::Moderator => "a moderator here",
        };
        parts.push(format!("{role} says that {}", claim(decision.seen)));
    }
    let order =
        [Finding::Gone, Finding::Broken, Finding::WrongPlace, Finding::WrongHours, Finding::Other, Finding::There];
    for seen in order {
        if let Some(count) = verdict.people.get(&seen) {
            let says = if *count == 1 { "says" } else { "say" };
            parts.push(format!("{} {says} that {}", count_people(*count), claim(seen)));
        }
    }
    if parts.is_empty() {
        return None;
    }
    let newest = date(verdict.newest_at?);
    let disputed = if verdict.is_disputed { " (disputed)" } else { "" };
    Some(format!("{}{disputed}; newest of {newest}", parts.join(", ")))
}

fn date(at: Timestamp) -> String {
    at.to_zoned_datetime(TimeZone::UTC).date().to_string()
}
