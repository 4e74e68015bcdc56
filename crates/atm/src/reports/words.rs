//! What reports say, in the words of tools: English, and nothing that a stranger wrote.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::evidence::ReportVerdict;
use super::{DecidedBy, Seen};

/// What somebody says who saw this.
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

/// `1 person`, `2 people`.
fn count_people(count: usize) -> String {
    if count == 1 { "1 person".to_owned() } else { format!("{count} people") }
}

/// What the reports of a machine say together, as one clause. `None` where they say nothing.
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
    let newest = verdict.newest_at.map(date).filter(|_| !parts.is_empty())?;
    let disputed = if verdict.is_disputed { " (disputed)" } else { "" };
    Some(format!("{}{disputed}; newest of {newest}", parts.join(", ")))
}

fn date(at: Timestamp) -> String {
    at.to_zoned_datetime(TimeZone::UTC).date().to_string()
}
