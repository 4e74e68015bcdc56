//! The summary of reports for tools: in English, without texts of reporters.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::evidence::ReportVerdict;
use super::{DecidedBy, Seen};

/// Returns an observation as a clause.
fn claim(seen: Seen) -> &'static str {
    match seen {
        Seen::There => "it is there",
        Seen::Gone => "it is gone",
        Seen::Broken => "it does not work",
        Seen::WrongPlace => "it is somewhere else",
        Seen::WrongHours => "its hours are wrong",
        Seen::Other => "something else is wrong",
    }
}

/// Returns a number of people, such as `1 person` or `2 people`.
fn count_people(count: usize) -> String {
    if count == 1 { "1 person".to_owned() } else { format!("{count} people") }
}

/// Returns the result of the reports of an ATM as one clause; `None` if there is none.
#[must_use]
pub fn describe(verdict: &ReportVerdict) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    if let Some(decision) = verdict.decision {
        let who = match decision.by {
            DecidedBy::Operator => "its operator",
            DecidedBy::Moderator => "a moderator here",
        };
        parts.push(format!("{who} says that {}", claim(decision.seen)));
    }
    let order = [Seen::Gone, Seen::Broken, Seen::WrongPlace, Seen::WrongHours, Seen::Other, Seen::There];
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
