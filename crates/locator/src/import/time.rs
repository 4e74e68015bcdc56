//! Parsers for the dates and times in the data of sources.

use std::fmt;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::words;
use crate::tri::Tri;

/// Maximum lead of a date, because clocks differ and days start earlier in the east.
const MAX_LEAD: SignedDuration = SignedDuration::from_hours(24);
/// The range of numbers with four digits that are years.
const YEARS: std::ops::RangeInclusive<i16> = 1970..=9999;

/// The reason why a text is not a valid date of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateError {
    /// The text is not a date in a known notation.
    Unreadable,
    /// The date is more than 24 hours in the future.
    Future,
}

impl DateError {
    /// Returns the reason as a text that completes "is".
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Unreadable => "not a time, such as 2026-11-20T12:00:00Z, or a day, month or year",
            Self::Future => "in the future",
        }
    }
}

impl fmt::Display for DateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl std::error::Error for DateError {}

/// Parses the date of data like [`parse_time`], but rejects dates in the future, because such a report would not
/// expire.
///
/// # Errors
/// [`DateError::Unreadable`], if the text is not a date; [`DateError::Future`], if it is more than 24 hours after
/// `now`.
pub fn parse_data_date(text: &str, now: Option<Timestamp>) -> Result<Timestamp, DateError> {
    let time = parse_time(text).ok_or(DateError::Unreadable)?;
    if is_in_future(time, now) { Err(DateError::Future) } else { Ok(time) }
}

/// Checks for a time that is more than 24 hours ahead.
pub(super) fn is_in_future(time: Timestamp, now: Option<Timestamp>) -> bool {
    now.is_some_and(|now| time.duration_since(now) > MAX_LEAD)
}

/// Parses a time in one of these notations: RFC 3339; a day, month or year with or without a time of day (UTC); seconds
/// or milliseconds since 1970. A period is parsed as its start, so that a record is never shown as newer than it is.
///
/// ```
/// use signpost_locator::import::parse_time;
///
/// assert_eq!(parse_time("2024-05"), parse_time("2024-05-01T00:00:00Z"));
/// assert_eq!(parse_time("1795176000"), parse_time("2026-11-20T12:00:00Z"));
/// assert_eq!(parse_time("spring 2026"), None);
/// ```
#[must_use]
pub fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Some(instant) = parse_unix_time(text) {
        return Some(instant);
    }
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(instant);
    }
    let local = match parse_day(text) {
        Some(day) => day.to_datetime(Time::midnight()),
        None => text.parse::<DateTime>().ok()?,
    };
    TimeZone::UTC.to_timestamp(local).ok()
}

/// Parses seconds or milliseconds since 1970, with or without a fraction. Nine and ten digits are seconds (1973 to
/// 2286); eleven or more digits are milliseconds.
fn parse_unix_time(text: &str) -> Option<Timestamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.len() < 9 || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = whole.parse().ok()?;
    if whole.len() <= 10 { Timestamp::from_second(number).ok() } else { Timestamp::from_millisecond(number).ok() }
}

/// Parses a day (`2026-11-20`, `20261120`), or the first day of a month (`2026-11`) or year (`2026`).
fn parse_day(text: &str) -> Option<Date> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.len() {
        4 if is_number => {
            let year = text.parse().ok().filter(|year| YEARS.contains(year))?;
            Date::new(year, 1, 1).ok()
        }
        7 => format!("{text}-01").parse().ok(),
        8 | 10 => text.parse().ok(),
        _ => None,
    }
}

/// A source's statement about the permanent closure of an ATM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The ATM is already closed.
    Passed,
    /// The ATM is not closed, and no date is known.
    None,
    /// The ATM closes at the start of this day.
    On(Date),
}

/// Parses a statement about the closure of an ATM: a date, or yes or no.
pub(super) fn parse_end(text: &str) -> Option<End> {
    match words::parse_tri(text) {
        Some(Tri::Yes) => return Some(End::Passed),
        Some(Tri::No | Tri::Unknown) => return Some(End::None),
        None => {}
    }
    let date = match parse_day(text) {
        Some(date) => date,
        // The day is taken in the offset of the text: `2027-06-30T00:00:00+02:00` is 30 June.
        None => text.get(..10).filter(|_| parse_time(text).is_some()).and_then(parse_day)?,
    };
    Some(End::On(date))
}

/// Returns the first text that is a valid time. If there is none, returns the first text, so that it is reported as
/// invalid.
pub(super) fn first_time(texts: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let mut first = None;
    for text in texts.into_iter().flatten() {
        if parse_time(&text).is_some() {
            return Some(text);
        }
        first.get_or_insert(text);
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_time_notations_are_parsed() {
        let noon: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
        for text in [
            "2026-11-20T12:00:00Z",
            "2026-11-20T06:00:00-06:00",
            "2026-11-20 12:00:00",
            "2026-11-20T12:00",
            " 1795176000 ",
            "1795176000.25",
            "1795176000000",
        ] {
            assert_eq!(parse_time(text), Some(noon), "{text}");
        }
        let fraction = "2023-01-05T03:04:05.123456";
        assert_eq!(parse_time(fraction), "2023-01-05T03:04:05.123456Z".parse().ok());
        for text in ["", "yesterday", "12", "1234", "2026-13-01", "2026-13", "11/20/2026", "-5", "2026.10", "202610"] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }

    #[test]
    fn period_is_its_first_day() {
        for (text, expected) in [
            ("2026-11-20", "2026-11-20T00:00:00Z"),
            ("20261120", "2026-11-20T00:00:00Z"),
            ("2026-11", "2026-11-01T00:00:00Z"),
            ("2026", "2026-01-01T00:00:00Z"),
        ] {
            assert_eq!(parse_time(text), expected.parse().ok(), "{text}");
        }
    }

    #[test]
    fn end_is_a_day_or_a_truth_value() {
        let day = |text: &str| Some(End::On(text.parse().unwrap()));
        for (text, expected) in [
            ("yes", Some(End::Passed)),
            ("no", Some(End::None)),
            ("2027-06-30", day("2027-06-30")),
            ("2027-06", day("2027-06-01")),
            ("2027-06-30T00:00:00+02:00", day("2027-06-30")),
            ("soon", None),
            ("2027-06-30 or later", None),
        ] {
            assert_eq!(parse_end(text), expected, "{text}");
        }
    }
}
