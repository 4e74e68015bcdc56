//! Functions for the English texts with parameters: dates, statuses, and parts of a record.

use jiff::civil::{Time, Weekday};
use signpost_locator::StatusReason;

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
        ListFilter::Checked => "Checked within a year",
    }
}

/// Returns the text that follows "Unknown:".
pub(super) fn unknown_reason(reason: StatusReason<'_>, year: Option<i16>) -> String {
    match (reason, year) {
        (StatusReason::OldReport, Some(year)) => format!("nobody checked since {year}"),
        (StatusReason::OldReport, None) => "nobody checked lately".to_owned(),
        (StatusReason::Undated, _) => "its report has no date".to_owned(),
        (StatusReason::UncertainHours, _) => "its hours are not certain".to_owned(),
        (StatusReason::HoursInWords, _) => "see its hours".to_owned(),
        (StatusReason::HoursBySun, _) => "its hours follow the sun".to_owned(),
        (StatusReason::NoTimeZone, _) => "its time zone is not known".to_owned(),
        (StatusReason::NoHours, _) => "hours not known".to_owned(),
        (StatusReason::Law(law), _) => law.to_owned(),
        (StatusReason::Reports(_), _) => "visitors say that it cannot be used".to_owned(),
        _ => "nobody said that it works".to_owned(),
    }
}

pub(super) fn status_reason(reason: StatusReason<'_>) -> String {
    match reason {
        StatusReason::AlwaysOpen => "It is said to work, and it never closes.",
        StatusReason::WithinHours => "It is said to work, and it is within its hours.",
        StatusReason::OutsideHours => "It is outside its hours.",
        StatusReason::OldReport => "It was said to work, but more than a year ago.",
        StatusReason::Undated => "It is said to work, but the report has no date.",
        StatusReason::UncertainHours => "It is said to work, but its hours leave open whether it is open now.",
        StatusReason::HoursInWords => "It is said to work, but its hours are written in words.",
        StatusReason::HoursBySun => "It is said to work, but its hours follow the sun.",
        StatusReason::NoTimeZone => "It is said to work, but its time zone is not known.",
        StatusReason::NoHours => "It is said to work, but its hours are not known.",
        StatusReason::OutOfService => "It is said to be out of service.",
        StatusReason::ClosedForNow => "It is said to be closed for a while.",
        StatusReason::Gone => "It is said to be gone.",
        StatusReason::UnreportedAlways => "It never closes, but nobody said that it works.",
        StatusReason::UnreportedWithinHours => "It is within its hours, but nobody said that it works.",
        StatusReason::NothingReported => "Nobody said that it works.",
        StatusReason::Reports(_) => "It follows from what was reported.",
        StatusReason::Law(law) => return format!("Its status is not known because of the law: {law}."),
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
