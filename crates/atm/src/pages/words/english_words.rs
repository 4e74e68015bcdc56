//! Functions for the English texts with parameters: dates, statuses, and parts of a record.

use jiff::civil::{Time, Weekday};
use signpost_locator::StatusReason;

use super::super::fact::UnknownFact;
use super::super::filters::ListFilter;
use super::Text;

pub(super) fn time(time: Time) -> String {
    let half = if time.hour() < 12 { "am" } else { "pm" };
    let hour = if time.hour() % 12 == 0 { 12 } else { time.hour() % 12 };
    match (time.hour(), time.minute()) {
        (0, 0) => "midnight".to_owned(),
        (12, 0) => "noon".to_owned(),
        (_, 0) => format!("{hour} {half}"),
        (_, minute) => format!("{hour}:{minute:02} {half}"),
    }
}

pub(super) fn weekday(day: Weekday) -> Text {
    match day {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}

pub(super) fn filter_name(filter: ListFilter) -> Text {
    match filter {
        ListFilter::All => "All",
        ListFilter::Open => "Open now",
        ListFilter::PaysOut => "Pays out cash",
        ListFilter::Checked => "Checked",
    }
}

pub(super) fn short_weekday(day: Weekday) -> Text {
    &weekday(day)[..3]
}

/// Formats a number of days before today.
pub(super) fn ago(days: i32) -> String {
    match days {
        ..=0 => "today".to_owned(),
        1 => "yesterday".to_owned(),
        2..=13 => format!("{days} days ago"),
        14..=59 => format!("{} weeks ago", days / 7),
        60..=364 => format!("{} months ago", days / 30),
        _ => "more than a year ago".to_owned(),
    }
}

/// Formats the sentence about facts that are unknown for all of `count` ATMs.
pub(super) fn unknown_for_all(facts: &[UnknownFact], count: usize) -> String {
    let name = |fact: &UnknownFact| match fact {
        UnknownFact::Hours => Some("opening hours"),
        UnknownFact::Fee => Some("fees"),
        UnknownFact::Services => Some("services"),
        UnknownFact::Confirmation => None,
    };
    let names: Vec<&str> = facts.iter().filter_map(name).collect();
    let these = if count == 1 { "this machine" } else { "these machines" };
    let mut text = match &names[..] {
        [] => String::new(),
        [only] => format!("We do not have {only} for {these}."),
        [others @ .., last] => format!("We do not have {} or {last} for {these}.", others.join(", ")),
    };
    if facts.contains(&UnknownFact::Confirmation) {
        text.push_str(match (text.is_empty(), count) {
            (true, 1) => "This machine is not confirmed.",
            (true, _) => "None of these machines is confirmed.",
            (false, 1) => " It is not confirmed.",
            (false, _) => " None of them is confirmed.",
        });
    }
    text
}

/// Formats an unknown status.
pub(super) fn unknown_status(reason: StatusReason<'_>, year: Option<i16>) -> String {
    match (reason, year) {
        (StatusReason::OldReport, Some(year)) => return format!("Not confirmed since {year}"),
        (StatusReason::UncertainHours, _) => "Hours not certain",
        (StatusReason::HoursInWords, _) => "See its hours",
        (StatusReason::HoursBySun, _) => "Open by daylight",
        (StatusReason::NoTimeZone, _) => "Time zone not known",
        (StatusReason::NoHours, _) => "Hours not known",
        (StatusReason::Law(law), _) => return format!("Unknown: {law}"),
        _ => "Not confirmed",
    }
    .to_owned()
}

pub(super) fn part(name: &'static str) -> Text {
    match name {
        "location" => "place",
        "services" => "buy and sell",
        "more" => "more",
        other => other,
    }
}
