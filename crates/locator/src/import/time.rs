//! Parses the dates and times of sources.

use std::fmt;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::words;
use crate::tri::Tri;

/// Maximum lead of a date: clocks differ, and a day begins earlier in the east.
const MAX_LEAD: SignedDuration = SignedDuration::from_hours(24);
/// The years that a number of four digits may be.
const YEARS: std::ops::RangeInclusive<i16> = 1970..=9999;

/// The reason why a text is not the date of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateError {
    /// It is no date in a known notation.
    Unreadable,
    /// It is more than 24 hours ahead.
    Future,
}

impl DateError {
    /// Returns the reason, for a text after "is".
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

/// Parses the date of data, with [`parse_time`]. A date in the future is rejected, because such a report would not
/// expire.
///
/// # Errors
/// [`DateError::Unreadable`], if the text is no date; [`DateError::Future`], if it is more than 24 hours after `now`.
pub fn parse_data_date(text: &str, now: Option<Timestamp>) -> Result<Timestamp, DateError> {
    let time = parse_time(text).ok_or(DateError::Unreadable)?;
    if now.is_some_and(|now| time.duration_since(now) > MAX_LEAD) {
        return Err(DateError::Future);
    }
    Ok(time)
}

/// Parses a time: RFC 3339; a day, month or year with or without a time of the day (UTC); or seconds or milliseconds
/// since 1970. A period is its beginning, so that a record is never shown as newer than it is.
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

/// Parses seconds or milliseconds since 1970, with or without a fraction. Nine and ten digits are seconds, from 1973 to
/// 2286; eleven and more are milliseconds.
fn parse_unix_time(text: &str) -> Option<Timestamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.len() < 9 || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = whole.parse().ok()?;
    if whole.len() <= 10 { Timestamp::from_second(number).ok() } else { Timestamp::from_millisecond(number).ok() }
}

/// Parses a day (`2026-11-20`, `20261120`), or a month (`2026-11`) or year (`2026`), of which the first day is returned.
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

/// The end of an ATM in the words of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It has ended.
    Passed,
    /// It has not.
    None,
    /// It ends at the beginning of this day.
    On(Date),
}

/// Parses the day on which an ATM closes: a date, or yes or no.
pub(super) fn parse_end(text: &str) -> Option<End> {
    match words::parse_tri(text) {
        Some(Tri::Yes) => return Some(End::Passed),
        Some(Tri::No | Tri::Unknown) => return Some(End::None),
        None => {}
    }
    let date = match parse_day(text) {
        Some(date) => date,
        // The day is that of the source's own offset: `2027-06-30T00:00:00+02:00` is 30 June.
        None => text.get(..10).filter(|_| parse_time(text).is_some()).and_then(parse_day)?,
    };
    Some(End::On(date))
}

/// Returns the first text that is a time; if there is none, the first text, so that it is reported.
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
